//! How far the log is durable, and who waits for it to get further: threads on a condition, tasks in a queue.
//!
//! A commit wakes the tasks whose batches it made durable, and no others: under load there are as many that wait for the
//! next one.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use hindsight_core::Lsn;

use super::{
    Stop,
    sync::{Condvar, Mutex},
};
use crate::error::IoFailure;

#[derive(Debug)]
struct State {
    synced_lsn: Lsn,
    stop: Option<Stop>,
    /// Tasks that wait, by ascending LSN. One that was given up stays until its batch is durable.
    tasks: VecDeque<Task>,
    next_ticket: u64,
    /// Threads that wait.
    threads: usize,
}

#[derive(Debug)]
struct Task {
    lsn: Lsn,
    ticket: u64,
    waker: Waker,
}

impl State {
    /// The answer for who waits for `lsn`; `None` while it is open. What is durable stays so after a failure.
    fn answer(&self, lsn: Lsn) -> Option<Result<(), Stop>> {
        if self.synced_lsn >= lsn { Some(Ok(())) } else { self.stop.clone().map(Err) }
    }

    fn enter(&mut self, lsn: Lsn, waker: &Waker) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        // Who appended last waits last, but for a few.
        let at = self.tasks.iter().rposition(|task| task.lsn <= lsn).map_or(0, |before| before + 1);
        self.tasks.insert(at, Task { lsn, ticket, waker: waker.clone() });
        ticket
    }
}

/// The published state of the log.
#[derive(Debug)]
pub(super) struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

impl Progress {
    pub(super) fn new(synced_lsn: Lsn) -> Progress {
        let state = State { synced_lsn, stop: None, tasks: VecDeque::new(), next_ticket: 0, threads: 0 };
        Progress { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn synced_lsn(&self) -> Lsn {
        self.state.lock().synced_lsn
    }

    pub(super) fn poison(&self) -> Option<IoFailure> {
        match &self.state.lock().stop {
            Some(Stop::Poisoned(failure)) => Some(failure.clone()),
            Some(Stop::Closed) | None => None,
        }
    }

    /// Everything up to `lsn` is durable.
    pub(super) fn publish(&self, lsn: Lsn) {
        self.change(|state| {
            state.synced_lsn = lsn;
            let ready = state.tasks.partition_point(|task| task.lsn <= lsn);
            state.tasks.drain(..ready).collect()
        });
    }

    /// Nothing more will become durable. The first reason stays.
    pub(super) fn stop(&self, stop: Stop) {
        self.change(|state| {
            state.stop.get_or_insert(stop);
            state.tasks.drain(..).collect()
        });
    }

    /// Wakes nobody under the lock, which whoever is woken takes first.
    fn change(&self, change: impl FnOnce(&mut State) -> Vec<Task>) {
        let mut state = self.state.lock();
        let ready = change(&mut state);
        let threads = state.threads;
        drop(state);
        if threads > 0 {
            self.changed.notify_all();
        }
        ready.into_iter().for_each(|task| task.waker.wake());
    }

    /// Whether `lsn` may still become durable, if it is not.
    pub(super) fn is_possible(&self, lsn: Lsn) -> Result<(), Stop> {
        self.state.lock().answer(lsn).unwrap_or(Ok(()))
    }

    pub(super) fn wait_blocking(&self, lsn: Lsn) -> Result<(), Stop> {
        let mut state = self.state.lock();
        state.threads += 1;
        let answer = loop {
            if let Some(answer) = state.answer(lsn) {
                break answer;
            }
            self.changed.wait(&mut state);
        };
        state.threads -= 1;
        answer
    }

    /// Waits without a thread.
    pub(super) fn wait(&self, lsn: Lsn) -> Wait<'_> {
        Wait { progress: self, lsn, ticket: None }
    }
}

/// A task's wait.
#[derive(Debug)]
pub(super) struct Wait<'p> {
    progress: &'p Progress,
    lsn: Lsn,
    /// Its place in the queue.
    ticket: Option<u64>,
}

impl Future for Wait<'_> {
    type Output = Result<(), Stop>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.progress.state.lock();
        if let Some(answer) = state.answer(self.lsn) {
            return Poll::Ready(answer);
        }
        // Asked again before it was woken: by somebody else, perhaps for another task.
        let ticket = self.ticket;
        let entered = state.tasks.iter_mut().find(|task| Some(task.ticket) == ticket);
        match entered {
            Some(task) => task.waker.clone_from(context.waker()),
            None => {
                let ticket = state.enter(self.lsn, context.waker());
                drop(state);
                self.ticket = Some(ticket);
            }
        }
        Poll::Pending
    }
}
