use std::{path::Path, sync::Arc};

use hindsight_core::{Lsn, Purge, PurgeRequestHash, Purged, Timestamp};

use super::*;
use crate::{StorageError, io::Io, testing::MemIo};

const DIR: &str = "/data";

fn erasures() -> Vec<Erasure> {
    let at = Timestamp::from_ms(1_764_493_200_000);
    let request = Some(PurgeRequestHash { id: 3, digest: 4 });
    let memories = Purge {
        key: [7; 32],
        target: Purged::Memories(vec![5, 1 << 120]),
        memories: 2,
        request,
        values: vec![3, 8],
    };
    let whole =
        Purge { key: [7; 32], target: Purged::Namespace(9), memories: 4, request: None, values: Vec::new() };
    let done = ErasureDone { at, files_removed: 5, bytes_removed: 6, blake3: [8; 32] };
    vec![
        Erasure { lsn: Lsn(11), at, purge: memories, done: Some(done) },
        Erasure { lsn: Lsn(12), at, purge: whole, done: None },
    ]
}

/// As before purges knew values again.
fn without_values() -> Vec<Erasure> {
    let mut erasures = erasures();
    erasures.iter_mut().for_each(|erasure| erasure.purge.values.clear());
    erasures
}

fn disk() -> MemIo {
    let io = MemIo::new(1);
    io.create_dir_all(Path::new(DIR)).unwrap();
    io
}

fn saved(io: &MemIo) -> Vec<u8> {
    saved_of(io, erasures())
}

fn saved_of(io: &MemIo, erasures: Vec<Erasure>) -> Vec<u8> {
    let mut ledger = Ledger::open(io, Path::new(DIR), 0x1111_2222_3333_4444).unwrap();
    erasures.into_iter().for_each(|erasure| ledger.begin(erasure));
    ledger.save(io).unwrap();
    let path = Path::new(DIR).join(LEDGER_FILE);
    io.files().into_iter().find(|(found, _)| *found == path).unwrap().1
}

fn fault(io: &MemIo, bytes: &[u8], store_id: u64) -> LedgerFault {
    io.put_file(&Path::new(DIR).join(LEDGER_FILE), bytes);
    match Ledger::open(io, Path::new(DIR), store_id) {
        Err(StorageError::CorruptLedger { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

/// Bytes that a release has written; another shape is a new version.
#[test]
fn golden_ledger() {
    for (erasures, golden) in [
        (without_values(), include_str!("../../tests/golden/ledger_v1.hex")),
        (erasures(), include_str!("../../tests/golden/ledger_values_v1.hex")),
    ] {
        let bytes = saved_of(&disk(), erasures);
        let found = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(found, golden.split_whitespace().collect::<String>());
        assert_eq!(check_ledger(&bytes, 0x1111_2222_3333_4444).unwrap(), 2);
    }
}

#[test]
fn l4_what_was_saved_is_read_again() {
    let io = disk();
    saved(&io);
    let ledger = Ledger::open(&io, Path::new(DIR), 0x1111_2222_3333_4444).unwrap();
    assert_eq!(ledger.entries(), erasures());
    let begun: Vec<Lsn> = ledger.begun_below(Lsn(100)).map(|erasure| erasure.lsn).collect();
    assert_eq!(begun, [Lsn(12)]);
    assert_eq!(ledger.begun_below(Lsn(12)).count(), 0);
}

#[test]
fn a_ledger_that_is_none_is_refused_with_the_reason() {
    let io = disk();
    let good = saved(&io);
    let store_id = 0x1111_2222_3333_4444;
    assert!(matches!(fault(&io, b"", store_id), LedgerFault::NotALedger));
    assert!(matches!(fault(&io, &[7; 90], store_id), LedgerFault::NotALedger));
    assert!(matches!(fault(&io, &good, 9), LedgerFault::Foreign { expected: 9, .. }));
    let mut newer = good.clone();
    newer[8] = 2;
    assert!(fault(&io, &newer, store_id).is_newer());
    for at in 12..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(matches!(fault(&io, &bad, store_id), LedgerFault::Checksum), "byte {at}");
    }
    for len in 56..good.len() {
        assert!(matches!(fault(&io, &good[..len], store_id), LedgerFault::Checksum), "cut at {len}");
    }
}

/// A power cut at any call of the writing leaves the ledger as it was or as it is.
#[test]
fn l4_a_power_cut_leaves_one_of_the_two() {
    let mut seen = [0; 2];
    for cut in 0.. {
        let io = disk();
        let mut ledger = Ledger::open(&io, Path::new(DIR), 1).unwrap();
        ledger.begin(erasures().remove(0));
        ledger.save(&io).unwrap();
        let before = io.counts().calls;
        io.cut_power_at(before + cut);
        ledger.begin(erasures().remove(1));
        let result = ledger.save(&io);
        for seed in 0..8 {
            let after = Arc::new(io.after_crash(seed));
            let found = Ledger::open(after.as_ref(), Path::new(DIR), 1).unwrap().entries().len();
            assert!(found == 2 || (found == 1 && result.is_err()), "cut at {cut}: {found} entries");
            seen[found - 1] += 1;
        }
        if result.is_ok() {
            break;
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

#[test]
fn hashes_keep_key_namespace_and_id_apart() {
    let (a, b) = ("a".parse().unwrap(), "ab".parse().unwrap());
    let one = MemoryId::from_u128(1);
    let hashes = [
        hash_of_memory(&[1; 32], &a, one),
        hash_of_memory(&[2; 32], &a, one),
        hash_of_memory(&[1; 32], &b, one),
        hash_of_memory(&[1; 32], &a, MemoryId::from_u128(2)),
        hash_of_namespace(&[1; 32], &a),
        hash_of_request(&[1; 32], &a, "r", None),
        hash_of_request(&[1; 32], &a, "r", Some(0)),
    ];
    let distinct: std::collections::BTreeSet<u128> = hashes.into_iter().collect();
    assert_eq!(distinct.len(), hashes.len());
}
