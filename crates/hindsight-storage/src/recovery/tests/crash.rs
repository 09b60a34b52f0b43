//! Crashes and faults at every call of a small workload: whatever happens, the log is a prefix of what was appended,
//! at least up to the last acknowledged batch.

use super::*;

const BATCHES: u64 = 40;

/// What a workload knows at its end.
#[derive(Debug)]
struct Outcome {
    acked: u64,
    error: Option<StorageError>,
}

/// Groups of one to four batches over three segments, with markers, and a close at the end. Goes on after an error,
/// as a server would whose clients try again.
fn workload(io: &MemIo) -> Outcome {
    let log = match open(io) {
        Ok((log, _, batches)) => {
            assert_eq!(batches, 0);
            log
        }
        Err(error) => return Outcome { acked: 0, error: Some(error) },
    };
    let mut first_error = None;
    let mut acked_at_error = 0;
    let mut note = |result: Result<(), StorageError>| {
        if let (Err(error), None) = (result, &first_error) {
            acked_at_error = log.synced_lsn().0;
            first_error = Some(error);
        }
    };
    let mut group = 1;
    while log.next_lsn().0 <= BATCHES {
        let mut appended = Ok(());
        for _ in 0..group {
            appended = append(&log).map(|_| ());
        }
        let is_stuck = appended.is_err();
        note(appended);
        note(log.commit_step().map(|_| ()));
        if group == 3 {
            note(log.witness_step());
        }
        if is_stuck {
            break;
        }
        group = group % 4 + 1;
    }
    note(log.close());
    let acked = log.synced_lsn().0;
    if matches!(first_error, Some(StorageError::Poisoned(_))) {
        assert_eq!(acked, acked_at_error, "nothing is acknowledged after a failure");
    }
    Outcome { acked, error: first_error }
}

/// The calls that the workload makes when nothing goes wrong.
fn calls() -> std::ops::Range<u64> {
    let io = disk(7);
    let first = io.counts().calls;
    let outcome = workload(&io);
    assert!(outcome.error.is_none() && outcome.acked >= BATCHES);
    first..io.counts().calls
}

/// Opens what a crash left, checks the promise, and that the log can be used and opened again.
fn check(image: &MemIo, acked: u64, what: &str) -> u64 {
    let (log, recovered, batches) =
        open(image).unwrap_or_else(|error| panic!("{what}: an honest disk, and {error:?}"));
    assert!(batches >= acked, "{what}: {acked} acknowledged, {batches} found");
    assert_eq!(log.synced_lsn(), recovered.last_lsn);
    commit(&log, 2).unwrap();
    drop(log);
    let (_, recovered, again) = open(image).unwrap();
    assert_eq!((again, recovered.torn), (batches + 2, None), "{what}");
    batches
}

#[test]
fn power_cut_at_every_call() {
    let (mut images, mut torn) = (0, 0);
    for call in calls() {
        let io = disk(7);
        io.cut_power_at(call);
        let outcome = workload(&io);
        for seed in 0..30 {
            let image = io.after_crash(call * 1_000 + seed);
            let found = check(&image, outcome.acked, &format!("power cut at call {call}, seed {seed}"));
            images += 1;
            torn += u32::from(found > outcome.acked);
        }
        killed_then_power_cut(&io, outcome.acked, call);
    }
    assert!(images > 1_000 && torn > 10, "{images} images, {torn} with an unacknowledged commit");
}

/// What a killed process left in the cache may be acknowledged only after the next one has made it durable.
fn killed_then_power_cut(io: &MemIo, acked: u64, call: u64) {
    let killed = io.after_kill();
    let Ok((log, ..)) = open(&killed) else { panic!("killed at call {call}") };
    let recovered = log.synced_lsn().0;
    assert!(recovered >= acked);
    for seed in 0..5 {
        check(
            &killed.after_crash(seed),
            recovered,
            &format!("killed at call {call}, power cut, seed {seed}"),
        );
    }
    commit(&log, 1).unwrap();
    for seed in 0..5 {
        check(
            &killed.after_crash(seed),
            recovered + 1,
            &format!("killed at call {call}, commit, power cut, seed {seed}"),
        );
    }
}

/// A marker needs no sync, but the segment it is in must be durable to its end before there is a next one.
#[test]
fn power_cut_after_a_marker_at_the_end_of_a_segment() {
    for call in 0..12 {
        let io = disk(7);
        let (log, ..) = open(&io).unwrap();
        // Two of these don't fit into a segment, so the second one rotates.
        let huge = vec![1; 8 << 10];
        log.append(&huge).unwrap();
        log.commit_step().unwrap();
        log.witness_step().unwrap();
        io.cut_power_at(io.counts().calls + call);
        let is_whole = log.append(&huge).is_ok() && log.commit_step().is_ok();
        assert!(
            !is_whole || logs::segments(&io).len() == 2,
            "the second batch is meant for the next segment"
        );
        for seed in 0..40 {
            let (_, _, payloads) = logs::open_with(&io.after_crash(seed), logs::small())
                .unwrap_or_else(|error| panic!("call {call}, seed {seed}: {error:?}"));
            assert!(payloads.len() > usize::from(is_whole), "call {call}, seed {seed}");
        }
    }
}

