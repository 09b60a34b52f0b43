//! The change feed (L9): what becomes of a namespace's memories, as the log has it.
//!
//! A watcher reads the log behind the writers, up to what is durable: every revision once, in order. It holds nothing that
//! a checkpoint would wait for. Where the log does not reach back to it any more it ends with an error that names the
//! oldest revision from which a watch can begin, so that a gap is never passed over.
//!
//! The log alone does not say whose a memory is whose state changes, or whether it was purged since; the namespace's state
//! does. So each change is held against it: what belongs to another agent is left out, and so is everything about a memory
//! that is gone by now. An image is that of its revision, or none.
//!
//! Reading order: `hindsight_core::watch` (what is asked and told), this file, `recent` (the newest batches, read once for all watchers), `event`
//! (from a change to what is told of it).

mod event;
mod recent;

use std::collections::VecDeque;
use std::sync::Arc;

use hindsight_core::{ChangeKind, Lsn, Namespace, Purged, Timestamp, WatchEvent, WatchRequest, Watched};
use hindsight_storage::io::Io;
use hindsight_storage::{ClockedIo, LogCursor};

use crate::engine::EngineOver;
use crate::error::EngineError;
use event::{Seer, Told};
use recent::Logged;
pub(crate) use recent::Recent;

/// Most events that one call of [`WatcherOver::read`] tells.
const EVENTS_MAX: usize = 256;
/// About how many bytes of memories one call tells; a single memory is told whatever its length.
const BYTES_MAX: usize = 256 << 10;

/// A watcher on the machine's own disk.
pub type Watcher = WatcherOver<ClockedIo>;

/// One reader of the change feed of a namespace.
#[derive(Debug)]
pub struct WatcherOver<I: Io> {
    engine: Arc<EngineOver<I>>,
    namespace: Namespace,
    request: WatchRequest,
    cursor: LogCursor,
    /// Read, and not told.
    waiting: VecDeque<Arc<Logged>>,
    /// The next change of the first of them.
    index: usize,
    /// Everything up to here was told.
    told: Lsn,
}

impl<I: Io> EngineOver<I> {
    /// Begins to watch a namespace. One that is not there can be watched, too: it begins with its first memory.
    ///
    /// # Errors
    /// When the request is wrong, the log does not reach back as far, or the revision is not there.
    pub fn watch(
        self: &Arc<Self>,
        namespace: Namespace,
        request: WatchRequest,
    ) -> Result<WatcherOver<I>, EngineError> {
        request.check()?;
        let newest = self.revision();
        let after = request.after.unwrap_or(newest);
        if after > newest {
            return Err(EngineError::WatchAhead { after, newest });
        }
        let oldest = self.storage.log_begins_after()?;
        if after < oldest {
            return Err(EngineError::WatchCompacted { after, oldest });
        }
        self.recent.enter();
        Ok(WatcherOver {
            engine: Arc::clone(self),
            namespace,
            request,
            cursor: LogCursor::after(after),
            waiting: VecDeque::new(),
            index: 0,
            told: after,
        })
    }
}

impl<I: Io> WatcherOver<I> {
    /// Everything up to here was told: whoever begins again after this revision misses nothing.
    #[must_use]
    pub fn revision(&self) -> Lsn {
        self.told
    }

    /// Waits until there is more to read. Needs no thread.
    ///
    /// # Errors
    /// When the log fails or is closed: then nothing more comes.
    pub async fn ready(&self) -> Result<(), EngineError> {
        if self.waiting.is_empty() {
            self.engine.storage.synced(Lsn(self.cursor.last().0 + 1)).await?;
        }
        Ok(())
    }

    /// Reads on and tells what concerns this watcher: nothing when nothing that is durable does. Reads files, and a
    /// namespace that is not loaded.
    ///
    /// # Errors
    /// [`EngineError::WatchCompacted`] when the log was given up before it was read; when it can't be read.
    pub fn read(&mut self) -> Result<Vec<Watched>, EngineError> {
        if self.waiting.is_empty() {
            let recent = &self.engine.recent;
            self.waiting = recent.after(&self.engine.storage, &mut self.cursor)?.into();
        }
        let (mut told, mut events, mut bytes) = (Vec::new(), 0, 0);
        while events < EVENTS_MAX && bytes < BYTES_MAX {
            let Some(logged) = self.waiting.front().cloned() else {
                self.told = self.cursor.last();
                break;
            };
            let part = self.part(&logged, EVENTS_MAX - events, BYTES_MAX - bytes)?;
            (events, bytes) = (events + part.events.len(), bytes + part.bytes);
            let was_begun = self.index > 0;
            if let Some(next) = part.next {
                self.index = next;
            } else {
                self.waiting.pop_front();
                self.index = 0;
                self.told = logged.lsn;
            }
            let more = part.next.is_some();
            if was_begun || more || !part.events.is_empty() {
                told.push(Watched { revision: logged.lsn, at: part.at, events: part.events, more });
            }
        }
        Ok(told)
    }

    /// What of a batch concerns this watcher, from where it stopped.
    fn part(&self, logged: &Logged, most: usize, bytes_max: usize) -> Result<Part, EngineError> {
        if logged.namespace != self.namespace {
            return Ok(Part::default());
        }
        let batch = logged.batch()?;
        let each_bytes = logged.bytes() / batch.changes.len().max(1);
        let cell = self.engine.namespaces.get(&self.namespace);
        if let Some(cell) = &cell {
            self.engine.namespaces.load(cell, self.engine.storage.records())?;
            // IMPORTANT: a batch can be durable before it is applied, and then what it brings is not there to be seen.
            // Whoever writes holds the lock until it is applied.
            if cell.state.read().applied < logged.lsn {
                drop(cell.lock_writer());
            }
        }
        let state = cell.as_ref().map(|cell| cell.state.read());
        let seer = Seer {
            request: &self.request,
            state: state.as_ref().map(|state| &***state),
            at: batch.at,
            each_bytes,
        };
        let mut part = Part { at: batch.at, ..Part::default() };
        let mut newest = Lsn(0);
        for (index, change) in batch.changes.iter().enumerate().skip(self.index) {
            if part.events.len() >= most || part.bytes >= bytes_max {
                part.next = Some(index);
                break;
            }
            let Told { event, bytes, rests_on } = seer.tell(index, change);
            newest = newest.max(rests_on);
            part.bytes += bytes;
            part.events.extend(event);
        }
        drop(state);
        // What was left out, or shown, because of a later batch rests on that one being durable.
        if newest > self.engine.storage.synced_lsn() {
            self.engine.storage.log().wait_synced_or_commit(newest)?;
        }
        Ok(part)
    }
}

impl<I: Io> Drop for WatcherOver<I> {
    fn drop(&mut self) {
        self.engine.recent.leave();
    }
}

/// A part of a batch.
struct Part {
    at: Timestamp,
    events: Vec<WatchEvent>,
    /// About how many bytes the memories in it have.
    bytes: usize,
    /// Where the next part begins, if there is one.
    next: Option<usize>,
}

impl Default for Part {
    fn default() -> Self {
        Part { at: Timestamp::from_ms(0), events: Vec::new(), bytes: 0, next: None }
    }
}

/// The change that a purge is.
fn change_of(target: &Purged) -> ChangeKind {
    match target {
        Purged::Memories(_) => ChangeKind::Purged,
        Purged::Namespace(_) => ChangeKind::NamespacePurged,
    }
}
