//! A data directory: who may open it, in which format, and the log in it.
//!
//! [`Storage::open`] goes from the question that touches nothing (is this ours, can we read it?) to the lock, and only
//! then to anything that writes.

mod format;
mod lock;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use hindsight_core::{Batch, Lsn};

use crate::{
    codec,
    error::{At, IoFailure, ReplayError, StorageError},
    io::{Io, uninterrupted},
    log::{Committed, Log},
    options::LogOptions,
    real::RealIo,
    recovery::Recovered,
};
pub use format::{FORMAT_VERSION, Format, FormatError};
use lock::DirLock;
pub use lock::Holder;

/// The folder of the log inside the data directory.
pub const LOG_DIR: &str = "log";

/// What can be set about a data directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageOptions {
    /// The log.
    pub log: LogOptions,
}

/// An open data directory. No other process can open it until this is dropped.
#[derive(Debug)]
pub struct Storage<I: Io = RealIo> {
    // Dropped in this order: the log stops before the lock is given back.
    log: Log<I>,
    dir: PathBuf,
    format: Format,
    _lock: DirLock<I::File>,
}

impl<I: Io> Storage<I> {
    /// Opens a data directory, making it when it is missing, and hands every stored batch to `replay`, in order.
    /// Commits wait for [`Storage::spawn_committer`] or [`Storage::commit_step`].
    ///
    /// # Errors
    /// Those of [`StorageError`] that tell what the directory is instead, who has it, or where it is damaged; in all
    /// these cases it is unchanged, but for the LOCK file. [`StorageError::Replay`] when `replay` refuses a batch.
    pub fn open(
        io: I,
        dir: &Path,
        options: StorageOptions,
        replay: &mut dyn FnMut(Lsn, Batch) -> Result<(), ReplayError>,
    ) -> Result<(Storage<I>, Recovered), StorageError> {
        let io = Arc::new(io);
        match Occupant::of(io.as_ref(), dir)? {
            Occupant::Database(_) => {}
            Occupant::Nothing => {
                io.create_dir_all(dir).map_err(|error| cannot_create(dir, error))?;
            }
        }
        let lock = DirLock::take(io.as_ref(), dir)?;
        // Looked at again: another process may have made the database before the lock was ours.
        let format = match Occupant::of(io.as_ref(), dir)? {
            Occupant::Database(format) => format,
            Occupant::Nothing => Format::create(io.as_ref(), dir)?,
        };
        let log_dir = dir.join(LOG_DIR);
        io.create_dir_all(&log_dir).map_err(|error| cannot_create(&log_dir, error))?;
        // A crash may have come between the making of the log's folder and the sync of its name.
        uninterrupted(|| io.sync_dir(dir)).at("sync", dir)?;
        let mut sink = |lsn: Lsn, payload: &[u8]| {
            let batch =
                codec::decode_batch(payload).map_err(|source| StorageError::Undecodable { lsn, source })?;
            replay(lsn, batch).map_err(|source| StorageError::Replay { lsn, source })
        };
        let (log, recovered) = Log::open(io, &log_dir, format.store_id, options.log, Lsn(0), &mut sink)?;
        Ok((Storage { log, dir: dir.to_owned(), format, _lock: lock }, recovered))
    }

    /// Gives a batch its number and puts it into the next commit; see [`Log::append`].
    ///
    /// # Errors
    /// [`StorageError::Unencodable`], [`StorageError::TooLarge`], [`StorageError::Poisoned`], [`StorageError::Closed`].
    pub fn append(&self, batch: &Batch) -> Result<Lsn, StorageError> {
        self.append_encoded(&Self::encode(batch)?)
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

    /// See [`Log::close`].
    ///
    /// # Errors
    /// As [`Log::close`].
    pub fn close(&self) -> Result<(), StorageError> {
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
        // Those that the making of a database leaves when it is interrupted, and that of a new ext4 file system.
        let harmless = [lock::FILE_NAME, format::TMP_NAME, "lost+found"];
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
