//! How the directory of an open database is made to hold what its record files hold: when it is opened, in the
//! background, and by each checkpoint.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use hindsight_core::{Lsn, MemoryId};
use parking_lot::MutexGuard;

use super::{
    BATCH_ENTRIES_MAX, Directory, DirectoryBatch, DirectoryHome, DirectoryState, MemoryKey, Stamp,
    error::{DirectoryError, SourceError},
};
use crate::{
    checkpoint::Checkpointer,
    error::{StorageError, StorageErrorKind},
    io::Io,
    manifest::{AppendError, Edit},
    records::{NamespaceId, Places, RecordFiles, RecordPosition},
    store::Storage,
};

/// So many namespaces that changed are caught up with while checkpoints wait.
const LEFT_MAX: usize = 64;
/// So often it is tried to come so near before checkpoints have to wait all the same.
const PASSES_MAX: usize = 5;

/// The files of each namespace that a directory knows.
type Known = BTreeMap<NamespaceId, BTreeSet<u32>>;

/// How a directory was opened.
#[derive(Debug)]
pub struct DirectoryReport {
    /// What was found.
    pub state: DirectoryState,
    /// What it holds.
    pub stamp: Stamp,
    /// How long it took.
    pub took: Duration,
}

impl fmt::Display for DirectoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            DirectoryState::Intact => write!(f, "intact")?,
            DirectoryState::Rebuilt { why } => write!(f, "made anew, because {why}")?,
        }
        write!(f, ": {} memories in {} ms", self.stamp.records, self.took.as_millis())
    }
}

/// Why there is no directory.
#[derive(Debug, thiserror::Error)]
pub enum OpenDirectoryError {
    /// It was told to stop.
    #[error("the database was closed before its directory was open")]
    Stopped,
    /// The directory can't be opened nor made anew.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The record files or the manifest can't be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Whoever reads the record files for a rebuild was told to stop.
#[derive(Debug, thiserror::Error)]
#[error("told to stop")]
struct Stopped;

impl<I: Io> Storage<I> {
    /// Opens the directory, or makes it anew, and brings it up to what the record files hold by then. It answers from
    /// when this returns; until then, and after an error, [`Storage::find`] knows nothing. Reads all of the directory, or
    /// all record files: to be called by a thread of its own. Checkpoints go on meanwhile, but for the last moment.
    ///
    /// # Errors
    /// [`OpenDirectoryError::Stopped`] soon after `is_stopped` says so.
    pub fn open_directory(
        &self,
        home: &DirectoryHome,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<DirectoryReport, OpenDirectoryError> {
        let began = Instant::now();
        let (expected, lsn, mut known) = self.snapshot();
        let names: Vec<NamespaceId> = known.keys().copied().collect();
        let opened = home.open(expected, lsn, || {
            known.clear();
            Source {
                files: self.records(),
                names: names.into(),
                known: &mut known,
                page: VecDeque::new(),
                is_stopped,
            }
        });
        let (directory, state) = opened.map_err(|error| match error {
            DirectoryError::Source(source) if source.is::<Stopped>() => OpenDirectoryError::Stopped,
            error => error.into(),
        })?;
        for pass in 1.. {
            let changed = self.changed(&known);
            // The last ones are caught up with while no checkpoint can change more.
            let is_last = changed.len() <= LEFT_MAX || pass >= PASSES_MAX;
            let checkpointer = is_last.then(|| self.checkpointer.lock());
            let changed = if is_last { self.changed(&known) } else { changed };
            self.catch_up(directory.as_ref(), &mut known, changed, is_stopped)?;
            if let Some(checkpointer) = checkpointer {
                let stamp = self.put_in_place(checkpointer, directory)?;
                return Ok(DirectoryReport { state, stamp, took: began.elapsed() });
            }
        }
        Err(OpenDirectoryError::Stopped)
    }

    /// Whether [`Storage::find`] can tell where memories lie.
    #[must_use]
    pub fn is_directory_ready(&self) -> bool {
        let named = self.records().state().read().directory;
        self.directory.is_ready(named)
    }

    /// Where the newest record of a memory lies, as the directory has it; `None` when it has none, or can't tell. It is
    /// no authority: what lies there has to be held against what was asked for.
    #[must_use]
    pub fn find(&self, key: MemoryKey) -> Option<RecordPosition> {
        let named = self.records().state().read().directory;
        self.directory.find(key, named)
    }

    /// Gives the directory up, because what it said is not so.
    pub fn distrust_directory(&self, key: MemoryKey, position: RecordPosition) {
        self.directory.distrust(&super::slot::Misled { key, position });
    }

    /// What the manifest says of the directory, the lsn of one that it says nothing of, and which files there are.
    fn snapshot(&self) -> (Option<Stamp>, Lsn, Known) {
        let state = self.records().state().read();
        let files = |files: &BTreeMap<u32, _>| files.keys().copied().collect();
        let known = state.namespaces.iter().map(|(id, namespace)| (*id, files(&namespace.files))).collect();
        (state.directory, state.floor.checkpoint_lsn, known)
    }

    /// The namespaces that have other files than are known.
    fn changed(&self, known: &Known) -> Vec<NamespaceId> {
        let state = self.records().state().read();
        let is_known = |id: &NamespaceId| -> bool {
            match (known.get(id), state.namespaces.get(id)) {
                (Some(known), Some(namespace)) => known.iter().eq(namespace.files.keys()),
                (None, None) => true,
                (None, Some(_)) | (Some(_), None) => false,
            }
        };
        let all: BTreeSet<NamespaceId> = known.keys().chain(state.namespaces.keys()).copied().collect();
        all.into_iter().filter(|id| !is_known(id)).collect()
    }

    fn catch_up(
        &self,
        directory: &dyn Directory,
        known: &mut Known,
        changed: Vec<NamespaceId>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), OpenDirectoryError> {
        let stamped = directory.stamp()?.unwrap_or(Stamp::EMPTY).lsn;
        let lsn = stamped.max(self.records().state().read().floor.checkpoint_lsn);
        for id in changed {
            if is_stopped() {
                return Err(OpenDirectoryError::Stopped);
            }
            let places = read_places(self.records(), id, known.get(&id).unwrap_or(&BTreeSet::new()))?;
            let mut batches = Batches::new(lsn);
            match places {
                None => {
                    known.remove(&id);
                    batches.drop_namespace(id);
                }
                Some(Places { files, is_whole, newest }) => {
                    if is_whole {
                        batches.remove_others(directory, id, &newest.keys().copied().collect())?;
                    }
                    newest.into_iter().for_each(|(id, position)| batches.put(id, position));
                    known.insert(id, files);
                }
            }
            for batch in &batches.into_all() {
                directory.apply(batch)?;
            }
        }
        Ok(())
    }

    /// Names the directory's stamp in the manifest, and lets the directory be asked.
    fn put_in_place(
        &self,
        mut checkpointer: MutexGuard<'_, Checkpointer<I>>,
        directory: Arc<dyn Directory>,
    ) -> Result<Stamp, OpenDirectoryError> {
        let stamp = directory.stamp()?.unwrap_or(Stamp::EMPTY);
        self.log().check_open()?;
        if self.records().state().read().directory != Some(stamp) {
            match checkpointer.manifest.append(&[Edit::Directory { stamp }]) {
                Ok(()) => {}
                Err(AppendError::Unknown(failure)) => return Err(self.log().poison_by(failure).into()),
                Err(error) => return Err(error.into_storage().into()),
            }
        }
        self.directory.fill(directory, stamp);
        drop(checkpointer);
        Ok(stamp)
    }
}

/// Reads where a namespace's records lie. One whose files are damaged counts as one without records: who asks for a
/// memory of it finds out by loading it.
fn read_places<I: Io>(
    files: &RecordFiles<I>,
    id: NamespaceId,
    known: &BTreeSet<u32>,
) -> Result<Option<Places>, StorageError> {
    match files.places(id, known) {
        Err(error) if error.kind() == StorageErrorKind::Corrupt => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                namespace = id.0,
                "a namespace is damaged and not in the directory"
            );
            let files = files.numbers(id);
            Ok(files.map(|files| Places { files, is_whole: true, newest: BTreeMap::new() }))
        }
        result => result,
    }
}

