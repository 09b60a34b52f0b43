//! Writing memories: one, or many with one sync.

use std::sync::Arc;

use hindsight_core::change::WAS_THERE;
use hindsight_core::limits::BATCH_ITEMS_MAX;
use hindsight_core::{
    Batch, Change, Invalid, Lsn, Memory, MemoryId, Namespace, Outcome, RequestKey, Timestamp,
};
use hindsight_storage::io::Io;

use crate::apply::Marked;
use crate::decide::next_time;
use crate::decision::{Pending, Ready, Wish};
use crate::encounter::Overlay;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::{BatchWritten, ItemWritten, Written};
use crate::request::{BatchRequest, WriteItem, WriteOptions};
use crate::requests::{Seen, key};
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

impl<I: Io> EngineOver<I> {
    /// Stores one memory, unless the same is known: then that becomes surer. What it contradicts by its claims becomes
    /// history.
    ///
    /// # Errors
    /// When a field is wrong, the id is taken, the vectors don't fit the namespace, the same is known and that shall be
    /// refused, or the log fails.
    pub fn write(
        &self,
        namespace: &Namespace,
        item: WriteItem,
        options: WriteOptions,
    ) -> Result<Unsynced<Written, I>, EngineError> {
        let vectors = item.maker.chosen(item.vectors.as_ref());
        let asked = (&item.draft, vectors, options.validate_only, options.on_duplicate);
        let wish = Wish { on_duplicate: options.on_duplicate, allow_forgotten: options.allow_forgotten };
        let request = key(options.request_id.as_deref(), call("write", wish), &asked)?;
        self.write_as(namespace, item, (options.validate_only, wish), request)
    }

    /// As [`EngineOver::write`], for a request whose key is known: whether to store nothing, and what happens when the same
    /// is known.
    ///
    /// # Errors
    /// As [`EngineOver::write`].
    pub(crate) fn write_as(
        &self,
        namespace: &Namespace,
        item: WriteItem,
        (validate_only, wish): (bool, Wish),
        request: Option<RequestKey>,
    ) -> Result<Unsynced<Written, I>, EngineError> {
        let ready = Ready::of(item)?;
        let cell = self.namespaces.get_or_create(namespace)?;
        self.namespaces.load(&cell, self.storage.records())?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            return self.written_before(&cell, &seen);
        }
        let (decided, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            let (mut overlay, mut pending) = (Overlay::of_one(&state), Pending::default());
            (self.decide(&cell, &mut overlay, ready, &mut pending, wish, at)?, at)
        };
        let mut memory = decided.memory;
        let changes: Vec<Change> = decided.own.into_iter().chain(decided.others).collect();
        let revision = if validate_only || changes.is_empty() {
            if !matches!(decided.outcome, Outcome::Reinforced | Outcome::Echoed) {
                // Nothing was stored, so nobody can ask for this id; it would only mislead.
                memory.version = 0;
            }
            cell.state.read().applied
        } else {
            let marked = decided.held.map(|held| (memory.id, held)).into_iter().collect();
            self.commit_marked(&cell, Batch { namespace: namespace.clone(), at, request, changes }, marked)?
        };
        let (outcome, neighbors) = (decided.outcome, decided.neighbors);
        let written = Written { outcome, memory, neighbors, replayed: false, revision };
        Ok(self.answer_of(&cell, written, revision))
    }

    /// Stores many memories with one sync. Each item has its own result; with `all_or_nothing` one bad item refuses all.
    /// An item meets the items before it as if they had been written before.
    ///
    /// # Errors
    /// When the batch as a whole is wrong, or the log fails.
    pub fn write_batch(
        &self,
        namespace: &Namespace,
        batch: BatchRequest,
    ) -> Result<Unsynced<BatchWritten, I>, EngineError> {
        if batch.items.is_empty() || batch.items.len() > BATCH_ITEMS_MAX {
            let found = batch.items.len();
            return Err(Invalid::one(
                "items",
                format!("has {found} memories: expected 1 to {BATCH_ITEMS_MAX}"),
            )
            .into());
        }
        let asked: Vec<_> =
            batch.items.iter().map(|item| (&item.draft, item.maker.chosen(item.vectors.as_ref()))).collect();
        let asked = (asked, batch.all_or_nothing, batch.on_duplicate);
        let wish = Wish { on_duplicate: batch.on_duplicate, allow_forgotten: batch.allow_forgotten };
        let request = key(batch.request_id.as_deref(), call("write_batch", wish), &asked)?;
        let contents = batch.items.iter().map(|item| item.draft.content.clone()).collect();
        let ready: Vec<Result<Ready, EngineError>> = batch.items.into_iter().map(Ready::of).collect();
        let cell = self.namespaces.get_or_create(namespace)?;
        self.namespaces.load(&cell, self.storage.records())?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            return Ok(self.batch_written_before(&cell, ready, contents, &seen));
        }
        let (results, changes, marked, at) = self.decide_all(&cell, ready, wish);
        if batch.all_or_nothing
            && let Some((index, error)) =
                results.iter().enumerate().find_map(|(i, r)| r.as_ref().err().map(|e| (i, e)))
        {
            return Err(refused(index, error).into());
        }
        let revision = if changes.is_empty() {
            cell.state.read().applied
        } else {
            self.commit_marked(&cell, Batch { namespace: namespace.clone(), at, request, changes }, marked)?
        };
        Ok(self.answer_of(&cell, BatchWritten { results, replayed: false, revision }, revision))
    }

    fn decide_all(
        &self,
        cell: &Cell,
        ready: Vec<Result<Ready, EngineError>>,
        wish: Wish,
    ) -> (Vec<Result<ItemWritten, EngineError>>, Vec<Change>, Marked, Timestamp) {
        let state = cell.state.read();
        let at = next_time(&*self.io, &state);
        let (mut pending, mut overlay) = (Pending::default(), Overlay::new(&state));
        let (mut changes, mut marked) = (Vec::new(), Marked::default());
        let results = ready
            .into_iter()
            .map(|item| {
                let decided = self.decide(cell, &mut overlay, item?, &mut pending, wish, at)?;
                changes.extend(decided.own);
                marked.extend(decided.held.map(|held| (decided.memory.id, held)));
                changes.extend(decided.others);
                Ok(ItemWritten { id: decided.memory.id, outcome: decided.outcome })
            })
            .collect();
        (results, changes, marked, at)
    }

    pub(crate) fn written_before(
        &self,
        cell: &Arc<Cell>,
        seen: &Seen,
    ) -> Result<Unsynced<Written, I>, EngineError> {
        let (memory, applied) = present_state(cell, seen)?;
        let was_there = seen.ids.get(1) == Some(&WAS_THERE);
        let outcome = outcome_of(&cell.state.read(), seen, memory.id, was_there);
        let (neighbors, revision) = (Vec::new(), seen.lsn);
        let written = Written { outcome, memory, neighbors, replayed: true, revision };
        Ok(self.answer_of(cell, written, applied))
    }

    /// The results of a batch that was carried out before: what was right then got the remembered ids in order. Where
    /// fewer were stored than could have been, an item takes the next id only if its text is still there.
    fn batch_written_before(
        &self,
        cell: &Cell,
        ready: Vec<Result<Ready, EngineError>>,
        contents: Vec<String>,
        seen: &Seen,
    ) -> Unsynced<BatchWritten, I> {
        let state = cell.state.read();
        let mut ids = seen.ids.iter().copied().peekable();
        let results = ready
            .into_iter()
            .zip(contents)
            .map(|(item, content)| {
                let item = item?;
                let chosen = item.draft.id();
                if let Some(id) = chosen.filter(|id| !seen.ids.contains(id)) {
                    // It was stored by that batch, or was taken before it.
                    return Err(EngineError::MemoryExists { id });
                }
                let says_it = |id: &MemoryId| {
                    chosen == Some(*id)
                        || state.record(*id).is_some_and(|record| says_the_same(&record.memory.content, &content))
                };
                let id = ids.next_if(says_it).ok_or_else(|| {
                    Invalid::one(
                        "item",
                        "was refused when this request came first, or has changed since: look for it with a recall",
                    )
                })?;
                let was_there = ids.next_if_eq(&WAS_THERE).is_some();
                Ok(ItemWritten { id, outcome: outcome_of(&state, seen, id, was_there) })
            })
            .collect();
        self.answer(&state, BatchWritten { results, replayed: true, revision: seen.lsn }, seen.lsn)
    }
}

