#![expect(clippy::cast_possible_truncation, reason = "offsets and counts of these tests are small")]

use std::{sync::Barrier, thread, time::Duration};

use super::*;
use crate::{
    StorageErrorKind,
    segment::SegmentHeader,
    testing::{
        Fault, FaultKind, MemIo,
        logs::{append, commit, disk, errno, open, open_with, payload, segment, small},
    },
};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

#[test]
fn what_was_committed_is_replayed_in_order() {
    let io = disk(1);
    let (log, recovered, _) = open(&io).unwrap();
    assert_eq!(recovered, Recovered { segments: 1, ..Recovered::default() });
    for group in [1, 5, 0, 3] {
        commit(&log, group).unwrap();
    }
    assert_eq!(log.synced_lsn(), Lsn(9));
    drop(log);
    let (_, recovered, batches) = open(&io).unwrap();
    assert_eq!((batches, recovered.batches, recovered.clean_shutdown), (9, 9, false));
    assert_eq!((recovered.torn, recovered.removed.len(), recovered.ignored), (None, 0, 0));
}

#[test]
fn a_group_costs_one_write_and_one_sync() {
    let io = disk(1);
    let (log, ..) =
        open_with(&io, LogOptions { preallocate_bytes: 1 << 20, segment_bytes: 2 << 20, ..small() }).unwrap();
    let before = io.counts();
    commit(&log, 500).unwrap();
    let after = io.counts();
    assert_eq!((after.writes - before.writes, after.data_syncs - before.data_syncs), (1, 1));
    assert_eq!(after.calls - before.calls, 2);
}

#[test]
fn a_full_segment_is_followed_by_the_next_with_a_salt_of_its_own() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    // One group may reach over several segments.
    commit(&log, 120).unwrap();
    commit(&log, 1).unwrap();
    drop(log);
    let (_, recovered, batches) = open(&io).unwrap();
    assert_eq!(batches, 121);
    assert!(recovered.segments >= 4, "{recovered:?}");
    let mut salts: Vec<u64> = crate::testing::logs::segments(&io)
        .iter()
        .map(|(_, bytes)| SegmentHeader::decode(bytes).unwrap().salt)
        .collect();
    assert_eq!(salts.len(), recovered.segments);
    salts.sort_unstable();
    salts.dedup();
    assert_eq!(salts.len(), recovered.segments);
}

#[test]
fn a_batch_larger_than_a_segment_gets_one_for_itself() {
    let io = disk(1);
    let (log, ..) = open_with(&io, small()).unwrap();
    let huge = vec![7; 40 << 10];
    for bytes in [&b"small"[..], &huge, b"small again"] {
        log.append(bytes).unwrap();
    }
    log.commit_step().unwrap();
    drop(log);
    let (_, recovered, payloads) = open_with(&io, small()).unwrap();
    assert_eq!(payloads, [b"small".to_vec(), huge, b"small again".to_vec()]);
    assert_eq!(recovered.segments, 3);
}

/// A new segment in the place of one that holds notes but no batch would have its name, and replace it.
#[test]
fn a_segment_with_notes_only_takes_even_a_batch_that_does_not_fit() {
    let io = disk(1);
    open_with(&io, small()).unwrap().0.close().unwrap();
    let (log, ..) = open_with(&io, small()).unwrap();
    log.append(&[7; 40 << 10]).unwrap();
    log.commit_step().unwrap();
    drop(log);
    let (_, recovered, payloads) = open_with(&io, small()).unwrap();
    assert_eq!((recovered.segments, payloads.len()), (1, 1));
}

#[test]
fn waiting_ends_when_the_batch_is_durable() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    let lsn = append(&log).unwrap();
    thread::scope(|scope| {
        let blocking = scope.spawn(|| log.wait_synced(lsn));
        let task = scope.spawn(|| {
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(log.synced(lsn))
        });
        log.commit_step().unwrap();
        blocking.join().unwrap().unwrap();
        task.join().unwrap().unwrap();
    });
    log.wait_synced(Lsn(0)).unwrap();
}

/// A server's task may move between threads while it waits.
#[test]
fn waiting_is_send() {
    fn is_send<T: Send>(_: T) {}
    let (log, ..) = open(&disk(1)).unwrap();
    is_send(log.synced(Lsn(0)));
}

