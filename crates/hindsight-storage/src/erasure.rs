//! Erasure that can be proved: what was purged leaves no byte in the data directory, and does not come back.
//!
//! A purge is a change in the log. It takes memories out of every answer at once; what it leaves to do is here, in
//! [`Storage::erase`]: a checkpoint without the memories, then every file that held them is unlinked. Until that is done
//! the purge stands in the **ledger** (`ledger`) as begun, so a crash at any point only means that it is done later.
//! The ledger is written before the log may lose the purge, and keeps it for ever: hashes and a position, nothing of
//! the memories. A backup has no ledger. Put beside what was restored of an older one, it takes out of that what was purged
//! since ([`Storage::erasures_after`]).
//!
//! What is not claimed: anything about the blocks of the device that an unlinked file lay on, or about backups that were
//! made before.
//!
//! Reading order: here, `ledger` (the file, described in `docs/disk-format.md`), `steps`, `inventory` (for the receipt).
//!
//! [`Storage::erase`]: crate::Storage::erase
//! [`Storage::erasures_after`]: crate::Storage::erasures_after

mod inventory;
mod ledger;
mod steps;

use std::path::PathBuf;

use hindsight_core::{Lsn, MemoryId, Namespace, Purge, Timestamp};

pub(crate) use ledger::Ledger;
pub use ledger::{LEDGER_FILE, LEDGER_VERSION, LedgerFault, check_ledger};
pub(crate) use ledger::{LEDGER_TMP, examine_ledger};
pub use steps::Erased;

/// A purge in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The batch of the purge.
    pub lsn: Lsn,
    /// When it was decided.
    pub at: Timestamp,
    /// What was purged.
    pub purge: Purge,
    /// How it ended; `None` until every file that held something of it is gone.
    pub done: Option<ErasureDone>,
}

/// How an erasure ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureDone {
    /// When.
    pub at: Timestamp,
    /// How many files were removed.
    pub files_removed: u64,
    /// How many bytes they had.
    pub bytes_removed: u64,
    /// The BLAKE3 of the lists of files in the receipt.
    pub blake3: [u8; 32],
}

/// What was erased from where. It is made when no file of the data directory holds anything of it any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureReceipt {
    /// The batch of the purge.
    pub lsn: Lsn,
    /// When the purge was decided.
    pub purged_at: Timestamp,
    /// How many memories it took, forgotten ones included.
    pub memories: u64,
    /// How it ended.
    pub done: ErasureDone,
    /// The files that were removed. Empty when the receipt is asked for a second time; after a crash in between, those that
    /// were removed since.
    pub removed: Vec<ErasureFile>,
    /// All files that the data directory has besides the ledger, FORMAT and LOCK. Empty when asked for a second time.
    pub kept: Vec<ErasureFile>,
}

/// A file of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureFile {
    /// Its path below the data directory.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The BLAKE3 of its content.
    pub blake3: [u8; 32],
}

impl Erasure {
    /// Its receipt, without the lists of files; `None` when it is not done.
    #[must_use]
    pub fn receipt(&self) -> Option<ErasureReceipt> {
        let (lsn, purged_at, memories, done) = (self.lsn, self.at, self.purge.memories, self.done?);
        Some(ErasureReceipt { lsn, purged_at, memories, done, removed: Vec::new(), kept: Vec::new() })
    }
}

/// The hash of a memory in a purge: its namespace and id under the purge's key.
#[must_use]
pub fn hash_of_memory(key: &[u8; 32], namespace: &Namespace, id: MemoryId) -> u128 {
    hash(key, &[b"memory", namespace.as_str().as_bytes(), &id.as_u128().to_le_bytes()])
}

/// The hash of a namespace's name in a purge.
#[must_use]
pub fn hash_of_namespace(key: &[u8; 32], namespace: &Namespace) -> u128 {
    hash(key, &[b"namespace", namespace.as_str().as_bytes()])
}

/// The hash of something that was said in a namespace, as [`hindsight_core::likeness::values`] has it.
#[must_use]
pub fn hash_of_value(key: &[u8; 32], namespace: &Namespace, value: &str) -> u128 {
    hash(key, &[b"value", namespace.as_str().as_bytes(), value.as_bytes()])
}

/// The hash of a purge's request: of its id, or of its id and what it asks for.
#[must_use]
pub fn hash_of_request(key: &[u8; 32], namespace: &Namespace, id: &str, digest: Option<u128>) -> u128 {
    let digest = digest.map(u128::to_le_bytes);
    let digest = digest.as_ref().map_or(&[][..], |digest| digest);
    hash(key, &[b"request", namespace.as_str().as_bytes(), id.as_bytes(), digest])
}

/// Each part with its length before it, so that no two lists of parts are the same bytes.
fn hash(key: &[u8; 32], parts: &[&[u8]]) -> u128 {
    let mut hasher = blake3::Hasher::new_keyed(key);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let mut first = [0; 16];
    hasher.finalize_xof().fill(&mut first);
    u128::from_le_bytes(first)
}

#[cfg(test)]
mod tests;
