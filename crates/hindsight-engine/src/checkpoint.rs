//! What a checkpoint takes from memory: the namespaces that changed, each as it is at one moment.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use hindsight_core::{Lsn, Namespace};
use hindsight_storage::io::Io;
use hindsight_storage::{
    CheckpointReport, CheckpointSource, Erased, Erasure, NamespaceCheckpoint, NewSnapshot, Storage,
    StorageError, StoredCheckpoint, StoredModel, StoredNamespace, StoredSnapshot,
};

use crate::error::EngineError;
use crate::namespaces::{Cell, Namespaces};
use crate::options::SnapshotRule;
use crate::state::NamespaceState;

/// A namespace of this many record files is rewritten into one.
const FILES_MAX: usize = 8;
/// A namespace whose files would hold more records than 5 for every 4 memories is rewritten: so what lies on disk
/// stays below 1.3 times what lives.
const DEAD_FACTOR: (u64, u64) = (5, 4);

/// Puts what changed since the last checkpoint into record files, and gives the log's oldest segments up.
///
/// # Errors
/// When a file can't be written, or a namespace that has to be stored can't be loaded; then nothing was given up.
pub(crate) fn checkpoint<I: Io>(
    storage: &Storage<Arc<I>>,
    namespaces: &Namespaces,
) -> Result<CheckpointReport, EngineError> {
    let began = Instant::now();
    let taken = with_reserve(storage, || Ok(storage.checkpoint(&mut Source::new(storage, namespaces)?)?));
    namespaces.checkpoints.note(began, taken.as_ref().ok().map(|report| report.records));
    let report = taken?;
    namespaces.sweep_dropped(report.checkpoint);
    Ok(report)
}

/// Erases what was purged, unless that is done; see [`Storage::erase`].
///
/// # Errors
/// As [`checkpoint`].
pub(crate) fn erase<I: Io>(
    storage: &Storage<Arc<I>>,
    namespaces: &Namespaces,
) -> Result<Erased, EngineError> {
    let erased = with_reserve(storage, || Ok(storage.erase(&mut Source::new(storage, namespaces)?)?))?;
    namespaces.sweep_dropped(storage.checkpoint_lsn());
    Ok(erased)
}

/// Tries once more with the reserve: what makes the log or the files shorter may have it on a full disk.
fn with_reserve<I: Io, T>(
    storage: &Storage<Arc<I>>,
    attempt: impl Fn() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    match attempt() {
        Err(EngineError::Storage(StorageError::Io(failure))) if storage.make_way(&failure) => attempt(),
        result => result,
    }
}

/// Whether any namespace holds what record files do not.
pub(crate) fn is_due(namespaces: &Namespaces) -> bool {
    namespaces.all().iter().any(|cell| cell.is_ahead())
}

struct Source<'a, I: Io> {
    storage: &'a Storage<Arc<I>>,
    namespaces: &'a Namespaces,
    /// Namespaces not looked at yet. Listed at the first call, which comes after the position was chosen up to which
    /// the log may be given up: whoever has a change before it is in the list.
    /// By name, so that a long checkpoint does not keep all of them in memory.
    left: Option<Vec<Namespace>>,
    taken: HashMap<Namespace, Arc<Cell>>,
}

impl<'a, I: Io> Source<'a, I> {
    fn new(storage: &'a Storage<Arc<I>>, namespaces: &'a Namespaces) -> Result<Self, EngineError> {
        // What the log says of a namespace that was not touched since the start must be in memory to be stored. Only
        // replay leaves such tails, so none can come up later.
        for cell in namespaces.all().into_iter().filter(|cell| cell.has_tail()) {
            namespaces.load_untouched(&cell, storage.records())?;
        }
        Ok(Source { storage, namespaces, left: None, taken: HashMap::new() })
    }
}

