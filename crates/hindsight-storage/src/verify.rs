//! Reads everything that a data directory has, checks all that can be checked, and changes nothing.
//!
//! While the database is open elsewhere it refuses: what is being written can't be told from damage. It takes the lock
//! for as long as it reads, without writing to the LOCK file.
//!
//! What is damaged is [`FileState::Wrong`]. What a crash leaves behind is not damage: a commit that never became durable
//! ([`FileState::Torn`]), files that were never named or are named no more ([`FileState::Leftover`]); the next start
//! tidies both up.
//!
//! Reading order: here, `manifests`, `files` (the record files and what they hold together), `directory` (whether it holds
//! where their records lie), `segments` (the log).

mod directory;
mod files;
mod manifests;
mod segments;

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    directory::{DIRECTORY_DIR, Stamp},
    erasure::{LEDGER_FILE, LEDGER_TMP, examine_ledger},
    error::{At, StorageError, StorageErrorKind},
    io::Io,
    manifest::{ManifestState, is_unfinished_manifest, parse_manifest_name},
    records::NS_DIR,
    repair::{REPAIR_JSON, REPAIR_TEXT},
    space::RESERVE_FILE,
    store::{DirLock, FORMAT_FILE, FORMAT_TMP, Format, LOCK_FILE, LOG_DIR},
};

/// How a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// Every checksum is right, and it is what it should be.
    Ok,
    /// It ends in a commit that never became durable. Nobody was told that it was; the next start gives it up.
    Torn,
    /// Nothing needs it. A crash left it, and the next start removes it; or it is the directory, or an index
    /// snapshot, and does not fit, and is made anew.
    Leftover,
    /// It is no part of a database.
    Unknown,
    /// It is damaged, missing, or not what the manifest names.
    Wrong,
}

/// What was found out about one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The file, below the data directory.
    pub path: PathBuf,
    /// How it is.
    pub state: FileState,
    /// Its length in bytes.
    pub bytes: u64,
    /// What is in it, or what is wrong with it.
    pub note: String,
}

/// What was found out about a data directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Files that are as they should be.
    pub ok: u64,
    /// Files that end in a torn commit.
    pub torn: u64,
    /// Files that a crash left.
    pub leftover: u64,
    /// Files that are no part of a database.
    pub unknown: u64,
    /// Files that are damaged or missing.
    pub wrong: u64,
    /// Their bytes, of all of them.
    pub bytes: u64,
    /// Namespaces in record files.
    pub namespaces: u64,
    /// Memories in record files, forgotten ones included.
    pub memories: u64,
    /// Everything up to this batch is in record files.
    pub checkpoint_lsn: u64,
    /// The newest batch of the log.
    pub last_lsn: u64,
}

impl VerifyReport {
    /// Whether nothing is damaged or missing.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.wrong == 0
    }
}

/// Checks a data directory. Hands over a line for each file as it is done with it.
///
/// # Errors
/// [`StorageError::Foreign`] when it is none, [`StorageError::Locked`], [`StorageError::FormatTooNew`], and calls of the
/// system that failed. Damage is no error: it is in the report.
pub fn verify<I: Io>(
    io: &I,
    dir: &Path,
    each: &mut dyn FnMut(&FileReport),
) -> Result<VerifyReport, StorageError> {
    let names = match io.list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(StorageError::NotADirectory { path: dir.to_owned() });
        }
        result => result.at("list", dir)?,
    };
    let is_one = |name: &std::ffi::OsString| {
        name == FORMAT_FILE || name == LOG_DIR || parse_manifest_name(name).is_some()
    };
    if !names.iter().any(is_one) {
        return Err(StorageError::Foreign { path: dir.to_owned() });
    }
    let lock = DirLock::hold(io, dir)?;
    let mut checker = Checker {
        io,
        dir,
        each,
        store_id: None,
        state: ManifestState::default(),
        places: Some(Stamp::EMPTY),
        has_manifest: false,
        report: VerifyReport::default(),
    };
    checker.format()?;
    checker.manifests(&names)?;
    checker.files()?;
    checker.segments()?;
    for name in names {
        checker.other(&name)?;
    }
    let Checker { report, .. } = checker;
    drop(lock);
    Ok(report)
}

