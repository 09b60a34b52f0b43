//! The namespaces of a data directory, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::limits::NAMESPACES_MAX;
use hindsight_core::{Lsn, Namespace};
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::error::EngineError;
use crate::state::NamespaceState;

/// One namespace: a lock for its writers, and what it holds.
///
/// Writers take `writer` for the whole of a decision, its append and its `apply`, and `state` for writing only while
/// they apply. So memory follows the order of the log, and readers wait for an `apply` but never for a decision.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) name: Namespace,
    writer: Mutex<()>,
    pub(crate) state: RwLock<NamespaceState>,
}

impl Cell {
    fn new(name: Namespace) -> Cell {
        Cell { name, writer: Mutex::new(()), state: RwLock::new(NamespaceState::default()) }
    }

    /// Becomes the only writer.
    pub(crate) fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock()
    }

    /// Whether anything was ever written here; a refused first write leaves nothing that anyone can see.
    pub(crate) fn exists(&self) -> bool {
        self.state.read().applied > Lsn(0)
    }
}

/// All namespaces.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    cells: RwLock<BTreeMap<Namespace, Arc<Cell>>>,
}

impl Namespaces {
    /// A namespace that was written to.
    pub(crate) fn get(&self, name: &Namespace) -> Option<Arc<Cell>> {
        let cell = self.cells.read().get(name).cloned();
        cell.filter(|cell| cell.exists())
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
        let cell = cells.entry(name.clone()).or_insert_with(|| Arc::new(Cell::new(name.clone())));
        Ok(Arc::clone(cell))
    }

    /// All namespaces that were written to, after `after` in the order of their names.
    pub(crate) fn after(&self, after: Option<&str>) -> Vec<Arc<Cell>> {
        let cells = self.cells.read();
        let later = cells.values().filter(|cell| after.is_none_or(|after| cell.name.as_str() > after));
        later.filter(|cell| cell.exists()).cloned().collect()
    }
}
