//! From record files to memory: a namespace that a checkpoint stored, loaded when it is first touched.
//!
//! Records are read, all of them; the index over them comes from the namespace's snapshot, where there is one that fits, and
//! only what changed since is brought to it. In any doubt it is made of the records, which gives the same answers.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;

use hindsight_core::{Batch, LifeKey, Lsn, MemoryId, Record};
use hindsight_index::{NamespaceIndex, SnapshotError};
use hindsight_storage::io::Io;
use hindsight_storage::sabotage::{Sabotage, has};
use hindsight_storage::{Loaded, NamespaceId, RecordFiles, SeenRequest, StoredNamespace};

use crate::apply::{apply, hold, hold_indexed};
use crate::budget::Budget;
use crate::error::EngineError;
use crate::reply::Model;
use crate::state::NamespaceState;

/// A namespace that lies in record files, with what the log says beyond them.
#[derive(Debug)]
pub(crate) struct Cold {
    /// Its number.
    pub(crate) id: NamespaceId,
    /// Memories in its files that are not forgotten.
    pub(crate) memories: u64,
    /// Memories in its files that are.
    pub(crate) forgotten: u64,
    /// The newest batch that its files hold.
    pub(crate) applied: Lsn,
    /// Batches of the log that are newer than its files, in order.
    pub(crate) tail: Vec<(Lsn, Batch)>,
    /// The memories that those change.
    pub(crate) touched: HashSet<MemoryId>,
    /// Whether one of them purges: which memories that are can't be told before they are loaded.
    pub(crate) has_purge: bool,
    /// What its files say about how long its memories live.
    pub(crate) life: BTreeMap<LifeKey, u32>,
}

impl Cold {
    /// A namespace as the manifest has it.
    pub(crate) fn new(stored: &StoredNamespace) -> Cold {
        Cold {
            id: stored.id,
            memories: stored.live.saturating_sub(stored.forgotten),
            forgotten: stored.forgotten,
            applied: stored.applied,
            tail: Vec::new(),
            touched: HashSet::new(),
            has_purge: false,
            life: stored.settings.life.clone(),
        }
    }
}

/// The index of a namespace as its snapshot has it, with the position of that. `None` when it has none, or none that is
/// what it should be.
fn snapshot<I: Io>(files: &RecordFiles<I>, cold: &Cold, budget: &Budget) -> Option<(Lsn, NamespaceIndex)> {
    let snapshot = match files.snapshot(cold.id) {
        Ok(snapshot) => snapshot?,
        Err(fault) => return doubt(cold.id, &fault, budget),
    };
    if snapshot.lsn > cold.applied {
        return doubt(cold.id, &SnapshotError::Misfit { what: "it is ahead of them" }, budget);
    }
    match NamespaceIndex::from_bytes(snapshot.payload()) {
        Ok(index) => Some((snapshot.lsn, index)),
        Err(error) => doubt(cold.id, &error, budget),
    }
}

/// A snapshot is not used. Nothing is lost: the index is made of the records.
fn doubt<T>(id: NamespaceId, why: &(dyn std::error::Error + 'static), budget: &Budget) -> Option<T> {
    budget.doubted.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(namespace = id.0, why, "an index snapshot is not used: the index is made of the records");
    None
}

/// An index of the position `at`, held against the newest records: it has exactly those that have not changed since, each
/// on its shelf, and besides at most older images of those that have. Takes the vectors in full from them.
fn complete(
    mut index: NamespaceIndex,
    at: Lsn,
    newest: &BTreeMap<MemoryId, (Lsn, Record)>,
    state: &NamespaceState,
) -> Result<NamespaceIndex, SnapshotError> {
    let dimension = state.model.as_ref().map(|model| model.dimension);
    if dimension.zip(index.dimension()).is_some_and(|(named, found)| named != found) {
        return Err(SnapshotError::Misfit { what: "vectors of another dimension" });
    }
    let mut known = 0;
    for (lsn, record) in newest.values() {
        let id = record.memory.id;
        if *lsn <= at {
            index.take_vectors(record)?;
        }
        let is_there = index.active().ordinal(id).is_some() || index.inactive().ordinal(id).is_some();
        known += usize::from(is_there);
    }
    if known != index.active().len() + index.inactive().len() {
        return Err(SnapshotError::Misfit { what: "a memory that is not there" });
    }
    Ok(index)
}

/// Reads a namespace's files and repeats the log's tail over them.
///
/// # Errors
/// When a file is missing or damaged, or the log does not fit what the files hold.
pub(crate) fn load<I: Io>(
    files: &RecordFiles<I>,
    cold: &Cold,
    budget: &Budget,
) -> Result<NamespaceState, EngineError> {
    let snapshot = snapshot(files, cold, budget);
    let mut newest: BTreeMap<MemoryId, (Lsn, Record)> = BTreeMap::new();
    let mut requests: Vec<SeenRequest> = Vec::new();
    let stored = files.load(cold.id, &mut |loaded| {
        match loaded {
            Loaded::Record { lsn, record, .. } => drop(newest.insert(record.memory.id, (lsn, record))),
            Loaded::Request(request) => requests.push(request),
        }
        Ok(())
    })?;
    let mut state = NamespaceState::default();
    if let Some(stored) = stored {
        // Fixed by the first vector (W12), though none may be left that says so.
        state.model = stored.model.map(|model| Model {
            name: model.name,
            dimension: usize::try_from(model.dimension).unwrap_or(usize::MAX),
        });
        let indexed = snapshot.and_then(|(lsn, index)| match complete(index, lsn, &newest, &state) {
            Ok(index) => Some((lsn, index)),
            Err(error) => doubt(cold.id, &error, budget),
        });
        let up_to = indexed.map_or(Lsn(0), |(lsn, index)| {
            state.index = index;
            budget.from_snapshot.fetch_add(1, Ordering::Relaxed);
            lsn
        });
        // The order of ids, not of files: the same as after any other history with this outcome.
        for (lsn, record) in newest.into_values() {
            if lsn <= up_to {
                hold_indexed(&mut state, lsn, record);
            } else {
                hold(&mut state, lsn, record)?;
            }
        }
        if has(Sabotage::ForgetRequestIds) {
            requests.clear();
        }
        requests.sort_by_key(|request| request.lsn);
        for SeenRequest { key, ids, lsn } in requests {
            state.requests.remember(key, ids, lsn);
        }
        (state.settings, state.settings_at) = (stored.settings, stored.applied);
        state.applied = stored.applied;
        state.stored = stored.applied;
        state.last_at = stored.last_at;
    }
    for (lsn, batch) in &cold.tail {
        apply(&mut state, *lsn, batch.clone())?;
    }
    Ok(state)
}
