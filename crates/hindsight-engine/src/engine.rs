//! The engine: one data directory, opened by one process.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hindsight_core::{Batch, Lsn, Namespace};
use hindsight_storage::io::Io;
use hindsight_storage::{RealIo, Storage};

use crate::apply::apply;
use crate::error::EngineError;
use crate::namespaces::{Cell, Namespaces};
use crate::options::{OpenReport, Options};
use crate::reply::{Model, NamespaceSummary};
use crate::unsynced::Unsynced;

/// The engine on the machine's own disk.
pub type Engine = EngineOver<RealIo>;

/// The engine over any [`Io`]; tests run it on a disk that fails and forgets.
pub struct EngineOver<I: Io> {
    pub(crate) io: Arc<I>,
    pub(crate) storage: Arc<Storage<Arc<I>>>,
    pub(crate) namespaces: Namespaces,
}

impl<I: Io> std::fmt::Debug for EngineOver<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("dir", &self.storage.dir()).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens a data directory, or makes it, and starts the thread that syncs the log.
    ///
    /// # Errors
    /// When the directory can't be used (see [`hindsight_storage::StorageError`]) or the log does not fit together.
    pub fn open(dir: &Path, options: Options) -> Result<(Engine, OpenReport), EngineError> {
        let (engine, report) = EngineOver::open_with(Arc::new(RealIo), dir, options)?;
        engine.storage.spawn_committer()?;
        Ok((engine, report))
    }
}

impl<I: Io> EngineOver<I> {
    /// Opens a data directory over `io`. Nothing is synced until somebody drives
    /// [`hindsight_storage::Storage::commit_step`] or spawns the committer.
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open_with(io: Arc<I>, dir: &Path, options: Options) -> Result<(Self, OpenReport), EngineError> {
        let began = Instant::now();
        let namespaces = Namespaces::default();
        let mut replay = |lsn: Lsn, batch: Batch| -> Result<(), hindsight_storage::ReplayError> {
            let cell = namespaces.get_or_create(&batch.namespace)?;
            let mut state = cell.state.write();
            Ok(apply(&mut state, lsn, batch)?)
        };
        let (storage, recovered) = Storage::open(Arc::clone(&io), dir, options.storage, &mut replay)?;
        let engine = EngineOver { io, storage: Arc::new(storage), namespaces };
        let all = engine.namespaces.after(None);
        let memories = all.iter().map(|cell| memories_of(cell)).sum();
        let (namespaces, last_lsn) = (all.len(), recovered.last_lsn);
        Ok((engine, OpenReport { namespaces, memories, last_lsn, replay: began.elapsed(), recovered }))
    }

    /// Names the namespaces after `after`, at most `limit` of them, and tells whether more follow.
    #[must_use]
    pub fn namespaces(&self, after: Option<&str>, limit: usize) -> (Vec<NamespaceSummary>, bool) {
        let cells = self.namespaces.after(after);
        let named = cells.iter().take(limit);
        let named =
            named.map(|cell| NamespaceSummary { name: cell.name.clone(), memories: memories_of(cell) });
        (named.collect(), cells.len() > limit)
    }

    /// How many namespaces hold memories.
    #[must_use]
    pub fn namespace_count(&self) -> usize {
        self.namespaces.after(None).len()
    }

    /// The model of a namespace's vectors, once it has one.
    #[must_use]
    pub fn model(&self, namespace: &Namespace) -> Option<Model> {
        self.namespaces.get(namespace)?.state.read().model.clone()
    }

    /// The newest position of the log that is durable.
    #[must_use]
    pub fn revision(&self) -> Lsn {
        self.storage.synced_lsn()
    }

    /// Whether writes can be acknowledged.
    ///
    /// # Errors
    /// What made the log fail.
    pub fn health(&self) -> Result<(), EngineError> {
        match self.storage.poison() {
            Some(failure) => Err(hindsight_storage::StorageError::Poisoned(failure).into()),
            None => Ok(()),
        }
    }

    /// Syncs what is waiting, marks the log as cleanly closed and gives the directory free. Later calls are refused.
    ///
    /// # Errors
    /// When the last sync fails.
    pub fn close(&self) -> Result<(), EngineError> {
        Ok(self.storage.close()?)
    }

    /// Logs a batch and applies it. The caller holds the writer's lock of `cell` since before it decided.
    pub(crate) fn commit(&self, cell: &Cell, batch: Batch) -> Result<Lsn, EngineError> {
        let lsn = self.storage.append(&batch)?;
        apply(&mut cell.state.write(), lsn, batch)?;
        Ok(lsn)
    }

    pub(crate) fn unsynced<T>(&self, value: T, lsn: Lsn) -> Unsynced<T, I> {
        Unsynced::new(value, lsn, &self.storage)
    }
}

fn memories_of(cell: &Cell) -> u64 {
    let state = cell.state.read();
    u64::try_from(state.records.len() - state.forgotten).unwrap_or(u64::MAX)
}
