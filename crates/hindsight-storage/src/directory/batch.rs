//! What one checkpoint changes in the directory.

use std::collections::{BTreeMap, BTreeSet};

use hindsight_core::{Lsn, MemoryId};

use super::{error::DirectoryError, place::MemoryKey};
use crate::records::{NamespaceId, RecordPosition};

/// Most puts, removes and dropped namespaces of a batch, together: about 10 MiB of memory. A larger checkpoint sends
/// several batches with the same lsn; one that stops between them leaves a stamp that no manifest expects.
pub const BATCH_ENTRIES_MAX: usize = 100_000;

/// Changes that become durable together. Dropped namespaces go first, then removes, then puts; of two puts of one key
/// the later wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryBatch {
    /// Memories and where their newest images lie now.
    pub puts: Vec<(MemoryId, RecordPosition)>,
    /// Memories that have no image any more.
    pub removes: Vec<MemoryKey>,
    /// Namespaces of which nothing is left.
    pub dropped_namespaces: Vec<NamespaceId>,
    /// The checkpoint.
    pub lsn: Lsn,
}

impl DirectoryBatch {
    /// A batch that changes nothing but the lsn of the stamp.
    #[must_use]
    pub fn new(lsn: Lsn) -> DirectoryBatch {
        DirectoryBatch { puts: Vec::new(), removes: Vec::new(), dropped_namespaces: Vec::new(), lsn }
    }

    pub(super) fn check(&self) -> Result<(), DirectoryError> {
        let entries = self.puts.len() + self.removes.len() + self.dropped_namespaces.len();
        if entries > BATCH_ENTRIES_MAX {
            return Err(DirectoryError::BatchTooLarge { entries, entries_max: BATCH_ENTRIES_MAX });
        }
        Ok(())
    }

    /// What each key that is named holds afterwards.
    pub(super) fn changes(&self) -> BTreeMap<MemoryKey, Option<RecordPosition>> {
        let removes = self.removes.iter().map(|&key| (key, None));
        let puts = self.puts.iter().map(|&(id, position)| (MemoryKey::of(id, position), Some(position)));
        removes.chain(puts).collect()
    }

    pub(super) fn dropped(&self) -> BTreeSet<NamespaceId> {
        self.dropped_namespaces.iter().copied().collect()
    }
}
