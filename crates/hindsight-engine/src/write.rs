//! Writing memories: one, or many with one sync.

use std::collections::BTreeSet;
use std::sync::Arc;

use hindsight_core::draft::{Checked, Moment};
use hindsight_core::limits::BATCH_ITEMS_MAX;
use hindsight_core::{Batch, Change, Invalid, Lsn, Memory, MemoryId, Namespace, Record, Timestamp};
use hindsight_storage::io::Io;

use crate::decide::{CheckedVectors, check_vectors, fresh_id, next_time};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::{BatchWritten, Model, Written};
use crate::request::{BatchRequest, WriteItem, WriteOptions};
use crate::requests::{Seen, key};
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

/// An item that is right in itself; what the namespace says to it comes next.
struct Ready {
    draft: Checked,
    vectors: CheckedVectors,
}

impl<I: Io> EngineOver<I> {
    /// Stores one memory.
    ///
    /// # Errors
    /// When a field is wrong, the id is taken, the vectors don't fit the namespace, or the log fails.
    pub fn write(
        &self,
        namespace: &Namespace,
        item: WriteItem,
        options: WriteOptions,
    ) -> Result<Unsynced<Written, I>, EngineError> {
        let asked = (&item.draft, item.maker.chosen(item.vectors.as_ref()), options.validate_only);
        let request = key(options.request_id.as_deref(), "write", &asked)?;
        let ready = Ready::of(item)?;
        let cell = self.namespaces.get_or_create(namespace)?;
        cell.ensure_loaded(self.storage.records())?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            return self.written_before(&cell, &seen);
        }
        let (record, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            (self.decide(&cell, &state, ready, &mut Pending::default(), at)?, at)
        };
        let mut memory = record.memory.clone();
        let revision = if options.validate_only {
            // Nothing was stored, so nobody can ask for this id; it would only mislead.
            memory.version = 0;
            cell.state.read().applied
        } else {
            let changes = vec![Change::Put(Box::new(record))];
            self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?
        };
        Ok(self.unsynced(Written { memory, replayed: false, revision }, revision))
    }

    /// Stores many memories with one sync. Each item has its own result; with `all_or_nothing` one bad item refuses all.
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
        let request = key(batch.request_id.as_deref(), "write_batch", &(asked, batch.all_or_nothing))?;
        let ready: Vec<Result<Ready, EngineError>> = batch.items.into_iter().map(Ready::of).collect();
        let cell = self.namespaces.get_or_create(namespace)?;
        cell.ensure_loaded(self.storage.records())?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            return Ok(self.batch_written_before(ready, &seen));
        }
        let (results, changes, at) = self.decide_all(&cell, ready);
        if batch.all_or_nothing
            && let Some((index, error)) =
                results.iter().enumerate().find_map(|(i, r)| r.as_ref().err().map(|e| (i, e)))
        {
            return Err(refused(index, error).into());
        }
        let revision = if changes.is_empty() {
            cell.state.read().applied
        } else {
            self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?
        };
        Ok(self.unsynced(BatchWritten { results, replayed: false, revision }, revision))
    }

    fn decide_all(
        &self,
        cell: &Cell,
        ready: Vec<Result<Ready, EngineError>>,
    ) -> (Vec<Result<MemoryId, EngineError>>, Vec<Change>, Timestamp) {
        let state = cell.state.read();
        let at = next_time(&*self.io, &state);
        let (mut pending, mut changes) = (Pending::default(), Vec::new());
        let results = ready
            .into_iter()
            .map(|item| {
                let record = self.decide(cell, &state, item?, &mut pending, at)?;
                let id = record.memory.id;
                changes.push(Change::Put(Box::new(record)));
                Ok(id)
            })
            .collect();
        (results, changes, at)
    }

    /// Decides everything about one new memory.
    fn decide(
        &self,
        cell: &Cell,
        state: &NamespaceState,
        ready: Ready,
        pending: &mut Pending,
        at: Timestamp,
    ) -> Result<Record, EngineError> {
        let Ready { draft, vectors } = ready;
        vectors.fit(&cell.name, state, pending.model.as_ref())?;
        if let Some(id) = draft.id()
            && (state.records.contains_key(&id) || pending.ids.contains(&id))
        {
            return Err(EngineError::MemoryExists { id });
        }
        let id = match draft.id() {
            Some(id) => id,
            None => {
                let mut id = fresh_id(&*self.io, state, pending.last, at)?;
                while pending.ids.contains(&id) {
                    id = fresh_id(&*self.io, state, Some(id), at)?;
                }
                pending.last = Some(id);
                id
            }
        };
        pending.ids.insert(id);
        pending.model = pending.model.take().or_else(|| vectors.as_model());
        let moment = Moment { namespace: cell.name.clone(), id, now: at, embedding_model: vectors.model };
        Ok(Record { memory: draft.into_memory(moment), vectors: vectors.vectors })
    }

    fn written_before(&self, cell: &Arc<Cell>, seen: &Seen) -> Result<Unsynced<Written, I>, EngineError> {
        let (memory, applied) = present_state(cell, seen)?;
        Ok(self.unsynced(Written { memory, replayed: true, revision: seen.lsn }, applied))
    }

    /// The results of a batch that was carried out before: what was right then got the remembered ids in order.
    /// Whatever else refused an item then can't be told any more, so such a batch is answered from its count.
    fn batch_written_before(
        &self,
        ready: Vec<Result<Ready, EngineError>>,
        seen: &Seen,
    ) -> Unsynced<BatchWritten, I> {
        let mut ids = seen.ids.iter().copied();
        let results = ready
            .into_iter()
            .map(|item| {
                let item = item?;
                match item.draft.id() {
                    // A chosen id was stored by that batch, or was taken before it.
                    Some(id) if !seen.ids.contains(&id) => Err(EngineError::MemoryExists { id }),
                    _ => ids.next().ok_or_else(|| {
                        Invalid::one(
                            "item",
                            "was refused when this request came first: send it in a request of its own",
                        )
                        .into()
                    }),
                }
            })
            .collect();
        self.unsynced(BatchWritten { results, replayed: true, revision: seen.lsn }, seen.lsn)
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

/// What the items before have taken within one batch.
#[derive(Debug, Default)]
struct Pending {
    ids: BTreeSet<MemoryId>,
    /// The newest id that the database chose itself.
    last: Option<MemoryId>,
    model: Option<Model>,
}

impl Ready {
    fn of(item: WriteItem) -> Result<Ready, EngineError> {
        let draft = item.draft.check()?;
        let vectors = check_vectors(item.vectors.as_ref())?;
        Ok(Ready { draft, vectors })
    }
}

fn refused(index: usize, error: &EngineError) -> Invalid {
    match error {
        EngineError::Invalid(invalid) => invalid.clone().under(&format!("items[{index}].")),
        other => Invalid::one(format!("items[{index}]"), other.to_string()),
    }
}