#[test]
fn power_cut_at_every_call_of_recovery() {
    let io = disk(7);
    io.cut_power_at(calls().end * 3 / 4);
    let outcome = workload(&io);
    let mut chains = 0;
    for seed in 0..12 {
        let image = io.after_crash(seed);
        let (_, undisturbed, batches) = open(&image.after_crash(1)).unwrap();
        for call in 0.. {
            let interrupted = image.after_crash(1);
            interrupted.cut_power_at(call);
            if open(&interrupted).is_ok() {
                break;
            }
            let again = interrupted.after_crash(call);
            let (_, recovered, found) = open(&again.after_crash(1)).unwrap();
            assert_eq!(found, batches, "seed {seed}, recovery cut at call {call}");
            assert_eq!(recovered.last_lsn, undisturbed.last_lsn);
            check(&again, outcome.acked, &format!("seed {seed}, recovery cut at call {call}"));
            chains += 1;
        }
    }
    assert!(chains > 100, "{chains} chains");
}

#[test]
fn every_call_fails_once_or_for_good() {
    const EIO: i32 = 5;
    const ENOSPC: i32 = 28;
    let (mut failed, mut full) = (0, 0);
    for call in calls() {
        for (errno, is_sticky) in [(EIO, false), (EIO, true), (ENOSPC, false), (ENOSPC, true)] {
            let io = disk(7);
            io.inject(Fault { at_call: call, kind: FaultKind::Errno(errno), is_sticky });
            let outcome = workload(&io);
            let what = format!("errno {errno} at call {call}, sticky {is_sticky}");
            assert_eq!(
                io.counts().syncs_after_failure,
                0,
                "{what}: a file was synced after its sync had failed"
            );
            match &outcome.error {
                Some(StorageError::Io(failure) | StorageError::Poisoned(failure)) => {
                    assert_eq!(logs::errno(failure), Some(errno), "{what}");
                    failed += 1;
                }
                Some(StorageError::DiskFull { failure, .. }) if errno == ENOSPC => {
                    assert_eq!(logs::errno(failure), Some(errno), "{what}");
                    full += 1;
                }
                // A note that finds no room is left out, and a commit is written again.
                None if errno == ENOSPC => {}
                other => panic!("{what}: {other:?}"),
            }
            let counts = io.counts();
            assert!(
                errno != ENOSPC
                    || !matches!(outcome.error, Some(StorageError::Poisoned(_)))
                    || counts.failed_syncs > 0
                    || counts.failed_overwrites > 1,
                "{what}: want of space has poisoned the log"
            );
            io.heal();
            check(&io.after_kill(), outcome.acked, &what);
            for seed in 0..3 {
                check(&io.after_crash(seed), outcome.acked, &what);
            }
        }
    }
    assert!(failed > 100 && full > 10, "{failed} failed, {full} without room");
}

#[test]
fn short_writes_and_interruptions_are_invisible() {
    for call in calls() {
        for (kind, is_sticky) in
            [(FaultKind::ShortWrite, false), (FaultKind::ShortWrite, true), (FaultKind::Interrupted, false)]
        {
            let io = disk(7);
            io.inject(Fault { at_call: call, kind, is_sticky });
            let outcome = workload(&io);
            assert!(outcome.error.is_none(), "{kind:?} at call {call}: {:?}", outcome.error);
            check(&io.after_crash(call), outcome.acked, "afterwards");
        }
    }
}

/// After a sync failed, the cache holds what the disk never got. A restart must not take it for durable.
#[test]
fn a_restart_after_a_failed_sync_believes_the_disk_and_not_the_cache() {
    let io = disk(7);
    let (log, ..) = open(&io).unwrap();
    commit(&log, 3).unwrap();
    append(&log).unwrap();
    io.inject(Fault { at_call: io.counts().calls + 1, kind: FaultKind::Errno(5), is_sticky: false });
    log.commit_step().unwrap_err();
    drop(log);
    let restarted = io.after_kill();
    let (log, _, batches) = open(&restarted).unwrap();
    assert_eq!(batches, 3);
    commit(&log, 1).unwrap();
    for seed in 0..50 {
        assert_eq!(open(&restarted.after_crash(seed)).unwrap().2, 4);
    }
}
