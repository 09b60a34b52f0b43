use std::{fs, thread};

use hindsight_core::Lsn;
use hindsight_storage::{StorageError, StorageErrorKind};

use crate::{batch, open, snapshot};

#[test]
fn what_was_acknowledged_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let (storage, recovered, batches) = open(dir.path()).unwrap();
    assert_eq!((recovered.last_lsn, batches.len()), (Lsn(0), 0));
    storage.spawn_committer().unwrap();
    for number in 1..=20 {
        assert_eq!(storage.append(&batch(number)).unwrap(), Lsn(number));
    }
    storage.wait_synced(Lsn(20)).unwrap();
    // No close: this is how a kill leaves it.
    drop(storage);
    let (storage, recovered, batches) = open(dir.path()).unwrap();
    assert_eq!(batches, (1..=20).map(|number| (Lsn(number), batch(number))).collect::<Vec<_>>());
    assert_eq!((recovered.clean_shutdown, storage.synced_lsn()), (false, Lsn(20)));
    storage.close().unwrap();
    drop(storage);
    assert!(open(dir.path()).unwrap().1.clean_shutdown);
}

#[test]
fn many_writers_each_find_what_they_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let (storage, ..) = open(dir.path()).unwrap();
    storage.spawn_committer().unwrap();
    let mut written = thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let storage = &storage;
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    let append = |at: u64| {
                        let batch = batch(writer * 1_000 + at);
                        let lsn = storage.append(&batch).unwrap();
                        runtime.block_on(storage.synced(lsn)).unwrap();
                        (lsn, batch)
                    };
                    (0..25).map(append).collect::<Vec<_>>()
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    storage.close().unwrap();
    drop(storage);
    written.sort_unstable_by_key(|(lsn, _)| *lsn);
    assert_eq!(open(dir.path()).unwrap().2, written);
}

#[test]
fn a_damaged_batch_stops_the_start_and_nothing_is_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (storage, ..) = open(dir.path()).unwrap();
    for number in 1..=3 {
        storage.append(&batch(number)).unwrap();
    }
    storage.close().unwrap();
    drop(storage);
    let path = dir.path().join("log/00000000000000000001.log");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|window| window == b"fact 2").unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let before = snapshot(dir.path());
    let error = open(dir.path()).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), StorageErrorKind::Corrupt);
    assert!(
        matches!(&error, StorageError::Corrupt { path: found, lsn: Lsn(2), durable_lsn: Lsn(3), .. } if *found == path),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.contains("00000000000000000001.log") && text.contains("lsn 2") && text.contains("byte "),
        "{text}"
    );
    // Only the lock says that somebody looked.
    let without_lock = |mut files: std::collections::BTreeMap<_, _>| {
        files.remove(&dir.path().join("LOCK"));
        files
    };
    assert_eq!(without_lock(snapshot(dir.path())), without_lock(before));
}

#[test]
fn a_replay_that_is_refused_says_where() {
    let dir = tempfile::tempdir().unwrap();
    let (storage, ..) = open(dir.path()).unwrap();
    for number in 1..=3 {
        storage.append(&batch(number)).unwrap();
    }
    storage.close().unwrap();
    drop(storage);
    let opening = hindsight_storage::Storage::open(
        hindsight_storage::RealIo,
        dir.path(),
        hindsight_storage::StorageOptions::default(),
    );
    let result =
        opening.unwrap().replay(&mut |lsn, _| if lsn == Lsn(2) { Err("a gap".into()) } else { Ok(()) });
    assert!(matches!(result.map(|_| ()), Err(StorageError::Replay { lsn: Lsn(2), .. })));
}
