//! What the tests of checkpoints share: an engine as small as can be, whose state at any LSN can be told beforehand.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use hindsight_core::{
    Batch, Change, Embedding, Lsn, Memory, MemoryId, NamedVector, Namespace, Record, RequestKey, Settings,
    State, Timestamp, VectorRole,
};

use super::MemIo;
use crate::{
    CheckpointReport, CheckpointSource, Digest, Loaded, LogOptions, NamespaceCheckpoint, NewSnapshot,
    RecordPosition, Recovered, SeenRequest, Storage, StorageError, StorageOptions, StoredCheckpoint,
    StoredNamespace, io::Io, record_digest,
};

pub(crate) const DIR: &str = "/data";
/// A batch without changes and with this request drops its namespace.
const DROP: &str = "drop";
/// A namespace with as many files is written anew.
const FILES_MAX: usize = 3;

/// Segments of 16 KiB.
pub(crate) fn small() -> StorageOptions {
    let log = LogOptions { segment_bytes: 16 << 10, preallocate_bytes: 4 << 10, ..LogOptions::default() };
    StorageOptions { log, reserve_bytes: 8 << 10, ..StorageOptions::default() }
}

/// A disk with nothing on it.
pub(crate) fn disk(seed: u64) -> MemIo {
    let io = MemIo::new(seed);
    io.create_dir_all(Path::new("/")).unwrap();
    io
}

/// A record whose content tells its id and version; some are long.
pub(crate) fn record(namespace: &Namespace, id: u128, version: u64) -> Record {
    let fill = "记忆 memory ".repeat(if id.is_multiple_of(5) { 300 } else { 3 });
    let memory: Memory = serde_json::from_value(serde_json::json!({
        "id": MemoryId::from_u128(id).to_string(),
        "namespace": namespace.as_str(),
        "kind": "fact",
        "content": format!("{id} version {version} {fill}"),
        "source": {"kind": "agent"},
        "scope": "shared",
        "importance": 0.2,
        "confidence": 0.9,
        "occurred_at": "2026-11-30T09:00:00Z",
        "created_at": "2026-11-30T09:00:00Z",
        "updated_at": "2026-11-30T09:00:00Z",
        "state": "active",
        "version": version,
    }))
    .unwrap();
    let embedding = Embedding::new(&[0.5, -0.25, 1.0]).unwrap();
    Record { memory, vectors: vec![NamedVector { role: VectorRole::Content, embedding }] }
}

/// A namespace as the engine holds it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Held {
    pub(crate) records: BTreeMap<MemoryId, (Lsn, Arc<Record>)>,
    pub(crate) requests: Vec<SeenRequest>,
    pub(crate) applied: Lsn,
    pub(crate) last_at: Option<Timestamp>,
    pub(crate) digest: Digest,
}

/// All namespaces at one LSN.
pub(crate) type Image = BTreeMap<Namespace, Held>;

/// What a namespace has that no checkpoint has stored.
#[derive(Debug, Default)]
struct Dirty {
    ids: BTreeSet<MemoryId>,
    requests: usize,
    /// What is stored of it was dropped.
    is_new: bool,
}

/// The engine.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    pub(crate) image: Image,
    dirty: BTreeMap<Namespace, Dirty>,
    dropped: BTreeMap<Namespace, Lsn>,
    /// Where records lie, as the checkpoints said.
    pub(crate) positions: BTreeMap<(Namespace, MemoryId), RecordPosition>,
    /// Whether its checkpoints write snapshots.
    pub(crate) snapshots: bool,
}

impl Engine {
    /// The batch that follows: which one it is depends on nothing but the state.
    pub(crate) fn next_batch(&self, lsn: u64) -> Batch {
        let namespace: Namespace = ["a", "b", "c"][(lsn % 3) as usize].parse().unwrap();
        let id = MemoryId::from_u128(u128::from(lsn / 3 % 6) + 1);
        let old = self.image.get(&namespace).and_then(|held| held.records.get(&id));
        let version = old.map_or(1, |(_, record)| record.memory.version + 1);
        let at = Timestamp::from_ms(1_000 + lsn as i64);
        let mut request = (lsn % 4 == 1)
            .then(|| RequestKey { id: format!("request {lsn}"), digest: u128::from(lsn) << 100 });
        let mut changes = vec![match old {
            Some(_) if lsn % 5 == 2 => Change::SetState { id, state: State::Forgotten, version, at },
            _ => Change::Put(Box::new(record(&namespace, id.as_u128(), version))),
        }];
        if lsn % 31 == 29 {
            (request, changes) = (Some(RequestKey { id: DROP.to_owned(), digest: 0 }), Vec::new());
        }
        Batch { namespace, at, request, changes }
    }

