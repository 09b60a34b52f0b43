//! Whatever is done to a file, it is found; and looking changes nothing.

use std::path::{Path, PathBuf};

use super::*;
use crate::{
    Storage,
    testing::{
        MemIo,
        stores::{DIR, checkpoint, commit, disk, open, small},
    },
};

/// A stopped database with two manifests' worth of checkpoints, several record files and several segments.
fn database(seed: u64) -> MemIo {
    let io = disk(seed);
    let (mut engine, storage, _) = open(&io).unwrap();
    for _ in 0..3 {
        commit(&mut engine, &storage, 40).unwrap();
        checkpoint(&mut engine, &storage).unwrap();
    }
    commit(&mut engine, &storage, 60).unwrap();
    storage.close().unwrap();
    io
}

fn look(io: &MemIo) -> (Vec<FileReport>, VerifyReport) {
    let mut files = Vec::new();
    let before = io.files();
    let report = verify(io, Path::new(DIR), &mut |file| files.push(file.clone())).unwrap();
    assert_eq!(io.files(), before, "verify changes nothing");
    (files, report)
}

fn not_ok(io: &MemIo) -> Vec<(PathBuf, FileState)> {
    let (files, _) = look(io);
    let files = files.into_iter().filter(|file| file.state != FileState::Ok);
    files.map(|file| (file.path, file.state)).collect()
}

fn below(path: &Path) -> PathBuf {
    path.strip_prefix(DIR).unwrap().to_owned()
}

/// Whether nothing depends on what a file says, or on its being there.
fn means_nothing(name: &Path) -> bool {
    name == Path::new("LOCK") || name == Path::new("reserve")
}

#[test]
fn a_sound_database_has_a_line_for_each_file() {
    let io = database(1);
    let (files, report) = look(&io);
    let mut seen: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    seen.sort();
    let all: Vec<PathBuf> = io.files().into_iter().map(|(path, _)| below(&path)).collect();
    assert_eq!(seen, all);
    assert!(files.iter().all(|file| file.state == FileState::Ok), "{files:#?}");
    assert!(report.is_sound());
    assert_eq!((report.ok, report.checkpoint_lsn, report.last_lsn), (all.len() as u64, 120, 180));
    assert!(report.namespaces == 3 && report.memories > 10, "{report:?}");
    let bytes: u64 = io.files().iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert_eq!(report.bytes, bytes);
}

#[test]
fn an_open_database_and_what_is_none_are_refused() {
    let io = disk(2);
    let (_, storage, _) = open(&io).unwrap();
    let mut nothing = |_: &FileReport| {};
    assert!(matches!(verify(&io, Path::new(DIR), &mut nothing), Err(StorageError::Locked { .. })));
    drop(storage);
    verify(&io, Path::new(DIR), &mut nothing).unwrap();
    // The lock was given back.
    drop(open(&io).unwrap());
    io.create_dir_all(Path::new("/other")).unwrap();
    assert!(matches!(verify(&io, Path::new("/other"), &mut nothing), Err(StorageError::Foreign { .. })));
    assert!(verify(&io, Path::new("/nowhere"), &mut nothing).is_err());
}

#[test]
fn a_flipped_bit_in_any_file_is_found_in_that_file() {
    let io = database(3);
    let mut seed = 7_u64;
    let mut wrong = 0;
    for (path, bytes) in io.files() {
        let name = below(&path);
        // Of FORMAT a letter of the checksum's name says nothing that matters.
        if means_nothing(&name) || name == Path::new("FORMAT") {
            continue;
        }
        // Behind the end of a segment that is followed by another lies what was given up once; nothing reads it.
        let written = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        for _ in 0..60 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bit = (seed >> 13) as usize % (written * 8);
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            io.put_file(&path, &damaged);
            let found = not_ok(&io);
            assert!(found.iter().any(|(path, _)| *path == name), "{name:?}, bit {bit}: {found:?}");
            wrong += usize::from(found.contains(&(name.clone(), FileState::Wrong)));
        }
        io.put_file(&path, &bytes);
    }
    assert!(wrong > 200, "only {wrong} of them were damage");
    assert_eq!(not_ok(&io), []);
}

