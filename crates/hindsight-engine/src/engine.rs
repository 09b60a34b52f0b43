//! The engine: one data directory, opened by one process.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hindsight_core::consolidate::RuleTuning;
use hindsight_core::{Batch, Change, Life, Lsn, Namespace};
use hindsight_storage::directory::{DIRECTORY_DIR, DirectoryHome, DirectoryReport, OpenDirectoryError};
use hindsight_storage::io::Io;
use hindsight_storage::sabotage::{Sabotage, has};
use hindsight_storage::{CheckpointReport, ClockedIo, Storage, StorageOptions, Urgency};
use parking_lot::Mutex;

use crate::apply::{Marked, apply_marked};
use crate::budget::Budget;
use crate::checkpoint;
use crate::decide::now;
use crate::error::EngineError;
use crate::feedback::SharedRecalls;
use crate::graph::{Grapher, Graphs};
use crate::jobs::Jobs;
use crate::load::Cold;
use crate::maintenance::{Duties, Maintenance};
use crate::namespaces::{Cell, Namespaces};
use crate::options::{Embed, Nearness, OpenReport, Options};
use crate::replay::{Threads, replay};
use crate::reply::{Model, NamespaceSummary};
use crate::sessions::SharedSessions;
use crate::unsynced::Unsynced;
use crate::watch::Recent;

/// The engine on the machine's own disk.
pub type Engine = EngineOver<ClockedIo>;

/// The engine over any [`Io`]; tests run it on a disk that fails and forgets.
pub struct EngineOver<I: Io> {
    /// Dropped first: the thread uses the storage.
    maintenance: Mutex<Option<Maintenance>>,
    grapher: Mutex<Option<Grapher>>,
    pub(crate) graphs: Arc<Graphs>,
    pub(crate) io: Arc<I>,
    pub(crate) storage: Arc<Storage<Arc<I>>>,
    pub(crate) namespaces: Arc<Namespaces>,
    pub(crate) nearness: Nearness,
    pub(crate) rules: RuleTuning,
    pub(crate) embed: Embed,
    pub(crate) recalls: SharedRecalls,
    pub(crate) life: Life,
    pub(crate) jobs: Jobs<I>,
    pub(crate) sessions: SharedSessions,
    pub(crate) recent: Recent,
}

impl<I: Io> std::fmt::Debug for EngineOver<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("dir", &self.storage.dir()).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens a data directory, or makes it, and starts the threads that sync the log, take checkpoints, build graphs, and
    /// open the directory of where memories lie, which nothing waits for.
    ///
    /// # Errors
    /// When the directory can't be used (see [`hindsight_storage::StorageError`]) or the log does not fit together.
    pub fn open(dir: &Path, options: Options) -> Result<(Engine, OpenReport), EngineError> {
        let StorageOptions { checkpoint_bytes, directory, .. } = options.storage;
        let home = DirectoryHome::Disk { path: dir.join(DIRECTORY_DIR), options: directory };
        let (engine, report) =
            EngineOver::open_by(Arc::new(ClockedIo::new(options.clock.clone())), dir, options, Threads::Two)?;
        engine.storage.spawn_committer()?;
        let (storage, namespaces) = (Arc::clone(&engine.storage), Arc::clone(&engine.namespaces));
        let io = Arc::clone(&engine.io);
        let (graphs, spaces) = (Arc::clone(&engine.graphs), Arc::clone(&namespaces));
        let duties = Duties { io, storage, namespaces, checkpoint_bytes };
        *engine.maintenance.lock() = Some(Maintenance::start(duties, home)?);
        *engine.grapher.lock() = Some(Grapher::start(graphs, spaces)?);
        Ok((engine, report))
    }
}

impl<I: Io> EngineOver<I> {
    /// Opens a data directory over `io`. Nothing is synced until somebody drives
    /// [`hindsight_storage::Storage::commit_step`] or spawns the committer, and no checkpoint is taken but by
    /// [`EngineOver::checkpoint`], no graph built but by [`EngineOver::graph_step`].
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open_with(io: Arc<I>, dir: &Path, options: Options) -> Result<(Self, OpenReport), EngineError> {
        EngineOver::open_by(io, dir, options, Threads::One)
    }

