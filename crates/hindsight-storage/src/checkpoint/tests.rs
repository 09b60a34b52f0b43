use std::{collections::BTreeSet, path::Path};

use hindsight_core::Settings;

use super::*;
use crate::{
    StorageErrorKind,
    io::Io,
    records::{namespace_dir, parse_record_file, record_path},
    snapshot::snapshot_path,
    testing::{
        Fault, FaultKind, MemIo,
        stores::{
            DIR, Engine, Image, append, checkpoint, checkpoint_while, commit, disk, image_at, open, record,
        },
    },
};

mod crash;
mod damage;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// The files below `ns/` are those that the manifest names, and no others.
fn assert_files_are_named(io: &MemIo, storage: &Storage<MemIo>) {
    let state = storage.records().state().read();
    let ns = storage.records().ns();
    let named = state.namespaces.values();
    let named: BTreeSet<_> = named
        .flat_map(|namespace| {
            let snapshot = namespace.snapshot.map(|snapshot| snapshot_path(ns, namespace.id, snapshot.lsn));
            let files = namespace.files.keys().map(|number| record_path(ns, namespace.id, *number));
            files.chain(snapshot)
        })
        .collect();
    let found = io.files().into_iter().map(|(path, _)| path);
    let found: BTreeSet<_> = found.filter(|path| path.starts_with(ns)).collect();
    assert_eq!(found, named);
}

/// Every position that a checkpoint or a load told of leads to the record, unless it changed since.
fn assert_positions(engine: &Engine, storage: &Storage<MemIo>) {
    for ((name, id), position) in &engine.positions {
        let Some((lsn, record)) = engine.image.get(name).and_then(|held| held.records.get(id)) else {
            continue;
        };
        let found = storage.read_at(*position).unwrap();
        if let Some((found_id, found_lsn, found)) = found {
            assert_eq!(found_id, *id);
            assert!(found_lsn <= *lsn);
            assert!(found_lsn < *lsn || found == **record, "{name} {id}");
        }
    }
}

#[test]
fn what_a_checkpoint_stored_is_there_without_the_log() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 20).unwrap();
    assert!(storage.log_bytes() > 0 && !storage.is_checkpoint_due());
    let report = checkpoint(&mut engine, &storage).unwrap();
    assert_eq!((report.checkpoint, report.namespaces, storage.checkpoint_lsn()), (Lsn(20), 3, Lsn(20)));
    assert_eq!((report.records, report.unremoved), (18, 0));
    assert_eq!(storage.log_bytes(), 0);
    assert_positions(&engine, &storage);
    assert_files_are_named(&io, &storage);
    commit(&mut engine, &storage, 3).unwrap();
    drop(storage);
    let (engine, storage, recovered) = open(&io).unwrap();
    assert_eq!((recovered.batches, recovered.last_lsn), (3, Lsn(23)));
    assert_eq!(storage.log_bytes(), recovered.bytes_replayed);
    assert_eq!(engine.image, image_at(23));
    assert_positions(&engine, &storage);
}

#[test]
fn nothing_to_do_writes_nothing() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 4).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    let before = io.files();
    let report = checkpoint(&mut engine, &storage).unwrap();
    assert_eq!((report.checkpoint, report.namespaces, report.bytes), (Lsn(4), 0, 0));
    assert!(io.files() == before);
}

#[test]
fn writes_go_on_during_a_checkpoint_and_none_is_lost() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 10).unwrap();
    let report = checkpoint_while(&mut engine, &storage, &mut |engine, storage| {
        // Not durable yet: the checkpoint has to wait for them.
        append(engine, storage).unwrap();
        append(engine, storage).unwrap();
    })
    .unwrap();
    assert_eq!(report.checkpoint, Lsn(10));
    let newest = storage.log().newest_lsn();
    assert_eq!((newest, storage.synced_lsn()), (Lsn(18), Lsn(18)));
    for seed in 0..20 {
        let (engine, _, recovered) = open(&io.after_crash(seed)).unwrap();
        assert_eq!((recovered.last_lsn, engine.image), (newest, image_at(newest.0)));
    }
}

#[test]
fn a_checkpoint_waits_for_the_committer_when_there_is_one() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    storage.spawn_committer().unwrap();
    for _ in 0..30 {
        append(&mut engine, &storage).unwrap();
        checkpoint(&mut engine, &storage).unwrap();
    }
    storage.close().unwrap();
    assert!(matches!(checkpoint(&mut engine, &storage), Err(StorageError::Closed)));
    drop(storage);
    assert_eq!(open(&io).unwrap().0.image, image_at(30));
}

