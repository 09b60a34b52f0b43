//! The directory holds what the record files hold, whatever happens while it is opened, or is silent.

use std::{cell::RefCell, path::Path};

use super::*;
use crate::{
    directory::{Doubt, MemoryDirectory, PAGE_ENTRIES_MAX},
    testing::{
        MemIo,
        stores::{self, checkpoint, commit, disk},
    },
};

fn home(twin: &Arc<MemoryDirectory>) -> DirectoryHome {
    DirectoryHome::Memory(Arc::clone(twin))
}

fn open_directory(storage: &Storage<MemIo>, twin: &Arc<MemoryDirectory>) -> DirectoryReport {
    storage.open_directory(&home(twin), &|| false).unwrap()
}

/// Holds the directory against the record files, entry by entry.
fn fits(storage: &Storage<MemIo>, twin: &MemoryDirectory) {
    let mut expected = Vec::new();
    let ids: Vec<NamespaceId> = storage.records().state().read().namespaces.keys().copied().collect();
    for id in ids {
        let places = storage.records().places(id, &BTreeSet::new()).unwrap().unwrap();
        expected.extend(places.newest);
    }
    let first = MemoryKey { namespace: NamespaceId(0), id: MemoryId::from_u128(0) };
    assert_eq!(twin.page(first, PAGE_ENTRIES_MAX).unwrap(), expected);
    assert!(!expected.is_empty());
    let named = storage.records().state().read().directory;
    assert_eq!(named, twin.stamp().unwrap());
    for (id, position) in expected {
        assert_eq!(storage.find(MemoryKey::of(id, position)), Some(position));
        assert_eq!(storage.read_at(position).unwrap().unwrap().0, id);
    }
}

#[test]
fn each_checkpoint_tells_it_and_the_next_start_finds_it_intact() {
    let (io, twin) = (disk(1), Arc::new(MemoryDirectory::new()));
    let (mut engine, storage, _) = stores::open(&io).unwrap();
    assert!(!storage.is_directory_ready());
    let report = open_directory(&storage, &twin);
    assert!(matches!(report.state, DirectoryState::Rebuilt { why: Doubt::Unnamed }), "{report:?}");
    // Rewritten namespaces, dropped ones and such that come again are among them.
    for _ in 0..25 {
        commit(&mut engine, &storage, 13).unwrap();
        checkpoint(&mut engine, &storage).unwrap();
        assert!(storage.is_directory_ready());
        fits(&storage, &twin);
    }
    // Nothing changed, nothing written.
    let calls = io.counts().calls;
    checkpoint(&mut engine, &storage).unwrap();
    assert!(io.counts().calls - calls < 10);
    fits(&storage, &twin);
    storage.close().unwrap();
    assert!(!storage.is_directory_ready());
    drop(storage);
    let (_, storage, _) = stores::open(&io).unwrap();
    let report = open_directory(&storage, &twin);
    assert!(matches!(report.state, DirectoryState::Intact), "{report:?}");
    fits(&storage, &twin);
}

#[test]
fn checkpoints_that_it_was_not_told_of_make_it_anew() {
    let (io, twin) = (disk(2), Arc::new(MemoryDirectory::new()));
    let (mut engine, storage, _) = stores::open(&io).unwrap();
    commit(&mut engine, &storage, 40).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    open_directory(&storage, &twin);
    drop(storage);
    // This one opens no directory.
    let (mut engine, storage, _) = stores::open(&io).unwrap();
    commit(&mut engine, &storage, 7).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    assert_eq!(storage.records().state().read().directory, None);
    drop(storage);
    let (mut engine, storage, _) = stores::open(&io).unwrap();
    let report = open_directory(&storage, &twin);
    assert!(matches!(report.state, DirectoryState::Rebuilt { why: Doubt::Unnamed }), "{report:?}");
    fits(&storage, &twin);
    // A directory of another moment.
    let older = Arc::new(twin.copied());
    commit(&mut engine, &storage, 7).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    drop(storage);
    let (_, storage, _) = stores::open(&io).unwrap();
    let report = open_directory(&storage, &older);
    assert!(matches!(report.state, DirectoryState::Rebuilt { why: Doubt::Different { .. } }), "{report:?}");
    fits(&storage, &older);
}

