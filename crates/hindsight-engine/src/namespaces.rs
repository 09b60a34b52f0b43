//! The namespaces of a data directory, by name.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hindsight_core::limits::NAMESPACES_MAX;
use hindsight_core::{Batch, Change, LifeKey, Lsn, MemoryId, Namespace, Purged};
use hindsight_storage::io::Io;
use hindsight_storage::sabotage::{Sabotage, has};
use hindsight_storage::{NamespaceId, RecordFiles};

use crate::apply::{Marked, apply_marked};
use crate::budget::Budget;
use crate::erase::Erasures;
use crate::error::EngineError;
use crate::feedback::Accesses;
use crate::figures::CheckpointTimes;
use crate::load::{Cold, load};
use crate::options::SnapshotRule;
use crate::slot::Slot;
use crate::sync::{AtomicBool, Mutex, MutexGuard, RwLock};

/// One namespace: a lock for its writers, and what it holds.
///
/// Writers take `writer` for the whole of a decision, its append and its `apply`, and `state` for writing only while
/// they apply. So memory follows the order of the log, and readers wait for an `apply` but never for a decision.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) name: Namespace,
    writer: Mutex<()>,
    /// What it holds; means nothing before `is_loaded`.
    pub(crate) state: RwLock<Slot>,
    /// What recalls returned and is not logged yet. Locked for moments, and never while another lock is waited for.
    pub(crate) accesses: Mutex<Accesses>,
    is_loaded: AtomicBool,
    /// Held by whoever loads it.
    loading: Mutex<()>,
    /// What is known of it while it is not loaded. Locked for moments, so that nobody waits for a load but who wants to.
    cold: Mutex<Option<Arc<Cold>>>,
    /// When it was touched last, in touches of any namespace.
    pub(crate) touched: AtomicU64,
    /// What it weighed when that was last measured, in bytes.
    pub(crate) weight: AtomicU64,
    /// How many records it had then.
    pub(crate) measured: AtomicU64,
}

impl Cell {
    fn new(name: Namespace, cold: Option<Cold>) -> Cell {
        let is_loaded = AtomicBool::new(cold.is_none());
        let (writer, state, loading) = (Mutex::new(()), RwLock::default(), Mutex::new(()));
        let accesses = Mutex::new(Accesses::default());
        let cold = Mutex::new(cold.map(Arc::new));
        let [touched, weight, measured] = std::array::from_fn(|_| AtomicU64::new(0));
        Cell { name, writer, state, accesses, is_loaded, loading, cold, touched, weight, measured }
    }