#[test]
fn a_rewritten_namespace_has_one_file_and_old_positions_lead_nowhere() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    let mut removed = 0;
    let mut old = None;
    for _ in 0..8 {
        commit(&mut engine, &storage, 3).unwrap();
        let report = checkpoint(&mut engine, &storage).unwrap();
        removed += report.files_removed;
        old = old.or_else(|| engine.positions.values().next().copied());
    }
    assert!(removed >= 9, "{removed}");
    assert_files_are_named(&io, &storage);
    let name: Namespace = "a".parse().unwrap();
    let files = storage.namespace_files(&name).unwrap();
    assert!(files.files <= 3, "{files:?}");
    assert_eq!(storage.read_at(old.unwrap()).unwrap(), None);
    drop(storage);
    assert_eq!(open(&io).unwrap().0.image, image_at(24));
}

#[test]
fn a_dropped_namespace_loses_its_folder_and_its_number() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 28).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    let name: Namespace = "c".parse().unwrap();
    let id = storage.records().namespace(&name).unwrap().id;
    let folder = namespace_dir(storage.records().ns(), id);
    assert!(!io.list(&folder).unwrap().is_empty());
    // Batch 29 drops namespace c.
    commit(&mut engine, &storage, 1).unwrap();
    assert!(!engine.image.contains_key(&name));
    let report = checkpoint(&mut engine, &storage).unwrap();
    assert_eq!(report.files_removed, 1);
    assert!(io.list(&folder).is_err());
    assert_eq!(storage.load_namespace(&name, &mut |_| Ok(())).unwrap(), None);
    // Batch 32 makes it anew.
    commit(&mut engine, &storage, 3).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    assert!(storage.records().namespace(&name).unwrap().id > id);
    drop(storage);
    assert_eq!(open(&io).unwrap().0.image, image_at(32));
}

#[test]
fn a_namespace_dropped_and_made_anew_before_the_checkpoint_has_nothing_old() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 28).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    commit(&mut engine, &storage, 4).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    drop(storage);
    let (engine, ..) = open(&io).unwrap();
    assert_eq!(engine.image, image_at(32));
    assert_eq!(engine.image[&"c".parse::<Namespace>().unwrap()].records.len(), 1);
}

/// Namespaces with one small record each.
struct Many {
    names: Vec<Namespace>,
    lsn: Lsn,
    stored: usize,
}

impl CheckpointSource for Many {
    fn next(&mut self) -> Option<NamespaceCheckpoint> {
        let name = self.names.pop()?;
        let record = Arc::new(record(&name, 1, 1));
        let mut digest = Digest::default();
        digest.add(crate::record_digest(record.memory.id, 1, self.lsn));
        Some(NamespaceCheckpoint {
            name,
            applied: self.lsn,
            last_at: None,
            live: 1,
            forgotten: 0,
            digest,
            model: None,
            settings: Settings::default(),
            records: vec![(self.lsn, record)],
            requests: Vec::new(),
            rewrite: false,
            snapshot: NewSnapshot::Keep,
        })
    }

    fn stored(&mut self, stored: StoredCheckpoint) {
        assert_eq!(stored.positions.len(), 1);
        self.stored += 1;
    }
}

#[test]
fn ten_thousand_tiny_namespaces_cost_a_few_syncs() {
    const MANY: usize = 10_000;
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 1).unwrap();
    let names = (0..MANY).map(|number| format!("agent-{number}").parse().unwrap()).collect();
    let mut many = Many { names, lsn: Lsn(1), stored: 0 };
    let before = io.counts();
    let report = storage.checkpoint(&mut many).unwrap();
    let after = io.counts();
    assert_eq!((report.namespaces, many.stored), (MANY, MANY));
    // Three rounds: content, names and manifest of each, and the log.
    assert!(after.syncs - before.syncs <= 12, "{} syncs", after.syncs - before.syncs);
    drop(storage);
    let before = io.counts();
    let opening = Storage::open(io.clone(), Path::new(DIR), crate::testing::stores::small()).unwrap();
    assert_eq!(opening.namespaces().len(), MANY);
    let (storage, _) = opening.replay(&mut |_, _| Ok(())).unwrap();
    assert!(io.counts().syncs - before.syncs < 10);
    let name = "agent-77".parse().unwrap();
    assert!(storage.load_namespace(&name, &mut |_| Ok(())).unwrap().is_some());
}

