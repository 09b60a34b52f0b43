//! What is backed up comes back, and nothing else does.

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use hindsight_core::Lsn;

use super::*;
use crate::{
    RealIo, Storage, StorageError, StorageErrorKind, StorageOptions,
    checkpoint::CheckpointReport,
    testing::{
        MemIo,
        stores::{Engine, Image, checkpoint, commit, disk, image_at, open},
    },
};

/// A database with stored namespaces, and batches behind its checkpoint.
fn database(seed: u64, before: u64, after: u64) -> (MemIo, Engine, Storage<MemIo>) {
    let io = disk(seed);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, before).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    commit(&mut engine, &storage, after).unwrap();
    (io, engine, storage)
}

fn taken(storage: &Storage<MemIo>) -> (Vec<u8>, BackupReport) {
    let mut bytes = Vec::new();
    let report = storage.backup(&mut bytes).unwrap();
    assert_eq!((report.bytes, report.blake3), (bytes.len() as u64, *blake3::hash(&bytes).as_bytes()));
    (bytes, report)
}

/// Everything that a directory on the real disk holds, and the newest batch of its log.
fn image(dir: &Path) -> (Image, Lsn) {
    let mut engine = Engine::default();
    let opening = Storage::open(RealIo, dir, StorageOptions::default()).unwrap();
    for stored in opening.namespaces() {
        let mut loaded = Vec::new();
        let found = opening.records().load(stored.id, &mut |entry| {
            loaded.push(entry);
            Ok(())
        });
        assert_eq!(found.unwrap().as_ref(), Some(&stored));
        engine.take(&stored, loaded);
    }
    let (_, recovered) = opening
        .replay(&mut |lsn, batch| {
            engine.apply(lsn, batch);
            Ok(())
        })
        .unwrap();
    (engine.image, recovered.last_lsn)
}

fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn refused(bytes: &[u8]) -> BackupError {
    let folder = tempfile::tempdir().unwrap();
    let error = restore(&Arc::new(RealIo), bytes, &folder.path().join("target")).unwrap_err();
    assert_eq!(names_in(folder.path()), [""; 0], "a refused backup leaves nothing: {error}");
    error
}

#[test]
fn d10_a_backup_is_the_state_at_its_lsn_and_comes_back_as_it() {
    for (before, after) in [(0, 0), (0, 40), (70, 0), (200, 53)] {
        let (io, _, storage) = database(1, before, after);
        let (bytes, report) = taken(&storage);
        assert_eq!(report.lsn, Lsn(before + after));
        assert_eq!(report.batches, after, "what is in record files is not in the log, too");
        assert_eq!(verify(&bytes[..]).unwrap(), report);
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("restored");
        assert_eq!(restore(&Arc::new(RealIo), &bytes[..], &target).unwrap(), report);
        assert_eq!(names_in(folder.path()), ["restored"]);
        assert_eq!(image(&target), (image_at(before + after), report.lsn));
        let found = crate::verify::verify(&RealIo, &target, &mut |file| {
            assert_eq!(file.state, crate::verify::FileState::Ok, "{file:?}");
        });
        assert!(found.unwrap().is_sound());
        // It is the same database, and the one that was backed up is as it was.
        assert_eq!(storage.format().store_id, report.store_id);
        drop(storage);
        assert_eq!(open(&io).unwrap().0.image, image_at(before + after));
    }
}

#[test]
fn what_came_back_goes_on() {
    let (_, _, storage) = database(2, 60, 10);
    let (bytes, _) = taken(&storage);
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("restored");
    // An empty directory that is there already is as good as none.
    std::fs::create_dir(&target).unwrap();
    restore(&Arc::new(RealIo), &bytes[..], &target).unwrap();
    let opening = Storage::open(RealIo, &target, StorageOptions::default()).unwrap();
    let (storage, _) = opening.replay(&mut |_, _| Ok(())).unwrap();
    let batch = Engine::default().next_batch(71);
    assert_eq!(storage.append(&batch).unwrap(), Lsn(71));
    storage.commit_step().unwrap();
    // And can be backed up itself.
    let mut second = Vec::new();
    assert_eq!(storage.backup(&mut second).unwrap().lsn, Lsn(71));
    assert_eq!(verify(&second[..]).unwrap().batches, 11);
}

