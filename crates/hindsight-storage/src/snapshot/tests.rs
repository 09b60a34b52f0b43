use super::*;
use crate::{
    sabotage,
    testing::{
        MemIo,
        stores::{checkpoint, commit, disk, image_at, open},
    },
};

const ID: NamespaceId = NamespaceId(7);

fn written(payload: &[u8]) -> (MemIo, PathBuf, StoredSnapshot) {
    let io = disk(1);
    let path = PathBuf::from("/index");
    let (_, stored) = write(&io, &path, 0x1111, (ID, Lsn(9)), payload).unwrap();
    (io, path, stored)
}

fn read_back(
    io: &MemIo,
    path: &Path,
    stored: &StoredSnapshot,
    store_id: u64,
    id: NamespaceId,
) -> Result<Snapshot, SnapshotFault> {
    read(&io.open(path, OpenMode::Read).unwrap(), path, stored, store_id, id)
}

#[test]
fn names_and_what_only_looks_like_one() {
    let path = snapshot_path(Path::new("ns"), ID, Lsn(42));
    assert_eq!(path, Path::new("ns/00000007/index-00000000000000000042.idx"));
    assert_eq!(parse_snapshot(path.file_name().unwrap()), Some(Lsn(42)));
    for junk in
        ["index-42.idx", "index-+0000000000000000042.idx", "index-99999999999999999999.idx", "index-.idx"]
    {
        assert_eq!(parse_snapshot(OsStr::new(junk)), None, "{junk}");
    }
    let unfinished = "index-00000000000000000042.idx.tmp";
    assert_eq!(is_unnamed(OsStr::new(unfinished), None), Some(true));
    assert_eq!(is_unnamed(path.file_name().unwrap(), None), Some(true));
    assert_eq!(is_unnamed(OsStr::new("notes.txt"), None), None);
}

#[test]
fn d7_what_is_not_the_named_file_is_a_fault() {
    let (io, path, stored) = written(b"an index");
    let found = read_back(&io, &path, &stored, 0x1111, ID).unwrap();
    assert_eq!((found.lsn, found.payload()), (Lsn(9), &b"an index"[..]));
    let bytes = io.read_file(&path).unwrap();
    let golden = "4853696e64657873 01000000 07000000 1111000000000000 0900000000000000 616e20696e646578";
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, golden.split_whitespace().collect::<String>());
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        io.put_file(&path, &damaged);
        let found = read_back(&io, &path, &stored, 0x1111, ID);
        assert!(matches!(found, Err(SnapshotFault::NotInManifest { .. })), "{at}");
    }
    for damaged in [&bytes[1..], &bytes[..20], &[&bytes[..], &[0]].concat()] {
        io.put_file(&path, damaged);
        let found = read_back(&io, &path, &stored, 0x1111, ID);
        assert!(matches!(found, Err(SnapshotFault::NotInManifest { .. })));
    }
    // A manifest that names what was never written: nothing is believed, and no memory is taken.
    let absurd = StoredSnapshot { bytes: u64::MAX, ..stored };
    assert!(read_back(&io, &path, &absurd, 0x1111, ID).is_err());
    io.put_file(&path, &bytes);
    let found = read_back(&io, &path, &stored, 0x1112, ID);
    assert!(matches!(found, Err(SnapshotFault::Place { .. })));
    assert!(matches!(
        read_back(&io, &path, &stored, 0x1111, NamespaceId(8)),
        Err(SnapshotFault::Place { .. })
    ));
    let mut newer = bytes;
    newer[8] = 2;
    let blake3 = *blake3::hash(&newer).as_bytes();
    io.put_file(&path, &newer);
    let found = read_back(&io, &path, &StoredSnapshot { blake3, ..stored }, 0x1111, ID);
    assert!(matches!(found, Err(SnapshotFault::Version { found: 2, .. })));
}

/// The tests' engine writes, keeps and drops a snapshot by turns, and what it writes tells the position.
#[test]
fn d7_a_checkpoint_names_the_newest_and_its_loss_refuses_nothing() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    engine.snapshots = true;
    let mut seen = [0; 2];
    for _ in 0..12 {
        commit(&mut engine, &storage, 3).unwrap();
        checkpoint(&mut engine, &storage).unwrap();
        let named: Vec<(NamespaceId, StoredSnapshot)> = {
            let state = storage.records().state().read();
            let all = state.namespaces.values();
            all.filter_map(|namespace| Some((namespace.id, namespace.snapshot?))).collect()
        };
        for (id, stored) in &named {
            let found = storage.records().snapshot(*id).unwrap().unwrap();
            assert_eq!((found.lsn, found.payload().len()), (stored.lsn, 700));
        }
        seen[usize::from(named.is_empty())] += 1;
        let on_disk = io.files().into_iter().filter(|(path, _)| path.extension() == Some(OsStr::new("idx")));
        assert_eq!(on_disk.count(), named.len(), "what is replaced is removed");
    }
    assert!(seen[0] > 0, "{seen:?}");
    // In a backup there is none, and what is restored has none.
    let mut copy = Vec::new();
    storage.backup(&mut copy).unwrap();
    assert!(!copy.windows(MAGIC.len()).any(|window| window == MAGIC));
    drop(storage);
    for (path, _) in io.files() {
        if path.extension() == Some(OsStr::new("idx")) {
            io.unlink(&path).unwrap();
        }
    }
    let (engine, storage, recovered) = open(&io).unwrap();
    assert_eq!(engine.image, image_at(recovered.last_lsn.0));
    let ids: Vec<NamespaceId> = storage.records().state().read().namespaces.keys().copied().collect();
    assert!(ids.iter().any(|id| matches!(storage.records().snapshot(*id), Err(SnapshotFault::Io(_)))));
}

#[test]
fn a13_a_bug_that_trusts_snapshots_shows_what_was_damaged() {
    let (io, path, stored) = written(b"an index");
    let mut bytes = io.read_file(&path).unwrap();
    bytes[HEADER_BYTES] = b'A';
    io.put_file(&path, &bytes);
    assert!(read_back(&io, &path, &stored, 0x1111, ID).is_err());
    let _planted = sabotage::plant(Sabotage::TrustSnapshots);
    assert_eq!(read_back(&io, &path, &stored, 0x1111, ID).unwrap().payload(), b"An index");
}
