//! How fast the engine is on seeded synthetic memories: writes, and recalls by channel.

use std::time::Instant;

use clap::Parser;
use hindsight_core::time::{DAY_MS, Span};
use hindsight_core::{Embedding, Filter, Mode, Namespace, Recall, Timestamp};
use hindsight_engine::{BatchRequest, Engine, Options, WriteOptions};

use crate::figures::at;
use crate::synthetic::{Random, item};

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

fn report(what: &str, times_ms: &mut [f64]) {
    println!("{what}: median {:.3} ms, p99 {:.3} ms", at(times_ms, 50), at(times_ms, 99));
}
