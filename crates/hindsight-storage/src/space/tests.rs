use std::path::Path;

use hindsight_core::Lsn;

use super::*;
use crate::{
    LogOptions, StorageErrorKind,
    log::{Log, Pace},
    recovery::Floor,
    segment::LogPlace,
    testing::{
        Fault, FaultKind, MemIo,
        logs::{self, STORE_ID, disk, payload},
    },
};

const DIR: &str = "/data";
const RESERVE_BYTES: u64 = 64 << 10;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

/// A log with a reserve, and how many batches were in it.
fn open(io: &MemIo) -> (Log<MemIo>, u64) {
    let log = LogOptions { segment_bytes: 16 << 10, preallocate_bytes: 4 << 10, ..logs::small() };
    let options = StorageOptions { log, reserve_bytes: RESERVE_BYTES, ..StorageOptions::default() };
    let io = Arc::new(io.clone());
    let space = Arc::new(Space::of(&io, Path::new(DIR), &options).unwrap());
    let place = LogPlace { dir: Path::new(DIR).join("log"), store_id: STORE_ID, options: options.log };
    let mut batches = 0;
    let mut sink = |lsn: Lsn, bytes: &[u8]| {
        batches += 1;
        assert_eq!((lsn.0, bytes.to_vec()), (batches, payload(batches)));
        Ok(())
    };
    let opened = Log::open_in(io, place, Arc::clone(&space), Floor::default(), &mut sink, &mut || Ok(()));
    let (log, _) = opened.unwrap();
    space.begin().unwrap();
    (log, batches)
}

fn append(log: &Log<MemIo>, urgency: Urgency) -> Result<Lsn, StorageError> {
    let lsn = log.append_as(&payload(log.next_lsn().0), urgency, Pace::Prompt)?;
    log.commit_step()?;
    Ok(lsn)
}

fn reserve(io: &MemIo) -> usize {
    io.read_file(&Path::new(DIR).join(RESERVE_FILE)).unwrap().len()
}

/// Appends until there is no room.
fn fill(log: &Log<MemIo>) -> StorageError {
    loop {
        let before = (log.next_lsn(), log.synced_lsn());
        if let Err(error) = append(log, Urgency::Ordinary) {
            assert_eq!((log.next_lsn(), log.synced_lsn()), before, "nothing has changed");
            return error;
        }
    }
}

#[test]
fn d6_what_is_new_is_refused_what_is_urgent_is_not_and_writes_go_on_by_themselves() {
    let io = disk(1);
    let (log, _) = open(&io);
    append(&log, Urgency::Ordinary).unwrap();
    assert_eq!(reserve(&io), 64 << 10);
    io.set_free(0);
    let error = fill(&log);
    assert_eq!(error.kind(), StorageErrorKind::Full);
    assert!(error.to_string().contains("no space left for /data"), "{error}");
    assert_eq!(reserve(&io), 64 << 10, "an ordinary batch does not use the reserve up");
    for _ in 0..40 {
        append(&log, Urgency::Urgent).unwrap();
    }
    assert_eq!((reserve(&io), log.poison().is_none()), (0, true));
    let refused = append(&log, Urgency::Ordinary).unwrap_err();
    assert!(
        matches!(refused, StorageError::DiskFull { needed_bytes, .. } if needed_bytes == (32 + 64) << 10)
    );
    assert!(!log.space_step().unwrap());
    io.set_free((32 + 64) << 10);
    assert!(!log.space_step().unwrap(), "not enough is free");
    io.set_free(1 << 20);
    assert!(log.space_step().unwrap() && !log.space_step().unwrap());
    let last = append(&log, Urgency::Ordinary).unwrap();
    assert_eq!(reserve(&io), 64 << 10);
    log.close().unwrap();
    drop(log);
    assert_eq!(open(&io).1, last.0);
}

/// When the reserve is used up and others have taken the rest, even an urgent batch is refused, and nothing is lost.
#[test]
fn d6_without_a_single_byte_left_everything_is_refused_and_reading_goes_on() {
    let io = disk(1);
    let (log, _) = open(&io);
    io.set_free(0);
    fill(&log);
    let last = loop {
        match append(&log, Urgency::Urgent) {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), StorageErrorKind::Full);
                break log.synced_lsn();
            }
        }
    };
    log.witness_step().unwrap();
    log.close().unwrap();
    drop(log);
    let (log, batches) = open(&io);
    assert_eq!(batches, last.0);
    assert!(log.refusal().is_some(), "a start without room for the reserve refuses what is new");
    io.set_free(1 << 20);
    assert!(log.space_step().unwrap());
    append(&log, Urgency::Ordinary).unwrap();
}

/// A quota is no matter of free space: only a call that finds room ends the refusal.
#[test]
fn d6_a_quota_counts_as_a_full_disk() {
    let io = disk(1);
    let (log, _) = open(&io);
    append(&log, Urgency::Ordinary).unwrap();
    let large = vec![1; 6 << 10];
    io.inject(Fault { at_call: io.counts().calls, kind: FaultKind::Errno(EDQUOT), is_sticky: true });
    assert_eq!(log.append(&large).unwrap_err().kind(), StorageErrorKind::Full);
    assert!(!log.space_step().unwrap());
    assert!(log.refusal().is_some());
    io.heal();
    assert!(log.space_step().unwrap());
    log.append(&large).unwrap();
    log.commit_step().unwrap();
}

/// A file system that writes elsewhere may have no room even for bytes that the file has.
#[test]
fn d6_a_commit_without_room_is_made_again() {
    let io = disk(1);
    let (log, _) = open(&io);
    log.append(&payload(1)).unwrap();
    io.inject(Fault { at_call: io.counts().calls, kind: FaultKind::Errno(ENOSPC), is_sticky: false });
    log.commit_step().unwrap();
    assert_eq!((log.synced_lsn(), reserve(&io)), (Lsn(1), 0));
    assert!(log.refusal().is_some());
    assert!(log.space_step().unwrap());
    append(&log, Urgency::Ordinary).unwrap();
    drop(log);
    assert_eq!(open(&io).1, 2);
}

#[test]
fn a_full_disk_at_the_end_of_a_segment_is_noticed_before_a_number_is_given() {
    let io = disk(1);
    let (log, _) = open(&io);
    // The segment is as long as it gets, and has no room for the next batch.
    log.append(&vec![1; 11 << 10]).unwrap();
    log.commit_step().unwrap();
    io.set_free(0);
    let large = vec![2; 3 << 10];
    assert_eq!(log.append(&large).unwrap_err().kind(), StorageErrorKind::Full);
    assert_eq!(log.next_lsn(), Lsn(2));
    assert_eq!(log.append_as(&large, Urgency::Urgent, Pace::Prompt).unwrap(), Lsn(2));
    log.commit_step().unwrap();
    assert!(log.poison().is_none());
}
