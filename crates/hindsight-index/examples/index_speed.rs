//! How fast one namespace's indexes are: `cargo run --release -p hindsight-index --example index_speed [memories]`.
//!
//! Builds memories of 30 to 60 words and one vector of 384 components each (clustered, so that neighbours exist), then
//! prints the mean time of each kind of question and the estimated bytes per memory. Seeded: the work is always the same.
#![expect(clippy::cast_possible_truncation, reason = "random numbers of a chosen size")]

use std::time::Instant;

use hindsight_core::{
    Action, Embedding, Episode, Filter, Kind, Memory, MemoryId, NamedVector, Record, Scope, Source,
    SourceKind, State, Status, Timestamp, Usage, VectorRole, time::HOUR_MS, time::Span,
};
use hindsight_index::{NamespaceIndex, Shelf, ShelfStats, Shelves};

const DIMENSION: usize = 384;
const NOW_MS: i64 = 1_790_596_800_000;

fn main() {
    let memories = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000_usize);
    let mut random = Random(11);
    let world = World::new(&mut random);
    let records: Vec<Record> = (0..memories).map(|number| world.record(number, &mut random)).collect();

    let mut index = NamespaceIndex::default();
    let start = Instant::now();
    for record in &records {
        if let Err(error) = index.apply(record) {
            println!("not applied: {error}");
            return;
        }
    }
    report("apply, new", start, memories);
    let start = Instant::now();
    let replaced = memories.min(5_000);
    for record in records.iter().step_by(memories / replaced) {
        index.apply(record).ok();
    }
    report("apply, replace", start, replaced);
    questions(&index, &world, &mut random);
    bytes(&index.stats().active);
}

fn questions(index: &NamespaceIndex, world: &World, random: &mut Random) {
    const ROUNDS: usize = 50;
    let (shelf, now) = (index.active(), Timestamp::from_ms(NOW_MS));
    let all = shelf.all();
    let thousand: hindsight_index::Selection =
        all.iter().step_by((all.len() / 1_000).max(1)).take(1_000).collect();
    let tenth: hindsight_index::Selection = all.iter().step_by(10).collect();
    let vectors: Vec<Embedding> = (0..ROUNDS).map(|_| world.vector(random)).collect();
    let texts: Vec<String> = (0..ROUNDS).map(|_| world.words(3, random)).collect();
    let filter = Filter {
        task_types: vec!["task3".to_owned()],
        statuses: vec![Status::Failure],
        last: Some(Span::from_ms(7 * 24 * HOUR_MS)),
        ..Filter::default()
    };
    let year = Filter { last: Some(Span::from_ms(365 * 24 * HOUR_MS)), ..Filter::default() };

    time("vector top 8 of all", &vectors, |vector| nearest(index, shelf, &all, vector));
    time(&format!("vector top 8 of {}", tenth.len()), &vectors, |vector| {
        nearest(index, shelf, &tenth, vector)
    });
    time(&format!("vector top 8 of {}", thousand.len()), &vectors, |vector| {
        nearest(index, shelf, &thousand, vector)
    });
    time("keyword top 20 of all, 3 words", &texts, |text| {
        shelf.keyword_top(&all, &index.keyword_query(text, Shelves::Active), 20).len()
    });
    time(&format!("keyword top 20 of {}, 3 words", thousand.len()), &texts, |text| {
        shelf.keyword_top(&thousand, &index.keyword_query(text, Shelves::Active), 20).len()
    });
    time("select task, status, 7 days", &texts, |_| shelf.select(&filter, now).len());
    time("select 365 days", &texts, |_| shelf.select(&year, now).len());
    time("current and visible", &texts, |_| {
        shelf.current_at(now).and(&shelf.visible_to(Some("agent1"))).len()
    });
    println!("(the filter selects {} memories)", shelf.select(&filter, now).len());
}

fn nearest(
    index: &NamespaceIndex,
    shelf: &Shelf,
    selection: &hindsight_index::Selection,
    vector: &Embedding,
) -> usize {
    index.vector_query(vector).map_or(0, |query| shelf.vector_top(selection, &query, 8).len())
}

fn time<T>(what: &str, inputs: &[T], mut ask: impl FnMut(&T) -> usize) {
    let mut found = inputs.first().map_or(0, &mut ask);
    let start = Instant::now();
    for input in inputs {
        found = found.max(ask(input));
    }
    report(what, start, inputs.len());
    assert!(found > 0, "nothing found");
}