    fn open_by(
        io: Arc<I>,
        dir: &Path,
        options: Options,
        threads: Threads,
    ) -> Result<(Self, OpenReport), EngineError> {
        let began = Instant::now();
        let namespaces = Namespaces::new(Budget::new(options.memory_budget), options.snapshots);
        let opening = Storage::open(Arc::clone(&io), dir, options.storage)?;
        for stored in opening.namespaces() {
            let cold = Cold::new(&stored);
            namespaces.add_cold(stored.name, cold);
        }
        let (storage, recovered) = replay(opening, &namespaces, threads)?;
        for erasure in storage.erasures() {
            namespaces.erasures.values.add(&erasure.purge, erasure.at);
        }
        let jobs = Jobs::new(&options.schedules, now(&*io));
        let engine = EngineOver {
            maintenance: Mutex::new(None),
            grapher: Mutex::new(None),
            graphs: Arc::new(Graphs::new(options.graph)),
            io,
            storage: Arc::new(storage),
            namespaces: Arc::new(namespaces),
            nearness: options.nearness,
            rules: options.rules,
            embed: options.embed,
            recalls: SharedRecalls::default(),
            life: options.life,
            jobs,
            sessions: SharedSessions::default(),
            recent: Recent::default(),
        };
        engine.purge_again(recovered.last_lsn)?;
        let all = engine.namespaces.after(None);
        // Counting exactly would load every namespace that the log changed, and a start waits for no namespace.
        let memories = all.iter().map(|cell| cell.memories_known()).sum();
        let (namespaces, last_lsn) = (all.len(), recovered.last_lsn);
        Ok((engine, OpenReport { namespaces, memories, last_lsn, replay: began.elapsed(), recovered }))
    }

    /// Makes what is waiting durable, with one sync: what the committer does by itself on the machine's own disk, and a
    /// simulator drives.
    ///
    /// # Errors
    /// What made the log fail.
    pub fn commit_step(&self) -> Result<(), EngineError> {
        self.storage.commit_step()?;
        Ok(())
    }

    /// Notes in the log how far it is durable, unless a frame says so already; the log's thread does this by itself.
    ///
    /// # Errors
    /// As [`EngineOver::commit_step`].
    pub fn witness_step(&self) -> Result<(), EngineError> {
        Ok(self.storage.log().witness_step()?)
    }

    /// Puts what changed into record files and gives the log's oldest segments up. Writes go on meanwhile.
    ///
    /// # Errors
    /// When a file can't be written; the log keeps what it has.
    pub fn checkpoint(&self) -> Result<CheckpointReport, EngineError> {
        checkpoint::checkpoint(&self.storage, &self.namespaces)
    }

    /// Opens the directory of where memories lie, or makes it anew. Once this has returned, one memory of a namespace that
    /// is not loaded is read without loading it. [`Engine::open`] does this by itself, in the background.
    ///
    /// # Errors
    /// When it can neither be opened nor made anew; then namespaces are loaded, as before.
    pub fn open_directory(&self, home: &DirectoryHome) -> Result<DirectoryReport, OpenDirectoryError> {
        self.storage.open_directory(home, &|| false)
    }

    /// Whether the directory of where memories lie is open.
    #[must_use]
    pub fn is_directory_ready(&self) -> bool {
        self.storage.is_directory_ready()
    }

    /// Whether a namespace is in memory, rather than in record files only.
    #[must_use]
    pub fn is_loaded(&self, namespace: &Namespace) -> bool {
        self.namespaces.get(namespace).is_some_and(|cell| cell.is_loaded())
    }