/// Calls back once, after a number of bytes.
struct Slow<F> {
    bytes: Vec<u8>,
    at: usize,
    then: Option<F>,
}

impl<F: FnMut()> Write for Slow<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= self.at
            && let Some(mut then) = self.then.take()
        {
            then();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writes_and_checkpoints_go_on_under_a_slow_reader() {
    let (io, mut engine, storage) = database(3, 90, 30);
    // At any point of the stream everything that the backup names becomes outdated: namespaces are written anew, their
    // files and the log's segments are dropped.
    for part in 0..6 {
        let lsn = storage.synced_lsn();
        let (whole, _) = taken(&storage);
        let mut removed = CheckpointReport::default();
        let then = || {
            for _ in 0..5 {
                commit(&mut engine, &storage, 60).unwrap();
                removed = checkpoint(&mut engine, &storage).unwrap();
            }
        };
        let mut slow = Slow { bytes: Vec::new(), at: whole.len() * part / 6, then: Some(then) };
        let report = storage.backup(&mut slow).unwrap();
        let bytes = slow.bytes;
        assert_eq!(report.lsn, lsn);
        assert!(removed.unremoved > 0, "the backup held nothing: {removed:?}");
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("restored");
        restore(&Arc::new(RealIo), &bytes[..], &target).unwrap();
        assert_eq!(image(&target), (image_at(lsn.0), lsn));
        // Nothing is held any more, so the next checkpoint removes what has become outdated meanwhile.
        commit(&mut engine, &storage, 1).unwrap();
        let after = checkpoint(&mut engine, &storage).unwrap();
        assert!(after.files_removed > 0, "{after:?} after {removed:?}");
        assert_eq!(after.unremoved, 0);
    }
    let lsn = storage.synced_lsn().0;
    drop(storage);
    assert_eq!(open(&io).unwrap().0.image, image_at(lsn));
}

#[test]
fn a_reader_that_goes_away_ends_the_backup_and_holds_nothing() {
    struct Gone(usize);
    impl Write for Gone {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (_, _, storage) = database(4, 60, 10);
    let error = storage.backup(&mut Gone(3_000)).unwrap_err();
    assert!(matches!(error, BackupError::Write(_)), "{error}");
    assert!(!storage.records().is_pinned());
}

#[test]
fn d10_every_flipped_bit_is_refused() {
    let (_, _, storage) = database(5, 60, 20);
    let (bytes, _) = taken(&storage);
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = (seed >> 11) as usize % (bytes.len() * 8);
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let error = refused(&damaged);
        let is_right = match &error {
            BackupError::NotABackup => bit / 8 < 8,
            BackupError::Damaged { .. } => true,
            _ => false,
        };
        assert!(is_right, "round {round}, bit {bit}: {error}");
    }
}

#[test]
fn d10_a_backup_that_ends_early_or_late_is_refused() {
    let (_, _, storage) = database(6, 60, 20);
    let (bytes, _) = taken(&storage);
    let mut lengths: Vec<usize> = (0..bytes.len()).step_by(bytes.len() / 150).collect();
    lengths.extend(bytes.len() - TRAILER_BYTES - 2..bytes.len());
    for len in lengths {
        let error = refused(&bytes[..len]);
        assert!(len < 8 || matches!(error, BackupError::Damaged { .. }), "{len} bytes: {error}");
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert!(matches!(refused(&longer), BackupError::Damaged { fault: BackupFault::Trailing, .. }));
    let twice = [&bytes[..], &bytes[..]].concat();
    assert!(matches!(refused(&twice), BackupError::Damaged { fault: BackupFault::Trailing, .. }));
}

#[test]
fn a_newer_backup_and_what_is_none_are_refused_by_name() {
    let (_, _, storage) = database(7, 30, 0);
    let (mut bytes, _) = taken(&storage);
    bytes[8] = 2;
    let crc = {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..12]);
        hasher.update(&bytes[16..HEADER_BYTES]);
        hasher.finalize()
    };
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    let error = refused(&bytes);
    assert!(matches!(error, BackupError::Version { found: 2 }), "{error}");
    assert_eq!(error.kind(), StorageErrorKind::Refused);
    assert!(matches!(refused(b"PK\x03\x04 something else"), BackupError::NotABackup));
    assert!(matches!(refused(b""), BackupError::NotABackup));
}

