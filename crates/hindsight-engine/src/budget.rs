//! How much memory loaded namespaces may take, and which of them go when it is more.
//!
//! A namespace is loaded when it is first touched, by whoever touches it. When all that are loaded weigh more than the budget,
//! those that were touched longest ago go back to their record files, until a tenth of the budget is free. One goes only when
//! nobody holds it and its record files say all that it knows: what is not stored yet stays in memory until a checkpoint.
//! The one that was touched last stays, however large it is: it would be loaded again at once. Nobody waits for it but who touches that namespace next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hindsight_core::Namespace;
use hindsight_storage::RecordFiles;
use hindsight_storage::io::Io;

use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::load::Cold;
use crate::namespaces::{Cell, Namespaces};
use crate::slot::Slot;

/// What loading and letting go of namespaces came to.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Bytes that loaded namespaces may take; 0 for any number.
    limit: u64,
    /// Goes up whenever a namespace is touched: the order of touches.
    touches: AtomicU64,
    /// Bytes of loaded namespaces, as they were last measured.
    used: AtomicU64,
    loads: AtomicU64,
    pub(crate) from_snapshot: AtomicU64,
    pub(crate) doubted: AtomicU64,
    evictions: AtomicU64,
}

/// How much memory namespaces take, and how often they came and went since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryStats {
    /// Bytes that loaded namespaces may take; 0 when there is no budget.
    pub budget_bytes: u64,
    /// Bytes that they take, estimated.
    pub used_bytes: u64,
    /// Namespaces in memory.
    pub loaded: u64,
    /// Namespaces that are not.
    pub unloaded: u64,
    /// How often one was loaded.
    pub loads: u64,
    /// How often its index came from a snapshot.
    pub snapshot_loads: u64,
    /// How often a snapshot could not be used, and the index was made anew from the records.
    pub snapshots_doubted: u64,
    /// How often one was let go of, because of the budget.
    pub evictions: u64,
}

impl Budget {
    pub(crate) fn new(limit: Option<u64>) -> Budget {
        Budget { limit: limit.unwrap_or(0), ..Budget::default() }
    }