/// A check under way.
struct Checker<'a, I: Io> {
    io: &'a I,
    dir: &'a Path,
    each: &'a mut dyn FnMut(&FileReport),
    /// Which database it is, where that can be told.
    store_id: Option<u64>,
    state: ManifestState,
    /// What a directory of the record files has to hold; `None` when one of these is not sound.
    places: Option<Stamp>,
    /// Whether there is a manifest that says so.
    has_manifest: bool,
    report: VerifyReport,
}

impl<I: Io> Checker<'_, I> {
    /// Counts a file and hands its line over.
    fn tell(&mut self, path: &Path, state: FileState, note: impl fmt::Display) {
        let bytes = self.io.file_len(path).unwrap_or(0);
        let count = match state {
            FileState::Ok => &mut self.report.ok,
            FileState::Torn => &mut self.report.torn,
            FileState::Leftover => &mut self.report.leftover,
            FileState::Unknown => &mut self.report.unknown,
            FileState::Wrong => &mut self.report.wrong,
        };
        *count += 1;
        self.report.bytes += bytes;
        let path = path.strip_prefix(self.dir).unwrap_or(path).to_owned();
        (self.each)(&FileReport { path, state, bytes, note: note.to_string() });
    }

    /// A file that an error says is damaged; any other error ends the check.
    fn tell_wrong(&mut self, path: &Path, error: StorageError) -> Result<(), StorageError> {
        match error.kind() {
            StorageErrorKind::Corrupt | StorageErrorKind::Refused | StorageErrorKind::Replay => {
                self.tell(path, FileState::Wrong, Whole(&error));
                Ok(())
            }
            _ => Err(error),
        }
    }

    fn format(&mut self) -> Result<(), StorageError> {
        let path = self.dir.join(FORMAT_FILE);
        match self.io.file_len(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.tell(&path, FileState::Wrong, "missing");
                return Ok(());
            }
            result => result.at("read", &path)?,
        };
        match Format::read(self.io, self.dir) {
            Ok(format) => {
                self.store_id = Some(format.store_id);
                self.tell(
                    &path,
                    FileState::Ok,
                    format_args!("format {}, database {:016x}", format.format, format.store_id),
                );
                Ok(())
            }
            Err(error @ StorageError::FormatTooNew { .. }) => Err(error),
            Err(error) => self.tell_wrong(&path, error),
        }
    }

    fn ledger(&mut self, path: &Path) -> Result<(), StorageError> {
        match examine_ledger(self.io, path, self.store_id) {
            Ok(entries) => {
                let begun = entries.iter().filter(|entry| entry.done.is_none()).count();
                let note = format_args!("{} purges, {begun} of them not erased", entries.len()).to_string();
                self.tell(path, FileState::Ok, note);
                Ok(())
            }
            Err(error) => self.tell_wrong(path, error),
        }
    }

    /// What lies in the data directory besides what was looked at.
    fn other(&mut self, name: &std::ffi::OsStr) -> Result<(), StorageError> {
        let path = self.dir.join(name);
        let is_known = [FORMAT_FILE, LOG_DIR, NS_DIR].iter().any(|known| name == *known)
            || parse_manifest_name(name).is_some();
        if is_known || name == "lost+found" {
            return Ok(());
        }
        if name == LOCK_FILE {
            self.tell(&path, FileState::Ok, "who had it open last");
        } else if name == RESERVE_FILE {
            self.tell(&path, FileState::Ok, "keeps space free for a full disk");
        } else if name == REPAIR_JSON || name == REPAIR_TEXT {
            self.tell(&path, FileState::Ok, "what the repair that made this directory kept and lost");
        } else if name == DIRECTORY_DIR {
            self.directory(&path);
        } else if name == LEDGER_FILE {
            self.ledger(&path)?;
        } else if name == LEDGER_TMP || name == FORMAT_TMP || is_unfinished_manifest(name) {
            self.tell(&path, FileState::Leftover, "was never finished");
        } else {
            self.tell(&path, FileState::Unknown, "no part of a database");
        }
        Ok(())
    }
}

/// An error with its causes, in one line.
struct Whole<'a>(&'a StorageError);

impl fmt::Display for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        let mut cause = std::error::Error::source(self.0);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