#[test]
fn a_directory_with_something_in_it_is_not_touched() {
    let (_, _, storage) = database(8, 30, 5);
    let (bytes, _) = taken(&storage);
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    std::fs::create_dir(&target).unwrap();
    std::fs::write(target.join("photo.jpg"), "x").unwrap();
    let error = restore(&Arc::new(RealIo), &bytes[..], &target).unwrap_err();
    assert!(matches!(&error, BackupError::NotEmpty { path } if *path == target), "{error}");
    assert_eq!(
        (names_in(folder.path()), names_in(&target)),
        (vec!["target".to_owned()], vec!["photo.jpg".to_owned()])
    );
    let file = target.join("photo.jpg");
    let error = restore(&Arc::new(RealIo), &bytes[..], &file).unwrap_err();
    assert!(matches!(error, BackupError::Storage(StorageError::NotADirectory { .. })), "{error}");
}

#[test]
fn a_database_that_is_damaged_gives_no_backup() {
    let (io, _, storage) = database(9, 60, 20);
    drop(storage);
    let files = io.files();
    for (kind, what) in [(".rec", "record file"), (".log", "segment")] {
        let path =
            files.iter().rev().map(|(path, _)| path).find(|path| path.to_string_lossy().ends_with(kind));
        let path = path.unwrap();
        let (_, storage, _) = open(&io).unwrap();
        let mut bytes = io.read_file(path).unwrap();
        let whole = bytes.clone();
        let at = bytes.iter().rposition(|byte| *byte != 0).unwrap() - 60;
        bytes[at] ^= 4;
        io.put_file(path, &bytes);
        let mut out = Vec::new();
        let error = storage.backup(&mut out).unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Corrupt, "{what}: {error}");
        assert!(verify(&out[..]).is_err(), "{what}: half a backup passes for one");
        drop(storage);
        io.put_file(path, &whole);
    }
}

#[test]
fn d6_a_poisoned_database_can_be_backed_up() {
    let (io, _, storage) = database(10, 60, 20);
    let fault = crate::testing::Fault {
        at_call: io.counts().calls,
        kind: crate::testing::FaultKind::Errno(5),
        is_sticky: true,
    };
    io.inject(fault);
    storage.append(&Engine::default().next_batch(81)).unwrap();
    assert!(storage.commit_step().is_err());
    io.heal();
    assert!(storage.poison().is_some());
    let (bytes, report) = taken(&storage);
    assert_eq!(report.lsn, Lsn(80));
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("restored");
    restore(&Arc::new(RealIo), &bytes[..], &target).unwrap();
    assert_eq!(image(&target), (image_at(80), Lsn(80)));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    #[test]
    fn hostile_bytes_neither_panic_nor_pass(tail in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        let (_, _, storage) = database(11, 3, 1);
        let (bytes, _) = taken(&storage);
        let mut hostile = bytes[..HEADER_BYTES].to_vec();
        hostile.extend_from_slice(&tail);
        proptest::prop_assert!(verify(&hostile[..]).is_err());
        proptest::prop_assert!(verify(&tail[..]).is_err());
    }
}