    /// Becomes the only writer.
    pub(crate) fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock()
    }

    /// Loads the namespace, unless it is loaded, and says whether it did. Nobody waits for it but who wants this namespace.
    ///
    /// # Errors
    /// When its files can't be read; the next one who touches it tries again.
    pub(crate) fn ensure_loaded<I: Io>(
        &self,
        files: &RecordFiles<I>,
        budget: &Budget,
    ) -> Result<bool, EngineError> {
        if self.is_loaded.load(Ordering::Acquire) {
            return Ok(false);
        }
        let _loading = self.loading.lock();
        let lies = self.cold.lock().clone();
        let Some(lies) = lies else { return Ok(false) };
        *self.state.write() = load(files, &lies, budget)?.into();
        *self.cold.lock() = None;
        self.is_loaded.store(true, Ordering::Release);
        Ok(true)
    }

    /// It is not in memory any more. Nobody may hold it but who calls.
    pub(crate) fn put_away(&self, cold: Cold) {
        *self.cold.lock() = Some(Arc::new(cold));
        self.is_loaded.store(false, Ordering::Release);
    }

    /// Takes a batch of the log at replay: applied at once, or kept until a stored namespace is loaded.
    ///
    /// # Errors
    /// When it does not fit what came before it.
    pub(crate) fn replay(&self, lsn: Lsn, mut batch: Batch, marked: Marked) -> Result<(), EngineError> {
        if has(Sabotage::ForgetRequestIds) {
            batch.request = None;
        }
        let mut cold = self.cold.lock();
        // Nobody else has it before the replay is over.
        match cold.as_mut().and_then(Arc::get_mut) {
            Some(lies) if lsn <= lies.applied && !has(Sabotage::CountTwice) => {}
            Some(lies) if drops(&batch) => {
                // Nothing of what the files hold is left.
                let mut state = self.state.write();
                state.stored = lies.applied;
                crate::apply::apply(&mut state, lsn, batch)?;
                *cold = None;
                self.is_loaded.store(true, Ordering::Release);
            }
            Some(lies) => {
                lies.touched.extend(batch.changes.iter().filter_map(Change::id));
                lies.has_purge |= batch.changes.iter().any(|change| matches!(change, Change::Purge(_)));
                lies.tail.push((lsn, batch));
            }
            None => apply_marked(&mut self.state.write(), lsn, batch, marked)?,
        }
        Ok(())
    }

    /// Whether its newest changes are in the log alone and not in memory either.
    pub(crate) fn has_tail(&self) -> bool {
        self.cold.lock().as_ref().is_some_and(|cold| !cold.tail.is_empty())
    }

    /// Whether it holds what record files do not, in memory or in the log's tail.
    pub(crate) fn is_ahead(&self) -> bool {
        if let Some(cold) = self.cold.lock().as_ref() {
            return !cold.tail.is_empty();
        }
        let state = self.state.read();
        state.applied > state.stored && (state.is_there() || state.has_old_files)
    }

    /// Where to look for a memory while the namespace is not loaded: its number, and the newest batch that it is at. `None`
    /// when it is loaded, or when the log's tail changed that memory or purges any.
    pub(crate) fn cold_place(&self, id: MemoryId) -> Option<(NamespaceId, Lsn)> {
        if self.is_loaded.load(Ordering::Acquire) {
            return None;
        }
        let cold = self.cold.lock();
        let cold = cold.as_ref().filter(|cold| !cold.has_purge && !cold.touched.contains(&id))?;
        Some((cold.id, cold.tail.last().map_or(cold.applied, |(lsn, _)| *lsn)))
    }

    /// Hands over what is set about the life of its memories.
    pub(crate) fn life_set<T>(&self, see: impl FnOnce(&BTreeMap<LifeKey, u32>) -> T) -> T {
        if let Some(cold) = self.cold.lock().as_ref() {
            return see(&cold.life);
        }
        see(&self.state.read().settings.life)
    }

    /// Whether it is in memory.
    pub(crate) fn is_loaded(&self) -> bool {
        self.is_loaded.load(Ordering::Acquire)
    }

    /// How many memories it holds, without the forgotten ones, if that can be told without loading it.
    pub(crate) fn memories(&self) -> Option<u64> {
        if let Some(cold) = self.cold.lock().as_ref() {
            return cold.tail.is_empty().then_some(cold.memories);
        }
        let state = self.state.read();
        u64::try_from(state.records.len() - state.forgotten).ok()
    }

    /// How many memories it holds, without the forgotten ones: of a namespace that is not loaded as of when it was stored.
    pub(crate) fn memories_known(&self) -> u64 {
        if let Some(cold) = self.cold.lock().as_ref() {
            return cold.memories;
        }
        self.memories().unwrap_or_default()
    }

    /// Whether anything was ever written here and not dropped since; a refused first write leaves nothing that anyone can
    /// see.
    pub(crate) fn exists(&self) -> bool {
        self.cold.lock().is_some() || self.state.read().is_there()
    }

    /// Whether its record files are not loaded, with no batches beyond them, and hold forgotten memories.
    pub(crate) fn sleeps_on_forgotten(&self) -> Option<NamespaceId> {
        let cold = self.cold.lock();
        cold.as_ref().filter(|cold| cold.tail.is_empty() && cold.forgotten > 0).map(|cold| cold.id)
    }
}