#[test]
fn the_log_stays_short() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    let log_dir = Path::new(DIR).join("log");
    let log_bytes = || {
        let files = io.files().into_iter().filter(|(path, _)| path.starts_with(&log_dir));
        files.map(|(_, bytes)| bytes.len() as u64).sum::<u64>()
    };
    let mut largest = 0;
    for _ in 0..40 {
        // As a busy server does it: a checkpoint for each 32 KiB, which is two segments here.
        while storage.log_bytes() < 32 << 10 {
            commit(&mut engine, &storage, 1).unwrap();
        }
        largest = largest.max(log_bytes());
        checkpoint(&mut engine, &storage).unwrap();
        assert!(log_bytes() <= 16 << 10, "{}", log_bytes());
    }
    assert!(largest <= (2 * 32 + 16) << 10, "{largest}");
    let lsn = storage.synced_lsn();
    drop(storage);
    let (engine, _, recovered) = open(&io).unwrap();
    assert_eq!((recovered.last_lsn, recovered.batches), (lsn, 0));
    assert_eq!(engine.image, image_at(lsn.0));
}

#[test]
fn a_source_that_contradicts_itself_is_refused_and_nothing_is_stored() {
    struct One(Option<NamespaceCheckpoint>);
    impl CheckpointSource for One {
        fn next(&mut self) -> Option<NamespaceCheckpoint> {
            self.0.take()
        }
    }
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 6).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    let before = io.files();
    let name: Namespace = "a".parse().unwrap();
    let other: Namespace = "b".parse().unwrap();
    let good = NamespaceCheckpoint {
        name: name.clone(),
        applied: Lsn(6),
        last_at: None,
        live: 2,
        forgotten: 0,
        digest: Digest::default(),
        model: None,
        settings: Settings::default(),
        records: vec![(Lsn(6), Arc::new(record(&name, 1, 2)))],
        requests: Vec::new(),
        rewrite: false,
        snapshot: NewSnapshot::Keep,
    };
    let bad = [
        NamespaceCheckpoint { applied: Lsn(7), ..good.clone() },
        NamespaceCheckpoint { applied: Lsn(2), ..good.clone() },
        NamespaceCheckpoint { rewrite: true, ..good.clone() },
        NamespaceCheckpoint { records: vec![(Lsn(7), Arc::new(record(&name, 1, 2)))], ..good.clone() },
        NamespaceCheckpoint { records: vec![(Lsn(6), Arc::new(record(&other, 1, 2)))], ..good.clone() },
    ];
    for checkpoint in bad {
        let error = storage.checkpoint(&mut One(Some(checkpoint.clone()))).unwrap_err();
        assert!(matches!(error, StorageError::Unfit(_)), "{checkpoint:?}: {error:?}");
        assert_eq!(error.kind(), StorageErrorKind::Unstorable);
        assert!(io.files() == before);
    }
    // Live and digest of a part can't be held against anything before they are loaded.
    storage.checkpoint(&mut One(Some(good))).unwrap();
    drop(storage);
    assert!(matches!(open(&io), Err(StorageError::CorruptNamespace { live: 2, .. })));
}

#[test]
fn a_full_disk_stops_a_checkpoint_and_not_the_database() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 9).unwrap();
    // Beginning to write is what needs space; a sync that fails is another matter.
    io.inject(Fault { at_call: io.counts().calls + 1, kind: FaultKind::Errno(ENOSPC), is_sticky: false });
    let error = checkpoint(&mut engine, &storage).unwrap_err();
    assert!(matches!(error, StorageError::Io(_)), "{error:?}");
    assert_eq!(storage.poison().map(|failure| failure.op), None);
    assert_files_are_named(&io, &storage);
    commit(&mut engine, &storage, 3).unwrap();
    assert_eq!(checkpoint(&mut engine, &storage).unwrap().checkpoint, Lsn(12));
    drop(storage);
    assert_eq!(open(&io).unwrap().0.image, image_at(12));
}

#[test]
fn reading_goes_on_while_a_namespace_is_rewritten() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    let storage = Arc::new(storage);
    commit(&mut engine, &storage, 12).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    let name: Namespace = "a".parse().unwrap();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut loads = 0;
            while !is_done.load(Ordering::Relaxed) || loads == 0 {
                let mut records = 0;
                let found = storage.load_namespace(&name, &mut |_| {
                    records += 1;
                    Ok(())
                });
                assert!(found.unwrap().unwrap().live > 0 && records > 0);
                loads += 1;
            }
        });
        for _ in 0..30 {
            commit(&mut engine, &storage, 3).unwrap();
            if !engine.image.contains_key(&name) {
                break;
            }
            checkpoint(&mut engine, &storage).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
}

fn images(image: &Image) -> usize {
    image.values().map(|held| held.records.len()).sum()
}

#[test]
fn the_workload_of_these_tests_is_not_empty() {
    assert!(images(&image_at(28)) >= 15);
    assert!(image_at(50).values().any(|held| !held.requests.is_empty()));
    assert_eq!(parse_record_file(std::ffi::OsStr::new("records-00000001.rec")), Some(1));
}