/// Checkpoints go on while all record files are read for a rebuild, and while an intact directory is checked.
#[test]
fn it_catches_up_with_what_happens_while_it_is_opened() {
    for is_intact in [false, true] {
        let (io, twin) = (disk(3), Arc::new(MemoryDirectory::new()));
        let (mut engine, storage, _) = stores::open(&io).unwrap();
        commit(&mut engine, &storage, 40).unwrap();
        checkpoint(&mut engine, &storage).unwrap();
        if is_intact {
            open_directory(&storage, &twin);
            storage.directory.clear();
        }
        let (engine, calls) = (RefCell::new(engine), RefCell::new(0));
        let meanwhile = || {
            *calls.borrow_mut() += 1;
            // The first calls come before checkpoints have to wait.
            if *calls.borrow() <= if is_intact { 0 } else { 3 } {
                let mut engine = engine.borrow_mut();
                commit(&mut engine, &storage, 17).unwrap();
                checkpoint(&mut engine, &storage).unwrap();
            }
            false
        };
        let report = storage.open_directory(&home(&twin), &meanwhile).unwrap();
        assert_eq!(matches!(report.state, DirectoryState::Intact), is_intact, "{report:?}");
        assert!(is_intact || *calls.borrow() > 3);
        fits(&storage, &twin);
        let mut engine = engine.borrow_mut();
        commit(&mut engine, &storage, 30).unwrap();
        checkpoint(&mut engine, &storage).unwrap();
        fits(&storage, &twin);
    }
}

#[test]
fn it_is_silent_while_the_manifest_names_another() {
    let (io, twin) = (disk(4), Arc::new(MemoryDirectory::new()));
    let (mut engine, storage, _) = stores::open(&io).unwrap();
    commit(&mut engine, &storage, 40).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    open_directory(&storage, &twin);
    let (id, file) = {
        let state = storage.records().state().read();
        let namespace = state.namespaces.values().next().unwrap();
        (namespace.id, *namespace.files.keys().next().unwrap())
    };
    let first = MemoryKey { namespace: id, id: MemoryId::from_u128(0) };
    let (memory, position) = twin.page(first, 1).unwrap()[0];
    let key = MemoryKey::of(memory, position);
    assert_eq!(storage.find(key), Some(position));
    // Somebody changes the files and does not tell.
    let edit = Edit::RemoveFile { namespace: id, number: file };
    storage.checkpointer.lock().manifest.append(&[edit]).unwrap();
    assert_eq!((storage.find(key), storage.is_directory_ready()), (None, false));
    // From then on nobody can say what it lacks.
    commit(&mut engine, &storage, 3).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    assert_eq!((storage.find(key), storage.is_directory_ready()), (None, false));
    assert_eq!(storage.records().state().read().directory, None);
}

#[test]
fn told_to_stop_it_stops_and_is_no_directory() {
    let (io, twin) = (disk(5), Arc::new(MemoryDirectory::new()));
    let (mut engine, storage, _) = stores::open(&io).unwrap();
    commit(&mut engine, &storage, 40).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    let stopped = storage.open_directory(&home(&twin), &|| true);
    assert!(matches!(stopped, Err(OpenDirectoryError::Stopped)), "{stopped:?}");
    assert!(!storage.is_directory_ready() && twin.stamp().unwrap().is_none());
}

#[test]
fn a_damaged_namespace_is_left_out_and_the_others_are_there() {
    let (io, twin) = (disk(6), Arc::new(MemoryDirectory::new()));
    let (mut engine, storage, _) = stores::open(&io).unwrap();
    commit(&mut engine, &storage, 28).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    let (path, mut bytes) =
        io.files().into_iter().find(|(path, _)| path.starts_with(Path::new("/data/ns/00000001"))).unwrap();
    bytes[100] ^= 1;
    io.put_file(&path, &bytes);
    let report = open_directory(&storage, &twin);
    let live = |id: u32| storage.records().state().read().namespaces[&NamespaceId(id)].live;
    assert_eq!(report.stamp.records, live(2) + live(3));
    assert!(storage.is_directory_ready());
}
