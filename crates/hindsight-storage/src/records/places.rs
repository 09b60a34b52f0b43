//! Where the records of a namespace lie, without what they say.

use std::collections::{BTreeMap, BTreeSet};

use hindsight_core::MemoryId;

use super::{
    NamespaceId, RecordFiles, RecordPosition,
    layout::RecordFault,
    place::record_path,
    scan::{Expected, scan_places},
};
use crate::{error::StorageError, io::Io};

/// Where the newest records lie that some files of a namespace hold.
#[derive(Debug)]
pub(crate) struct Places {
    /// All files that the namespace has, by number.
    pub(crate) files: BTreeSet<u32>,
    /// Whether all of them were read. If not, all that were left out are older.
    pub(crate) is_whole: bool,
    /// The newest record of each memory in the files that were read.
    pub(crate) newest: BTreeMap<MemoryId, RecordPosition>,
}

impl<I: Io> RecordFiles<I> {
    /// The files that a namespace has now; `None` when it is not stored.
    pub(crate) fn numbers(&self, id: NamespaceId) -> Option<BTreeSet<u32>> {
        let state = self.state().read();
        Some(state.namespaces.get(&id)?.files.keys().copied().collect())
    }

    /// Reads the files of a namespace that are newer than those that are known already; all of them, if one of these is
    /// gone. Checks of each file all but what a record says. `None` when the namespace is not stored.
    ///
    /// # Errors
    /// As [`RecordFiles::load`].
    pub(crate) fn places(
        &self,
        id: NamespaceId,
        known: &BTreeSet<u32>,
    ) -> Result<Option<Places>, StorageError> {
        let Some((namespace, files)) = self.open_all(id)? else { return Ok(None) };
        let all: BTreeSet<u32> = namespace.files.keys().copied().collect();
        let is_whole = known.is_empty() || !known.is_subset(&all);
        let mut newest = BTreeMap::new();
        for (number, stored, file) in &files {
            if !is_whole && known.contains(number) {
                continue;
            }
            let path = record_path(self.ns(), id, *number);
            let expected = Expected { store_id: self.store_id(), namespace: id, number: *number };
            let found = scan_places(file, &path, expected, &mut |id, position| {
                newest.insert(id, position);
            })?;
            if found != *stored {
                return Err(StorageError::CorruptRecords {
                    path,
                    offset: 0,
                    fault: RecordFault::NotInManifest,
                });
            }
        }
        Ok(Some(Places { files: all, is_whole, newest }))
    }
}