    /// Names the namespaces after `after`, at most `limit` of them, and tells whether more follow.
    ///
    /// # Errors
    /// When one of them has to be loaded for it and can't be.
    pub fn namespaces(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Unsynced<(Vec<NamespaceSummary>, bool), I>, EngineError> {
        let cells = self.namespaces.after(after);
        let (mut newest, mut shown_after) = (Lsn(0), self.namespaces.newest_drop());
        let mut named = Vec::new();
        for cell in cells.iter().take(limit) {
            named.push(NamespaceSummary { name: cell.name.clone(), memories: self.memories_of(cell)? });
            let state = cell.state.read();
            newest = newest.max(state.applied);
            shown_after = shown_after.max(state.shown_after(state.applied));
        }
        newest = newest.max(shown_after);
        Ok(Unsynced::new((named, cells.len() > limit), newest, shown_after, &self.storage))
    }

    /// How many namespaces hold memories.
    #[must_use]
    pub fn namespace_count(&self) -> usize {
        self.namespaces.after(None).len()
    }

    /// The model of a namespace's vectors, once it has one; unknown, too, where the namespace can't be loaded.
    #[must_use]
    pub fn model(&self, namespace: &Namespace) -> Option<Model> {
        self.loaded(namespace).ok()??.state.read().model.clone()
    }

    /// The newest position of the log that is durable.
    #[must_use]
    pub fn revision(&self) -> Lsn {
        self.storage.synced_lsn()
    }

    /// Whether anything can be acknowledged. A full disk is no matter of this; see [`EngineOver::degraded`].
    ///
    /// # Errors
    /// What made the log fail.
    pub fn health(&self) -> Result<(), EngineError> {
        match self.storage.poison() {
            Some(failure) => Err(hindsight_storage::StorageError::Poisoned(failure).into()),
            None => Ok(()),
        }
    }

    /// Why what stores something new is refused at present, while everything else goes on: the disk is full. It ends by
    /// itself.
    #[must_use]
    pub fn degraded(&self) -> Option<EngineError> {
        self.storage.refusal().map(EngineError::from)
    }

    /// Takes writes again if the disk was full and has room now; the engine's thread does this by itself. Returns
    /// whether it takes them now and did not before.
    ///
    /// # Errors
    /// As [`EngineOver::commit_step`].
    pub fn space_step(&self) -> Result<bool, EngineError> {
        Ok(self.storage.space_step()?)
    }

    /// Takes a last checkpoint, so that the next start has nothing to replay, syncs what is waiting and marks the log
    /// as cleanly closed. Later calls are refused. The directory is free once the engine is dropped.
    ///
    /// # Errors
    /// When the last sync fails. A checkpoint that fails is only reported: the log has everything.
    pub fn close(&self) -> Result<(), EngineError> {
        drop(self.maintenance.lock().take());
        drop(self.grapher.lock().take());
        if self.health().is_ok()
            && let Err(error) = self.log_accesses()
        {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "how often memories were returned could not be logged");
        }
        if self.health().is_ok()
            && checkpoint::is_due(&self.namespaces)
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "no last checkpoint: the next start replays the log"
            );
        }
        Ok(self.storage.close()?)
    }

    /// A namespace that was written to, in memory; also one that was dropped, until that is durable: who looks at it has
    /// to wait for that, as for everything.
    pub(crate) fn loaded(&self, name: &Namespace) -> Result<Option<Arc<Cell>>, EngineError> {
        let Some(cell) = self.namespaces.get(name) else { return Ok(None) };
        self.namespaces.load(&cell, self.storage.records())?;
        let state = cell.state.read();
        let is_seen = state.is_there() || state.applied > self.storage.synced_lsn();
        drop(state);
        Ok(is_seen.then_some(cell))
    }

    /// Logs a batch and applies it. The caller holds the writer's lock of `cell` since before it decided.
    pub(crate) fn commit(&self, cell: &Cell, batch: Batch) -> Result<Lsn, EngineError> {
        self.commit_marked(cell, batch, Marked::default())
    }

    /// As [`EngineOver::commit`], with what is known of the batch's new memories.
    pub(crate) fn commit_marked(
        &self,
        cell: &Cell,
        batch: Batch,
        marked: Marked,
    ) -> Result<Lsn, EngineError> {
        // What was decided of a new text may rest on vectors that could not be read; to forget needs none. A log that takes
        // nothing any more is the better reason.
        if batch.changes.iter().any(|change| matches!(change, Change::Put(_))) {
            let readable = self.storage.records().check_vectors(&cell.name);
            readable.or_else(|lost| self.storage.check_open().and(Err(lost)))?;
        }
        let pace = cell.state.read().pace_of(&batch);
        let mut lsn = self.storage.append_as(&batch, urgency_of(&batch), pace)?;
        if has(Sabotage::PositionFromClock) {
            lsn = Lsn(self.io.now_ms());
        }
        if has(Sabotage::ApplyInTwoSteps) {
            crate::apply::in_two_steps(&cell.state, lsn, batch)?;
        } else {
            apply_marked(&mut cell.state.write(), lsn, batch, marked)?;
        }
        Ok(lsn)
    }

    /// How long the memories of a namespace live. Of one that is not in memory: as its files say.
    pub(crate) fn life_of(&self, cell: &Cell) -> Life {
        cell.life_set(|set| self.life.with(set))
    }

    /// An answer that waits until everything it reflects is durable.
    pub(crate) fn unsynced<T>(&self, value: T, lsn: Lsn) -> Unsynced<T, I> {
        Unsynced::new(value, lsn, lsn, &self.storage)
    }

    fn memories_of(&self, cell: &Cell) -> Result<u64, EngineError> {
        if cell.memories().is_none() {
            self.namespaces.load_untouched(cell, self.storage.records())?;
        }
        Ok(cell.memories().unwrap_or_default())
    }
}

/// On a full disk a batch that stores a memory, a new version of one, or settings waits for room. All others are small and make
/// less of what is stored, or end something: that must be possible at any time.
fn urgency_of(batch: &Batch) -> Urgency {
    let stores = batch.changes.iter().any(|change| matches!(change, Change::Put(_) | Change::Settings(_)));
    if stores { Urgency::Ordinary } else { Urgency::Urgent }
}
