//! The directory in memory: the twin that the one on sled is held against, and the one of the simulated disk.

use std::collections::BTreeMap;

use hindsight_core::{Lsn, MemoryId};
use parking_lot::RwLock;

use super::{
    Directory, PAGE_ENTRIES_MAX,
    batch::DirectoryBatch,
    error::{DirectoryError, SourceError},
    jobs::{self, JOBS_MAX, Job},
    open::Doubt,
    place::MemoryKey,
    stamp::Stamp,
};
use crate::records::RecordPosition;

/// A directory that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryDirectory(RwLock<Held>);

#[derive(Debug, Default, Clone)]
struct Held {
    entries: BTreeMap<MemoryKey, RecordPosition>,
    stamp: Option<Stamp>,
    jobs: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl MemoryDirectory {
    /// An empty directory.
    #[must_use]
    pub fn new() -> MemoryDirectory {
        MemoryDirectory::default()
    }

    /// Another one that holds the same: as files that were copied.
    #[must_use]
    pub fn copied(&self) -> MemoryDirectory {
        MemoryDirectory(RwLock::new(self.0.read().clone()))
    }

    /// As [`super::SledDirectory::check`]. What is in memory is neither lost nor damaged, so its stamp says all.
    pub(super) fn check(&self, expected: Stamp) -> Result<(), Doubt> {
        match self.0.read().stamp.ok_or(Doubt::Unstamped)? {
            found if found == expected => Ok(()),
            found => Err(Doubt::Different { expected, found }),
        }
    }

    /// As [`super::SledDirectory::rebuild`].
    pub(super) fn rebuild(
        &self,
        lsn: Lsn,
        entries: impl IntoIterator<Item = Result<(MemoryId, RecordPosition), SourceError>>,
    ) -> Result<(), DirectoryError> {
        *self.0.write() = Held::default();
        let (mut held, mut stamp) = (Held::default(), Stamp { lsn, ..Stamp::EMPTY });
        for entry in entries {
            let (id, position) = entry.map_err(DirectoryError::Source)?;
            let old = held.entries.insert(MemoryKey::of(id, position), position);
            stamp.replace(id, old, Some(position));
        }
        held.stamp = Some(stamp);
        *self.0.write() = held;
        Ok(())
    }
}

impl Directory for MemoryDirectory {
    fn get(&self, key: MemoryKey) -> Result<Option<RecordPosition>, DirectoryError> {
        Ok(self.0.read().entries.get(&key).copied())
    }

    fn page(&self, from: MemoryKey, limit: usize) -> Result<Vec<(MemoryId, RecordPosition)>, DirectoryError> {
        let held = self.0.read();
        let entries = held.entries.range(from..).map(|(key, &position)| (key.id, position));
        Ok(entries.take(limit.min(PAGE_ENTRIES_MAX)).collect())
    }

    fn stamp(&self) -> Result<Option<Stamp>, DirectoryError> {
        Ok(self.0.read().stamp)
    }

    fn apply(&self, batch: &DirectoryBatch) -> Result<Stamp, DirectoryError> {
        batch.check()?;
        let mut guard = self.0.write();
        let held = &mut *guard;
        let mut stamp = held.stamp.unwrap_or(Stamp::EMPTY);
        if batch.lsn < stamp.lsn {
            return Ok(stamp);
        }
        let dropped = batch.dropped();
        held.entries.retain(|key, position| {
            let is_kept = !dropped.contains(&key.namespace);
            if !is_kept {
                stamp.replace(key.id, Some(*position), None);
            }
            is_kept
        });
        for (key, new) in batch.changes() {
            let old = match new {
                Some(position) => held.entries.insert(key, position),
                None => held.entries.remove(&key),
            };
            stamp.replace(key.id, old, new);
        }
        stamp.lsn = batch.lsn;
        held.stamp = Some(stamp);
        Ok(stamp)
    }

    fn put_job(&self, key: &[u8], value: &[u8]) -> Result<(), DirectoryError> {
        jobs::check(key, value)?;
        let jobs = &mut self.0.write().jobs;
        if !jobs.contains_key(key) && jobs.len() >= JOBS_MAX {
            return Err(DirectoryError::TooManyJobs { jobs_max: JOBS_MAX });
        }
        jobs.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn job(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DirectoryError> {
        Ok(self.0.read().jobs.get(key).cloned())
    }

    fn remove_job(&self, key: &[u8]) -> Result<(), DirectoryError> {
        self.0.write().jobs.remove(key);
        Ok(())
    }

    fn jobs(&self) -> Result<Vec<Job>, DirectoryError> {
        Ok(self.0.read().jobs.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}
