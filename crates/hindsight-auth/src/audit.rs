//! The audit trail: who did what, to how many memories of which namespace, and what became of it. Never a content, a query, an id
//! of a memory or a secret.
//!
//! One line of JSON an entry, in files of their own below `audit/`. Each entry holds the hash of the one before and its own, both
//! keyed, so one that was changed, taken out, put in, doubled or moved is found by [`verify`]. A chain does not see that its end is
//! missing; an [`Anchor`] that was kept elsewhere does.
//!
//! Reading order: `entry` (what one is), `trail` (writing), `read` (searching and checking), `keep` (giving up what is old).

mod entry;
mod keep;
mod read;
mod trail;

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub use entry::{Anchor, BadAnchor, Entry, Event};
pub use keep::{Given, Keep, REMOVED};
pub use read::{Fault, Query, Report, search, verify};
pub use trail::Trail;

use crate::{FOLDER, file};

/// The folder of the trail below the data directory.
pub const AUDIT_FOLDER: &str = "audit";
/// The file of the key, in [`FOLDER`].
const KEY_NAME: &str = "audit.key";
/// A file of the trail is ended when it is so large.
pub const FILE_BYTES_MAX: u64 = 8 << 20;

/// Why the trail can't be read or written.
#[derive(Debug, thiserror::Error)]
#[error("can't {op} {}", path.display())]
pub struct AuditError {
    /// What was tried.
    pub op: &'static str,
    /// With which file.
    pub path: PathBuf,
    /// The answer of the system.
    pub source: io::Error,
}

fn failed(op: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
    let path = path.to_owned();
    move |source| AuditError { op, path, source }
}

/// The key of a data directory's trail.
///
/// # Errors
/// When there is none, or it can't be read.
pub fn key(data: &Path) -> Result<[u8; 32], AuditError> {
    let path = data.join(FOLDER).join(KEY_NAME);
    let text = std::fs::read_to_string(&path).map_err(failed("read", &path))?;
    let hash = blake3::Hash::from_hex(text.trim())
        .map_err(|error| failed("read", &path)(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    Ok(*hash.as_bytes())
}

/// As [`key`]; where there is none, one is made.
///
/// # Errors
/// When it can't be read or made.
fn key_or_new(data: &Path) -> Result<[u8; 32], AuditError> {
    match key(data) {
        Err(error) if error.source.kind() == io::ErrorKind::NotFound => {}
        result => return result,
    }
    let folder = data.join(FOLDER);
    let path = folder.join(KEY_NAME);
    let make = || -> io::Result<[u8; 32]> {
        file::make_folder(&folder)?;
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        let mut options = OpenOptions::new();
        let mut file = file::private(options.write(true).create_new(true)).open(&path)?;
        file.write_all(blake3::Hash::from_bytes(key).to_hex().as_bytes())?;
        file.sync_all()?;
        file::sync_folder(&folder)?;
        Ok(key)
    };
    make().map_err(failed("make", &path))
}

/// The files of a trail with the number of their first entry, in order.
fn files(folder: &Path) -> Result<Vec<(u64, PathBuf)>, AuditError> {
    let names = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        names => names.map_err(failed("list", folder))?,
    };
    let mut found = Vec::new();
    for name in names {
        let path = name.map_err(failed("list", folder))?.path();
        let first = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".log")?.parse().ok());
        found.extend(first.map(|first| (first, path)));
    }
    found.sort();
    Ok(found)
}

fn path_of(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}.log"))
}

#[cfg(test)]
mod tests;
