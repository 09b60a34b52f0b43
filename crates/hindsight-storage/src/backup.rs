//! Backups: a whole database as one stream of bytes, taken while it is written to.
//!
//! A backup is the state at one named LSN, no more and no less: the record files of the last checkpoint, as its manifest
//! names them, and the batches of the log from there up to the newest durable one. The files never change, so they
//! are read at leisure; while anybody does, checkpoints remove none ([`RecordFiles::pin`]). The segments of the log are
//! opened before the first byte is sent, and stay readable when a checkpoint unlinks them. So a backup stops neither
//! writes nor checkpoints, however slowly its reader reads.
//!
//! The stream ends with its count, its LSN and the BLAKE3 of everything before: without these it is no backup.
//!
//! What comes back is the same database (it keeps its `store_id`, or its files would have to be written anew) with a new
//! log. A file of the original can't pass for one of the copy once they have gone different ways: the manifest names
//! record files by BLAKE3, and every segment of a log by the checksum of the frame before it.
//!
//! Reading order: `layout` (the bytes, described in `docs/disk-format.md`, section "Backup"), `write`, `read` (which
//! believes nothing), `restore`.
//!
//! [`RecordFiles::pin`]: crate::RecordFiles

mod dump;
mod error;
mod layout;
mod read;
mod restore;
mod write;

use std::io::Read;

use hindsight_core::Lsn;

pub(crate) use dump::dump;
pub use error::{BackupError, BackupFault};
pub use layout::{BACKUP_VERSION, BackupHeader, HEADER_BYTES, TRAILER_BYTES};
pub(crate) use restore::{check_opens, remove_tree};
pub use restore::{restore, restore_with_ledger};

use read::{BackupReader, Part};

/// What a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupReport {
    /// Which database it is of.
    pub store_id: u64,
    /// The newest batch in it.
    pub lsn: Lsn,
    /// When it was begun, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// How many entries it has.
    pub entries: u64,
    /// How many record files are in it.
    pub files: u64,
    /// How many batches of the log are in it.
    pub batches: u64,
    /// Its length.
    pub bytes: u64,
    /// The BLAKE3 of all its bytes.
    pub blake3: [u8; 32],
}

/// Reads a whole backup and checks everything that can be checked of it, as [`restore`] does. Writes nothing.
///
/// # Errors
/// As [`restore`], but for those of the target.
pub fn verify(from: impl Read) -> Result<BackupReport, BackupError> {
    let mut reader = BackupReader::begin(from)?;
    loop {
        if let Part::End(report) = reader.next()? {
            return Ok(report);
        }
    }
}

#[cfg(test)]
mod tests;
