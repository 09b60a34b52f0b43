//! A data directory: who may open it, in which format, and the log and the record files in it.
//!
//! [`Storage::open`] goes from the question that touches nothing (is this ours, can we read it?) to the lock, to the
//! manifest, and only then ([`Opening::replay`]) to anything that writes.

mod format;
mod lock;
mod opening;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use hindsight_core::{Batch, Lsn, MemoryId, Namespace, Record};
use parking_lot::Mutex;

use crate::{
    checkpoint::Checkpointer,
    codec,
    directory::{DirectoryOptions, Slot},
    erasure::Ledger,
    error::{IoFailure, ReplayError, StorageError},
    io::Io,
    log::{Committed, Log, Pace},
    manifest::StoredNamespace,
    options::LogOptions,
    real::RealIo,
    records::{FilesSummary, Loaded, RecordFiles, RecordPosition},
    space::{Space, Urgency},
};
pub(crate) use format::{FILE_NAME as FORMAT_FILE, TMP_NAME as FORMAT_TMP};
pub use format::{FORMAT_VERSION, Format, FormatError};
pub use lock::Holder;
pub(crate) use lock::{DirLock, FILE_NAME as LOCK_FILE};
pub use opening::Opening;

/// The folder of the log inside the data directory.
pub const LOG_DIR: &str = "log";

/// What can be set about a data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageOptions {
    /// The log.
    pub log: LogOptions,
    /// Bytes of batches in the log after which a checkpoint is due; see [`Storage::is_checkpoint_due`]. Default 64 MiB.
    pub checkpoint_bytes: u64,
    /// Bytes that are kept back on the disk, in a file, for what can't wait on a full one; at most a sixteenth of the
    /// disk. 0 keeps nothing back. Default 64 MiB.
    pub reserve_bytes: u64,
    /// Bytes below which the manifest is not written anew, however small its image. Default 256 KiB.
    pub manifest_rewrite_bytes: u64,
    /// The directory.
    pub directory: DirectoryOptions,
}

impl Default for StorageOptions {
    fn default() -> Self {
        StorageOptions {
            log: LogOptions::default(),
            checkpoint_bytes: 64 << 20,
            reserve_bytes: 64 << 20,
            manifest_rewrite_bytes: 256 << 10,
            directory: DirectoryOptions::default(),
        }
    }
}

/// An open data directory. No other process can open it until this is dropped.
#[derive(Debug)]
pub struct Storage<I: Io = RealIo> {
    // Dropped in this order: the log stops and the directory is closed before the lock is given back.
    log: Log<I>,
    pub(crate) checkpointer: Mutex<Checkpointer<I>>,
    /// Held for a whole erasure; taken before `checkpointer`.
    pub(crate) eraser: Mutex<()>,
    /// Taken after `checkpointer`, and under a namespace's writer's lock: whoever has it waits for nobody.
    pub(crate) ledger: Mutex<Ledger>,
    records: Arc<RecordFiles<I>>,
    /// Where memories lie in the record files; see [`Storage::open_directory`].
    pub(crate) directory: Slot,
    dir: PathBuf,
    format: Format,
    space: Arc<Space<I>>,
    checkpoint_bytes: u64,
    /// Bytes that had been logged when the last checkpoint began.
    pub(crate) checkpointed_bytes: AtomicU64,
    _lock: DirLock<I::File>,
}

impl<I: Io> Storage<I> {
    /// Begins to open a data directory, making it when it is missing: takes its lock, reads its manifest, and checks
    /// that every file which that names is there. [`Opening::replay`] does the rest.
    ///
    /// # Errors
    /// Those of [`StorageError`] that tell what the directory is instead, who has it, or where it is damaged; in all
    /// these cases it is unchanged, but for the LOCK file.
    pub fn open(io: I, dir: &Path, options: StorageOptions) -> Result<Opening<I>, StorageError> {
        Opening::begin(Arc::new(io), dir, options)
    }

    /// The record files, shared with who reads them.
    #[must_use]
    pub fn records(&self) -> &Arc<RecordFiles<I>> {
        &self.records
    }

    /// See [`RecordFiles::load`].
    ///
    /// # Errors
    /// As [`RecordFiles::load`].
    pub fn load_namespace(
        &self,
        name: &Namespace,
        each: &mut dyn FnMut(Loaded) -> Result<(), ReplayError>,
    ) -> Result<Option<StoredNamespace>, StorageError> {
        match self.records.namespace(name) {
            Some(namespace) => self.records.load(namespace.id, each),
            None => Ok(None),
        }
    }

    /// See [`RecordFiles::summary`].
    #[must_use]
    pub fn namespace_files(&self, name: &Namespace) -> Option<FilesSummary> {
        self.records.summary(name)
    }

    /// See [`RecordFiles::read_at`].
    ///
    /// # Errors
    /// As [`RecordFiles::read_at`].
    pub fn read_at(&self, position: RecordPosition) -> Result<Option<(MemoryId, Lsn, Record)>, StorageError> {
        self.records.read_at(position)
    }

