//! How fast the engine is on seeded synthetic memories: writes, and recalls by channel.

use std::time::Instant;

use clap::Parser;
use hindsight_core::draft::EpisodeDraft;
use hindsight_core::time::{DAY_MS, Span};
use hindsight_core::{
    Draft, Embedding, Filter, Kind, Mode, Namespace, RawVector, RawVectors, Recall, Status, Timestamp,
    VectorRole,
};
use hindsight_engine::{BatchRequest, Engine, Options, WriteItem, WriteOptions};

/// How much to measure.
#[derive(Debug, Parser)]
pub struct Args {
    /// Memories in the namespace.
    #[arg(long, default_value_t = 100_000)]
    memories: usize,
    /// Components of a vector.
    #[arg(long, default_value_t = 384)]
    dimension: usize,
    /// Recalls of each sort.
    #[arg(long, default_value_t = 200)]
    recalls: usize,
    /// The seed of everything random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// SplitMix64 (Steele, Lea and Flood 2014): enough randomness for a workload, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap_or(1)).unwrap_or(0)
    }

    /// A number in −1–1.
    fn unit(&mut self) -> f32 {
        let part = u16::try_from(self.next() >> 48).unwrap_or(0);
        f32::from(part) / f32::from(u16::MAX) * 2.0 - 1.0
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.unit()).collect()
    }

    /// A word; low numbers are frequent, as in real text.
    fn word(&mut self) -> String {
        let (a, b) = (self.below(20_000), self.below(20_000));
        format!("w{}", a * b / 20_000)
    }
}

/// Loads the memories and prints medians.
///
/// # Errors
/// When the engine refuses something, or the temporary directory can't be used.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (engine, _) = Engine::open(dir.path(), Options::default())?;
    let namespace: Namespace = "speed".parse()?;
    let mut random = Random(args.seed);
    let now = Timestamp::from_ms(1_800_000_000_000);
    let began = Instant::now();
    for chunk in 0..args.memories.div_ceil(500) {
        let count = 500.min(args.memories - chunk * 500);
        let items = (0..count).map(|_| item(&mut random, args.dimension, now)).collect();
        let request = BatchRequest { items, ..BatchRequest::default() };
        engine.write_batch(&namespace, request)?.wait()?;
    }
    let load = began.elapsed();
    println!("load: {} memories x {} d in {:.2} s", args.memories, args.dimension, load.as_secs_f64());
    let mut writes = Vec::new();
    for _ in 0..args.recalls {
        let item = item(&mut random, args.dimension, now);
        let began = Instant::now();
        engine.write(&namespace, item, WriteOptions::default())?.wait()?;
        writes.push(began.elapsed().as_secs_f64() * 1e3);
    }
    report("write, durable", &mut writes);
    for (name, shape) in [
        ("vector", Shape::Vector),
        ("keyword", Shape::Keyword),
        ("filtered", Shape::Filtered),
        ("hybrid", Shape::Hybrid),
    ] {
        let mut times = Vec::new();
        for _ in 0..args.recalls {
            let request = shape.recall(&mut random, args.dimension, now)?;
            let began = Instant::now();
            std::hint::black_box(engine.recall(&namespace, &request)?.wait()?);
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        report(&format!("recall, {name}"), &mut times);
    }
    drop(engine);
    let began = Instant::now();
    let (engine, opened) = Engine::open(dir.path(), Options::default())?;
    println!("open: {opened}; {:.2} s in all", began.elapsed().as_secs_f64());
    Ok(engine.close()?)
}

#[derive(Clone, Copy)]
enum Shape {
    Vector,
    Keyword,
    Filtered,
    Hybrid,
}

impl Shape {
    fn recall(self, random: &mut Random, dimension: usize, now: Timestamp) -> anyhow::Result<Recall> {
        let words: Vec<String> = (0..3).map(|_| random.word()).collect();
        let vector = Embedding::new(&random.vector(dimension))?;
        let last_week = Filter {
            task_types: vec![format!("task-{}", random.below(20))],
            last: Some(Span::from_ms(7 * DAY_MS)),
            ..Filter::default()
        };
        let base = Recall {
            embedding_model: Some("synthetic".to_owned()),
            now: Some(now),
            observe: true,
            ..Recall::default()
        };
        Ok(match self {
            Shape::Vector => Recall { mode: Mode::Vector, vector: Some(vector), ..base },
            Shape::Keyword => Recall { mode: Mode::Keyword, query: words.join(" "), ..base },
            Shape::Filtered => Recall { mode: Mode::Vector, vector: Some(vector), filter: last_week, ..base },
            Shape::Hybrid => Recall { query: words.join(" "), vector: Some(vector), ..base },
        })
    }
}

fn item(random: &mut Random, dimension: usize, now: Timestamp) -> WriteItem {
    let words: Vec<String> = (0..30 + random.below(30)).map(|_| random.word()).collect();
    let age_ms = i64::try_from(random.below(90 * 86_400)).unwrap_or(0) * 1_000;
    let status = [Status::Success, Status::Failure, Status::Partial][random.below(3)];
    let draft = Draft {
        kind: Some(Kind::Episode),
        task_type: Some(format!("task-{}", random.below(20))),
        status: Some(status),
        content: words.join(" "),
        episode: Some(EpisodeDraft::default()),
        occurred_at: Some(now.plus_ms(-age_ms)),
        ..Draft::default()
    };
    let vector = RawVector { role: VectorRole::Content, values: random.vector(dimension) };
    WriteItem::new(draft, Some(RawVectors { model: "synthetic".to_owned(), vectors: vec![vector] }))
}

fn report(what: &str, times_ms: &mut [f64]) {
    times_ms.sort_by(f64::total_cmp);
    let at = |share: usize| times_ms.get(times_ms.len() * share / 100).copied().unwrap_or(0.0);
    println!("{what}: median {:.3} ms, p99 {:.3} ms", at(50), at(99));
}