impl<I: Io> CheckpointSource for Source<'_, I> {
    fn erasures(&mut self, checkpoint: Lsn) -> Vec<Erasure> {
        // The list of namespaces must be younger than the position up to which this is asked.
        self.left = None;
        self.namespaces.erasures.take(checkpoint)
    }

    fn dropped(&mut self, checkpoint: Lsn) -> Vec<Namespace> {
        let all = self.namespaces.all().into_iter();
        let dropped = all.filter(|cell| {
            let _writer = cell.lock_writer();
            let mut state = cell.state.write();
            // What was written since is in the log behind the checkpoint, or it would have been taken.
            let is_one =
                state.has_old_files && state.dropped <= checkpoint && !self.taken.contains_key(&cell.name);
            if is_one && !state.is_there() {
                state.stored = state.applied;
            }
            is_one
        });
        dropped.map(|cell| cell.name.clone()).collect()
    }

    fn floor(&mut self, checkpoint: Lsn) -> Lsn {
        // A namespace that was dropped behind the position is not stored, and replay goes through what led to its end.
        let needs_log = |cell: &Arc<Cell>| {
            let state = cell.state.read();
            let is_needed = state.dropped > checkpoint && state.stored < checkpoint;
            (is_needed && !self.taken.contains_key(&cell.name)).then_some(state.stored)
        };
        self.namespaces.all().iter().filter_map(needs_log).min().unwrap_or(checkpoint).min(checkpoint)
    }

    fn next(&mut self) -> Option<NamespaceCheckpoint> {
        let names = || self.namespaces.all().iter().map(|cell| cell.name.clone()).collect();
        let left = self.left.get_or_insert_with(names);
        while let Some(name) = left.pop() {
            // What was let go of or swept meanwhile had nothing to be stored.
            let Some(cell) = self.namespaces.get(&name) else { continue };
            if let Some(taken) = collect(self.storage, &cell, self.namespaces.snapshots) {
                self.taken.insert(cell.name.clone(), cell);
                return Some(taken);
            }
        }
        None
    }

    fn stored(&mut self, stored: StoredCheckpoint) {
        let Some(cell) = self.taken.get(&stored.name) else { return };
        let _writer = cell.lock_writer();
        let mut state = cell.state.write();
        state.stored = stored.applied;
        if stored.rewritten && stored.applied >= state.gone {
            state.gone = Lsn(0);
        }
        if stored.rewritten && stored.applied > state.dropped {
            state.has_old_files = false;
        }
        let newer: Vec<_> = state
            .dirty
            .iter()
            .copied()
            .filter(|id| state.records.get(id).is_some_and(|held| held.lsn > stored.applied))
            .collect();
        state.dirty = newer.into_iter().collect();
    }
}

/// A namespace as it is now, if it holds what record files do not. Under the writer's lock, so that a batch whose
/// position is given is in memory too.
fn collect<I: Io>(storage: &Storage<Arc<I>>, cell: &Cell, rule: SnapshotRule) -> Option<NamespaceCheckpoint> {
    let _writer = cell.lock_writer();
    let state = cell.state.read();
    if state.applied <= state.stored || !state.is_there() {
        return None;
    }
    let live = u64::try_from(state.records.len()).unwrap_or(u64::MAX);
    let files = storage.namespace_files(&cell.name);
    let has_gone = state.gone > Lsn(0) || state.has_old_files;
    let rewrite = has_gone
        || files.is_some_and(|files| {
            let records = files.records + u64::try_from(state.dirty.len()).unwrap_or(0);
            files.files >= FILES_MAX
                || records.saturating_mul(DEAD_FACTOR.1) > live.saturating_mul(DEAD_FACTOR.0)
        });
    let held = |rewrite: bool| -> Vec<(Lsn, Arc<hindsight_core::Record>)> {
        let all = state.records.iter().filter(|(id, _)| rewrite || state.dirty.contains(id));
        all.map(|(_, held)| (held.lsn, Arc::clone(&held.record))).collect()
    };
    Some(NamespaceCheckpoint {
        name: cell.name.clone(),
        applied: state.applied,
        last_at: state.last_at,
        live,
        forgotten: u64::try_from(state.forgotten).unwrap_or(u64::MAX),
        digest: state.digest,
        model: state.model.as_ref().map(|model| StoredModel {
            name: model.name.clone(),
            // Vectors have at most 4,096 numbers.
            dimension: u32::try_from(model.dimension).unwrap_or(u32::MAX),
        }),
        settings: state.settings.clone(),
        records: held(rewrite),
        requests: state.requests.since(if rewrite { Lsn(0) } else { state.stored }),
        rewrite,
        snapshot: snapshot(&state, storage.records().namespace(&cell.name), has_gone, rule),
    })
}

/// What becomes of a namespace's index snapshot. Its bytes are made under the read lock, so a new one is worth it only when
/// enough has changed; a load brings the rest of the old one up to date.
fn snapshot(
    state: &NamespaceState,
    stored: Option<StoredNamespace>,
    has_gone: bool,
    rule: SnapshotRule,
) -> NewSnapshot {
    let before = stored.and_then(|stored| stored.snapshot);
    let live = state.records.len();
    // What was taken away must not stay in it.
    let is_wrong = has_gone && before.is_some();
    if live < rule.memories.max(1) {
        return if is_wrong { NewSnapshot::Drop } else { NewSnapshot::Keep };
    }
    let is_changed = |before: StoredSnapshot| {
        let changed = state.records.values().filter(|held| held.lsn > before.lsn).count();
        changed.saturating_mul(100) >= live.saturating_mul(rule.changed_percent)
    };
    if is_wrong || before.is_none_or(is_changed) {
        NewSnapshot::Write(state.index.to_bytes())
    } else {
        NewSnapshot::Keep
    }
}
