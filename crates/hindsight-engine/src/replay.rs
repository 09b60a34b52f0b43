//! The replay of the log at the start: in this thread, or with what is heaviest of it in another one.
//!
//! Reading, checking, decoding and part of what is derived of a memory depend on nothing that came before; `apply` does, and
//! goes in the order of the log. So one thread does the first and another the second. Between them are few batches, so
//! that a start takes hardly more memory than what it builds.

use std::cell::RefCell;
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use hindsight_core::likeness::held_marks;
use hindsight_core::{Batch, Change, Lsn, State};
use hindsight_storage::io::Io;
use hindsight_storage::{Opening, Recovered, ReplayError, Storage};

use crate::apply::Marked;
use crate::error::EngineError;
use crate::namespaces::Namespaces;

/// Changes that are handed over together: handing over costs a wake.
const CHANGES: usize = 128;
/// What may wait to be applied.
const GROUPS: usize = 4;

/// How a log is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// In this thread: on a simulated disk, where everything follows from a seed.
    One,
    /// In this one and another.
    Two,
}

/// Replays what is behind the last checkpoint.
///
/// # Errors
/// Those of [`Opening::replay`].
pub(crate) fn replay<I: Io>(
    opening: Opening<I>,
    namespaces: &Namespaces,
    threads: Threads,
) -> Result<(Storage<I>, Recovered), EngineError> {
    let note = |lsn: Lsn, batch: &Batch| namespaces.erasures.replay(lsn, batch);
    if threads == Threads::One {
        return Ok(opening.replay(&mut |lsn, batch| {
            note(lsn, &batch);
            Ok(apply(namespaces, (lsn, batch, Marked::default()))?)
        })?);
    }
    std::thread::scope(|scope| {
        let feeder = RefCell::new(Feeder::begin(scope, namespaces));
        Ok(opening.replay_to_end(
            &mut |lsn, batch| {
                note(lsn, &batch);
                let marked = mark(namespaces, &batch);
                feeder.borrow_mut().feed((lsn, batch, marked))
            },
            &mut || feeder.borrow_mut().end(),
        )?)
    })
}

type Item = (Lsn, Batch, Marked);

fn apply(namespaces: &Namespaces, (lsn, batch, marked): Item) -> Result<(), EngineError> {
    namespaces.get_or_create(&batch.namespace)?.replay(lsn, batch, marked)
}

/// What can be derived of a batch's memories by themselves, unless their namespace is not loaded: then they wait as they are.
fn mark(namespaces: &Namespaces, batch: &Batch) -> Marked {
    if namespaces.get(&batch.namespace).is_some_and(|cell| !cell.is_loaded()) {
        return Marked::default();
    }
    let active = batch.changes.iter().filter_map(|change| match change {
        Change::Put(record) if record.memory.state == State::Active => Some(&record.memory),
        _ => None,
    });
    active.map(|memory| (memory.id, held_marks(memory))).collect()
}

/// Hands batches over to the thread that applies them.
struct Feeder<'scope> {
    waiting: Vec<Item>,
    changes: usize,
    groups: Option<SyncSender<Vec<Item>>>,
    worker: Option<ScopedJoinHandle<'scope, Result<(), EngineError>>>,
}

impl<'scope> Feeder<'scope> {
    fn begin<'env>(scope: &'scope Scope<'scope, 'env>, namespaces: &'env Namespaces) -> Feeder<'scope> {
        let (groups, received) = sync_channel(GROUPS);
        let worker = scope.spawn(move || apply_all(namespaces, &received));
        Feeder { waiting: Vec::new(), changes: 0, groups: Some(groups), worker: Some(worker) }
    }

    fn feed(&mut self, item: Item) -> Result<(), ReplayError> {
        self.changes += item.1.changes.len();
        self.waiting.push(item);
        if self.changes < CHANGES {
            return Ok(());
        }
        self.changes = 0;
        let group = mem::take(&mut self.waiting);
        match self.groups.as_ref().map(|groups| groups.send(group)) {
            Some(Ok(())) => Ok(()),
            // It has ended, and says why.
            _ => self.end(),
        }
    }

    /// Waits until everything is applied.
    fn end(&mut self) -> Result<(), ReplayError> {
        let group = mem::take(&mut self.waiting);
        if let Some(groups) = self.groups.take() {
            // If nobody takes it, the reason is asked for below.
            let _ = groups.send(group);
        }
        match self.worker.take().map(ScopedJoinHandle::join) {
            Some(Ok(result)) => Ok(result?),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Err("the replay has ended before".into()),
        }
    }
}

fn apply_all(namespaces: &Namespaces, groups: &Receiver<Vec<Item>>) -> Result<(), EngineError> {
    groups.iter().flatten().try_for_each(|item| apply(namespaces, item))
}