#[test]
fn what_starts_refuses_is_wrong_and_what_it_mends_is_torn() {
    let io = database(4);
    let mut seed = 99_u64;
    let (mut torn, mut refused) = (0, 0);
    for (path, bytes) in io.files() {
        if !path.to_string_lossy().contains("/log/") {
            continue;
        }
        for _ in 0..40 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let written = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
            let bit = (seed >> 13) as usize % (written * 8);
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // What nothing reads is not zero any more: verify says so, a start does not look.
            if (crate::segment::SEGMENT_HEADER_BYTES..4096).contains(&(bit / 8)) {
                continue;
            }
            let copy = io.after_kill();
            copy.put_file(&path, &damaged);
            let is_wrong = not_ok(&copy).iter().any(|(_, state)| *state == FileState::Wrong);
            let opening = Storage::open(copy.clone(), Path::new(DIR), small()).unwrap();
            let opened = opening.replay(&mut |_, _| Ok(()));
            assert_eq!(is_wrong, opened.is_err(), "{path:?}, bit {bit}: {:?}", opened.err());
            if is_wrong { refused += 1 } else { torn += 1 }
        }
    }
    assert!(refused > 40 && torn > 0, "{refused} refused, {torn} torn");
}

#[test]
fn missing_files_and_other_files_are_found() {
    let io = database(5);
    for (path, bytes) in io.files() {
        let name = below(&path);
        // The next start makes DURABLE anew.
        if means_nothing(&name) || name == Path::new("log/DURABLE") {
            continue;
        }
        io.unlink(&path).unwrap();
        let (files, report) = look(&io);
        let is_older_manifest = name == Path::new("MANIFEST-00000001")
            && files.iter().any(|file| {
                file.state == FileState::Ok && file.path.to_string_lossy().starts_with("MANIFEST-")
            });
        assert_eq!(report.is_sound(), is_older_manifest, "without {name:?}: {files:#?}");
        io.put_file(&path, &bytes);
    }
    let dir = Path::new(DIR);
    for (name, state) in [
        ("notes.txt", FileState::Unknown),
        ("FORMAT.tmp", FileState::Leftover),
        ("MANIFEST-00000077.tmp", FileState::Leftover),
        ("log/00000000000000000999.log.tmp", FileState::Leftover),
        ("log/notes.txt", FileState::Unknown),
        ("ns/00000001/records-00000077.rec", FileState::Leftover),
        ("ns/00000001/records-00000077.rec.tmp", FileState::Leftover),
        ("ns/00000001/notes.txt", FileState::Unknown),
        ("ns/notes.txt", FileState::Unknown),
    ] {
        let path = dir.join(name);
        io.put_file(&path, b"x");
        assert_eq!(not_ok(&io), [(PathBuf::from(name), state)]);
        io.unlink(&path).unwrap();
    }
    assert_eq!(not_ok(&io), []);
}

#[test]
fn files_of_another_database_and_swapped_files_are_found() {
    let (io, other) = (database(6), database(7));
    for (path, bytes) in io.files() {
        let name = below(&path);
        if means_nothing(&name) {
            continue;
        }
        let Some(foreign) = other.read_file(&path) else { continue };
        io.put_file(&path, &foreign);
        let (files, report) = look(&io);
        // What another database says of itself counts for nothing, and is written over.
        assert!(
            !report.is_sound() || name == Path::new("log/DURABLE") && report.torn == 1,
            "{name:?} of another database passes: {files:#?}"
        );
        io.put_file(&path, &bytes);
    }
    let files = io.files();
    let records: Vec<_> =
        files.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "rec")).collect();
    io.put_file(&records[0].0, &records[1].1);
    io.put_file(&records[1].0, &records[0].1);
    assert_eq!(
        not_ok(&io),
        [(below(&records[0].0), FileState::Wrong), (below(&records[1].0), FileState::Wrong)]
    );
}
