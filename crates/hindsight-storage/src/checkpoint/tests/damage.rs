//! Damage at rest: a start is refused, or nothing is wrong.

use super::*;
use crate::{
    manifest::{ManifestFault, manifest_path},
    records::RecordFault,
};

/// A directory with two stored namespaces, one of which has two files, and a batch that is in the log only.
fn directory() -> MemIo {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 2).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    commit(&mut engine, &storage, 2).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    commit(&mut engine, &storage, 1).unwrap();
    storage.close().unwrap();
    io
}

const BATCHES: u64 = 5;

fn with_file(io: &MemIo, path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> MemIo {
    let copy = io.after_kill();
    let mut bytes = copy.read_file(path).unwrap();
    change(&mut bytes);
    copy.put_file(path, &bytes);
    copy
}

/// Opening fails and changes nothing but the LOCK.
fn refused(io: &MemIo) -> StorageError {
    let without_lock =
        |io: &MemIo| io.files().into_iter().filter(|(path, _)| !path.ends_with("LOCK")).collect::<Vec<_>>();
    let before = without_lock(io);
    let Err(error) = open(io) else { panic!("it opened") };
    assert!(without_lock(io) == before, "a refused open must change nothing: {error}");
    error
}

fn record_files(io: &MemIo) -> Vec<std::path::PathBuf> {
    let paths = io.files().into_iter().map(|(path, _)| path);
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "rec")).collect()
}

#[test]
fn every_flipped_byte_of_a_record_file_is_noticed() {
    let io = directory();
    for path in record_files(&io) {
        for byte in 0..io.read_file(&path).unwrap().len() {
            let bad = with_file(&io, &path, |bytes| bytes[byte] ^= 1 << (byte % 8));
            let error = refused(&bad);
            assert!(
                matches!(&error, StorageError::CorruptRecords { path: found, offset, .. }
                    if *found == path && *offset <= byte as u64),
                "byte {byte}: {error:?}"
            );
        }
    }
}

#[test]
fn every_flipped_byte_of_a_manifest_is_noticed_or_means_nothing() {
    let io = directory();
    let path = manifest_path(Path::new(DIR), 1);
    let len = io.read_file(&path).unwrap().len();
    let (mut refusals, mut harmless) = (0, 0);
    for byte in 0..len {
        let bad = with_file(&io, &path, |bytes| bytes[byte] ^= 1 << (byte % 8));
        match open(&bad.after_kill()) {
            Ok((engine, storage, _)) => {
                assert!(engine.image == image_at(BATCHES), "byte {byte}");
                assert_files_are_named(&bad.after_kill(), &storage);
                harmless += 1;
            }
            Err(StorageError::CorruptManifest { path: found, .. }) => {
                assert_eq!(found, path);
                refused(&bad);
                refusals += 1;
            }
            Err(error) => panic!("byte {byte}: {error:?}"),
        }
    }
    // Harmless are the page of the header, the gaps in front of a commit, and the marker at the end.
    assert!(refusals > 500 && harmless > 4_000, "{refusals} refused, {harmless} harmless");
}

#[test]
fn a_manifest_cut_anywhere_is_refused_or_only_lacks_what_the_log_still_has() {
    let io = directory();
    let path = manifest_path(Path::new(DIR), 1);
    let len = io.read_file(&path).unwrap().len();
    for cut in (0..len).step_by(7) {
        let bad = with_file(&io, &path, |bytes| bytes.truncate(cut));
        match open(&bad) {
            Ok((engine, ..)) => assert!(engine.image == image_at(BATCHES), "cut at {cut}"),
            Err(error) => assert_eq!(error.kind(), StorageErrorKind::Corrupt, "cut at {cut}: {error:?}"),
        }
    }
}

