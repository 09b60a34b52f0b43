//! How far the log is durable, and who waits for it to get further: threads on a condition, tasks on a channel.

use hindsight_core::Lsn;

use super::{
    Stop,
    sync::{Condvar, Mutex, watch},
};
use crate::error::IoFailure;

#[derive(Debug, Clone)]
struct State {
    synced_lsn: Lsn,
    stop: Option<Stop>,
}

impl State {
    /// The answer for who waits for `lsn`; `None` while it is open. What is durable stays so after a failure.
    fn answer(&self, lsn: Lsn) -> Option<Result<(), Stop>> {
        if self.synced_lsn >= lsn { Some(Ok(())) } else { self.stop.clone().map(Err) }
    }
}

/// The published state of the log.
#[derive(Debug)]
pub(super) struct Progress {
    state: watch::Sender<State>,
    /// Guards nothing but the moment between a waiter's look and its sleep.
    gate: Mutex<()>,
    changed: Condvar,
}

impl Progress {
    pub(super) fn new(synced_lsn: Lsn) -> Progress {
        Progress {
            state: watch::Sender::new(State { synced_lsn, stop: None }),
            gate: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    pub(super) fn synced_lsn(&self) -> Lsn {
        self.state.borrow().synced_lsn
    }

    pub(super) fn poison(&self) -> Option<IoFailure> {
        match &self.state.borrow().stop {
            Some(Stop::Poisoned(failure)) => Some(failure.clone()),
            Some(Stop::Closed) | None => None,
        }
    }

    /// Everything up to `lsn` is durable.
    pub(super) fn publish(&self, lsn: Lsn) {
        self.change(|state| state.synced_lsn = lsn);
    }

    /// Nothing more will become durable. The first reason stays.
    pub(super) fn stop(&self, stop: Stop) {
        self.change(|state| {
            state.stop.get_or_insert(stop);
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
        // A waiter that looked before the change holds the gate until it sleeps: past this line it hears the call.
        drop(self.gate.lock());
        self.changed.notify_all();
    }

    /// Whether `lsn` may still become durable, if it is not.
    pub(super) fn is_possible(&self, lsn: Lsn) -> Result<(), Stop> {
        self.state.borrow().answer(lsn).unwrap_or(Ok(()))
    }

    pub(super) fn wait_blocking(&self, lsn: Lsn) -> Result<(), Stop> {
        let mut gate = self.gate.lock();
        loop {
            if let Some(answer) = self.state.borrow().answer(lsn) {
                return answer;
            }
            self.changed.wait(&mut gate);
        }
    }

    pub(super) async fn wait(&self, lsn: Lsn) -> Result<(), Stop> {
        let mut receiver = self.state.subscribe();
        let state = receiver.wait_for(|state| state.answer(lsn).is_some()).await;
        // The channel can't close while `self` holds its sender.
        state.map_or(Err(Stop::Closed), |state| state.answer(lsn).unwrap_or(Err(Stop::Closed)))
    }
}
