use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

use hindsight_core::{Change, Lsn, MemoryId, Namespace, Record, RequestKey};
use hindsight_storage::{
    CheckpointSource, Digest, Loaded, NamespaceCheckpoint, RealIo, SeenRequest, Storage, StorageOptions,
    StoredCheckpoint, record_digest,
};

use crate::batch;

/// Namespaces that hold one record each, all of the batch with this number.
#[derive(Default)]
struct Source {
    todo: Vec<NamespaceCheckpoint>,
    stored: Vec<StoredCheckpoint>,
    dropped: Vec<Namespace>,
}

impl CheckpointSource for Source {
    fn next(&mut self) -> Option<NamespaceCheckpoint> {
        self.todo.pop()
    }

    fn stored(&mut self, stored: StoredCheckpoint) {
        self.stored.push(stored);
    }

    fn dropped(&mut self, _: Lsn) -> Vec<Namespace> {
        std::mem::take(&mut self.dropped)
    }
}

fn record(name: &Namespace, lsn: u64) -> Record {
    let Change::Put(mut record) = batch(lsn).changes.remove(0) else {
        unreachable!("a batch has one record")
    };
    record.memory.namespace = name.clone();
    *record
}

fn namespace(name: &str, lsn: u64) -> NamespaceCheckpoint {
    let name: Namespace = name.parse().unwrap();
    let record = record(&name, lsn);
    let mut digest = Digest::default();
    digest.add(record_digest(record.memory.id, record.memory.version, Lsn(lsn)));
    let key = RequestKey { id: format!("request {lsn}"), digest: 1 };
    NamespaceCheckpoint {
        applied: Lsn(lsn),
        last_at: None,
        live: 1,
        forgotten: 0,
        digest,
        model: None,
        settings: hindsight_core::Settings::default(),
        requests: vec![SeenRequest { key, ids: vec![record.memory.id], lsn: Lsn(lsn) }],
        records: vec![(Lsn(lsn), Arc::new(record))],
        rewrite: true,
        name,
        snapshot: hindsight_storage::NewSnapshot::Keep,
    }
}

fn open(dir: &Path) -> (Storage, Vec<Lsn>) {
    let mut replayed = Vec::new();
    let opening = Storage::open(RealIo, dir, StorageOptions::default()).unwrap();
    let (storage, _) = opening
        .replay(&mut |lsn, _| {
            replayed.push(lsn);
            Ok(())
        })
        .unwrap();
    (storage, replayed)
}

/// Few files are synced one by one, many with the whole file system; both on a real one.
#[test]
fn namespaces_are_stored_rewritten_and_dropped() {
    for count in [3_u64, 40] {
        let dir = tempfile::tempdir().unwrap();
        let (storage, _) = open(dir.path());
        storage.spawn_committer().unwrap();
        for lsn in 1..=2 {
            storage.append(&batch(lsn)).unwrap();
        }
        storage.wait_synced(Lsn(2)).unwrap();
        let names: Vec<String> = (0..count).map(|number| format!("agent-{number}")).collect();
        let mut files = BTreeMap::new();
        for lsn in 1..=2 {
            let todo = names.iter().map(|name| namespace(name, lsn)).collect();
            let mut source = Source { todo, ..Source::default() };
            let report = storage.checkpoint(&mut source).unwrap();
            assert_eq!((report.namespaces as u64, report.records, report.unremoved), (count, count, 0));
            assert_eq!(report.files_removed as u64, if lsn == 1 { 0 } else { count });
            for stored in source.stored {
                let [(id, position)] = stored.positions.as_slice() else { panic!("{stored:?}") };
                let (found, found_lsn, found_record) = storage.read_at(*position).unwrap().unwrap();
                assert_eq!((found, found_lsn), (*id, Lsn(lsn)));
                assert_eq!(found_record, record(&stored.name, lsn));
                if let Some(before) = files.insert(stored.name, *position) {
                    assert_eq!(storage.read_at(before).unwrap(), None);
                }
            }
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = dir.path().join("ns/00000001");
        assert_eq!((mode(&folder), mode(&folder.join("records-00000002.rec"))), (0o700, 0o600));
        let mut source = Source { dropped: vec!["agent-1".parse().unwrap()], ..Source::default() };
        assert_eq!(storage.checkpoint(&mut source).unwrap().files_removed, 1);
        storage.close().unwrap();
        drop(storage);

        let (storage, replayed) = open(dir.path());
        assert_eq!((replayed, storage.checkpoint_lsn()), (Vec::new(), Lsn(2)));
        assert_eq!(fs::read_dir(dir.path().join("ns")).unwrap().count() as u64, count - 1);
        for name in &names {
            let mut loaded: Vec<Loaded> = Vec::new();
            let name: Namespace = name.parse().unwrap();
            let stored = storage.load_namespace(&name, &mut |entry| {
                loaded.push(entry);
                Ok(())
            });
            let Some(stored) = stored.unwrap() else {
                assert_eq!(name.as_str(), "agent-1");
                continue;
            };
            assert_eq!((stored.applied, stored.live, stored.files.len()), (Lsn(2), 1, 1));
            let [Loaded::Record { record: found, lsn, .. }, Loaded::Request(request)] = loaded.as_slice()
            else {
                panic!("{loaded:?}")
            };
            assert_eq!((found, *lsn), (&record(&name, 2), Lsn(2)));
            assert_eq!((request.key.id.as_str(), request.lsn), ("request 2", Lsn(2)));
            assert_eq!(request.ids, [MemoryId::from_u128(found.memory.id.as_u128())]);
        }
    }
}
