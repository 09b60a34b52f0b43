//! Every order in which two writers and the committer can meet, up to a number of interruptions (A9): nobody waits for
//! ever, and nobody is told that something is durable which is not.
//!
//! `cargo test -p hindsight-storage --features loom --lib schedules`
#![cfg(feature = "loom")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as Order};

use super::*;
use crate::testing::{
    Fault, FaultKind, MemIo,
    logs::{disk, open_with, payload, small},
};

const EIO: i32 = 5;

/// Tries every order with at most that many interruptions of a thread that could go on. Returns how many there are.
fn every_order(interruptions: usize, run: impl Fn() + Send + Sync + 'static) -> u64 {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.check(move || {
        counted.fetch_add(1, Order::Relaxed);
        run();
    });
    let orders = count.load(Order::Relaxed);
    println!("{orders} orders");
    orders
}

/// A log whose committer is the product's, in a thread of the model. Its clock stands still, so it writes no witness.
struct Model {
    io: MemIo,
    log: Arc<Log<MemIo>>,
    committer: loom::thread::JoinHandle<()>,
}

impl Model {
    fn begin(frames_max: usize) -> Model {
        let io = disk(1);
        let options = LogOptions {
            pending_frames_max: frames_max,
            witness_after_ms: 3_600_000,
            preallocate_bytes: 0,
            ..small()
        };
        let (log, ..) = open_with(&io, options).unwrap();
        log.shared.has_committer.store(true, Ordering::Release);
        let shared = Arc::clone(&log.shared);
        let committer = loom::thread::spawn(move || committer::run(&shared));
        Model { io, log: Arc::new(log), committer }
    }

    /// A writer that waits for its batch.
    fn writer(&self, number: u64) -> loom::thread::JoinHandle<Result<Lsn, StorageError>> {
        let log = Arc::clone(&self.log);
        loom::thread::spawn(move || {
            let lsn = log.append(&payload(number))?;
            log.wait_synced(lsn)?;
            assert!(log.synced_lsn() >= lsn);
            Ok(lsn)
        })
    }

    /// Stops the committer, cuts the power, and tells how many batches are there.
    fn end(self) -> u64 {
        self.log.shared.pending.stop(Stop::Closed);
        self.committer.join().unwrap();
        let after = self.io.after_crash(7);
        drop(self.log);
        batches(&after)
    }
}

/// How many batches a start finds.
fn batches(io: &MemIo) -> u64 {
    let (_, recovered, _) = open_with(io, small()).unwrap();
    recovered.batches
}

#[test]
fn two_writers_and_a_committer() {
    let orders = every_order(2, || {
        let model = Model::begin(10);
        let writers = [model.writer(1), model.writer(2)];
        let mut lsns = writers.map(|writer| writer.join().unwrap().unwrap());
        lsns.sort_unstable();
        assert_eq!(lsns, [Lsn(1), Lsn(2)]);
        assert_eq!(model.end(), 2);
    });
    assert!(orders > 100, "{orders}");
}

#[test]
fn a_writer_that_finds_no_room_is_let_in_later() {
    let orders = every_order(2, || {
        let model = Model::begin(1);
        let writers = [model.writer(1), model.writer(2)];
        writers.into_iter().for_each(|writer| assert!(writer.join().unwrap().unwrap() > Lsn(0)));
        assert_eq!(model.end(), 2);
    });
    assert!(orders > 100, "{orders}");
}

#[test]
fn after_a_failed_sync_both_writers_are_told() {
    let orders = every_order(2, || {
        let model = Model::begin(1);
        // The write of the first commit, and then its sync.
        let at_call = model.io.counts().calls + 1;
        model.io.inject(Fault { at_call, kind: FaultKind::Errno(EIO), is_sticky: false });
        let writers = [model.writer(1), model.writer(2)];
        for writer in writers {
            let error = writer.join().unwrap().unwrap_err();
            assert!(matches!(error, StorageError::Poisoned(_)), "{error}");
        }
        assert_eq!(model.log.synced_lsn(), Lsn(0));
        model.log.shared.pending.stop(Stop::Closed);
        model.committer.join().unwrap();
    });
    assert!(orders > 100, "{orders}");
}

#[test]
fn a_writer_beside_the_end_is_durable_or_refused() {
    let orders = every_order(2, || {
        let model = Model::begin(10);
        let writer = model.writer(1);
        model.log.shared.pending.stop(Stop::Closed);
        let Model { io, log, committer } = model;
        committer.join().unwrap();
        let closed = log.shared.close();
        log.shared.progress.stop(Stop::Closed);
        assert!(closed.is_ok());
        let written = writer.join().unwrap();
        drop(log);
        let found = batches(&io.after_crash(7));
        match written {
            Ok(lsn) => assert_eq!((lsn, found), (Lsn(1), 1)),
            Err(error) => assert!(matches!(error, StorageError::Closed) && found == 0, "{error}"),
        }
    });
    assert!(orders > 20, "{orders}");
}