#[test]
fn a_missing_a_short_a_long_and_a_swapped_record_file_stop_the_start() {
    let io = directory();
    let paths = record_files(&io);
    assert!(paths.len() >= 3);
    for path in &paths {
        let missing = io.after_kill();
        missing.unlink(path).unwrap();
        assert!(matches!(refused(&missing), StorageError::MissingFile { path: found } if found == *path));
        let short = with_file(&io, path, |bytes| bytes.truncate(bytes.len() - 1));
        let long = with_file(&io, path, |bytes| bytes.push(0));
        for bad in [short, long] {
            assert!(matches!(
                refused(&bad),
                StorageError::CorruptRecords { path: found, fault: RecordFault::FileLength { .. }, .. } if found == *path
            ));
        }
    }
    let other = with_file(&io, &paths[0], |bytes| *bytes = io.read_file(&paths[1]).unwrap());
    assert_eq!(refused(&other).kind(), StorageErrorKind::Corrupt);
    // A file of the same place, sound in itself, from another database.
    let twin = {
        let io = disk(2);
        let (mut engine, storage, _) = open(&io).unwrap();
        commit(&mut engine, &storage, 2).unwrap();
        checkpoint(&mut engine, &storage).unwrap();
        io.read_file(&paths[0]).unwrap()
    };
    let foreign = with_file(&io, &paths[0], |bytes| *bytes = twin);
    assert_eq!(refused(&foreign).kind(), StorageErrorKind::Corrupt);
}

#[test]
fn a_missing_or_foreign_manifest_stops_the_start() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    // Long enough for the first segment to be dropped.
    commit(&mut engine, &storage, 20).unwrap();
    assert!(checkpoint(&mut engine, &storage).unwrap().segments_removed > 0);
    drop(storage);
    let path = manifest_path(Path::new(DIR), 1);
    let missing = io.after_kill();
    missing.unlink(&path).unwrap();
    assert!(matches!(refused(&missing), StorageError::NoManifest { found, .. } if found.ends_with("ns")));
    // Without the record files the log still gives it away.
    for record in record_files(&missing) {
        missing.unlink(&record).unwrap();
        let _ = missing.remove_dir(record.parent().unwrap());
    }
    missing.remove_dir(&Path::new(DIR).join("ns")).unwrap();
    let error = refused(&missing);
    assert!(
        matches!(&error, StorageError::NoManifest { found, .. } if found.extension().unwrap() == "log"),
        "{error:?}"
    );
    assert_eq!(error.kind(), StorageErrorKind::Corrupt);
    let foreign = with_file(&io, &path, |bytes| {
        let other = disk(9);
        drop(open(&other).unwrap());
        *bytes = other.read_file(&path).unwrap();
    });
    assert!(matches!(
        refused(&foreign),
        StorageError::CorruptManifest { fault: ManifestFault::Place { .. }, .. }
    ));
}

/// The segments up to the checkpoint are gone, so a log that lacks what was durable when it was taken is not whole.
#[test]
fn a_log_that_ends_before_the_checkpoint_stops_the_start() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 4).unwrap();
    let log = io.files().into_iter().find(|(path, _)| path.extension().is_some_and(|name| name == "log"));
    let (path, old) = log.unwrap();
    checkpoint_while(&mut engine, &storage, &mut |engine, storage| {
        append(engine, storage).unwrap();
    })
    .unwrap();
    drop(storage);
    // Nothing was rotated: the log is too short for that.
    io.put_file(&path, &old);
    let error = refused(&io);
    assert!(
        matches!(error, StorageError::LogTooShort { last_lsn: Lsn(4), durable_lsn: Lsn(8), .. }),
        "{error:?}"
    );
}

#[test]
fn what_a_crash_left_is_removed_and_other_files_are_not_touched() {
    let io = directory();
    let ns = Path::new(DIR).join("ns");
    let orphans = [
        Path::new(DIR).join("MANIFEST-00000002.tmp"),
        ns.join("00000001/records-00000009.rec"),
        ns.join("00000001/records-00000002.rec.tmp"),
        ns.join("00000077/records-00000001.rec"),
    ];
    let kept = [ns.join("00000001/notes.txt"), ns.join("00000078/notes.txt"), ns.join("readme")];
    for path in orphans.iter().chain(&kept) {
        io.put_file(path, b"junk");
    }
    let (engine, _, recovered) = open(&io).unwrap();
    assert!(engine.image == image_at(BATCHES));
    for path in &orphans {
        assert!(recovered.removed.contains(path) && io.read_file(path).is_none(), "{}", path.display());
    }
    assert!(io.list(&ns.join("00000077")).is_err());
    assert!(kept.iter().all(|path| io.read_file(path).is_some()));
}
