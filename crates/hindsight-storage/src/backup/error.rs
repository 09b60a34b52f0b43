//! What can go wrong with a backup.

use std::{io, path::PathBuf};

use hindsight_core::Lsn;

use super::layout::BACKUP_VERSION;
use crate::{
    codec::CodecError,
    erasure::LedgerFault,
    error::{IoFailure, StorageError, StorageErrorKind},
    manifest::EditFault,
    records::NamespaceId,
};

/// Why a backup can't be taken, or is refused.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database can't be read, or the restored one not be written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Whoever takes the bytes of the backup takes no more.
    #[error("the backup can't be written")]
    Write(#[source] io::Error),
    /// Whoever gives the bytes of the backup gives no more.
    #[error("the backup can't be read")]
    Read(#[source] io::Error),
    /// The bytes are no backup.
    #[error("this is not a backup of HindsightDB: it does not begin with \"HSbackup\"")]
    NotABackup,
    /// Written by a newer version.
    #[error(
        "the backup has version {found} and this program reads up to {BACKUP_VERSION}: use a newer hindsight"
    )]
    Version {
        /// The version that stands in the header.
        found: u32,
    },
    /// The backup is not what was written, or not all of it.
    #[error("the backup is damaged at byte {offset}: nothing was restored, take another one")]
    Damaged {
        /// Where the damaged part begins, in bytes from the start.
        offset: u64,
        /// What is wrong with it.
        #[source]
        fault: BackupFault,
    },
    /// The erasure ledger that came with it can't be used.
    #[error(
        "the erasure ledger can't be used: nothing was restored, take the file ERASED of the same database"
    )]
    Ledger(#[source] LedgerFault),
    /// The directory to restore into has something in it.
    #[error("{path} is not empty: name a new or an empty directory", path = path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
}

/// What is wrong with the bytes of a backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupFault {
    /// The stream ends before the backup does.
    #[error("the backup ends here, before its trailer")]
    CutOff,
    /// The header's checksum is wrong.
    #[error("the header is damaged")]
    Header,
    /// A payload longer than any writer makes.
    #[error("an entry of {found} bytes")]
    Length {
        /// The length that stands in the entry.
        found: u32,
    },
    /// An entry's checksum is wrong.
    #[error("the checksum is wrong: computed {computed:#010x}, found {found:#010x}")]
    Crc {
        /// The checksum of the bytes read.
        computed: u32,
        /// The checksum that stands in them.
        found: u32,
    },
    /// A kind of entry that this version does not know, or reserved bytes that aren't zero.
    #[error("entry kind {found}: expected 1, 2, 3 or 4, and reserved bytes of zero")]
    Kind {
        /// The number that stands in the entry.
        found: u8,
    },
    /// An entry that does not belong here.
    #[error("{what} does not belong here")]
    Order {
        /// What came.
        what: &'static str,
    },
    /// The edits of the manifest do not fit together.
    #[error("the manifest does not fit together")]
    Edit(#[from] EditFault),
    /// A payload has a right checksum and does not decode.
    #[error("the entry can't be decoded")]
    Payload(#[from] CodecError),
    /// The manifest is at another LSN than the header says.
    #[error("the manifest is at another lsn than the header says")]
    Floor,
    /// A record file is not the one that the manifest names.
    #[error(
        "record file {number} of namespace {namespace} is not the one that the manifest names: its BLAKE3 differs"
    )]
    File {
        /// The namespace.
        namespace: NamespaceId,
        /// The file.
        number: u32,
    },
    /// What comes as the erasure ledger is none of this database.
    #[error("the erasure ledger in it can't be used")]
    Ledger(#[source] LedgerFault),
    /// The log has another batch here.
    #[error("expected the batch of lsn {expected}, found {found}")]
    Batch {
        /// The batch that belongs here.
        expected: Lsn,
        /// The one that came.
        found: Lsn,
    },
    /// The trailer is damaged, or counts something else than there is.
    #[error("the trailer is damaged, or counts something else than there is")]
    Trailer,
    /// The BLAKE3 of everything before the trailer differs.
    #[error("the BLAKE3 of the backup is not the one that its trailer names")]
    Hash,
    /// There are bytes behind the trailer.
    #[error("there are bytes behind the trailer")]
    Trailing,
}

impl BackupError {
    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> StorageErrorKind {
        match self {
            BackupError::Storage(error) => error.kind(),
            BackupError::Write(_) | BackupError::Read(_) => StorageErrorKind::Io,
            BackupError::Version { .. }
            | BackupError::NotEmpty { .. }
            | BackupError::NotABackup
            | BackupError::Ledger(_) => StorageErrorKind::Refused,
            BackupError::Damaged { fault: BackupFault::Payload(source), .. } if source.is_newer() => {
                StorageErrorKind::Refused
            }
            BackupError::Damaged { .. } => StorageErrorKind::Corrupt,
        }
    }
}

impl From<IoFailure> for BackupError {
    fn from(failure: IoFailure) -> Self {
        BackupError::Storage(failure.into())
    }
}
