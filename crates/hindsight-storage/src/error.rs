//! What can go wrong, each with the place and with what to do about it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use hindsight_core::Lsn;

use crate::{
    checkpoint::UnfitCheckpoint,
    codec::CodecError,
    erasure::LedgerFault,
    frame::FrameFault,
    manifest::ManifestFault,
    records::RecordFault,
    segment::SegmentFault,
    store::{FormatError, Holder},
};

/// An error of whoever is given the replayed batches.
pub type ReplayError = Box<dyn std::error::Error + Send + Sync>;

/// A call of the operating system that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("can't {op} {path}", path = path.display())]
pub struct IoFailure {
    /// What was tried, as a verb: `write`, `sync`.
    pub op: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The answer of the system.
    #[source]
    pub source: Arc<io::Error>,
}

impl IoFailure {
    /// Whether there was no room for more bytes: on the disk, within a quota, or below the limit of a file's size.
    #[must_use]
    pub fn is_full(&self) -> bool {
        is_full(&self.source)
    }

    /// Whether rights or a read-only file system are the reason, rather than the disk.
    fn is_refusal(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
    }
}

/// Why storage can't do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// Bytes that were durable once are not what was written. Nothing was changed; restore a backup.
    #[error("{path} is damaged at byte {offset}: lsn {lsn} belongs there and can't be read, and the log was durable up to lsn {durable_lsn}; nothing was changed, restore a backup", path = path.display())]
    Corrupt {
        /// The log segment.
        path: PathBuf,
        /// Where the damage begins, in bytes from the start of the file.
        offset: u64,
        /// The first batch that can't be read.
        lsn: Lsn,
        /// The newest batch that is known to have been durable.
        durable_lsn: Lsn,
        /// What is wrong with the bytes.
        #[source]
        fault: FrameFault,
    },
    /// A log segment that does not belong where it is, or whose header is damaged. Nothing was changed.
    #[error("{path} can't be the log segment that begins with lsn {lsn}; nothing was changed, restore a backup", path = path.display())]
    CorruptSegment {
        /// The log segment.
        path: PathBuf,
        /// The batch that is missing because of it.
        lsn: Lsn,
        /// What is wrong with it.
        #[source]
        fault: SegmentFault,
    },
    /// A record file that is not what was written. Nothing was changed; restore a backup.
    #[error("{path} is damaged at byte {offset}; nothing was changed, restore a backup", path = path.display())]
    CorruptRecords {
        /// The record file.
        path: PathBuf,
        /// Where the damaged entry begins, in bytes from the start of the file.
        offset: u64,
        /// What is wrong with it.
        #[source]
        fault: RecordFault,
    },
    /// The record files of a namespace are each sound, and together not what the manifest says.
    #[error(
        "namespace {name} has {found_live} records in its files and the manifest says {live}, or they are others; restore a backup"
    )]
    CorruptNamespace {
        /// The namespace.
        name: String,
        /// How many records the manifest says.
        live: u64,
        /// How many there are.
        found_live: u64,
    },
    /// A manifest that is not what was written. Nothing was changed.
    #[error("{path} is damaged at byte {offset}; nothing was changed, restore a backup", path = path.display())]
    CorruptManifest {
        /// The manifest.
        path: PathBuf,
        /// Where the damage begins, in bytes from the start of the file.
        offset: u64,
        /// What is wrong with it.
        #[source]
        fault: ManifestFault,
    },
    /// The erasure ledger is not what was written, or not this database's. Nothing was changed.
    #[error("{path} can't be used; nothing was changed: put a copy of it in its place, or remove it, after which restored backups bring back what was purged", path = path.display())]
    CorruptLedger {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        fault: LedgerFault,
    },
    /// There is no manifest, and there must have been one. Nothing was changed.
    #[error("{path} has no MANIFEST file, and there was one: {found} is there; nothing was changed, restore a backup", path = path.display(), found = found.display())]
    NoManifest {
        /// The data directory.
        path: PathBuf,
        /// What only a checkpoint leaves behind.
        found: PathBuf,
    },
    /// A file that the manifest names is missing. Nothing was changed.
    #[error("{path} is missing; nothing was changed, restore a backup", path = path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
    },
    /// The receiver of a record file's entries refused one.
    #[error("loading {path} stopped at byte {offset}", path = path.display())]
    Load {
        /// The record file.
        path: PathBuf,
        /// Where the entry begins, in bytes from the start of the file.
        offset: u64,
        /// Why.
        #[source]
        source: ReplayError,
    },
    /// What a checkpoint was given does not fit together. Nothing of it was stored.
    #[error("the checkpoint does not fit together")]
    Unfit(#[from] UnfitCheckpoint),
    /// The log ends before a batch that is known to have been durable. Nothing was changed.
    #[error("the log in {path} ends at lsn {last_lsn}, and lsn {durable_lsn} was durable: a segment is missing; nothing was changed, restore a backup", path = path.display())]
    LogTooShort {
        /// The folder of the log.
        path: PathBuf,
        /// The newest batch that was found.
        last_lsn: Lsn,
        /// The newest batch that is known to have been durable.
        durable_lsn: Lsn,
    },
    /// A segment of the log that is known to have been made is not there. Nothing was changed.
    #[error("{path} is missing: the log segment that begins with lsn {lsn}; nothing was changed, restore a backup", path = path.display())]
    MissingSegment {
        /// Where it should be.
        path: PathBuf,
        /// The first batch that belongs into it.
        lsn: Lsn,
    },
    /// A batch with a right checksum that does not decode.
    #[error("the batch of lsn {lsn} can't be decoded")]
    Undecodable {
        /// Its number.
        lsn: Lsn,
        /// What is wrong with it.
        #[source]
        source: CodecError,
    },
    /// A batch that can't be encoded.
    #[error("the batch can't be stored")]
    Unencodable(#[source] CodecError),
    /// The FORMAT file is there and can't be read as one.
    #[error("{path} is damaged: expected {{\"format\": number, \"min_reader\": number, \"created_by\": text, \"store_id\": 16 hex digits}}", path = path.display())]
    BadFormatFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: FormatError,
    },
    /// The data directory was written by a newer version. Nothing was touched.
    #[error("{path} has format {found} and this version reads up to {supported}: use a newer hindsight", path = path.display())]
    FormatTooNew {
        /// The FORMAT file.
        path: PathBuf,
        /// The oldest reader that the directory admits.
        found: u32,
        /// The newest format that this version reads.
        supported: u32,
    },
    /// The directory has files in it and no FORMAT: it belongs to something else. Nothing was touched.
    #[error("{path} is not a HindsightDB data directory (it has files and no FORMAT): name an empty or a new directory", path = path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// Another process has the directory open.
    #[error("{path} is in use by {}: stop it, or name another data directory", holder_text(*holder), path = path.display())]
    Locked {
        /// The LOCK file.
        path: PathBuf,
        /// Who has it, where the file says so.
        holder: Option<Holder>,
    },
    /// The data directory is a file.
    #[error("{path} is not a directory: name a directory", path = path.display())]
    NotADirectory {
        /// What was named.
        path: PathBuf,
    },
    /// The data directory can't be made or written.
    #[error("{path} can't be written: check its owner, its rights and whether its file system is read-only", path = path.display())]
    NotWritable {
        /// The directory or file.
        path: PathBuf,
        /// The answer of the system.
        #[source]
        source: Arc<io::Error>,
    },
    /// The system refused a call; what was stored before stays.
    #[error(transparent)]
    Io(#[from] IoFailure),
    /// There is no room for the batch on the disk; it has no number and nothing changed. Writes are taken again by
    /// themselves once there is room.
    #[error("no space left for {path}: writes are refused until more than {needed} MiB are free on its disk; free space there, or forget memories; reads go on", path = path.display(), needed = needed_bytes.div_ceil(1 << 20))]
    DiskFull {
        /// The data directory.
        path: PathBuf,
        /// How many bytes must be free before writes are taken again.
        needed_bytes: u64,
        /// The call that found no room.
        #[source]
        failure: IoFailure,
    },
    /// A sync of the log failed earlier, or a write that can't be undone. What is durable can't be known without a
    /// restart, so nothing is written or acknowledged any more.
    #[error("the log takes no more writes, because one failed ({failure}: {cause}): mend the disk and start again", failure = .0, cause = .0.source)]
    Poisoned(IoFailure),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
    /// A batch larger than a frame may be. Send it in parts.
    #[error("the batch has {bytes} bytes: at most {bytes_max}")]
    TooLarge {
        /// Bytes of the encoded batch.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// The receiver of a replayed batch refused it.
    #[error("replay stopped at lsn {lsn}")]
    Replay {
        /// The batch.
        lsn: Lsn,
        /// Why.
        #[source]
        source: ReplayError,
    },
}

/// What a caller can do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StorageErrorKind {
    /// Stored bytes are not what was written: restore a backup (exit code 65).
    Corrupt,
    /// The directory can't be made or written: mend its rights (exit code 73).
    NotWritable,
    /// The directory belongs to another process, a newer version or something else: name another one (exit code 78).
    Refused,
    /// A call of the system failed: look at the disk (exit code 74).
    Io,
    /// The disk is full: what stores something new is refused until there is room.
    Full,
    /// Writes are over until a restart.
    Poisoned,
    /// The log was closed.
    Closed,
    /// The caller's batch can't be stored as it is.
    Unstorable,
    /// The receiver of a replayed batch refused it.
    Replay,
}

impl StorageError {
    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> StorageErrorKind {
        match self {
            StorageError::Undecodable { source, .. } if source.is_newer() => StorageErrorKind::Refused,
            StorageError::CorruptSegment { fault: SegmentFault::Version { .. }, .. } => {
                StorageErrorKind::Refused
            }
            StorageError::CorruptRecords { fault: RecordFault::Version { .. }, .. } => {
                StorageErrorKind::Refused
            }
            StorageError::CorruptRecords { fault: RecordFault::Payload(source), .. } if source.is_newer() => {
                StorageErrorKind::Refused
            }
            StorageError::CorruptManifest { fault, .. } if fault.is_newer() => StorageErrorKind::Refused,
            StorageError::CorruptLedger { fault, .. } if fault.is_newer() => StorageErrorKind::Refused,
            StorageError::Corrupt { .. }
            | StorageError::CorruptSegment { .. }
            | StorageError::CorruptRecords { .. }
            | StorageError::CorruptNamespace { .. }
            | StorageError::CorruptManifest { .. }
            | StorageError::CorruptLedger { .. }
            | StorageError::NoManifest { .. }
            | StorageError::MissingFile { .. }
            | StorageError::LogTooShort { .. }
            | StorageError::MissingSegment { .. }
            | StorageError::Undecodable { .. }
            | StorageError::BadFormatFile { .. } => StorageErrorKind::Corrupt,
            StorageError::NotADirectory { .. } | StorageError::NotWritable { .. } => {
                StorageErrorKind::NotWritable
            }
            StorageError::FormatTooNew { .. }
            | StorageError::Foreign { .. }
            | StorageError::Locked { .. } => StorageErrorKind::Refused,
            StorageError::Io(failure) if failure.is_refusal() => StorageErrorKind::NotWritable,
            StorageError::Io(_) => StorageErrorKind::Io,
            StorageError::DiskFull { .. } => StorageErrorKind::Full,
            StorageError::Poisoned(_) => StorageErrorKind::Poisoned,
            StorageError::Closed => StorageErrorKind::Closed,
            StorageError::Unencodable(_) | StorageError::TooLarge { .. } | StorageError::Unfit(_) => {
                StorageErrorKind::Unstorable
            }
            StorageError::Replay { .. } | StorageError::Load { .. } => StorageErrorKind::Replay,
        }
    }
}

/// Whether the system is short of something that may come back by itself: space, descriptors, memory. What was stored
/// is not touched by that.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    is_full(error)
        || error.kind() == io::ErrorKind::OutOfMemory
        || matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// Whether there is no room for more bytes: on the disk, within a quota, or below the limit of a file's size.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Adds verb and path to an error of the system.
pub(crate) trait At<T> {
    /// As `map_err`, with the context that the system leaves out.
    fn at(self, op: &'static str, path: &Path) -> Result<T, IoFailure>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, op: &'static str, path: &Path) -> Result<T, IoFailure> {
        self.map_err(|source| IoFailure { op, path: path.to_owned(), source: Arc::new(source) })
    }
}

fn holder_text(holder: Option<Holder>) -> String {
    match holder {
        Some(holder) => format!("process {}", holder.pid),
        None => "another process".to_owned(),
    }
}
