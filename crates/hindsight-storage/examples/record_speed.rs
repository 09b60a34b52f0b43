//! Measures record files on this machine's disk: checkpoint, start, load, point read.
//!
//! `cargo run --release -p hindsight-storage --example record_speed [DIR [NAMESPACES [MEMORIES]]]`

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use hindsight_core::{
    Batch, Embedding, Lsn, Memory, MemoryId, NamedVector, Namespace, Record, Timestamp, VectorRole,
};
use hindsight_storage::{
    CheckpointSource, Digest, NamespaceCheckpoint, RealIo, RecordPosition, Storage, StorageOptions,
    StoredCheckpoint, record_digest,
};

const DIMENSION: usize = 384;
const POINT_READS: usize = 100_000;

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let mut args = std::env::args_os().skip(1);
    let parent = args.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let mut number = |default| match args.next() {
        Some(text) => text.to_string_lossy().parse().map_err(Box::<dyn Error>::from),
        None => Ok(default),
    };
    let (namespaces, memories) = (number(1_000)?, number(100)?);
    let dir = parent.join(format!("hindsight-record-speed-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let result = measure(&dir, namespaces, memories);
    std::fs::remove_dir_all(&dir)?;
    result
}

fn measure(dir: &Path, namespaces: u64, memories: u64) -> Fallible<()> {
    let mut source = Source::new(namespaces, memories)?;
    let storage = open(dir)?;
    let name: Namespace = "agent-0".parse()?;
    storage.append(&Batch {
        namespace: name.clone(),
        at: Timestamp::from_ms(1),
        request: None,
        changes: vec![],
    })?;
    storage.commit_step()?;
    let begun = Instant::now();
    let report = storage.checkpoint(&mut source)?;
    let seconds = begun.elapsed().as_secs_f64();
    let mib = mib(report.bytes);
    println!(
        "checkpoint: {} records in {} namespaces, {mib:.0} MiB, {seconds:.2} s, {:.0} MiB/s",
        report.records,
        report.namespaces,
        mib / seconds
    );
    storage.close()?;
    drop(storage);

    let begun = Instant::now();
    let storage = open(dir)?;
    println!("start: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);

    let begun = Instant::now();
    let mut loaded = 0_u64;
    for number in 0..namespaces.min(200) {
        let stored = storage.load_namespace(&format!("agent-{number}").parse()?, &mut |_| Ok(()))?;
        loaded += stored.iter().flat_map(|stored| stored.files.values()).map(|file| file.bytes).sum::<u64>();
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("load: {:.0} MiB/s", self::mib(loaded) / seconds);

    // A step that is coprime to the number of records visits them all, far apart.
    let begun = Instant::now();
    let mut at = 0;
    for _ in 0..POINT_READS {
        at = (at + 7_919) % source.positions.len();
        if let Some(position) = source.positions.get(at) {
            storage.read_at(*position)?.ok_or("the file is gone")?;
        }
    }
    let micros = begun.elapsed().as_secs_f64() * 1e6 / POINT_READS as f64;
    println!("point read: {micros:.1} µs");
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn open(dir: &Path) -> Fallible<Storage> {
    Ok(Storage::open(RealIo, dir, StorageOptions::default())?.replay(&mut |_, _| Ok(()))?.0)
}

/// Makes namespaces on the way, so that what is measured is the disk and not the memory.
struct Source {
    next: u64,
    namespaces: u64,
    memories: u64,
    record: Record,
    positions: Vec<RecordPosition>,
}

impl Source {
    fn new(namespaces: u64, memories: u64) -> Fallible<Source> {
        let memory: Memory = serde_json::from_value(serde_json::json!({
            "id": MemoryId::from_u128(1).to_string(),
            "namespace": "agent-0",
            "kind": "fact",
            "content": "The user prefers short answers. 用户喜欢简短的回答。".repeat(4),
            "keywords": ["answers", "short", "简短"],
            "source": {"kind": "agent"},
            "scope": "shared",
            "importance": 0.2,
            "confidence": 0.9,
            "occurred_at": "2026-11-30T09:00:00Z",
            "created_at": "2026-11-30T09:00:00Z",
            "updated_at": "2026-11-30T09:00:00Z",
            "state": "active",
            "version": 1,
        }))?;
        let values: Vec<f32> = (0..DIMENSION).map(|at| (at as f32 * 0.37).sin()).collect();
        let vectors = vec![NamedVector { role: VectorRole::Content, embedding: Embedding::new(&values)? }];
        let record = Record { memory, vectors };
        Ok(Source { next: 0, namespaces, memories, record, positions: Vec::new() })
    }
}

impl CheckpointSource for Source {
    fn next(&mut self) -> Option<NamespaceCheckpoint> {
        if self.next == self.namespaces {
            return None;
        }
        let name: Namespace = format!("agent-{}", self.next).parse().ok()?;
        self.next += 1;
        let mut digest = Digest::default();
        let records = (1..=self.memories).map(|number| {
            let mut record = self.record.clone();
            record.memory.id = MemoryId::from_u128(u128::from(number));
            record.memory.namespace = name.clone();
            digest.add(record_digest(record.memory.id, 1, Lsn(1)));
            (Lsn(1), Arc::new(record))
        });
        let records = records.collect();
        let (applied, live) = (Lsn(1), self.memories);
        Some(NamespaceCheckpoint {
            name,
            applied,
            last_at: None,
            live,
            forgotten: 0,
            digest,
            model: None,
            settings: hindsight_core::Settings::default(),
            records,
            requests: Vec::new(),
            rewrite: false,
            snapshot: hindsight_storage::NewSnapshot::Keep,
        })
    }

    fn stored(&mut self, stored: StoredCheckpoint) {
        self.positions.extend(stored.positions.into_iter().map(|(_, position)| position));
    }
}
