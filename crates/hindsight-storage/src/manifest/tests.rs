#![expect(clippy::cast_possible_truncation, reason = "offsets and counts of these tests are small")]

use std::path::{Path, PathBuf};

use hindsight_core::{Lsn, Namespace, Timestamp};

use super::*;
use crate::{
    StorageError, StorageErrorKind,
    frame::HEADER_BYTES,
    records::{Digest, NamespaceId, StoredFile},
    recovery::Floor,
    testing::{Fault, FaultKind, MemIo},
};

const DIR: &str = "/data";
const STORE_ID: u64 = 0x1111_2222_3333_4444;

fn disk() -> MemIo {
    let io = MemIo::new(1);
    io.create_dir_all(Path::new(DIR)).unwrap();
    io
}

fn path(number: u32) -> PathBuf {
    manifest_path(Path::new(DIR), number)
}

fn create(io: &MemIo) -> Manifest<MemIo> {
    let state = Arc::new(RwLock::new(ManifestState::default()));
    Manifest::create(&Arc::new(io.clone()), Path::new(DIR), STORE_ID, &state).unwrap()
}

fn open(io: &MemIo) -> Result<Option<Manifest<MemIo>>, StorageError> {
    let state = Arc::new(RwLock::new(ManifestState::default()));
    Manifest::open(&Arc::new(io.clone()), Path::new(DIR), STORE_ID, &state)
}

/// What the newest manifest says, once it was opened and mended.
fn state(io: &MemIo) -> ManifestState {
    let mut manifest = open(io).unwrap().unwrap();
    manifest.mend().unwrap();
    manifest.state.read().clone()
}

fn name(number: u32) -> Namespace {
    format!("agent-{number}").parse().unwrap()
}

fn file(number: u64) -> StoredFile {
    let digest = Digest::from_u128(u128::from(number) << 70);
    StoredFile { bytes: 100 + number, blake3: [number as u8; 32], records: number, requests: 1, digest }
}

/// A checkpoint that adds a namespace with two files.
fn batch(number: u32) -> Vec<Edit> {
    let id = NamespaceId(number);
    let lsn = Lsn(u64::from(number));
    vec![
        Edit::AddNamespace { id, name: name(number), next_file: 1 },
        Edit::AddFile { namespace: id, number: 1, file: file(1) },
        Edit::AddFile { namespace: id, number: 4, file: file(2) },
        Edit::SetNamespace {
            id,
            applied: lsn,
            last_at: Some(Timestamp::from_ms(-7)),
            live: 3,
            forgotten: 1,
            digest: Digest::from_u128(u128::MAX - u128::from(number)),
        },
        Edit::Checkpoint { lsn, durable: Lsn(lsn.0 + 1) },
    ]
}

