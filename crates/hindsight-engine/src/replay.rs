//! The replay of the log at the start: in this thread, or with what is heaviest of it in another one.
//!
//! Reading, checking, decoding and part of what is derived of a memory depend on nothing that came before; `apply` does, and
//! goes in the order of the log. So one thread does the first and another the second. Between them are few batches, so
//! that a start takes hardly more memory than what it builds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use hindsight_core::likeness::held_marks;
use hindsight_core::{Batch, Change, Lsn, Namespace, State};
use hindsight_storage::io::Io;
use hindsight_storage::{Opening, Recovered, ReplayError, Storage};

use crate::apply::Marked;
use crate::error::EngineError;
use crate::namespaces::{Namespaces, drops};
use crate::sync::Mutex;

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
    let ends = Ends { namespaces, beheaded: Mutex::new(BTreeMap::new()) };
    if threads == Threads::One {
        return Ok(opening.replay_to_end(
            &mut |lsn, batch| {
                note(lsn, &batch);
                Ok(ends.apply((lsn, batch, Marked::default()))?)
            },
            &mut || Ok(ends.check()?),
        )?);
    }
    std::thread::scope(|scope| {
        let feeder = RefCell::new(Feeder::begin(scope, &ends));
        Ok(opening.replay_to_end(
            &mut |lsn, batch| {
                note(lsn, &batch);
                let marked = mark(namespaces, &batch);
                feeder.borrow_mut().feed((lsn, batch, marked))
            },
            &mut || {
                feeder.borrow_mut().end()?;
                Ok(ends.check()?)
            },
        )?)
    })
}

type Item = (Lsn, Batch, Marked);

/// Applies batches, and knows namespaces of which the log has only the end.
///
/// A dropped namespace is struck from the manifest by the checkpoint that comes after, while the log from further back may
/// still be needed by another one. Then replay meets changes of memories whose beginning is nowhere any more. They are
/// passed over up to the drop, after which nothing of them would be left; without a drop they are damage.
struct Ends<'a> {
    namespaces: &'a Namespaces,
    beheaded: Mutex<BTreeMap<Namespace, EngineError>>,
}

impl Ends<'_> {
    fn apply(&self, (lsn, batch, marked): Item) -> Result<(), EngineError> {
        let mut beheaded = self.beheaded.lock();
        if drops(&batch) {
            beheaded.remove(&batch.namespace);
        } else if beheaded.contains_key(&batch.namespace) {
            return Ok(());
        }
        let cell = self.namespaces.get_or_create(&batch.namespace)?;
        match cell.replay(lsn, batch, marked) {
            Err(error @ EngineError::Unapplicable { .. }) => {
                beheaded.insert(cell.name.clone(), error);
                Ok(())
            }
            applied => applied,
        }
    }

    /// After the last batch.
    fn check(&self) -> Result<(), EngineError> {
        self.beheaded.lock().pop_first().map_or(Ok(()), |(_, error)| Err(error))
    }
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
    fn begin<'env>(scope: &'scope Scope<'scope, 'env>, ends: &'env Ends<'env>) -> Feeder<'scope> {
        let (groups, received) = sync_channel(GROUPS);
        let worker = scope.spawn(move || apply_all(ends, &received));
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

fn apply_all(ends: &Ends<'_>, groups: &Receiver<Vec<Item>>) -> Result<(), EngineError> {
    groups.iter().flatten().try_for_each(|item| ends.apply(item))
}