    pub(crate) fn apply(&mut self, lsn: Lsn, batch: Batch) {
        let Batch { namespace, at, request, changes } = batch;
        if self.image.get(&namespace).is_some_and(|held| lsn <= held.applied) {
            return;
        }
        if changes.is_empty() && request.as_ref().is_some_and(|request| request.id == DROP) {
            self.image.remove(&namespace);
            self.dirty.remove(&namespace);
            self.positions.retain(|(name, _), _| *name != namespace);
            self.dropped.insert(namespace, lsn);
            return;
        }
        let dirty = self.dirty.entry(namespace.clone()).or_default();
        dirty.is_new |= self.dropped.remove(&namespace).is_some();
        let held = self.image.entry(namespace).or_default();
        let ids: Vec<MemoryId> = changes.iter().filter_map(Change::id).collect();
        for change in changes {
            let record = match change {
                Change::Put(record) => *record,
                Change::SetState { id, state, version, at } => {
                    let mut record = Record::clone(&held.records[&id].1);
                    record.memory.enter(state);
                    record.memory.version = version;
                    record.memory.updated_at = at;
                    record
                }
                Change::Stand { .. } | Change::Access { .. } => unreachable!("none are made here"),
                // This engine drops by its own mark.
                Change::DropNamespace | Change::Purge(_) | Change::Settings(_) => continue,
            };
            dirty.ids.insert(record.memory.id);
            held.put(lsn, record);
        }
        if let Some(key) = request {
            held.requests.push(SeenRequest { key, ids, lsn });
            dirty.requests += 1;
        }
        (held.applied, held.last_at) = (lsn, Some(at));
    }

    pub(crate) fn take(&mut self, stored: &StoredNamespace, loaded: Vec<Loaded>) {
        let mut held = Held::default();
        for loaded in loaded {
            match loaded {
                Loaded::Record { position, lsn, record, .. } => {
                    self.positions.insert((stored.name.clone(), record.memory.id), position);
                    held.put(lsn, record);
                }
                Loaded::Request(request) => held.requests.push(request),
            }
        }
        assert_eq!((held.records.len() as u64, held.digest), (stored.live, stored.digest));
        (held.applied, held.last_at) = (stored.applied, stored.last_at);
        self.image.insert(stored.name.clone(), held);
    }
}

impl Held {
    fn put(&mut self, lsn: Lsn, record: Record) {
        let id = record.memory.id;
        self.digest.add(record_digest(id, record.memory.version, lsn));
        if let Some((lsn, old)) = self.records.insert(id, (lsn, Arc::new(record))) {
            self.digest.remove(record_digest(id, old.memory.version, lsn));
        }
    }
}

/// The state after the first `batches` batches.
pub(crate) fn image_at(batches: u64) -> Image {
    let mut engine = Engine::default();
    for lsn in 1..=batches {
        let batch = engine.next_batch(lsn);
        engine.apply(Lsn(lsn), batch);
    }
    engine.image
}

/// An engine during a checkpoint.
struct Source<'a> {
    engine: &'a mut Engine,
    storage: &'a Storage<MemIo>,
    todo: Vec<Namespace>,
    dropped: Vec<Namespace>,
    /// Called before each namespace is handed over: the writes that go on meanwhile.
    meanwhile: &'a mut dyn FnMut(&mut Engine, &Storage<MemIo>),
}

