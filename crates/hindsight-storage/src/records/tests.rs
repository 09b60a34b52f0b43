#![expect(clippy::cast_possible_truncation, reason = "offsets and counts of these tests are small")]

use std::path::{Path, PathBuf};

use hindsight_core::{MemoryId, Namespace};
use proptest::prelude::*;

use super::{
    layout::{ENTRY_HEADER_BYTES, FOOTER_BYTES, HEADER_BYTES},
    point::RecordFile,
    scan::Expected,
    *,
};
use crate::{
    StorageError, StorageErrorKind,
    io::{Io, OpenMode},
    testing::{MemIo, stores::record},
};

const HEADER: RecordFileHeader = RecordFileHeader {
    store_id: 0x1111_2222_3333_4444,
    salt: 0x0123_4567_89ab_cdef,
    namespace: NamespaceId(7),
    number: 3,
};
const EXPECTED: Expected =
    Expected { store_id: HEADER.store_id, namespace: HEADER.namespace, number: HEADER.number };

fn path() -> PathBuf {
    record_path(Path::new("/data/ns"), HEADER.namespace, HEADER.number)
}

fn name() -> Namespace {
    "ops".parse().unwrap()
}

fn request(number: u64) -> SeenRequest {
    let key = RequestKey { id: format!("request {number}"), digest: u128::from(number) << 90 };
    SeenRequest { key, ids: vec![MemoryId::from_u128(1), MemoryId::from_u128(2)], lsn: Lsn(number) }
}

/// A file with these records, each of the LSN that is its id, and requests. Returns where the records begin and end.
fn file_of(records: &[Record], requests: &[SeenRequest]) -> (MemIo, StoredFile, Vec<(u64, u64)>) {
    let io = MemIo::new(1);
    io.create_dir_all(path().parent().unwrap()).unwrap();
    let mut writer = RecordWriter::create(&io, &path(), &HEADER).unwrap();
    let offsets = records
        .iter()
        .map(|record| writer.record(Lsn(record.memory.id.as_u128() as u64), record).unwrap())
        .collect();
    requests.iter().for_each(|request| writer.request(request).unwrap());
    let (_, stored) = writer.finish().unwrap();
    (io, stored, offsets)
}

fn load(io: &MemIo) -> Result<(StoredFile, Vec<Loaded>), StorageError> {
    let mut loaded = Vec::new();
    let (header, stored) = scan_file(io, &path(), &mut |entry| {
        loaded.push(entry);
        Ok(())
    })?;
    assert_eq!(header, HEADER);
    Ok((stored, loaded))
}

fn point(io: &MemIo, bytes: u64, offset: u64) -> Result<(MemoryId, Lsn, Record), StorageError> {
    let file = RecordFile::open(io, &path(), EXPECTED, bytes)?;
    file.read(RecordPosition { namespace: HEADER.namespace, file: HEADER.number, offset })
}

fn put(io: &MemIo, change: impl FnOnce(&mut Vec<u8>)) -> MemIo {
    let copy = io.after_kill();
    let mut bytes = copy.read_file(&path()).unwrap();
    change(&mut bytes);
    copy.put_file(&path(), &bytes);
    copy
}

#[test]
fn what_was_written_is_read_in_order_and_by_position() {
    let records: Vec<_> = (1..=12).map(|id| record(&name(), id, 2)).collect();
    let requests: Vec<_> = (1..=3).map(request).collect();
    let (io, stored, offsets) = file_of(&records, &requests);
    let (found, loaded) = load(&io).unwrap();
    assert_eq!(found, stored);
    assert_eq!((stored.records, stored.requests), (12, 3));
    let bytes = io.read_file(&path()).unwrap();
    assert_eq!(stored.bytes, bytes.len() as u64);
    assert_eq!(stored.blake3, *blake3::hash(&bytes).as_bytes());
    let position = |offset| RecordPosition { namespace: HEADER.namespace, file: HEADER.number, offset };
    let expected = records.iter().zip(&offsets).map(|(record, (offset, end))| Loaded::Record {
        position: position(*offset),
        lsn: Lsn(record.memory.id.as_u128() as u64),
        record: record.clone(),
        end: *end,
    });
    let expected: Vec<_> = expected.chain(requests.into_iter().map(Loaded::Request)).collect();
    assert!(loaded == expected);
    for (record, (offset, _)) in records.iter().zip(&offsets) {
        let (id, lsn, found) = point(&io, stored.bytes, *offset).unwrap();
        assert_eq!((id, lsn.0), (record.memory.id, record.memory.id.as_u128() as u64));
        assert!(found == *record);
    }
}

