//! When the directory is believed, and what happens when it is not.

use std::{io, path::Path};

use hindsight_core::MemoryId;

use super::{
    Directory,
    disk::{DirectoryOptions, SledDirectory},
    error::{DirectoryError, SourceError},
    folder,
    stamp::Stamp,
};
use crate::records::RecordPosition;

/// How a directory was opened.
#[derive(Debug)]
pub enum DirectoryState {
    /// It held exactly what was expected.
    Intact,
    /// It was made anew from its source.
    Rebuilt {
        /// What spoke against it.
        why: Doubt,
    },
}

/// What speaks against a directory.
#[derive(Debug, thiserror::Error)]
pub enum Doubt {
    /// There is none.
    #[error("there is no directory")]
    Missing,
    /// The manifest does not say what it should hold.
    #[error("the manifest does not say what the directory should hold")]
    Unnamed,
    /// It has no stamp: it is new, or its making was interrupted.
    #[error("the directory has no stamp")]
    Unstamped,
    /// It is complete in itself and of another checkpoint than the manifest, or of another database.
    #[error(
        "the directory has {found_records} records at lsn {found_lsn}, and {expected_records} records at lsn {expected_lsn} were expected",
        found_records = found.records, found_lsn = found.lsn,
        expected_records = expected.records, expected_lsn = expected.lsn
    )]
    Different {
        /// The stamp that the manifest expects.
        expected: Stamp,
        /// The stamp that is stored.
        found: Stamp,
    },
    /// Its entries are not those of its stamp.
    #[error(
        "the directory's entries add up to {} records, or to others, and its stamp says {}",
        added_up.records, stamp.records
    )]
    Entries {
        /// The stored stamp.
        stamp: Stamp,
        /// What the entries add up to, as far as they were read.
        added_up: Stamp,
    },
    /// Its jobs are not those that were stored.
    #[error("the directory's jobs don't add up to their sum")]
    Jobs,
    /// It can't be read.
    #[error("the directory can't be read")]
    Unreadable(#[from] DirectoryError),
}

impl SledDirectory {
    /// Holds what is stored against what is expected: first the stamp, then every entry and job against the stamps,
    /// since sled may lose a page, or bring an old one back, without a word. Reads all of the directory.
    ///
    /// # Errors
    /// What speaks against it. [`Doubt::Missing`] is not among them.
    pub fn check(&self, expected: Stamp) -> Result<(), Doubt> {
        let stamp = self.stamp()?.ok_or(Doubt::Unstamped)?;
        if stamp != expected {
            return Err(Doubt::Different { expected, found: stamp });
        }
        let added_up = self.add_up(stamp)?;
        if added_up != stamp {
            return Err(Doubt::Entries { stamp, added_up });
        }
        if !self.jobs_add_up()? {
            return Err(Doubt::Jobs);
        }
        Ok(())
    }
}

/// Opens the directory at `path` if it holds exactly what is expected, and else makes it anew from `source`, which
/// is asked only then. Everything that can be wrong with the files ends in a rebuild.
///
/// After a rebuild the directory holds what the source gave, with the expected lsn: a stamp that still differs from
/// the expected one says that the record files are not those of the manifest, which is the caller's to judge.
///
/// # Errors
/// Those of [`SledDirectory::rebuild`].
pub fn open_or_rebuild<S>(
    path: &Path,
    options: DirectoryOptions,
    expected: Stamp,
    source: impl FnOnce() -> S,
) -> Result<(SledDirectory, DirectoryState), DirectoryError>
where
    S: IntoIterator<Item = Result<(MemoryId, RecordPosition), SourceError>>,
{
    let why = match open_checked(path, options, expected) {
        Ok(directory) => return Ok((directory, DirectoryState::Intact)),
        Err(why) => why,
    };
    tracing::info!(path = %path.display(), why = &why as &dyn std::error::Error, "rebuilding the directory");
    let directory = SledDirectory::rebuild(path, options, expected.lsn, source())?;
    Ok((directory, DirectoryState::Rebuilt { why }))
}

fn open_checked(path: &Path, options: DirectoryOptions, expected: Stamp) -> Result<SledDirectory, Doubt> {
    if !folder::exists(path).map_err(DirectoryError::Io)? {
        return Err(Doubt::Missing);
    }
    let directory = SledDirectory::open(path, options)?;
    directory.check(expected)?;
    Ok(directory)
}

/// Holds a copy of the directory at `path` against what is expected, and leaves the directory alone: sled writes to what it
/// opens.
///
/// # Errors
/// When it can't be copied; that says nothing about it.
pub(crate) fn check_copy(path: &Path, expected: Stamp) -> io::Result<Result<(), Doubt>> {
    let copy = folder::Copy::of(path)?;
    let opened = SledDirectory::open(copy.path(), DirectoryOptions::default()).map_err(Doubt::from);
    Ok(opened.and_then(|directory| directory.check(expected)))
}
