//! The record files of a data directory, as the manifest names them.

use std::{
    collections::{BTreeMap, HashMap, VecDeque, hash_map::Entry},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use hindsight_core::{Lsn, MemoryId, Namespace, Record};
use parking_lot::{Mutex, RwLock};

use super::{
    Digest, Loaded, NamespaceId, RecordPosition, StoredFile,
    digest::record_digest,
    layout::RecordFault,
    place::{NS_DIR, record_path},
    point::RecordFile,
    scan::{Expected, scan},
    vectors::{VectorFile, Vectors, checks, put_away},
};
use crate::{
    error::{IoFailure, ReplayError, StorageError},
    io::{Io, OpenMode},
    manifest::{ManifestState, StoredNamespace},
    sabotage::{self, Sabotage},
};

/// How many files are kept open for point reads.
const OPEN_FILES_MAX: usize = 256;

/// How much a namespace has in record files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilesSummary {
    /// How many files.
    pub files: usize,
    /// How many records are in them, outdated ones included.
    pub records: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// Reads record files. Shared by all who read; a checkpoint changes what it names.
#[derive(Debug)]
pub struct RecordFiles<I: Io> {
    io: Arc<I>,
    /// The folder of all namespaces.
    ns: PathBuf,
    store_id: u64,
    state: Arc<RwLock<ManifestState>>,
    opened: Mutex<Opened<I::File>>,
    vectors: Arc<Vectors<I>>,
    pins: AtomicUsize,
}

/// While this is there, no record file is removed that the manifest named when it was made.
pub(crate) struct Pin<I: Io>(Arc<RecordFiles<I>>);

impl<I: Io> Drop for Pin<I> {
    fn drop(&mut self) {
        self.0.pins.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Files that are kept open, the oldest first.
#[derive(Debug)]
struct Opened<F> {
    files: BTreeMap<(NamespaceId, u32), Arc<RecordFile<F>>>,
    order: VecDeque<(NamespaceId, u32)>,
}

impl<I: Io> RecordFiles<I> {
    pub(crate) fn new(
        io: Arc<I>,
        dir: &Path,
        store_id: u64,
        state: Arc<RwLock<ManifestState>>,
    ) -> RecordFiles<I> {
        let opened = Mutex::new(Opened { files: BTreeMap::new(), order: VecDeque::new() });
        let ns = dir.join(NS_DIR);
        let vectors = Arc::new(Vectors::new(Arc::clone(&io), &ns));
        RecordFiles { io, ns, store_id, state, opened, vectors, pins: AtomicUsize::new(0) }
    }

    /// Keeps the files where they are. To be called while no checkpoint runs; the first one after the last pin is gone
    /// removes what has become outdated meanwhile.
    pub(crate) fn pin(self: &Arc<Self>) -> Pin<I> {
        self.pins.fetch_add(1, Ordering::AcqRel);
        Pin(Arc::clone(self))
    }

    /// Whether files must stay though the manifest names them no more.
    pub(crate) fn is_pinned(&self) -> bool {
        self.pins.load(Ordering::Acquire) > 0
    }

    pub(crate) fn io(&self) -> &Arc<I> {
        &self.io
    }

    /// The folder of all namespaces.
    pub(crate) fn ns(&self) -> &Path {
        &self.ns
    }

    pub(crate) fn store_id(&self) -> u64 {
        self.store_id
    }

    pub(crate) fn state(&self) -> &RwLock<ManifestState> {
        &self.state
    }

    /// What the manifest says of a namespace; `None` when no checkpoint has stored it.
    #[must_use]
    pub fn namespace(&self, name: &Namespace) -> Option<StoredNamespace> {
        self.state.read().by_name(name).cloned()
    }

    /// How much a namespace has in record files; `None` when no checkpoint has stored it.
    #[must_use]
    pub fn summary(&self, name: &Namespace) -> Option<FilesSummary> {
        let state = self.state.read();
        let files = &state.by_name(name)?.files;
        Some(FilesSummary {
            files: files.len(),
            records: files.values().map(|file| file.records).sum(),
            bytes: files.values().map(|file| file.bytes).sum(),
        })
    }

    /// Hands over everything that the files of a namespace hold, file by file in order: a later record of a memory
    /// replaces an earlier one. The components of the vectors stay where they are, and are read when someone asks. Returns what the manifest says of exactly these files; `None` when the namespace is
    /// not stored.
    ///
    /// Checked are every entry's checksum, every file's length, BLAKE3, counts and digest, and at the end the number
    /// and the digest of the newest records against the manifest. What was handed over is worth nothing when it fails.
    ///
    /// # Errors
    /// [`StorageError::CorruptRecords`], [`StorageError::MissingFile`], [`StorageError::CorruptNamespace`];
    /// [`StorageError::Load`] when `each` refuses; calls of the system that failed.
    pub fn load(
        &self,
        id: NamespaceId,
        each: &mut dyn FnMut(Loaded) -> Result<(), ReplayError>,
    ) -> Result<Option<StoredNamespace>, StorageError> {
        let Some((namespace, files)) = self.open_all(id)? else { return Ok(None) };
        let mut newest = Newest::default();
        for (number, stored, file) in &files {
            let path = record_path(&self.ns, id, *number);
            let expected = Expected { store_id: self.store_id, namespace: id, number: *number };
            let vectors = self.vectors.file(id, *number);
            let (_, found) = scan(file, &path, Some(expected), &mut |loaded| {
                newest.see(&loaded);
                if let Loaded::Record { record, end, .. } = &loaded {
                    put_away(&vectors, record, *end, &checks(record));
                }
                each(loaded)
            })?;
            if found != *stored && !sabotage::has(Sabotage::TrustRecordFiles) {
                let fault = RecordFault::NotInManifest;
                return Err(StorageError::CorruptRecords { path, offset: 0, fault });
            }
        }
        let (found_live, digest) = (newest.records.len() as u64, newest.digest);
        let is_whole = (found_live, digest) == (namespace.live, namespace.digest);
        if !is_whole && !sabotage::has(Sabotage::TrustRecordFiles) {
            let (name, live) = (namespace.name.as_str().to_owned(), namespace.live);
            return Err(StorageError::CorruptNamespace { name, live, found_live });
        }
        self.vectors.found_whole(id);
        Ok(Some(namespace))
    }

    /// A file from which the vectors of the records in it are to be read.
    pub(crate) fn vector_file(&self, id: NamespaceId, number: u32) -> Arc<VectorFile<I>> {
        self.vectors.file(id, number)
    }

    /// Whether every vector of a namespace that was asked for since it was loaded could be read. To be asked before an
    /// answer leaves that vectors had a part in, or a decision is logged.
    ///
    /// # Errors
    /// [`StorageError::CorruptRecords`] with file and offset; a call of the system that failed.
    pub fn check_vectors(&self, name: &Namespace) -> Result<(), StorageError> {
        if !self.vectors.has_losses() {
            return Ok(());
        }
        let id = self.state.read().by_name(name).map(|namespace| namespace.id);
        id.and_then(|id| self.vectors.lost(id)).map_or(Ok(()), Err)
    }

    /// Opens all files of a namespace while none of them can be removed.
    #[expect(clippy::type_complexity, reason = "the one user takes it apart at once")]
    pub(super) fn open_all(
        &self,
        id: NamespaceId,
    ) -> Result<Option<(StoredNamespace, Vec<(u32, StoredFile, I::File)>)>, StorageError> {
        let state = self.state.read();
        let Some(namespace) = state.namespaces.get(&id) else { return Ok(None) };
        let mut files = Vec::with_capacity(namespace.files.len());
        for (number, stored) in &namespace.files {
            let path = record_path(&self.ns, id, *number);
            let file = self.io.open(&path, OpenMode::Read).map_err(|error| missing(&path, error))?;
            files.push((*number, *stored, file));
        }
        Ok(Some((namespace.clone(), files)))
    }

    /// Reads one record. `None` when its file is gone: a checkpoint has rewritten the namespace, so look up again.
    ///
    /// # Errors
    /// [`StorageError::CorruptRecords`] with file and offset, [`StorageError::MissingFile`], and calls of the system
    /// that failed.
    pub fn read_at(&self, position: RecordPosition) -> Result<Option<(MemoryId, Lsn, Record)>, StorageError> {
        match self.file(position.namespace, position.file)? {
            Some(file) => file.read(position).map(Some),
            None => Ok(None),
        }
    }

    fn file(&self, id: NamespaceId, number: u32) -> Result<Option<Arc<RecordFile<I::File>>>, StorageError> {
        if let Some(file) = self.opened.lock().files.get(&(id, number)) {
            return Ok(Some(Arc::clone(file)));
        }
        // Held until the file is in the list, so that a checkpoint that removes it finds it there.
        let state = self.state.read();
        let Some(stored) = state.namespaces.get(&id).and_then(|namespace| namespace.files.get(&number))
        else {
            return Ok(None);
        };
        let path = record_path(&self.ns, id, number);
        let expected = Expected { store_id: self.store_id, namespace: id, number };
        let file = match RecordFile::open(self.io.as_ref(), &path, expected, stored.bytes) {
            Ok(file) => Arc::new(file),
            Err(StorageError::Io(failure)) if failure.source.kind() == io::ErrorKind::NotFound => {
                return Err(StorageError::MissingFile { path });
            }
            Err(error) => return Err(error),
        };
        let mut opened = self.opened.lock();
        if opened.files.insert((id, number), Arc::clone(&file)).is_none() {
            opened.order.push_back((id, number));
        }
        if opened.order.len() > OPEN_FILES_MAX
            && let Some(oldest) = opened.order.pop_front()
        {
            opened.files.remove(&oldest);
        }
        Ok(Some(file))
    }

    /// Closes files that the manifest names no more.
    pub(crate) fn forget(&self, gone: &[(NamespaceId, u32)]) {
        let mut opened = self.opened.lock();
        let Opened { files, order } = &mut *opened;
        gone.iter().for_each(|file| drop(files.remove(file)));
        order.retain(|file| files.contains_key(file));
    }

    /// Checks that every file which the manifest names is there and has its length.
    pub(crate) fn check_present(&self) -> Result<(), StorageError> {
        let state = self.state.read();
        for namespace in state.namespaces.values() {
            for (number, stored) in &namespace.files {
                let path = record_path(&self.ns, namespace.id, *number);
                let found = self.io.file_len(&path).map_err(|error| missing(&path, error))?;
                if found != stored.bytes {
                    let fault = RecordFault::FileLength { expected: stored.bytes, found };
                    let offset = found.min(stored.bytes);
                    return Err(StorageError::CorruptRecords { path, offset, fault });
                }
            }
        }
        Ok(())
    }
}

fn missing(path: &Path, error: io::Error) -> StorageError {
    if error.kind() == io::ErrorKind::NotFound {
        return StorageError::MissingFile { path: path.to_owned() };
    }
    IoFailure { op: "open", path: path.to_owned(), source: Arc::new(error) }.into()
}

/// The newest image of every memory seen so far, by what it adds to the digest.
#[derive(Default)]
pub(crate) struct Newest {
    records: HashMap<MemoryId, u128>,
    digest: Digest,
}

impl Newest {
    /// How many memories there are, and the digest of their newest images.
    pub(crate) fn counted(&self) -> (u64, Digest) {
        (self.records.len() as u64, self.digest)
    }

    pub(crate) fn see(&mut self, loaded: &Loaded) {
        let Loaded::Record { lsn, record, .. } = loaded else { return };
        let new = record_digest(record.memory.id, record.memory.version, *lsn);
        self.digest.add(new);
        match self.records.entry(record.memory.id) {
            Entry::Vacant(vacant) => {
                vacant.insert(new);
            }
            Entry::Occupied(mut occupied) => self.digest.remove(occupied.insert(new)),
        }
    }
}