/// Nobody waits for it, and it becomes durable all the same; who is waited for takes it along.
#[test]
fn d1_a_relaxed_batch_is_committed_by_itself_and_with_the_next_prompt_one() {
    let io = disk(1);
    let options = |relaxed_ms| LogOptions { relaxed_ms, ..LogOptions::default() };
    let (log, ..) = open_with(&io, options(1)).unwrap();
    log.spawn_committer().unwrap();
    let relaxed = |log: &Log<MemIo>| log.append_as(b"a", Urgency::Ordinary, Pace::Relaxed).unwrap();
    let lsn = relaxed(&log);
    log.wait_synced(lsn).unwrap();
    drop(log);
    let (log, ..) = open_with(&io, options(3_600_000)).unwrap();
    log.spawn_committer().unwrap();
    let before = io.counts().data_syncs;
    let lsn = (0..10).map(|_| relaxed(&log)).last().unwrap();
    assert!(log.synced_lsn() < lsn);
    log.check_possible(lsn).unwrap();
    let last = log.append(b"b").unwrap();
    log.wait_synced(last).unwrap();
    assert_eq!((io.counts().data_syncs, lsn.0 + 1), (before + 1, last.0));
    // Closing loses none.
    let lsn = relaxed(&log);
    log.close().unwrap();
    assert_eq!(log.synced_lsn(), lsn);
}

/// A group that is full is committed, though nobody waits for any of it but the one who finds no room.
#[test]
fn a_full_group_of_relaxed_batches_does_not_wait_for_its_time() {
    let io = disk(1);
    let options = LogOptions { relaxed_ms: 3_600_000, pending_frames_max: 4, ..LogOptions::default() };
    let (log, ..) = open_with(&io, options).unwrap();
    log.spawn_committer().unwrap();
    for _ in 0..20 {
        log.append_as(b"a", Urgency::Ordinary, Pace::Relaxed).unwrap();
    }
    assert!(log.synced_lsn() >= Lsn(12));
}

#[test]
fn writers_that_wait_at_the_same_time_share_a_sync() {
    const WRITERS: u64 = 16;
    const EACH: u64 = 25;
    let io = disk(1);
    io.set_sync_time(Duration::from_millis(2));
    let (log, ..) = open_with(&io, LogOptions::default()).unwrap();
    log.spawn_committer().unwrap();
    log.spawn_committer().unwrap();
    let before = io.counts().data_syncs;
    let start = Barrier::new(WRITERS as usize);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                start.wait();
                for _ in 0..EACH {
                    let lsn = log.append(b"a memory").unwrap();
                    log.wait_synced(lsn).unwrap();
                    assert!(log.synced_lsn() >= lsn);
                }
            });
        }
    });
    let syncs = io.counts().data_syncs - before;
    assert!(syncs * 4 <= WRITERS * EACH, "{syncs} syncs for {} batches", WRITERS * EACH);
    log.close().unwrap();
    drop(log);
    assert_eq!(open_with(&io, LogOptions::default()).unwrap().2.len() as u64, WRITERS * EACH);
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged_and_nothing_is_synced() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    commit(&log, 2).unwrap();
    let lsn = append(&log).unwrap();
    // The write comes first, then the sync.
    io.inject(Fault { at_call: io.counts().calls + 1, kind: FaultKind::Errno(EIO), is_sticky: false });
    thread::scope(|scope| {
        let blocking = scope.spawn(|| log.wait_synced(lsn));
        let task = scope.spawn(|| {
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(log.synced(lsn))
        });
        let error = log.commit_step().unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Poisoned);
        let StorageError::Poisoned(failure) = error else { panic!("{error}") };
        assert_eq!((failure.op, errno(&failure), &failure.path), ("sync", Some(EIO), &segment(1)));
        for result in [blocking.join().unwrap(), task.join().unwrap()] {
            assert!(matches!(result, Err(StorageError::Poisoned(failure)) if errno(&failure) == Some(EIO)));
        }
    });
    let calls = io.counts().calls;
    assert!(matches!(log.append(b"more"), Err(StorageError::Poisoned(_))));
    assert!(matches!(log.commit_step(), Err(StorageError::Poisoned(_))));
    assert!(matches!(log.witness_step(), Err(StorageError::Poisoned(_))));
    assert!(matches!(log.close(), Err(StorageError::Poisoned(_))));
    assert_eq!(io.counts().calls, calls, "the file is not touched again");
    assert_eq!(log.synced_lsn(), Lsn(2));
    log.wait_synced(Lsn(2)).unwrap();
    assert!(log.poison().is_some());
}

#[test]
fn a_full_disk_poisons_with_its_own_error() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    append(&log).unwrap();
    io.inject(Fault { at_call: io.counts().calls, kind: FaultKind::Errno(ENOSPC), is_sticky: true });
    assert!(
        matches!(log.commit_step(), Err(StorageError::Poisoned(failure)) if errno(&failure) == Some(ENOSPC))
    );
}

#[test]
fn the_committer_s_failure_reaches_who_waits_and_who_appends() {
    let io = disk(1);
    let options = LogOptions { pending_frames_max: 2, ..small() };
    let (log, ..) = open_with(&io, options).unwrap();
    io.inject(Fault { at_call: io.counts().calls, kind: FaultKind::Errno(EIO), is_sticky: true });
    log.spawn_committer().unwrap();
    let error = loop {
        if let Err(error) = log.append(b"x") {
            break error;
        }
    };
    assert!(matches!(error, StorageError::Poisoned(_)));
    assert!(matches!(log.wait_synced(Lsn(1)), Err(StorageError::Poisoned(_))));
}