fn with_file(io: &MemIo, path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> MemIo {
    let copy = io.after_kill();
    let mut bytes = copy.read_file(path).unwrap();
    change(&mut bytes);
    copy.put_file(path, &bytes);
    copy
}

fn frame_end(bytes: &[u8], start: usize) -> usize {
    let payload = u32::from_le_bytes(bytes[start + 32..start + 36].try_into().unwrap());
    start + HEADER_BYTES + payload as usize
}

/// A manifest of so many batches, and what it said after each of them.
fn manifest_of(batches: u32) -> (MemIo, Vec<ManifestState>) {
    let io = disk();
    let mut manifest = create(&io);
    let mut states = vec![manifest.state.read().clone()];
    for number in 1..=batches {
        manifest.append(&batch(number)).unwrap();
        states.push(manifest.state.read().clone());
    }
    (io, states)
}

#[test]
fn what_was_added_is_there_again() {
    let (io, states) = manifest_of(5);
    let found = state(&io);
    assert_eq!(found, states[5]);
    assert_eq!((found.namespaces.len(), found.next_namespace), (5, 6));
    assert_eq!(found.floor, Floor { checkpoint_lsn: Lsn(5), durable_lsn: Lsn(6) });
    let stored = found.by_name(&name(3)).unwrap();
    assert_eq!((stored.id, stored.applied, stored.next_file), (NamespaceId(3), Lsn(3), 5));
    assert_eq!(stored.files.values().copied().collect::<Vec<_>>(), [file(1), file(2)]);
    assert!(open(&disk()).unwrap().is_none());
}

#[test]
fn edits_that_do_not_fit_are_refused_and_nothing_is_written() {
    let (io, states) = manifest_of(2);
    let mut manifest = open(&io).unwrap().unwrap();
    let before = io.files();
    let id = NamespaceId(2);
    let unknown = NamespaceId(9);
    for edit in [
        Edit::AddNamespace { id, name: name(7), next_file: 1 },
        Edit::AddNamespace { id: NamespaceId(3), name: name(1), next_file: 1 },
        Edit::DropNamespace { id: unknown },
        Edit::AddFile { namespace: id, number: 4, file: file(1) },
        Edit::AddFile { namespace: id, number: 3, file: file(1) },
        Edit::AddFile { namespace: unknown, number: 1, file: file(1) },
        Edit::RemoveFile { namespace: id, number: 2 },
        Edit::SetNamespace {
            id,
            applied: Lsn(1),
            last_at: None,
            live: 0,
            forgotten: 0,
            digest: Digest::default(),
        },
        Edit::Checkpoint { lsn: Lsn(1), durable: Lsn(9) },
        Edit::Checkpoint { lsn: Lsn(9), durable: Lsn(8) },
    ] {
        // A good edit before it must not be carried out either.
        let edits = [Edit::RemoveFile { namespace: NamespaceId(1), number: 1 }, edit.clone()];
        assert!(matches!(manifest.append(&edits), Err(AppendError::Edit(_))), "{edit:?}");
        assert_eq!(*manifest.state.read(), states[2]);
    }
    assert!(io.files() == before);
}

#[test]
fn a_namespace_can_be_dropped_and_come_again_in_one_batch() {
    let (io, _) = manifest_of(3);
    let mut manifest = open(&io).unwrap().unwrap();
    let again = NamespaceId(4);
    manifest
        .append(&[
            Edit::DropNamespace { id: NamespaceId(2) },
            Edit::AddNamespace { id: again, name: name(2), next_file: 1 },
        ])
        .unwrap();
    let found = state(&io);
    assert_eq!(found.by_name(&name(2)).unwrap().id, again);
    assert!(!found.namespaces.contains_key(&NamespaceId(2)));
    assert_eq!((found.namespaces.len(), found.next_namespace), (3, 5));
}

#[test]
fn it_is_written_anew_when_it_has_doubled_and_the_one_before_is_kept() {
    let io = disk();
    let mut manifest = create(&io);
    let mut largest = 0;
    for number in 1..=3_000 {
        manifest.append(&batch(number)).unwrap();
        largest = largest.max(manifest.end.offset);
    }
    let expected = manifest.state.read().clone();
    let newest = manifest.number();
    assert!(newest >= 4 && largest < 4 << 20, "{newest} manifests, {largest} bytes");
    drop(manifest);
    let names: Vec<_> = io.files().into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [path(newest - 1), path(newest)]);
    assert_eq!(state(&io), expected);
    // The numbers of what is gone are not forgotten with it.
    let mut manifest = open(&io).unwrap().unwrap();
    manifest.append(&[Edit::DropNamespace { id: NamespaceId(3_000) }]).unwrap();
    manifest.rewrite().unwrap();
    assert_eq!(state(&io).next_namespace, 3_001);
    // The image is longer than one batch.
    assert!(manifest.header.image_last > manifest.header.first);
}

#[test]
fn a_batch_torn_at_any_byte_is_given_up() {
    let (io, states) = manifest_of(2);
    let whole = io.read_file(&path(1)).unwrap();
    let (io, _) = manifest_of(1);
    let start = io.read_file(&path(1)).unwrap().len().next_multiple_of(512);
    // Behind it comes the marker, which is not there when the batch is torn.
    let end = frame_end(&whole, start);
    for cut in start..end {
        let torn = with_file(&io, &path(1), |bytes| {
            bytes.resize(start, 0);
            bytes.extend_from_slice(&whole[start..cut]);
        });
        assert_eq!(state(&torn), states[1], "cut at {cut}");
        let mut manifest = open(&torn).unwrap().unwrap();
        manifest.append(&batch(2)).unwrap();
        assert_eq!(state(&torn), states[2], "cut at {cut}");
    }
    let complete = with_file(&io, &path(1), |bytes| {
        bytes.resize(start, 0);
        bytes.extend_from_slice(&whole[start..end]);
    });
    assert_eq!(state(&complete), states[2]);
}