    /// Bytes of the batches that are in the log only.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.log.logged_bytes().saturating_sub(self.checkpointed_bytes.load(Ordering::Relaxed))
    }

    /// Whether the log has grown so long that a checkpoint should shorten it.
    #[must_use]
    pub fn is_checkpoint_due(&self) -> bool {
        self.log_bytes() >= self.checkpoint_bytes
    }

    /// Everything up to this batch is in record files.
    #[must_use]
    pub fn checkpoint_lsn(&self) -> Lsn {
        self.records.state().read().floor.checkpoint_lsn
    }

    /// Gives a batch its number and puts it into the next commit; see [`Log::append`].
    ///
    /// # Errors
    /// [`StorageError::Unencodable`], and those of [`Log::append`].
    pub fn append(&self, batch: &Batch) -> Result<Lsn, StorageError> {
        self.append_as(batch, Urgency::Ordinary, Pace::Prompt)
    }

    /// As [`Storage::append`]; see [`Log::append_as`].
    ///
    /// # Errors
    /// As [`Storage::append`].
    pub fn append_as(&self, batch: &Batch, urgency: Urgency, pace: Pace) -> Result<Lsn, StorageError> {
        self.log.append_as(&Self::encode(batch)?, urgency, pace)
    }

    /// See [`Log::space_step`].
    ///
    /// # Errors
    /// As [`Log::space_step`].
    pub fn space_step(&self) -> Result<bool, StorageError> {
        self.log.space_step()
    }

    /// Why what stores something new is refused, while the disk is full.
    #[must_use]
    pub fn refusal(&self) -> Option<StorageError> {
        self.space.refusal()
    }

    /// A call that was no part of the log found no room. Gives the reserve away, so that it can be repeated; returns
    /// whether there was any.
    pub fn make_way(&self, failure: &IoFailure) -> bool {
        failure.is_full() && {
            self.space.note_full(failure);
            self.space.release()
        }
    }

    /// The bytes of a batch, for [`Storage::append_encoded`]: so that the work of encoding can be done before the
    /// lock is taken under which numbers are given.
    ///
    /// # Errors
    /// [`StorageError::Unencodable`].
    pub fn encode(batch: &Batch) -> Result<Vec<u8>, StorageError> {
        codec::encode_batch(batch).map_err(StorageError::Unencodable)
    }

    /// As [`Storage::append`], for bytes that [`Storage::encode`] made.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn append_encoded(&self, encoded: &[u8]) -> Result<Lsn, StorageError> {
        self.log.append(encoded)
    }

    /// See [`Log::synced`].
    ///
    /// # Errors
    /// As [`Log::synced`].
    pub async fn synced(&self, lsn: Lsn) -> Result<(), StorageError> {
        self.log.synced(lsn).await
    }

    /// See [`Log::wait_synced`].
    ///
    /// # Errors
    /// As [`Log::wait_synced`].
    pub fn wait_synced(&self, lsn: Lsn) -> Result<(), StorageError> {
        self.log.wait_synced(lsn)
    }

    /// The newest durable batch; 0 when there is none.
    #[must_use]
    pub fn synced_lsn(&self) -> Lsn {
        self.log.synced_lsn()
    }

    /// See [`Log::check_open`].
    ///
    /// # Errors
    /// As [`Log::check_open`].
    pub fn check_open(&self) -> Result<(), StorageError> {
        self.log.check_open()
    }

    /// The failure that ended all writing, if there was one.
    #[must_use]
    pub fn poison(&self) -> Option<IoFailure> {
        self.log.poison()
    }

    /// See [`Log::commit_step`].
    ///
    /// # Errors
    /// As [`Log::commit_step`].
    pub fn commit_step(&self) -> Result<Committed, StorageError> {
        self.log.commit_step()
    }

    /// See [`Log::spawn_committer`].
    ///
    /// # Errors
    /// As [`Log::spawn_committer`].
    pub fn spawn_committer(&self) -> Result<(), StorageError> {
        self.log.spawn_committer()
    }

    /// Closes the directory, then the log: see [`Log::close`].
    ///
    /// # Errors
    /// As [`Log::close`].
    pub fn close(&self) -> Result<(), StorageError> {
        self.directory.clear();
        self.log.close()
    }

    /// The log, for tests and tools that work below batches.
    #[must_use]
    pub fn log(&self) -> &Log<I> {
        &self.log
    }

    /// The data directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The format of the directory, and which database it is.
    #[must_use]
    pub fn format(&self) -> &Format {
        &self.format
    }
}

/// The folder of `hindsight-auth`, which the storage has nothing to do with.
const CREDENTIALS: &str = "auth";

/// What is in a directory.
enum Occupant {
    /// No directory, an empty one, or one that was being made into a database when the process stopped.
    Nothing,
    Database(Format),
}

impl Occupant {
    /// Looks and touches nothing.
    fn of<I: Io>(io: &I, dir: &Path) -> Result<Occupant, StorageError> {
        let names = match io.list(dir) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupant::Nothing),
            Err(error) => return Err(cannot_create(dir, error)),
        };
        if names.iter().any(|name| name == format::FILE_NAME) {
            return Format::read(io, dir).map(Occupant::Database);
        }
        // Those that the making of a database leaves when it is interrupted, that of a new ext4 file system, and the folder of
        // credentials, which may be made before the database.
        let harmless = [lock::FILE_NAME, format::TMP_NAME, "lost+found", CREDENTIALS];
        if names.iter().all(|name| harmless.iter().any(|harmless| name == harmless)) {
            Ok(Occupant::Nothing)
        } else {
            Err(StorageError::Foreign { path: dir.to_owned() })
        }
    }
}

/// Why a directory can't be listed, made or written.
fn cannot_create(path: &Path, error: io::Error) -> StorageError {
    match error.kind() {
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            StorageError::NotADirectory { path: path.to_owned() }
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::NotFound => {
            StorageError::NotWritable { path: path.to_owned(), source: Arc::new(error) }
        }
        _ => StorageError::Io(IoFailure { op: "use", path: path.to_owned(), source: Arc::new(error) }),
    }
}

#[cfg(test)]
mod tests;