fn report(what: &str, start: Instant, times: usize) {
    println!("{what:36} {:10.1} µs", start.elapsed().as_secs_f64() * 1e6 / times as f64);
}

fn bytes(stats: &ShelfStats) {
    let each = |bytes: usize| bytes / stats.memories.max(1);
    println!(
        "bytes per memory: vectors {}, words {}, bitmaps {}, hot {}, ordinals {}; {} terms, {} postings",
        each(stats.vector_bytes),
        each(stats.lexical.bytes),
        each(stats.bitmap_bytes),
        each(stats.hot_bytes),
        each(stats.ordinal_bytes),
        stats.lexical.terms,
        stats.lexical.postings
    );
}

/// What memories are made of.
struct World {
    centres: Vec<Vec<f32>>,
    vocabulary: Vec<String>,
}

impl World {
    fn new(random: &mut Random) -> Self {
        let centres = (0..500).map(|_| (0..DIMENSION).map(|_| random.signed()).collect()).collect();
        let syllables = ["ka", "ro", "mi", "tel", "pan", "ser", "vu", "lin", "dos", "ber", "ath", "en"];
        let vocabulary = (0..30_000)
            .map(|_| (0..2 + random.below(3)).map(|_| syllables[random.below(syllables.len())]).collect())
            .collect();
        World { centres, vocabulary }
    }

    /// A unit vector near one of the centres; low centres are more popular.
    fn vector(&self, random: &mut Random) -> Embedding {
        let centre = &self.centres[random.zipf(self.centres.len())];
        let values: Vec<f32> = centre.iter().map(|value| value + 0.8 * random.signed()).collect();
        Embedding::new(&values).unwrap_or_else(|error| stop(&error))
    }

    fn words(&self, count: usize, random: &mut Random) -> String {
        (0..count)
            .map(|_| self.vocabulary[random.zipf(self.vocabulary.len())].as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn record(&self, number: usize, random: &mut Random) -> Record {
        let occurred_at = Timestamp::from_ms(NOW_MS - random.below(90 * 24 * 3_600) as i64 * 1_000);
        let status = Status::ALL[random.below(3)];
        let length = 30 + random.below(30);
        let action = Action { tool: format!("tool{}", random.below(30)), ..Action::default() };
        let memory = Memory {
            id: MemoryId::new(occurred_at, number as u128),
            namespace: "speed".parse().unwrap_or_else(|error| stop(&error)),
            kind: Kind::Episode,
            content: self.words(length, random),
            summary: String::new(),
            keywords: Vec::new(),
            content_type: "text/plain".to_owned(),
            uri: None,
            task_type: Some(format!("task{}", random.below(20))),
            status: Some(status),
            entities: Vec::new(),
            claims: Vec::new(),
            tags: vec![format!("tag{}", random.zipf(200))],
            metadata: serde_json::Map::new(),
            episode: Some(Box::new(Episode { actions: vec![action], ..Episode::default() })),
            rule: None,
            source: Source {
                kind: SourceKind::Agent,
                speaker: None,
                conversation_id: None,
                turns: Vec::new(),
            },
            session_id: Some(format!("session{}", number / 20)),
            agent_id: Some(format!("agent{}", random.below(5))),
            scope: Scope::Shared,
            importance: 0.2,
            confidence: 1.0,
            occurred_at,
            created_at: occurred_at,
            updated_at: occurred_at,
            valid_from: None,
            valid_to: None,
            expires_at: Some(occurred_at.plus_ms(120 * 24 * HOUR_MS)),
            superseded_by: None,
            derived_from: Vec::new(),
            state: State::Active,
            forgotten_from: None,
            usage: Usage::default(),
            version: 1,
            embedding_model: None,
        };
        Record {
            memory,
            vectors: vec![NamedVector { role: VectorRole::Content, embedding: self.vector(random) }],
        }
    }
}

/// Ends a run that can't go on.
fn stop(error: &dyn std::fmt::Display) -> ! {
    eprintln!("{error}");
    std::process::exit(1)
}

/// Xorshift: numbers that look random and are the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn signed(&mut self) -> f32 {
        self.share() as f32 * 2.0 - 1.0
    }

    /// Small numbers are more frequent than large ones, about as words are.
    fn zipf(&mut self, end: usize) -> usize {
        ((end as f64).powf(self.share()) as usize).min(end) - 1
    }
}
