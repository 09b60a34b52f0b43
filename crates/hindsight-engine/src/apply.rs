//! The one way in which state changes: live writes and replay go through it alike. It decides nothing.

use std::sync::Arc;

use hindsight_core::{Batch, Change, Lsn, MemoryId, Record, State};
use hindsight_storage::record_digest;

use crate::error::EngineError;
use crate::reply::Model;
use crate::requests::WAS_THERE;
use crate::state::{Held, NamespaceState};

/// Puts one batch into memory. A batch that is in there already is skipped, so replay may begin anywhere earlier.
///
/// # Errors
/// [`EngineError::Unapplicable`] when the batch does not fit what came before it: then the log is not this
/// database's, or a bug wrote it.
pub(crate) fn apply(state: &mut NamespaceState, lsn: Lsn, batch: Batch) -> Result<(), EngineError> {
    if lsn <= state.applied {
        return Ok(());
    }
    let ids = changed_ids(&batch.changes);
    for change in batch.changes {
        let known = |id| {
            let old = state.record(id).ok_or(unapplicable(lsn, "an unknown memory changes"))?;
            Ok::<Record, EngineError>(Record::clone(old))
        };
        match change {
            Change::Put(record) => put(state, lsn, *record)?,
            Change::SetState { id, state: next, version, at } => {
                let mut record = known(id)?;
                record.memory.state = next;
                record.memory.version = version;
                record.memory.updated_at = at;
                put(state, lsn, record)?;
            }
            Change::Stand { id, standing, version, at } => {
                let mut record = known(id)?;
                standing.give_to(&mut record.memory);
                record.memory.version = version;
                record.memory.updated_at = at;
                put(state, lsn, record)?;
            }
            Change::Access { id, count, at } => {
                let mut record = known(id)?;
                let usage = &mut record.memory.usage;
                usage.access_count = usage.access_count.saturating_add(count);
                usage.last_accessed_at = usage.last_accessed_at.max(Some(at));
                hold(state, lsn, record)?;
                state.dirty.insert(id);
            }
        }
    }
    if let Some(request) = batch.request {
        state.requests.remember(request, ids, lsn);
    }
    state.applied = lsn;
    state.last_at = state.last_at.max(Some(batch.at));
    Ok(())
}

/// The memories of a request: those that got a new image or state, in the order of the changes, then those that only stand
/// differently. Behind one that was there before and got a new image stands [`WAS_THERE`]. So the answer to a repeated
/// request can tell what was new.
fn changed_ids(changes: &[Change]) -> Vec<MemoryId> {
    let mut ids = Vec::with_capacity(changes.len());
    let mut others = Vec::new();
    for change in changes {
        match change {
            Change::Put(record) if record.memory.version > 1 => ids.extend([change.id(), WAS_THERE]),
            Change::Put(_) | Change::SetState { .. } => ids.push(change.id()),
            Change::Stand { id, .. } => others.push(*id),
            Change::Access { .. } => {}
        }
    }
    ids.append(&mut others);
    ids
}

fn put(state: &mut NamespaceState, lsn: Lsn, record: Record) -> Result<(), EngineError> {
    let id = record.memory.id;
    let expected = state.record(id).map_or(1, |old| old.memory.version + 1);
    if record.memory.version != expected {
        return Err(unapplicable(lsn, "a version of a memory is missing"));
    }
    hold(state, lsn, record)?;
    state.dirty.insert(id);
    Ok(())
}

/// Holds the newest image of a memory and brings everything that is derived of it up to it.
///
/// # Errors
/// As [`apply`].
pub(crate) fn hold(state: &mut NamespaceState, lsn: Lsn, record: Record) -> Result<(), EngineError> {
    let (id, version) = (record.memory.id, record.memory.version);
    if let (None, Some(name), Some(first)) =
        (&state.model, &record.memory.embedding_model, record.vectors.first())
    {
        state.model = Some(Model { name: name.clone(), dimension: first.embedding.dimension() });
    }
    let misfit = "a vector does not fit the namespace's dimension";
    state.index.apply(&record).map_err(|_| unapplicable(lsn, misfit))?;
    let is_forgotten = record.memory.state == State::Forgotten;
    let by = record.memory.superseded_by;
    state.digest.add(record_digest(id, version, lsn));
    state.forgotten += usize::from(is_forgotten);
    if let Some(old) = state.records.insert(id, Held { record: Arc::new(record), lsn }) {
        state.digest.remove(record_digest(id, old.record.memory.version, old.lsn));
        state.forgotten -= usize::from(old.record.memory.state == State::Forgotten);
        if let Some(was_by) = old.record.memory.superseded_by.filter(|was_by| Some(*was_by) != by) {
            state.superseded.remove(&(was_by, id));
        }
    }
    if let Some(by) = by {
        state.superseded.insert((by, id));
    }
    Ok(())
}

fn unapplicable(lsn: Lsn, what: &'static str) -> EngineError {
    EngineError::Unapplicable { lsn: lsn.0, what }
}