#[test]
fn a_file_longer_than_any_buffer_and_a_record_longer_than_the_first_read() {
    let mut records: Vec<_> = (1..=800).map(|id| record(&name(), id * 5, 1)).collect();
    records[400].memory.content = "长".repeat(600_000);
    let (io, stored, offsets) = file_of(&records, &[]);
    assert!(stored.bytes > 5 << 20);
    let (found, loaded) = load(&io).unwrap();
    assert_eq!((found, loaded.len()), (stored, 800));
    let bytes = io.read_file(&path()).unwrap();
    assert_eq!(stored.blake3, *blake3::hash(&bytes).as_bytes());
    for at in [0, 399, 400, 401, 799] {
        assert!(point(&io, stored.bytes, offsets[at].0).unwrap().2 == records[at], "record {at}");
    }
}

#[test]
fn an_empty_file_is_one_too() {
    let (io, stored, _) = file_of(&[], &[]);
    assert_eq!(stored.bytes as usize, HEADER_BYTES + FOOTER_BYTES);
    assert_eq!(load(&io).unwrap(), (stored, Vec::new()));
}

/// The bytes that `docs/disk-format.md` shows. A difference here is a new format version.
#[test]
fn golden_bytes() {
    let (io, ..) = file_of(&[record(&name(), 1, 2)], &[request(9)]);
    let bytes = io.read_file(&path()).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let golden = include_str!("../../tests/golden/record_file_v1.hex");
    assert_eq!(hex, golden.split_whitespace().collect::<String>());
    let document = include_str!("../../../../docs/disk-format.md");
    let head: String = golden.lines().take(HEADER_BYTES / 8).map(|line| format!("{line}\n")).collect();
    assert!(document.contains(&head), "the document shows another header");
}

#[test]
fn every_flipped_bit_is_noticed_and_named() {
    let records = [record(&name(), 1, 2), record(&name(), 2, 1)];
    let (io, stored, offsets) = file_of(&records, &[request(9)]);
    for bit in 0..stored.bytes as usize * 8 {
        let byte = bit / 8;
        let bad = put(&io, |bytes| bytes[byte] ^= 1 << (bit % 8));
        let error = load(&bad).unwrap_err();
        let StorageError::CorruptRecords { path: found, offset, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*found, path());
        // The entry that begins last before the flipped byte, unless that is in the header.
        let begins = [0, offsets[0].0 as usize, offsets[1].0 as usize];
        let entry = begins.into_iter().rfind(|begin| *begin <= byte).unwrap();
        assert!(*offset as usize >= entry && *offset as usize <= byte, "bit {bit}: {error:?}");
        for (at, (offset, _)) in offsets.iter().enumerate() {
            let end = offsets.get(at + 1).map_or(stored.bytes, |(offset, _)| *offset);
            match point(&bad, stored.bytes, *offset) {
                Ok((_, _, found)) => {
                    assert!(found == records[at]);
                    assert!(!(*offset as usize..end as usize).contains(&byte) || at == 1, "bit {bit}");
                }
                Err(error) => assert_eq!(error.kind(), StorageErrorKind::Corrupt, "bit {bit}: {error:?}"),
            }
        }
    }
}