/// Who insists asks for something else than who does not.
pub(crate) fn call(call: &'static str, wish: Wish) -> &'static str {
    match (call, wish.allow_forgotten) {
        ("write", true) => "write, forgotten or not",
        ("write_batch", true) => "write_batch, forgotten or not",
        ("update", true) => "update, forgotten or not",
        _ => call,
    }
}

fn says_the_same(one: &str, other: &str) -> bool {
    one == other || hindsight_core::likeness::wording(one) == hindsight_core::likeness::wording(other)
}

/// What a repeated request did when it came first.
fn outcome_of(state: &NamespaceState, seen: &Seen, id: MemoryId, was_there: bool) -> Outcome {
    let replaced = |older: MemoryId| seen.ids.contains(&older);
    // After a rollback it is the older one that replaces; a newer one of the same batch does not count.
    let is_taken_back = || {
        let memory = &state.record(id)?.memory;
        let by = memory.superseded_by.filter(|by| replaced(*by))?;
        Some(state.record(by)?.memory.created_at < memory.created_at)
    };
    if was_there {
        Outcome::Reinforced
    } else if state.superseded_by(id).any(replaced) || is_taken_back().unwrap_or(false) {
        Outcome::Superseded
    } else {
        Outcome::Created
    }
}

/// The memory that a request changed, as it is now, and the newest batch that made it so: it may be newer than the
/// request's own, and not durable.
pub(crate) fn present_state(cell: &Cell, seen: &Seen) -> Result<(Memory, Lsn), EngineError> {
    let state = cell.state.read();
    let record = seen.ids.first().and_then(|id| state.record(*id));
    let missing = EngineError::Unapplicable { lsn: seen.lsn.0, what: "a request's memory is missing" };
    record.map(|record| (record.memory.clone(), state.applied)).ok_or(missing)
}

fn refused(index: usize, error: &EngineError) -> Invalid {
    match error {
        EngineError::Invalid(invalid) => invalid.clone().under(&format!("items[{index}].")),
        other => Invalid::one(format!("items[{index}]"), other.to_string()),
    }
}
