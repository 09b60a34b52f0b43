//! Why a directory can't be repaired, and which database it is when its FORMAT does not say.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use hindsight_core::Lsn;

use crate::{
    error::{At, IoFailure, StorageError, StorageErrorKind},
    inspect::read_range,
    io::{Io, OpenMode},
    manifest::{manifest_header_of, parse_manifest_name},
    records::{NS_DIR, header_of, parse_record_file},
    segment::{SegmentHeader, parse_segment_name},
    store::LOG_DIR,
};

/// Why there is no repair.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// Nothing in the directory says that it is a database.
    #[error("{path} is not a HindsightDB data directory, or nothing is left of it: name a data directory", path = path.display())]
    NoDatabase {
        /// The directory.
        path: PathBuf,
    },
    /// There is something where the new directory is to be made.
    #[error("{path} is not empty: name a new or an empty directory", path = path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The new directory would lie in the damaged one.
    #[error("{path} lies inside the damaged directory, which is not changed: name another place", path = path.display())]
    Inside {
        /// The directory.
        path: PathBuf,
    },
    /// The state before the position is not whole.
    #[error("can't cut the log at lsn {at}: {reason}")]
    Truncate {
        /// The position.
        at: Lsn,
        /// Why not, and what would do.
        reason: String,
    },
    /// What was made is not sound. It was removed.
    #[error("what the repair made does not verify ({what}): nothing was kept of it; please report this")]
    Unsound {
        /// The first file that is wrong.
        what: String,
    },
    /// A server has the directory open, a newer version wrote it, or a call of the system failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<IoFailure> for RepairError {
    fn from(failure: IoFailure) -> Self {
        RepairError::Storage(failure.into())
    }
}

impl RepairError {
    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> StorageErrorKind {
        match self {
            RepairError::NoDatabase { .. }
            | RepairError::NotEmpty { .. }
            | RepairError::Inside { .. }
            | RepairError::Truncate { .. } => StorageErrorKind::Refused,
            RepairError::Unsound { .. } => StorageErrorKind::Corrupt,
            RepairError::Storage(error) => error.kind(),
        }
    }
}

/// Which database most of the files say that they belong to; `None` where none says anything.
pub(super) fn store_id<I: Io>(io: &I, dir: &Path) -> Result<Option<u64>, StorageError> {
    let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
    let mut vote = |folder: &Path, id_of: fn(&OsStr, &[u8]) -> Option<u64>| -> Result<(), IoFailure> {
        for name in io.list(folder).unwrap_or_default() {
            let path = folder.join(&name);
            let Ok(file) = io.open(&path, OpenMode::Read) else { continue };
            let Ok(head) = read_range(&file, 0, 64).at("read", &path) else { continue };
            if let Some(id) = id_of(&name, &head) {
                *votes.entry(id).or_default() += 1;
            }
        }
        Ok(())
    };
    vote(dir, |name, head| {
        parse_manifest_name(name).and_then(|_| manifest_header_of(head)).map(|header| header.store_id)
    })?;
    vote(&dir.join(LOG_DIR), |name, head| {
        parse_segment_name(name).and_then(|_| SegmentHeader::decode(head).ok()).map(|header| header.store_id)
    })?;
    let ns = dir.join(NS_DIR);
    for folder in io.list(&ns).unwrap_or_default() {
        vote(&ns.join(folder), |name, head| {
            parse_record_file(name).and_then(|_| header_of(head)).map(|header| header.store_id)
        })?;
    }
    Ok(votes.into_iter().max_by_key(|(_, count)| *count).map(|(id, _)| id))
}

/// An error with its causes, in one line.
pub(super) fn with_causes(error: &StorageError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
