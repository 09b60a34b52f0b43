//! Where the directory is kept while the database is closed.

use std::{path::PathBuf, sync::Arc};

use hindsight_core::{Lsn, MemoryId};

use super::{
    Directory, MemoryDirectory, Stamp,
    disk::{DirectoryOptions, SledDirectory},
    error::{DirectoryError, SourceError},
    open::{DirectoryState, Doubt, open_or_rebuild},
};
use crate::{
    records::RecordPosition,
    sabotage::{self, Sabotage},
};

/// The folder of the directory inside the data directory.
pub const DIRECTORY_DIR: &str = "directory";

/// Where a directory is kept.
#[derive(Debug, Clone)]
pub enum DirectoryHome {
    /// In files of sled, in this folder.
    Disk {
        /// The folder.
        path: PathBuf,
        /// What can be set.
        options: DirectoryOptions,
    },
    /// In memory: on a simulated disk, which sled can't use. It outlives the database for as long as somebody holds it.
    Memory(Arc<MemoryDirectory>),
}

impl DirectoryHome {
    /// Opens what is there if it holds exactly what the manifest names, and else makes it anew from `source`, which is
    /// asked only then. `lsn` is that of a directory of which the manifest says nothing.
    ///
    /// # Errors
    /// As [`SledDirectory::rebuild`].
    pub(crate) fn open<S>(
        &self,
        expected: Option<Stamp>,
        lsn: Lsn,
        source: impl FnOnce() -> S,
    ) -> Result<(Arc<dyn Directory>, DirectoryState), DirectoryError>
    where
        S: IntoIterator<Item = Result<(MemoryId, RecordPosition), SourceError>>,
    {
        match (self, expected) {
            (DirectoryHome::Disk { path, options }, Some(expected)) => {
                let (directory, state) = open_or_rebuild(path, *options, expected, source)?;
                Ok((Arc::new(directory), state))
            }
            (DirectoryHome::Disk { path, options }, None) => {
                let directory = SledDirectory::rebuild(path, *options, lsn, source())?;
                Ok((Arc::new(directory), DirectoryState::Rebuilt { why: Doubt::Unnamed }))
            }
            (DirectoryHome::Memory(directory), expected) => {
                let held = expected.ok_or(Doubt::Unnamed).and_then(|expected| directory.check(expected));
                let why = match held {
                    Err(why) if !sabotage::has(Sabotage::TrustDirectory) => why,
                    _ => return Ok((Arc::clone(directory) as Arc<dyn Directory>, DirectoryState::Intact)),
                };
                directory.rebuild(expected.map_or(lsn, |expected| expected.lsn), source())?;
                Ok((Arc::clone(directory) as Arc<dyn Directory>, DirectoryState::Rebuilt { why }))
            }
        }
    }
}
