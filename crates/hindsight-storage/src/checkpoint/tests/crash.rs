//! Crashes and faults at every call of a small workload: whatever happens, the state is that of a prefix of the batches,
//! at least up to the last acknowledged one.

use super::*;

/// Batches before and after the directory is opened a second time.
const BATCHES: [u64; 2] = [24, 44];

struct Outcome {
    acked: u64,
    error: Option<StorageError>,
}

/// Single commits and small groups, a checkpoint after each seventh batch, now and then with writes in between; a close,
/// a second open, more of it. Goes on after an error, as a server would whose clients try again.
fn workload(io: &MemIo) -> Outcome {
    let mut outcome = Outcome { acked: 0, error: None };
    for batches in BATCHES {
        let (mut engine, storage) = match open(io) {
            Ok((engine, storage, _)) => (engine, storage),
            Err(error) => {
                outcome.error.get_or_insert(error);
                return outcome;
            }
        };
        engine.snapshots = true;
        let mut note = |result: Result<(), StorageError>| {
            if let Err(error) = result {
                outcome.error.get_or_insert(error);
            }
        };
        while storage.log().next_lsn().0 <= batches {
            let lsn = match append(&mut engine, &storage) {
                Ok(lsn) => lsn.0,
                Err(error) => {
                    note(Err(error));
                    break;
                }
            };
            if lsn % 3 != 0 {
                note(storage.commit_step().map(|_| ()));
            }
            if lsn % 7 == 0 {
                let mut more = u64::from(lsn % 2 == 0);
                let result = checkpoint_while(&mut engine, &storage, &mut |engine, storage| {
                    if more > 0 && append(engine, storage).is_ok() {
                        more -= 1;
                    }
                });
                note(result.map(|_| ()));
            }
        }
        note(storage.close());
        outcome.acked = storage.synced_lsn().0;
        if storage.poison().is_some() {
            // The next start is the caller's, on a disk that remembers what it lost.
            return outcome;
        }
    }
    outcome
}

fn calls() -> u64 {
    let io = disk(7);
    let outcome = workload(&io);
    assert!(outcome.error.is_none() && outcome.acked >= BATCHES[1], "{:?}", outcome.error);
    io.counts().calls
}

/// Opens what a crash left and checks the promise. Returns how many batches there are.
fn check(image: &MemIo, acked: u64, goes_on: bool, what: &str) -> u64 {
    let (mut engine, storage, recovered) =
        open(image).unwrap_or_else(|error| panic!("{what}: an honest disk, and {error:?}"));
    let found = recovered.last_lsn.0;
    assert!(found >= acked, "{what}: {acked} acknowledged, {found} found");
    assert!(engine.image == image_at(found), "{what}: another state than that of {found} batches");
    assert_files_are_named(image, &storage);
    if goes_on {
        commit(&mut engine, &storage, 2).unwrap();
        checkpoint(&mut engine, &storage).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        commit(&mut engine, &storage, 1).unwrap();
        drop(storage);
        let (engine, _, recovered) = open(image).unwrap();
        assert_eq!((recovered.last_lsn.0, recovered.batches), (found + 3, 1), "{what}");
        assert!(engine.image == image_at(found + 3), "{what}");
    }
    found
}

#[test]
fn power_cut_at_every_call() {
    let mut images = 0;
    for call in 0..calls() {
        let io = disk(7);
        io.cut_power_at(call);
        let outcome = workload(&io);
        for seed in 0..4 {
            let image = io.after_crash(call * 1_000 + seed);
            check(&image, outcome.acked, seed == 0, &format!("power cut at call {call}, seed {seed}"));
            images += 1;
        }
        check(&io.after_kill(), outcome.acked, false, &format!("killed at call {call}"));
    }
    assert!(images > 1_000, "{images} images");
}

#[test]
fn power_cut_at_every_call_of_the_start_after_a_crash() {
    let calls = calls();
    let mut chains = 0;
    for part in [3, 5, 8, 9] {
        let io = disk(7);
        io.cut_power_at(calls * part / 10);
        let outcome = workload(&io);
        for seed in 0..3 {
            let image = io.after_crash(seed);
            for call in 0.. {
                let interrupted = image.after_crash(1);
                interrupted.cut_power_at(call);
                if open(&interrupted).is_ok() {
                    break;
                }
                let what = format!("cut at {part}/10, seed {seed}, start cut at call {call}");
                check(&interrupted.after_crash(call), outcome.acked, call % 8 == 0, &what);
                chains += 1;
            }
        }
    }
    assert!(chains > 100, "{chains} chains");
}

#[test]
fn every_call_fails_once_or_for_good() {
    let calls = calls();
    let (mut poisoned, mut passed) = (0, 0);
    for call in 0..calls {
        for (errno, is_sticky) in [(EIO, false), (ENOSPC, false), (ENOSPC, true)] {
            let io = disk(7);
            io.inject(Fault { at_call: call, kind: FaultKind::Errno(errno), is_sticky });
            let outcome = workload(&io);
            let what = format!("errno {errno} at call {call}, sticky {is_sticky}");
            assert_eq!(io.counts().syncs_after_failure, 0, "{what}: synced after a failed sync");
            match outcome.error {
                Some(StorageError::Poisoned(_)) => poisoned += 1,
                Some(_) | None => passed += 1,
            }
            io.heal();
            check(&io.after_kill(), outcome.acked, false, &what);
            check(&io.after_crash(call), outcome.acked, call % 16 == 0, &what);
        }
    }
    assert!(poisoned > 100 && passed > 100, "{poisoned} poisoned, {passed} not");
}

#[test]
fn short_writes_and_interruptions_are_invisible() {
    for call in 0..calls() {
        for (kind, is_sticky) in [(FaultKind::ShortWrite, call == 0), (FaultKind::Interrupted, false)] {
            let io = disk(7);
            io.inject(Fault { at_call: call, kind, is_sticky });
            let outcome = workload(&io);
            assert!(outcome.error.is_none(), "{kind:?} at call {call}: {:?}", outcome.error);
            assert_eq!(check(&io.after_crash(call), outcome.acked, false, "afterwards"), BATCHES[1]);
        }
    }
}