#[test]
fn a_file_cut_anywhere_or_with_more_behind_it_is_noticed() {
    let (io, stored, _) = file_of(&[record(&name(), 1, 2)], &[request(9)]);
    for len in 0..stored.bytes as usize {
        let bad = put(&io, |bytes| bytes.truncate(len));
        assert!(matches!(load(&bad), Err(StorageError::CorruptRecords { .. })), "cut at {len}");
    }
    let long = put(&io, |bytes| bytes.push(0));
    assert!(matches!(load(&long), Err(StorageError::CorruptRecords { .. })));
}

#[test]
fn a_position_that_is_none_is_refused() {
    let (io, stored, offsets) = file_of(&[record(&name(), 1, 2), record(&name(), 2, 2)], &[request(9)]);
    for offset in 0..stored.bytes + 100 {
        if offsets.iter().any(|(begin, _)| *begin == offset) {
            continue;
        }
        assert!(matches!(
            point(&io, stored.bytes, offset),
            Err(StorageError::CorruptRecords { offset: found, .. }) if found == offset
        ));
    }
    // The request begins where the last record ends.
    let file = io.read_file(&path()).unwrap();
    let claimed = u32::from_le_bytes(file[offsets[1].0 as usize..][..4].try_into().unwrap());
    let at = offsets[1].0 + ENTRY_HEADER_BYTES as u64 + u64::from(claimed);
    assert!(matches!(
        point(&io, stored.bytes, at),
        Err(StorageError::CorruptRecords { fault: RecordFault::NotARecord, .. })
    ));
}

#[test]
fn another_file_s_place_is_refused_with_what_its_header_says() {
    let (io, stored, _) = file_of(&[], &[]);
    let others = [
        Expected { store_id: 1, ..EXPECTED },
        Expected { namespace: NamespaceId(8), ..EXPECTED },
        Expected { number: 4, ..EXPECTED },
    ];
    let file = io.open(&path(), OpenMode::Read).unwrap();
    for other in others {
        for error in [
            scan::scan(&file, &path(), Some(other), &mut |_| Ok(())).unwrap_err(),
            RecordFile::open(&io, &path(), other, stored.bytes).unwrap_err(),
        ] {
            assert!(
                matches!(
                    error,
                    StorageError::CorruptRecords { fault: RecordFault::Place { found: HEADER }, .. }
                ),
                "{error:?}"
            );
        }
    }
}

#[test]
fn a_newer_version_is_not_damage() {
    let (io, ..) = file_of(&[], &[]);
    let newer = put(&io, |bytes| {
        bytes[8] = 2;
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..12]);
        hasher.update(&bytes[16..HEADER_BYTES]);
        let crc = hasher.finalize();
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    });
    let error = load(&newer).unwrap_err();
    assert!(matches!(error, StorageError::CorruptRecords { fault: RecordFault::Version { found: 2 }, .. }));
    assert_eq!(error.kind(), StorageErrorKind::Refused);
}

#[test]
fn who_refuses_an_entry_stops_the_scan() {
    let (io, _, offsets) = file_of(&[record(&name(), 1, 2), record(&name(), 2, 2)], &[]);
    let mut seen = 0;
    let error = scan_file(&io, &path(), &mut |_| {
        seen += 1;
        if seen == 2 { Err("no more".into()) } else { Ok(()) }
    })
    .unwrap_err();
    assert!(matches!(&error, StorageError::Load { offset, .. } if *offset == offsets[1].0), "{error:?}");
    assert_eq!(error.kind(), StorageErrorKind::Replay);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), keep in 0_usize..60) {
        let (io, stored, _) = file_of(&[record(&name(), 1, 2)], &[]);
        let bad = put(&io, |file| {
            file.truncate(keep);
            file.extend_from_slice(&bytes);
        });
        prop_assert!(load(&bad).is_err());
        prop_assert!(point(&bad, stored.bytes, HEADER_BYTES as u64).is_err());
    }
}
