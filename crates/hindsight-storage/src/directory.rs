//! Where each memory lies: memory → record file and offset, so that one can be read without loading its namespace.
//!
//! What it does: keeps that map and a few small notes of background work (jobs) in a folder of the data directory,
//! changes it in whole batches, and knows by a [`Stamp`] what it holds. What it does not: it never holds anything
//! of what a memory says, and it is never the only copy. It is derived: the record files are the truth, and whenever
//! there is a doubt ([`Doubt`]) it is thrown away and made anew from them.
//!
//! Reading order: [`Directory`] (the contract), `place` (keys and values and their bytes), `batch`, `stamp`,
//! `blocks` (several entries in one value), `disk` (the directory on sled), `guarded` (the one file that names sled, which panics on damaged files),
//! `open` (when it is trusted, and how it is rebuilt), `memory` (its twin, for the simulated disk and for tests), `home`
//! (which of the two), `slot` (when it may be asked), `follow` (how it comes to hold what the record files hold),
//! `update` (what a checkpoint tells it).

mod batch;
mod blocks;
mod disk;
mod error;
mod folder;
mod follow;
mod guarded;
mod home;
mod jobs;
mod memory;
mod open;
mod place;
mod quiet;
mod slot;
mod stamp;
mod update;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod mirror;
#[cfg(test)]
mod tests;

pub use batch::{BATCH_ENTRIES_MAX, DirectoryBatch};
pub use disk::{DirectoryOptions, SledDirectory};
pub use error::{DirectoryError, SourceError};
pub(crate) use follow::Batches;
pub use follow::{DirectoryReport, OpenDirectoryError};
pub use home::{DIRECTORY_DIR, DirectoryHome};
pub use jobs::{JOB_KEY_BYTES_MAX, JOB_VALUE_BYTES_MAX, JOBS_MAX, Job};
pub use memory::MemoryDirectory;
pub(crate) use open::check_copy;
pub use open::{DirectoryState, Doubt, open_or_rebuild};
pub use place::MemoryKey;
pub(crate) use slot::Slot;
pub use stamp::Stamp;

use hindsight_core::MemoryId;

use crate::records::RecordPosition;

/// Most entries of one page.
pub const PAGE_ENTRIES_MAX: usize = 10_000;

/// The map from memories to places, and the notes of background work.
///
/// One writer at a time, any number of readers. What a call that returned `Ok` changed is durable. After an error for
/// which [`DirectoryError::needs_rebuild`] holds the directory answers nothing any more; the record files still do.
pub trait Directory: Send + Sync {
    /// Where a memory lies.
    ///
    /// # Errors
    /// Those for which [`DirectoryError::needs_rebuild`] holds.
    fn get(&self, key: MemoryKey) -> Result<Option<RecordPosition>, DirectoryError>;

    /// Up to `limit` entries (at most [`PAGE_ENTRIES_MAX`]) from a key on, in the order of keys. The next page begins
    /// at the [`MemoryKey::successor`] of the last one; an empty page is the end.
    ///
    /// # Errors
    /// Those for which [`DirectoryError::needs_rebuild`] holds.
    fn page(&self, from: MemoryKey, limit: usize) -> Result<Vec<(MemoryId, RecordPosition)>, DirectoryError>;

    /// What the directory holds; nothing before the first batch.
    ///
    /// # Errors
    /// Those for which [`DirectoryError::needs_rebuild`] holds.
    fn stamp(&self) -> Result<Option<Stamp>, DirectoryError>;

    /// Applies a batch and returns the stamp after it. Puts, removes and the stamp become durable together or not at
    /// all. Applying a batch again changes nothing, and a batch older than the stamp is skipped: the directory has it.
    /// The entries of dropped namespaces go first and may go in parts, each with a stamp that fits.
    ///
    /// # Errors
    /// [`DirectoryError::BatchTooLarge`], which changes nothing, and those for which
    /// [`DirectoryError::needs_rebuild`] holds.
    fn apply(&self, batch: &DirectoryBatch) -> Result<Stamp, DirectoryError>;

    /// Notes something under a key, in place of what was there. Jobs are hints: a rebuild forgets them all.
    ///
    /// # Errors
    /// [`DirectoryError::JobKey`], [`DirectoryError::JobValue`], [`DirectoryError::TooManyJobs`], which change
    /// nothing, and those for which [`DirectoryError::needs_rebuild`] holds.
    fn put_job(&self, key: &[u8], value: &[u8]) -> Result<(), DirectoryError>;

    /// The note under a key.
    ///
    /// # Errors
    /// Those for which [`DirectoryError::needs_rebuild`] holds.
    fn job(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DirectoryError>;

    /// Takes a note away; none there is no error.
    ///
    /// # Errors
    /// Those for which [`DirectoryError::needs_rebuild`] holds.
    fn remove_job(&self, key: &[u8]) -> Result<(), DirectoryError>;

    /// All notes in the order of their keys: at most [`JOBS_MAX`].
    ///
    /// # Errors
    /// Those for which [`DirectoryError::needs_rebuild`] holds.
    fn jobs(&self) -> Result<Vec<Job>, DirectoryError>;

    /// The stamp that [`Directory::apply`] of these batches, one after the other, will return at last, for a manifest
    /// that is written before it. No memory may be in two of them.
    ///
    /// # Errors
    /// As [`Directory::apply`].
    fn stamp_after(&self, batches: &[DirectoryBatch]) -> Result<Stamp, DirectoryError> {
        let mut stamp = self.stamp()?.unwrap_or(Stamp::EMPTY);
        for batch in batches {
            batch.check()?;
            if batch.lsn < stamp.lsn {
                continue;
            }
            let dropped = batch.dropped();
            for &namespace in &dropped {
                let mut from = Some(MemoryKey { namespace, id: MemoryId::from_u128(0) });
                while let Some(key) = from {
                    let page = self.page(key, PAGE_ENTRIES_MAX)?;
                    from = None;
                    for (id, position) in page.into_iter().take_while(|(_, at)| at.namespace == namespace) {
                        stamp.replace(id, Some(position), None);
                        from = MemoryKey { namespace, id }.successor();
                    }
                }
            }
            for (key, new) in batch.changes() {
                let old = if dropped.contains(&key.namespace) { None } else { self.get(key)? };
                stamp.replace(key.id, old, new);
            }
            stamp.lsn = batch.lsn;
        }
        Ok(stamp)
    }
}
