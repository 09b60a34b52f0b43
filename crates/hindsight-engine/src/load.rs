//! From record files to memory: a namespace that a checkpoint stored, loaded when it is first touched.

use std::collections::{BTreeMap, HashSet};

use hindsight_core::{Batch, LifeKey, Lsn, MemoryId, Record};
use hindsight_storage::io::Io;
use hindsight_storage::sabotage::{Sabotage, has};
use hindsight_storage::{Loaded, NamespaceId, RecordFiles, SeenRequest, StoredNamespace};

use crate::apply::{apply, hold};
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

/// Reads a namespace's files and repeats the log's tail over them.
///
/// # Errors
/// When a file is missing or damaged, or the log does not fit what the files hold.
pub(crate) fn load<I: Io>(files: &RecordFiles<I>, cold: &Cold) -> Result<NamespaceState, EngineError> {
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
        // The order of ids, not of files: the same as after any other history with this outcome.
        for (lsn, record) in newest.into_values() {
            hold(&mut state, lsn, record)?;
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
    state.index.shrink();
    for (lsn, batch) in &cold.tail {
        apply(&mut state, *lsn, batch.clone())?;
    }
    Ok(state)
}
