use hindsight_core::{Change, MemoryId, State, Timestamp};

use super::*;
use crate::{
    StorageErrorKind,
    testing::{Fault, FaultKind, MemIo},
};

const DIR: &str = "/data";
const EACCES: i32 = 13;
const EROFS: i32 = 30;

fn batch(number: u64) -> Batch {
    let id = MemoryId::from_u128(u128::from(number));
    Batch {
        namespace: "ops".parse().unwrap(),
        at: Timestamp::from_ms(1),
        request: None,
        changes: vec![Change::SetState {
            id,
            state: State::Archived,
            version: number,
            at: Timestamp::from_ms(2),
        }],
    }
}

fn open(io: &MemIo) -> Result<(Storage<MemIo>, u64), StorageError> {
    let mut batches = 0;
    let options = StorageOptions {
        log: LogOptions { segment_bytes: 16 << 10, preallocate_bytes: 4 << 10, ..LogOptions::default() },
        reserve_bytes: 8 << 10,
        ..StorageOptions::default()
    };
    let (storage, _) = Storage::open(io.clone(), Path::new(DIR), options)?.replay(&mut |lsn, found| {
        batches += 1;
        assert_eq!((lsn.0, found), (batches, batch(batches)));
        Ok(())
    })?;
    Ok((storage, batches))
}

/// Makes a database and stores three batches. Returns how many of them were acknowledged.
fn begin(io: &MemIo) -> Result<u64, StorageError> {
    let (storage, _) = open(io)?;
    for number in 1..=3 {
        storage.append(&batch(number))?;
        if storage.commit_step().is_err() {
            break;
        }
    }
    let acked = storage.synced_lsn().0;
    // The outcome does not matter here: what was acknowledged before it must be there after a crash.
    let _ = storage.close();
    Ok(acked)
}

fn new_disk() -> MemIo {
    let io = MemIo::new(3);
    io.create_dir_all(Path::new("/")).unwrap();
    io
}

#[test]
fn power_cut_at_every_call_of_the_beginning() {
    let whole = new_disk();
    assert_eq!(begin(&whole).unwrap(), 3);
    for call in 0..whole.counts().calls {
        let io = new_disk();
        io.cut_power_at(call);
        let acked = begin(&io).unwrap_or(0);
        for seed in 0..20 {
            let image = io.after_crash(seed);
            let (storage, batches) =
                open(&image).unwrap_or_else(|error| panic!("call {call}, seed {seed}: {error:?}"));
            assert!(
                (acked..=3).contains(&batches),
                "call {call}, seed {seed}: {acked} acknowledged, {batches} found"
            );
            storage.append(&batch(batches + 1)).unwrap();
            storage.close().unwrap();
            drop(storage);
            assert_eq!(open(&image).unwrap().1, batches + 1);
        }
    }
}

#[test]
fn a_directory_that_can_not_be_written_is_said_to_be_that() {
    let whole = new_disk();
    begin(&whole).unwrap();
    for errno in [EACCES, EROFS] {
        for io in [new_disk(), whole.after_kill()] {
            // In a new directory these are listing it, making it, and the first file of it.
            for call in 0..8 {
                let io = io.after_kill();
                io.inject(Fault { at_call: call, kind: FaultKind::Errno(errno), is_sticky: true });
                let error = open(&io).map(|_| ()).unwrap_err();
                assert_eq!(error.kind(), StorageErrorKind::NotWritable, "call {call}: {error:?}");
            }
        }
    }
}

#[test]
fn every_call_of_opening_may_fail_and_opening_again_succeeds() {
    let whole = new_disk();
    begin(&whole).unwrap();
    let image = whole.after_kill();
    let calls = {
        let io = image.after_kill();
        drop(open(&io).unwrap());
        io.counts().calls
    };
    assert!(calls > 8, "{calls}");
    for call in 0..calls {
        let io = image.after_kill();
        io.inject(Fault { at_call: call, kind: FaultKind::Errno(5), is_sticky: false });
        assert!(open(&io).is_err(), "the failure of call {call} was swallowed");
        assert_eq!(open(&io).unwrap().1, 3, "call {call}");
    }
}

#[test]
fn a_lock_without_a_readable_text_still_locks() {
    let io = new_disk();
    let (storage, _) = open(&io).unwrap();
    let lock = io.open(&Path::new(DIR).join(lock::FILE_NAME), crate::io::OpenMode::ReadWrite).unwrap();
    crate::io::write_all_at(&lock, 0, b"???").unwrap();
    let error = open(&io).map(|_| ()).unwrap_err();
    assert!(matches!(error, StorageError::Locked { holder: None, .. }), "{error:?}");
    drop(storage);
    open(&io).unwrap();
}

#[test]
fn a_batch_of_a_newer_schema_is_not_damage() {
    let io = new_disk();
    let (storage, _) = open(&io).unwrap();
    storage.append_encoded(&[9, 0, 1, 2, 3]).unwrap();
    storage.close().unwrap();
    drop(storage);
    let error = open(&io).map(|_| ()).unwrap_err();
    assert!(matches!(error, StorageError::Undecodable { lsn: Lsn(1), .. }), "{error:?}");
    assert_eq!(error.kind(), StorageErrorKind::Refused);
}