impl CheckpointSource for Source<'_> {
    fn next(&mut self) -> Option<NamespaceCheckpoint> {
        (self.meanwhile)(self.engine, self.storage);
        loop {
            let name = self.todo.pop()?;
            // Dropped meanwhile.
            let Some(held) = self.engine.image.get(&name) else { continue };
            let dirty = self.engine.dirty.get(&name)?;
            let files = self.storage.namespace_files(&name).map_or(0, |summary| summary.files);
            let rewrite = dirty.is_new || files >= FILES_MAX;
            let records = held.records.iter();
            let records = records.filter(|(id, _)| rewrite || dirty.ids.contains(id));
            let first = if rewrite { 0 } else { held.requests.len() - dirty.requests };
            return Some(NamespaceCheckpoint {
                applied: held.applied,
                last_at: held.last_at,
                live: held.records.len() as u64,
                forgotten: 0,
                digest: held.digest,
                model: None,
                settings: Settings::default(),
                records: records.map(|(_, record)| record.clone()).collect(),
                requests: held.requests[first..].to_vec(),
                rewrite,
                snapshot: if self.engine.snapshots { snapshot_of(held.applied) } else { NewSnapshot::Keep },
                name,
            });
        }
    }

    fn stored(&mut self, stored: StoredCheckpoint) {
        let positions = stored.positions.into_iter();
        if self.engine.image.get(&stored.name).is_some_and(|held| held.applied == stored.applied) {
            self.engine.dirty.remove(&stored.name);
            self.engine
                .positions
                .extend(positions.map(|(id, position)| ((stored.name.clone(), id), position)));
        }
    }

    fn dropped(&mut self, checkpoint: Lsn) -> Vec<Namespace> {
        let dropped = self.engine.dropped.iter().filter(|(_, lsn)| **lsn <= checkpoint);
        self.dropped = dropped.map(|(name, _)| name.clone()).collect();
        self.dropped.clone()
    }
}

/// Something else for each position: kept, written anew, dropped.
fn snapshot_of(applied: Lsn) -> NewSnapshot {
    match applied.0 % 4 {
        0 => NewSnapshot::Keep,
        1 => NewSnapshot::Drop,
        lsn => NewSnapshot::Write(vec![u8::try_from(lsn).unwrap_or(0); 700]),
    }
}

/// Takes a checkpoint; `meanwhile` is called before each namespace.
pub(crate) fn checkpoint_while(
    engine: &mut Engine,
    storage: &Storage<MemIo>,
    meanwhile: &mut dyn FnMut(&mut Engine, &Storage<MemIo>),
) -> Result<CheckpointReport, StorageError> {
    let todo = engine.dirty.keys().cloned().collect();
    let mut source = Source { engine, storage, todo, dropped: Vec::new(), meanwhile };
    let report = storage.checkpoint(&mut source)?;
    let dropped = source.dropped;
    engine.dropped.retain(|name, _| !dropped.contains(name));
    Ok(report)
}

/// Takes a checkpoint while nothing else happens.
pub(crate) fn checkpoint(
    engine: &mut Engine,
    storage: &Storage<MemIo>,
) -> Result<CheckpointReport, StorageError> {
    checkpoint_while(engine, storage, &mut |_, _| {})
}

/// Appends the next batch. It is not durable yet.
pub(crate) fn append(engine: &mut Engine, storage: &Storage<MemIo>) -> Result<Lsn, StorageError> {
    let lsn = storage.log().next_lsn();
    let batch = engine.next_batch(lsn.0);
    assert_eq!(storage.append(&batch)?, lsn);
    engine.apply(lsn, batch);
    Ok(lsn)
}

/// Appends and commits `count` batches one by one.
pub(crate) fn commit(engine: &mut Engine, storage: &Storage<MemIo>, count: u64) -> Result<(), StorageError> {
    for _ in 0..count {
        append(engine, storage)?;
        storage.commit_step()?;
    }
    Ok(())
}

/// An open directory.
pub(crate) type Opened = (Engine, Storage<MemIo>, Recovered);

/// Opens the directory, loads everything and replays the rest.
pub(crate) fn open(io: &MemIo) -> Result<Opened, StorageError> {
    let mut engine = Engine::default();
    let opening = Storage::open(io.clone(), Path::new(DIR), small())?;
    for stored in opening.namespaces() {
        let mut loaded = Vec::new();
        let found = opening.records().load(stored.id, &mut |entry| {
            loaded.push(entry);
            Ok(())
        })?;
        assert_eq!(found.as_ref(), Some(&stored));
        engine.take(&stored, loaded);
    }
    let (storage, recovered) = opening.replay(&mut |lsn, batch| {
        engine.apply(lsn, batch);
        Ok(())
    })?;
    Ok((engine, storage, recovered))
}