/// Where the records of all namespaces lie, one namespace after the other; notes which files they come from.
struct Source<'a, I: Io> {
    files: &'a RecordFiles<I>,
    names: VecDeque<NamespaceId>,
    known: &'a mut Known,
    page: VecDeque<(MemoryId, RecordPosition)>,
    is_stopped: &'a dyn Fn() -> bool,
}

impl<I: Io> Iterator for Source<'_, I> {
    type Item = Result<(MemoryId, RecordPosition), SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.page.pop_front() {
                return Some(Ok(entry));
            }
            let id = self.names.pop_front()?;
            if (self.is_stopped)() {
                return Some(Err(Stopped.into()));
            }
            match read_places(self.files, id, &BTreeSet::new()) {
                Ok(None) => {}
                Ok(Some(Places { files, newest, .. })) => {
                    self.known.insert(id, files);
                    self.page = newest.into_iter().collect();
                }
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
}

/// Changes in batches of the size that a directory takes, in which no memory comes twice.
#[derive(Debug)]
pub(crate) struct Batches {
    lsn: Lsn,
    full: Vec<DirectoryBatch>,
    entries: usize,
}

impl Batches {
    pub(crate) fn new(lsn: Lsn) -> Batches {
        Batches { lsn, full: vec![DirectoryBatch::new(lsn)], entries: 0 }
    }

    fn room(&mut self) -> Option<&mut DirectoryBatch> {
        if self.entries == BATCH_ENTRIES_MAX {
            self.full.push(DirectoryBatch::new(self.lsn));
            self.entries = 0;
        }
        self.entries += 1;
        self.full.last_mut()
    }

    pub(crate) fn put(&mut self, id: MemoryId, position: RecordPosition) {
        if let Some(batch) = self.room() {
            batch.puts.push((id, position));
        }
    }

    pub(crate) fn drop_namespace(&mut self, id: NamespaceId) {
        if let Some(batch) = self.room() {
            batch.dropped_namespaces.push(id);
        }
    }

    /// Removes what the directory has of a namespace besides some memories.
    pub(crate) fn remove_others(
        &mut self,
        directory: &dyn Directory,
        namespace: NamespaceId,
        kept: &BTreeSet<MemoryId>,
    ) -> Result<(), DirectoryError> {
        let mut from = Some(MemoryKey { namespace, id: MemoryId::from_u128(0) });
        while let Some(key) = from {
            let page = directory.page(key, super::PAGE_ENTRIES_MAX)?;
            from = None;
            for (id, _) in page.into_iter().take_while(|(_, at)| at.namespace == namespace) {
                let key = MemoryKey { namespace, id };
                if !kept.contains(&id)
                    && let Some(batch) = self.room()
                {
                    batch.removes.push(key);
                }
                from = key.successor();
            }
        }
        Ok(())
    }

    pub(crate) fn into_all(self) -> Vec<DirectoryBatch> {
        self.full
    }
}

#[cfg(test)]
mod tests;
