//! The one way in which state changes: live writes and replay go through it alike. It decides nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hindsight_core::{Batch, Change, Lsn, MemoryId, Namespace, Purged, Record, State};
use hindsight_storage::erasure::hash_of_memory;
use hindsight_storage::record_digest;
use hindsight_storage::sabotage::{Sabotage, has};

use crate::error::EngineError;
use crate::reply::Model;
use crate::slot::Slot;
use crate::state::{Held, NamespaceState};
use crate::sync::RwLock;

/// Puts one batch into memory. A batch that is in there already is skipped, so replay may begin anywhere earlier.
///
/// # Errors
/// [`EngineError::Unapplicable`] when the batch does not fit what came before it: then the log is not this
/// database's, or a bug wrote it.
pub(crate) fn apply(state: &mut NamespaceState, lsn: Lsn, batch: Batch) -> Result<(), EngineError> {
    apply_marked(state, lsn, batch, Marked::default())
}

/// What is derived of new memories and known already, by their ids: to derive it takes longer than everything else here.
pub(crate) type Marked = HashMap<MemoryId, Vec<u32>>;

/// As [`apply`], with what is known of the batch's new memories.
///
/// # Errors
/// As [`apply`].
pub(crate) fn apply_marked(
    state: &mut NamespaceState,
    lsn: Lsn,
    batch: Batch,
    mut marked: Marked,
) -> Result<(), EngineError> {
    let counts = || batch.changes.iter().all(|change| matches!(change, Change::Access { .. }));
    if lsn <= state.applied && !(has(Sabotage::CountTwice) && counts()) {
        return Ok(());
    }
    let ids = batch.changed_ids();
    for change in batch.changes {
        let known = |id| {
            let old = state.record(id).ok_or(unapplicable(lsn, "an unknown memory changes"))?;
            Ok::<Record, EngineError>(Record::clone(old))
        };
        match change {
            Change::DropNamespace => drop_all(state, lsn),
            Change::Purge(purge) => match &purge.target {
                Purged::Namespace(_) => drop_all(state, lsn),
                Purged::Memories(hashes) => take_away(state, lsn, &batch.namespace, &purge.key, hashes),
            },
            Change::Settings(settings) => (state.settings, state.settings_at) = (*settings, lsn),
            Change::Put(record) => {
                let held = marked.remove(&record.memory.id);
                put(state, lsn, *record, held)?;
            }
            Change::SetState { id, state: next, version, at } => {
                let mut record = known(id)?;
                record.memory.enter(next);
                record.memory.version = version;
                record.memory.updated_at = at;
                put(state, lsn, record, None)?;
            }
            Change::Stand { id, standing, version, at } => {
                let mut record = known(id)?;
                standing.give_to(&mut record.memory);
                record.memory.version = version;
                record.memory.updated_at = at;
                put(state, lsn, record, None)?;
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
    state.applied = state.applied.max(lsn);
    // A namespace that begins anew has no batch before its first.
    state.last_at = if state.is_there() { state.last_at.max(Some(batch.at)) } else { None };
    Ok(())
}

/// What [`apply`] must never be, for the tests that have to notice.
pub(crate) fn in_two_steps(state: &RwLock<Slot>, lsn: Lsn, batch: Batch) -> Result<(), EngineError> {
    let mut first = batch.clone();
    first.changes.truncate(batch.changes.len() / 2);
    first.request = None;
    let changes = batch.changes.get(first.changes.len()..).unwrap_or_default().to_vec();
    {
        let mut state = state.write();
        let before = state.applied;
        apply(&mut state, lsn, first)?;
        state.applied = before;
    }
    std::thread::yield_now();
    apply(&mut state.write(), lsn, Batch { changes, ..batch })
}

/// The namespace as if nothing had ever been written to it.
fn drop_all(state: &mut NamespaceState, lsn: Lsn) {
    let gone = NamespaceState {
        stored: state.stored,
        gone: lsn,
        dropped: lsn,
        has_old_files: true,
        ..NamespaceState::default()
    };
    *state = gone;
}

/// Takes the memories with these hashes out of everything, and with them every request that touched one: its digest
/// is made of what was asked for.
fn take_away(state: &mut NamespaceState, lsn: Lsn, namespace: &Namespace, key: &[u8; 32], hashes: &[u128]) {
    let is_purged = |id: &MemoryId| hashes.binary_search(&hash_of_memory(key, namespace, *id)).is_ok();
    let ids: BTreeSet<MemoryId> = state.records.keys().copied().filter(is_purged).collect();
    for id in &ids {
        let Some(old) = state.records.remove(id) else { continue };
        state.digest.remove(record_digest(*id, old.record.memory.version, old.lsn));
        state.forgotten -= usize::from(old.record.memory.state == State::Forgotten);
        if old.record.memory.state == State::Forgotten {
            state.forgotten_values.remove(&old.record.memory);
        }
        for from in &old.record.memory.derived_from {
            state.derived.remove(&(*from, *id));
        }
        state.dirty.remove(id);
        state.index.remove(*id);
    }
    state.requests.drop_all_of(&ids);
    state.gone = lsn;
}

fn put(
    state: &mut NamespaceState,
    lsn: Lsn,
    record: Record,
    marks: Option<Vec<u32>>,
) -> Result<(), EngineError> {
    let id = record.memory.id;
    let expected = state.record(id).map_or(1, |old| old.memory.version + 1);
    if record.memory.version != expected {
        return Err(unapplicable(lsn, "a version of a memory is missing"));
    }
    hold_marked(state, lsn, record, marks)?;
    state.dirty.insert(id);
    Ok(())
}

/// Holds the newest image of a memory and brings everything that is derived of it up to it.
///
/// # Errors
/// As [`apply`].
pub(crate) fn hold(state: &mut NamespaceState, lsn: Lsn, record: Record) -> Result<(), EngineError> {
    hold_marked(state, lsn, record, None)
}

fn hold_marked(
    state: &mut NamespaceState,
    lsn: Lsn,
    record: Record,
    marks: Option<Vec<u32>>,
) -> Result<(), EngineError> {
    if let (None, Some(name), Some(first)) =
        (&state.model, &record.memory.embedding_model, record.vectors.first())
    {
        state.model = Some(Model { name: name.clone(), dimension: first.embedding.dimension() });
    }
    let misfit = "a vector does not fit the namespace's dimension";
    state.index.apply_marked(&record, marks).map_err(|_| unapplicable(lsn, misfit))?;
    hold_indexed(state, lsn, record);
    Ok(())
}

/// Holds the image of a memory that the index has already.
pub(crate) fn hold_indexed(state: &mut NamespaceState, lsn: Lsn, record: Record) {
    let (id, version) = (record.memory.id, record.memory.version);
    let is_forgotten = record.memory.state == State::Forgotten;
    let by = record.memory.superseded_by;
    state.digest.add(record_digest(id, version, lsn));
    state.forgotten += usize::from(is_forgotten);
    if is_forgotten {
        state.forgotten_values.add(&record.memory);
    }
    if let Some(old) = state.records.get(&id).filter(|old| !old.record.memory.derived_from.is_empty()) {
        for from in &old.record.memory.derived_from {
            state.derived.remove(&(*from, id));
        }
    }
    state.derived.extend(record.memory.derived_from.iter().map(|from| (*from, id)));
    if let Some(old) = state.records.insert(id, Held { record: Arc::new(record), lsn }) {
        state.digest.remove(record_digest(id, old.record.memory.version, old.lsn));
        let was_forgotten = old.record.memory.state == State::Forgotten;
        state.forgotten -= usize::from(was_forgotten);
        if was_forgotten && !is_forgotten {
            state.forgotten_values.remove(&old.record.memory);
        }
        if let Some(was_by) = old.record.memory.superseded_by.filter(|was_by| Some(*was_by) != by) {
            state.superseded.remove(&(was_by, id));
        }
    }
    if let Some(by) = by {
        state.superseded.insert((by, id));
    }
}

fn unapplicable(lsn: Lsn, what: &'static str) -> EngineError {
    EngineError::Unapplicable { lsn: lsn.0, what }
}