#[test]
fn past_the_limits_appending_waits_and_loses_nothing() {
    for options in [
        LogOptions { pending_frames_max: 4, ..LogOptions::default() },
        LogOptions { pending_bytes_max: 3_000, ..LogOptions::default() },
    ] {
        for has_committer in [false, true] {
            let io = disk(1);
            let (log, ..) = open_with(&io, options.clone()).unwrap();
            if has_committer {
                log.spawn_committer().unwrap();
            }
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..50 {
                            log.append(&[1; 700]).unwrap();
                        }
                    });
                }
            });
            log.close().unwrap();
            drop(log);
            assert_eq!(open_with(&io, options.clone()).unwrap().2, vec![vec![1; 700]; 200]);
        }
    }
}

#[test]
fn past_the_limits_and_without_a_committer_the_appender_commits() {
    let io = disk(1);
    let (log, ..) = open_with(&io, LogOptions { pending_frames_max: 4, ..small() }).unwrap();
    (0..4).for_each(|_| assert_eq!(append(&log).unwrap().0, log.next_lsn().0 - 1));
    assert_eq!(log.synced_lsn(), Lsn(0));
    append(&log).unwrap();
    assert_eq!(log.synced_lsn(), Lsn(4));
}

#[test]
fn closing_commits_what_is_pending_and_takes_nothing_more() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    log.spawn_committer().unwrap();
    append(&log).unwrap();
    log.close().unwrap();
    log.close().unwrap();
    assert_eq!(log.synced_lsn(), Lsn(1));
    assert!(matches!(log.append(b"x"), Err(StorageError::Closed)));
    assert!(matches!(log.commit_step(), Err(StorageError::Closed)));
    assert!(matches!(log.wait_synced(Lsn(2)), Err(StorageError::Closed)));
    drop(log);
    let before = io.files();
    let (log, recovered, batches) = open(&io).unwrap();
    assert_eq!((batches, recovered.clean_shutdown), (1, true));
    log.close().unwrap();
    assert_eq!(io.files(), before, "opening and closing writes nothing");
}

#[test]
fn a_log_that_is_dropped_gives_up_what_was_not_committed() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    commit(&log, 3).unwrap();
    append(&log).unwrap();
    drop(log);
    assert_eq!(open(&io).unwrap().2, 3);
}

#[test]
fn some_time_after_the_last_commit_the_log_says_how_far_it_is_durable() {
    let io = disk(1);
    let (log, ..) = open_with(&io, LogOptions { witness_after_ms: 1, ..small() }).unwrap();
    log.spawn_committer().unwrap();
    let before = io.counts();
    let lsn = append(&log).unwrap();
    log.wait_synced(lsn).unwrap();
    // One write is the batch, one the marker, one the note in DURABLE.
    while io.counts().writes < before.writes + 3 {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(io.counts().data_syncs, before.data_syncs + 1, "a marker needs no sync");
    log.witness_step().unwrap();
    assert_eq!(io.counts().writes, before.writes + 3, "and is written once");
    let mut bytes = io.read_file(&segment(1)).unwrap();
    drop(log);
    let at = bytes.windows(7).position(|window| window == b"batch 1").unwrap();
    bytes[at] ^= 1;
    io.put_file(&segment(1), &bytes);
    let error = open(&io).unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { lsn: Lsn(1), durable_lsn: Lsn(1), .. }), "{error}");
}

#[test]
fn a_batch_beyond_the_limit_is_refused_and_gets_no_number() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    let too_large = vec![0; PAYLOAD_BYTES_MAX as usize + 1];
    assert!(
        matches!(log.append(&too_large), Err(StorageError::TooLarge { bytes, .. }) if bytes == too_large.len())
    );
    assert_eq!(log.append(&payload(1)).unwrap(), Lsn(1));
}

#[test]
fn a_checkpoint_s_batches_are_not_replayed_and_must_be_there() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    commit(&log, 5).unwrap();
    drop(log);
    let replay = |checkpoint| {
        let mut seen = Vec::new();
        let sink: Sink<'_> = &mut |lsn, _| {
            seen.push(lsn.0);
            Ok(())
        };
        let io: Arc<MemIo> = Arc::new(io.clone());
        Log::open(io, Path::new("/data/log"), 77, small(), Floor::at(Lsn(checkpoint)), sink).map(|_| seen)
    };
    assert_eq!(replay(3).unwrap(), [4, 5]);
    assert_eq!(replay(5).unwrap(), [0; 0]);
    assert!(matches!(
        replay(6),
        Err(StorageError::LogTooShort { last_lsn: Lsn(5), durable_lsn: Lsn(6), .. })
    ));
}
