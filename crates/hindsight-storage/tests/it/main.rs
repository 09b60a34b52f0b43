//! The data directory as the engine uses it, on the real disk.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as expected")]

mod checkpoint;
mod directory;
mod roundtrip;

use std::{collections::BTreeMap, fs, path::Path};

use hindsight_core::{Batch, Change, Lsn, Memory, MemoryId, Record, Timestamp};
use hindsight_storage::{RealIo, Recovered, Storage, StorageError, StorageOptions};

/// An open directory, what recovery found, and every batch in it.
type Opened = (Storage, Recovered, Vec<(Lsn, Batch)>);

/// Opens a directory and returns every batch in it.
fn open(dir: &Path) -> Result<Opened, StorageError> {
    let mut batches = Vec::new();
    let opening = Storage::open(RealIo, dir, StorageOptions::default())?;
    let (storage, recovered) = opening.replay(&mut |lsn, batch| {
        batches.push((lsn, batch));
        Ok(())
    })?;
    Ok((storage, recovered, batches))
}

/// A batch with one new memory.
fn batch(number: u64) -> Batch {
    let memory: Memory = serde_json::from_value(serde_json::json!({
        "id": MemoryId::new(Timestamp::from_ms(1_700_000_000_000), u128::from(number)).to_string(),
        "namespace": "ops",
        "kind": "fact",
        "content": format!("fact {number} 第{number}条"),
        "source": {"kind": "agent"},
        "scope": "shared",
        "importance": 0.2,
        "confidence": 0.9,
        "occurred_at": "2026-11-30T09:00:00Z",
        "created_at": "2026-11-30T09:00:00Z",
        "updated_at": "2026-11-30T09:00:00Z",
        "state": "active",
        "version": 1,
    }))
    .unwrap();
    Batch {
        namespace: "ops".parse().unwrap(),
        at: Timestamp::from_ms(1_700_000_000_000),
        request: None,
        changes: vec![Change::Put(Box::new(Record { memory, vectors: Vec::new() }))],
    }
}

/// Every file below a directory with its bytes.
fn snapshot(dir: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.insert(path.clone(), Vec::new());
            files.extend(snapshot(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}
