//! The directory on sled and its twin in memory, side by side: every answer of the one is held against the other's.

use std::path::Path;

use hindsight_core::MemoryId;
use tempfile::TempDir;

use super::{
    Directory, DirectoryBatch, DirectoryError, DirectoryState, Job, MemoryDirectory, MemoryKey,
    SledDirectory, Stamp, contract::all, open_or_rebuild,
};
use crate::records::RecordPosition;

pub(super) struct Mirror {
    memory: MemoryDirectory,
    /// Some except while it is opened again.
    disk: Option<SledDirectory>,
    dir: TempDir,
    opened: u32,
}

/// How the process that had the directory open came to its end.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Closed,
    /// The next one finds the files as they were in that moment.
    Killed,
}

impl Mirror {
    pub(super) fn new() -> Mirror {
        let dir = tempfile::tempdir().unwrap();
        let disk = SledDirectory::open(&dir.path().join("0"), Default::default()).unwrap();
        Mirror { memory: MemoryDirectory::new(), disk: Some(disk), dir, opened: 0 }
    }

    /// Ends and begins again. All that was acknowledged must be there without a rebuild.
    pub(super) fn reopen(&mut self, end: End) {
        let old = self.dir.path().join(self.opened.to_string());
        if let End::Killed = end {
            self.opened += 1;
            copy(&old, &self.dir.path().join(self.opened.to_string()));
        }
        drop(self.disk.take());
        let path = self.dir.path().join(self.opened.to_string());
        self.disk = Some(match self.memory.stamp().unwrap() {
            None => SledDirectory::open(&path, Default::default()).unwrap(),
            Some(stamp) => {
                let entries = || -> Vec<_> { panic!("everything is there") };
                let (disk, state) = open_or_rebuild(&path, Default::default(), stamp, entries).unwrap();
                assert!(matches!(state, DirectoryState::Intact));
                disk
            }
        });
        assert_eq!(all(self, 7), all(&self.memory, 10_000));
        self.jobs().unwrap();
    }

    fn both<T: PartialEq + std::fmt::Debug>(
        &self,
        ask: impl Fn(&dyn Directory) -> Result<T, DirectoryError>,
    ) -> Result<T, DirectoryError> {
        let (memory, disk) = (ask(&self.memory), ask(self.disk.as_ref().unwrap()));
        match (&memory, &disk) {
            (Ok(memory), Ok(disk)) => assert_eq!(memory, disk),
            _ => assert_eq!(format!("{memory:?}"), format!("{disk:?}")),
        }
        disk
    }
}

impl Directory for Mirror {
    fn get(&self, key: MemoryKey) -> Result<Option<RecordPosition>, DirectoryError> {
        self.both(|directory| directory.get(key))
    }
    fn page(&self, from: MemoryKey, limit: usize) -> Result<Vec<(MemoryId, RecordPosition)>, DirectoryError> {
        self.both(|directory| directory.page(from, limit))
    }
    fn stamp(&self) -> Result<Option<Stamp>, DirectoryError> {
        self.both(|directory| directory.stamp())
    }
    fn apply(&self, batch: &DirectoryBatch) -> Result<Stamp, DirectoryError> {
        self.both(|directory| directory.apply(batch))
    }
    fn put_job(&self, key: &[u8], value: &[u8]) -> Result<(), DirectoryError> {
        self.both(|directory| directory.put_job(key, value))
    }
    fn job(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DirectoryError> {
        self.both(|directory| directory.job(key))
    }
    fn remove_job(&self, key: &[u8]) -> Result<(), DirectoryError> {
        self.both(|directory| directory.remove_job(key))
    }
    fn jobs(&self) -> Result<Vec<Job>, DirectoryError> {
        self.both(|directory| directory.jobs())
    }
}

/// Copies a folder and all in it.
pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}
