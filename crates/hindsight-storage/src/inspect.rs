//! Shows what stands in one file, byte by byte where it lies: for people who look for what went wrong.
//!
//! It takes a log segment, a record file, a manifest or a backup, tells which by its first bytes, opens no database, takes
//! no lock and changes nothing. It goes on behind damage as far as it can: a damaged entry is a line that says so. What
//! memories say is shown only on request; everything else is numbers and names.
//!
//! The dumps of the kinds stand beside their bytes (`records/dump.rs`, `manifest/dump.rs`, `backup/dump.rs`), that of
//! the log in `inspect/segment.rs`; `inspect/batch.rs` says what is in a batch.

mod batch;
mod frames;
mod segment;

use std::{io, ops::ControlFlow, path::Path};

use serde::Serialize;

pub(crate) use batch::{describe_batch, record_content};
pub(crate) use frames::{Found, Frames};

use crate::{
    error::{At, IoFailure},
    io::{Io, IoFile, OpenMode, read_full_at},
};

/// Why a file can't be shown.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// It is none of the files that a database has.
    #[error("{path} is no log segment, record file, manifest or backup: its first bytes are those of none", path = path.display())]
    Unknown {
        /// The file.
        path: std::path::PathBuf,
    },
    /// The system refused a call.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

/// One line: a header, an entry, or what stands in the place of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct InspectLine {
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// What it is: `segment`, `batch`, `marker`, `clean shutdown`, `record file`, `record`, `request`, `footer`, `manifest`,
    /// `edits`, `edit`, `backup`, `piece`, `trailer`, or `damaged`.
    pub kind: &'static str,
    /// How many bytes it has; 0 where that can't be told.
    pub bytes: u64,
    /// Its place in the log, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lsn: Option<u64>,
    /// Whether its checksum is right.
    pub is_sound: bool,
    /// The namespace that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The memories that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// What else it says, or what is wrong with it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What its memories say, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<serde_json::Value>,
}

impl InspectLine {
    pub(crate) fn sound(kind: &'static str, offset: u64, bytes: u64, note: String) -> InspectLine {
        InspectLine { offset, kind, bytes, is_sound: true, note, ..InspectLine::default() }
    }

    pub(crate) fn damaged(offset: u64, fault: &dyn std::error::Error) -> InspectLine {
        InspectLine { offset, kind: "damaged", note: fault.to_string(), ..InspectLine::default() }
    }
}

/// Takes the lines, in order; `Break` ends it.
pub type Each<'a> = &'a mut dyn FnMut(InspectLine) -> ControlFlow<()>;

/// Hands over the lines of a file. `with_content`: whether to show what memories say.
///
/// # Errors
/// [`InspectError::Unknown`], and calls of the system that failed. Damage is no error.
pub fn inspect<I: Io>(io: &I, path: &Path, with_content: bool, each: Each<'_>) -> Result<(), InspectError> {
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    let mut magic = [0; 8];
    read_full_at(&file, 0, &mut magic).at("read", path)?;
    let dump = match &magic {
        b"HSsegmnt" => segment::dump,
        b"HSrecord" => crate::records::dump,
        b"HSmanfst" => crate::manifest::dump,
        b"HSbackup" => crate::backup::dump,
        _ => return Err(InspectError::Unknown { path: path.to_owned() }),
    };
    // A `Break` is what the caller wished for.
    let _ = dump(&file, with_content, each).at("read", path)?;
    Ok(())
}

/// The bytes of a range, fewer at the end of the file. Allocates no more than the file has.
pub(crate) fn read_range<F: IoFile>(file: &F, offset: u64, want: u64) -> io::Result<Vec<u8>> {
    let left = file.len()?.saturating_sub(offset).min(want);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX)];
    let read = read_full_at(file, offset, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

#[cfg(test)]
mod tests;