/// Whether nothing of a namespace is left after a batch.
pub(crate) fn drops(batch: &Batch) -> bool {
    batch.changes.iter().any(|change| match change {
        Change::DropNamespace => true,
        Change::Purge(purge) => matches!(purge.target, Purged::Namespace(_)),
        Change::Put(_)
        | Change::SetState { .. }
        | Change::Stand { .. }
        | Change::Access { .. }
        | Change::Settings(_) => false,
    })
}

/// All namespaces.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    pub(crate) cells: RwLock<BTreeMap<Namespace, Arc<Cell>>>,
    /// The newest batch that dropped one of them: a list without it waits for that to be durable.
    newest_drop: AtomicU64,
    /// Purges that the ledger does not have yet.
    pub(crate) erasures: Erasures,
    /// How much memory they may take.
    pub(crate) budget: Budget,
    /// Which of them get an index snapshot.
    pub(crate) snapshots: SnapshotRule,
    /// How the checkpoints of all of them went.
    pub(crate) checkpoints: CheckpointTimes,
}

impl Namespaces {
    /// No namespaces.
    pub(crate) fn new(budget: Budget, snapshots: SnapshotRule) -> Namespaces {
        Namespaces { budget, snapshots, ..Namespaces::default() }
    }

    /// Enters a namespace that lies in record files.
    pub(crate) fn add_cold(&self, name: Namespace, cold: Cold) {
        self.cells.write().insert(name.clone(), Arc::new(Cell::new(name, Some(cold))));
    }

    /// A namespace whose name is known: whether it is there is to be asked.
    pub(crate) fn get(&self, name: &Namespace) -> Option<Arc<Cell>> {
        self.cells.read().get(name).cloned()
    }

    /// A batch has dropped a namespace.
    pub(crate) fn note_drop(&self, lsn: Lsn) {
        self.newest_drop.fetch_max(lsn.0, Ordering::AcqRel);
    }

    pub(crate) fn newest_drop(&self) -> Lsn {
        Lsn(self.newest_drop.load(Ordering::Acquire))
    }

    /// Lets go of the namespaces that a batch up to `lsn` dropped and that nobody holds: with the lock held, nobody can
    /// begin to.
    pub(crate) fn sweep_dropped(&self, lsn: Lsn) {
        self.cells.write().retain(|_, cell| {
            let state = cell.state.read();
            let is_dropped = state.dropped > Lsn(0) && state.dropped <= lsn && !state.is_there();
            drop(state);
            !(is_dropped && Arc::strong_count(cell) == 1)
        });
    }

    /// A namespace, made when it is missing.
    ///
    /// # Errors
    /// When there are too many.
    pub(crate) fn get_or_create(&self, name: &Namespace) -> Result<Arc<Cell>, EngineError> {
        if let Some(cell) = self.cells.read().get(name) {
            return Ok(Arc::clone(cell));
        }
        let mut cells = self.cells.write();
        if cells.len() >= NAMESPACES_MAX && !cells.contains_key(name) {
            return Err(EngineError::LimitReached { what: "the number of namespaces", most: NAMESPACES_MAX });
        }
        let cell = cells.entry(name.clone()).or_insert_with(|| Arc::new(Cell::new(name.clone(), None)));
        Ok(Arc::clone(cell))
    }

    /// Every namespace, also those that a first write is just being decided for.
    pub(crate) fn all(&self) -> Vec<Arc<Cell>> {
        self.cells.read().values().cloned().collect()
    }

    /// All namespaces that were written to, after `after` in the order of their names.
    pub(crate) fn after(&self, after: Option<&str>) -> Vec<Arc<Cell>> {
        let cells = self.cells.read();
        let later = cells.values().filter(|cell| after.is_none_or(|after| cell.name.as_str() > after));
        later.filter(|cell| cell.exists()).cloned().collect()
    }
}