    fn touch(&self, cell: &Cell) {
        cell.touched.store(self.touches.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Notes what a namespace weighs now.
    fn weigh(&self, cell: &Cell, bytes: u64) {
        let before = cell.weight.swap(bytes, Ordering::AcqRel);
        self.used.fetch_add(bytes.wrapping_sub(before), Ordering::AcqRel);
    }

    fn is_over(&self) -> bool {
        self.limit > 0 && self.used.load(Ordering::Acquire) > self.limit
    }

    fn is_low(&self) -> bool {
        self.used.load(Ordering::Acquire) <= self.limit - self.limit / 10
    }
}

impl Namespaces {
    /// Loads a namespace, unless it is loaded, and notes that it was touched. Others may have to go for it.
    ///
    /// # Errors
    /// When its files can't be read; the next one who touches it tries again.
    pub(crate) fn load<I: Io>(&self, cell: &Cell, files: &RecordFiles<I>) -> Result<(), EngineError> {
        self.budget.touch(cell);
        self.load_untouched(cell, files)
    }

    /// As [`Namespaces::load`], for work that says nothing about who will be wanted: the namespace is among the first to go.
    ///
    /// # Errors
    /// As [`Namespaces::load`].
    pub(crate) fn load_untouched<I: Io>(
        &self,
        cell: &Cell,
        files: &RecordFiles<I>,
    ) -> Result<(), EngineError> {
        if cell.ensure_loaded(files, &self.budget)? {
            self.budget.loads.fetch_add(1, Ordering::Relaxed);
            self.measure(cell);
            self.evict(files);
        }
        Ok(())
    }

    /// Measures what has grown or shrunk by an eighth.
    fn measure(&self, cell: &Cell) {
        let state = cell.state.read();
        let count = u64::try_from(state.records.len()).unwrap_or(u64::MAX);
        let before = cell.measured.load(Ordering::Relaxed);
        if cell.is_loaded() && count.abs_diff(before) > before / 8 {
            cell.measured.store(count, Ordering::Relaxed);
            self.budget.weigh(cell, state.bytes());
        }
    }

    /// Lets go of namespaces while all of them weigh too much. False when that is not enough because one had to stay that a
    /// checkpoint might free.
    pub(crate) fn evict<I: Io>(&self, files: &RecordFiles<I>) -> bool {
        if !self.budget.is_over() {
            return true;
        }
        let mut loaded: Vec<(u64, Namespace)> = self
            .cells
            .read()
            .values()
            .filter(|cell| cell.is_loaded())
            .map(|cell| (cell.touched.load(Ordering::Relaxed), cell.name.clone()))
            .collect();
        loaded.sort_unstable();
        loaded.pop();
        let mut could_go = true;
        for (_, name) in loaded {
            if self.budget.is_low() {
                break;
            }
            // Freed outside of all locks.
            let gone = self.let_go(&name, files);
            could_go &= gone.is_some();
            drop(gone);
        }
        could_go || !self.budget.is_over()
    }

    /// Takes a namespace out of memory, if nobody holds it and its files say all that it knows.
    fn let_go<I: Io>(&self, name: &Namespace, files: &RecordFiles<I>) -> Option<Slot> {
        let stored = files.namespace(name)?;
        // With the lock held, nobody can begin to hold it.
        let cells = self.cells.write();
        let cell = cells.get(name).filter(|cell| Arc::strong_count(cell) == 1)?;
        let mut state = cell.state.write();
        let is_stored = state.applied == state.stored && state.applied == stored.applied;
        let is_plain = state.dropped.0 == 0 && state.gone.0 == 0 && state.dirty.is_empty();
        if !cell.is_loaded() || !is_stored || !is_plain || !cell.accesses.lock().is_empty() {
            return None;
        }
        let gone = state.take();
        drop(state);
        cell.put_away(Cold::new(&stored));
        self.budget.weigh(cell, 0);
        cell.measured.store(0, Ordering::Relaxed);
        self.budget.evictions.fetch_add(1, Ordering::Relaxed);
        Some(gone)
    }

    /// Measures namespaces and lets go of what is too much; see [`Namespaces::evict`].
    pub(crate) fn budget_step<I: Io>(&self, files: &RecordFiles<I>) -> bool {
        self.all().iter().filter(|cell| cell.is_loaded()).for_each(|cell| self.measure(cell));
        self.evict(files)
    }

    fn memory_stats(&self) -> MemoryStats {
        let cells = self.cells.read();
        let loaded = cells.values().filter(|cell| cell.is_loaded()).count();
        let (all, loaded) = (cells.len() as u64, loaded as u64);
        drop(cells);
        let Budget { limit, used, loads, from_snapshot, doubted, evictions, .. } = &self.budget;
        let [used, loads, from_snapshot, doubted, evictions] =
            [used, loads, from_snapshot, doubted, evictions].map(|count| count.load(Ordering::Relaxed));
        MemoryStats {
            budget_bytes: *limit,
            used_bytes: used,
            loaded,
            unloaded: all.saturating_sub(loaded),
            loads,
            snapshot_loads: from_snapshot,
            snapshots_doubted: doubted,
            evictions,
        }
    }
}

impl<I: Io> EngineOver<I> {
    /// How much memory namespaces take, and how often they came and went.
    #[must_use]
    pub fn memory_stats(&self) -> MemoryStats {
        self.namespaces.memory_stats()
    }

    /// Lets go of namespaces that are too much for the memory budget; the engine's thread does this by itself. False when
    /// too many of them hold what no record file has: a checkpoint helps.
    pub fn budget_step(&self) -> bool {
        self.namespaces.budget_step(self.storage.records())
    }
}