#[test]
fn every_flipped_byte_is_refused_or_changes_nothing() {
    let (io, states) = manifest_of(3);
    let len = io.read_file(&path(1)).unwrap().len();
    let mut refused = 0;
    for byte in 0..len {
        let bad = with_file(&io, &path(1), |bytes| bytes[byte] ^= 1 << (byte % 8));
        match open(&bad) {
            Ok(_) => assert_eq!(state(&bad), states[3], "byte {byte}"),
            Err(error) => {
                assert_eq!(error.kind(), StorageErrorKind::Corrupt, "byte {byte}: {error:?}");
                assert!(
                    matches!(&error, StorageError::CorruptManifest { path: found, offset, .. }
                        if *found == path(1) && *offset <= byte as u64),
                    "byte {byte}: {error:?}"
                );
                refused += 1;
            }
        }
    }
    assert!(refused > 1_000, "{refused}");
}

#[test]
fn an_image_that_is_not_complete_is_damage() {
    let (io, _) = manifest_of(2);
    let mut manifest = open(&io).unwrap().unwrap();
    manifest.rewrite().unwrap();
    let len = io.read_file(&path(2)).unwrap().len();
    for cut in (0..len).step_by(11) {
        let bad = with_file(&io, &path(2), |bytes| bytes.truncate(cut));
        assert!(matches!(open(&bad), Err(StorageError::CorruptManifest { .. })), "cut at {cut}");
    }
    let other = with_file(&io, &path(2), |bytes| *bytes = io.read_file(&path(1)).unwrap());
    assert!(matches!(
        open(&other),
        Err(StorageError::CorruptManifest { fault: ManifestFault::Place { .. }, .. })
    ));
}

#[test]
fn a_full_disk_leaves_it_usable_and_a_failed_sync_does_not() {
    const ENOSPC: i32 = 28;
    // The write of a batch comes first, then its sync, then the marker.
    for (call, is_there) in [(0, false), (2, true)] {
        let (io, states) = manifest_of(1);
        let mut manifest = open(&io).unwrap().unwrap();
        let fault =
            Fault { at_call: io.counts().calls + call, kind: FaultKind::Errno(ENOSPC), is_sticky: false };
        io.inject(fault);
        let result = manifest.append(&batch(2));
        assert_eq!(result.is_ok(), is_there, "{result:?}");
        assert_eq!(manifest.state.read().namespaces.len(), 1 + usize::from(is_there));
        assert_eq!(state(&io.after_kill()), *manifest.state.read());
        let expected = if is_there { batch(3) } else { batch(2) };
        manifest.append(&expected).unwrap();
        assert_eq!(manifest.number(), 2, "what was half written is left behind");
        assert_eq!(state(&io), *manifest.state.read());
        assert!(is_there || state(&io).namespaces.len() == states[1].namespaces.len() + 1);
    }
    let (io, _) = manifest_of(1);
    let mut manifest = open(&io).unwrap().unwrap();
    io.inject(Fault { at_call: io.counts().calls + 1, kind: FaultKind::Errno(ENOSPC), is_sticky: false });
    assert!(matches!(manifest.append(&batch(2)), Err(AppendError::Unknown(_))));
    assert_eq!(manifest.state.read().namespaces.len(), 1);
}

/// The bytes that `docs/disk-format.md` shows. A difference here is a new format version.
#[test]
fn golden_bytes() {
    let (io, _) = manifest_of(1);
    let whole = io.read_file(&path(1)).unwrap();
    // Header, image, batch, marker, each on a sector of its own. What lies between is zero.
    let mut bytes = whole[..64].to_vec();
    let (mut start, mut end) = (4096, 64);
    while start < whole.len() {
        assert!(whole[end..start].iter().all(|byte| *byte == 0));
        end = frame_end(&whole, start);
        bytes.extend_from_slice(&whole[start..end]);
        start = end.next_multiple_of(512);
    }
    assert_eq!(end, whole.len());
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let golden = include_str!("../../tests/golden/manifest_v1.hex");
    assert_eq!(hex, golden.split_whitespace().collect::<String>());
    let document = include_str!("../../../../docs/disk-format.md");
    let head: String = golden.lines().take(8).map(|line| format!("{line}\n")).collect();
    assert!(document.contains(&head), "the document shows another header");
}

#[test]
fn names_and_what_only_looks_like_one() {
    assert_eq!(path(7), Path::new("/data/MANIFEST-00000007"));
    let parse = |name: &str| parse_manifest_name(std::ffi::OsStr::new(name));
    assert_eq!(parse("MANIFEST-00000007"), Some(7));
    for junk in ["MANIFEST-7", "MANIFEST-00000000", "MANIFEST-00000007.tmp", "MANIFEST-+0000007", "FORMAT"] {
        assert_eq!(parse(junk), None, "{junk}");
    }
    assert!(is_unfinished_manifest(std::ffi::OsStr::new("MANIFEST-00000007.tmp")));
}
