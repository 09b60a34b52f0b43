//! The manifest: which record files there are, and how far each namespace and the log are in them.
//!
//! `MANIFEST-<n>` is a log of edits in the frames of the log, one batch of edits for each checkpoint; a batch is there
//! whole or not at all. It begins with an image of everything. When it has grown to twice its image it is written anew
//! as `MANIFEST-<n+1>`; so a checkpoint costs what changed, not what exists. The one before is kept.
//!
//! The rule of a torn end is that of the log: a batch that can't be read is given up only if nothing says that it was
//! durable. The image was, before the file had its name; a batch was, if a frame behind it says so, and one is written
//! as soon as it is. Beyond that a manifest that is too old gives itself away: it names files that are gone, or the log
//! begins behind its checkpoint. If it doesn't, the log still has everything that it lacks. So recovery never chooses
//! the manifest before the newest: when that is damaged, the start is refused.
//!
//! Reading order: `state` (what it says), `layout` (names and the header, described in `docs/disk-format.md`), `read`,
//! `write`.

mod dump;
mod layout;
mod read;
mod state;
mod write;

use std::{path::PathBuf, sync::Arc};

use parking_lot::RwLock;

use crate::{
    codec::CodecError,
    error::{At, IoFailure},
    frame::FrameFault,
    io::{Io, IoFile, uninterrupted},
    segment::LogEnd,
};
pub(crate) use dump::{dump, edit_line, edits_of};
pub(crate) use layout::is_unfinished_manifest;
pub(crate) use layout::manifest_header_of;
pub use layout::{MANIFEST_VERSION, ManifestHeader, manifest_path, parse_manifest_name};
pub(crate) use read::{examine, examine_prefix};
pub use state::{Edit, EditFault, ManifestState, StoredModel, StoredNamespace};

/// Why a file is not a manifest, or a part of it not what was written.
#[derive(Debug, thiserror::Error)]
pub enum ManifestFault {
    /// The header is missing, or its magic number or checksum is wrong.
    #[error("the header is damaged")]
    BadHeader,
    /// Written by a newer version.
    #[error("version {found}: at most {MANIFEST_VERSION} can be read")]
    Version {
        /// The version that stands in the header.
        found: u32,
    },
    /// The header belongs to another file.
    #[error("the header says manifest {} of database {:016x}", found.number, found.store_id)]
    Place {
        /// What stands in the header.
        found: ManifestHeader,
    },
    /// A batch that was durable once can't be read.
    #[error("a batch that was durable can't be read")]
    Frame(#[from] FrameFault),
    /// The image that the file begins with is not complete.
    #[error("the image at the beginning is not complete")]
    Image,
    /// A batch has a right checksum and does not decode.
    #[error("a batch can't be decoded")]
    Payload(#[from] CodecError),
    /// A batch that does not fit those before it.
    #[error("a batch does not fit those before it")]
    Edit(#[from] EditFault),
}

impl ManifestFault {
    /// Whether a newer version could read the file.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        match self {
            ManifestFault::Version { .. } => true,
            ManifestFault::Payload(source) => source.is_newer(),
            _ => false,
        }
    }
}

/// Why a batch was not added.
#[derive(Debug)]
pub(crate) enum AppendError {
    /// The system is short of something. The batch is not there and the manifest is as it was.
    Shortage(IoFailure),
    /// Nobody knows whether the batch is durable.
    Unknown(IoFailure),
    /// The batch does not fit. Nothing was written.
    Edit(EditFault),
    /// The batch can't be encoded. Nothing was written.
    Codec(CodecError),
    /// The batch is larger than a frame may be. Nothing was written.
    TooLarge {
        /// Its bytes.
        bytes: usize,
    },
}

/// The open manifest. What it says is shared with the readers of record files; only [`Manifest::append`] changes it.
pub(crate) struct Manifest<I: Io> {
    io: Arc<I>,
    dir: PathBuf,
    store_id: u64,
    state: Arc<RwLock<ManifestState>>,
    file: I::File,
    path: PathBuf,
    header: ManifestHeader,
    /// Where the last frame ends.
    end: LogEnd,
    /// The number of the last batch, which is durable.
    last: u64,
    /// Where its image ends: it is written anew when it is twice as long, and
    image_end: u64,
    /// has at least so many bytes.
    rewrite_bytes_min: u64,
    /// Whether there are bytes behind the end that are no frames, so that nothing may be added.
    is_torn: bool,
}

impl<I: Io> std::fmt::Debug for Manifest<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Manifest").field("path", &self.path).field("last", &self.last).finish_non_exhaustive()
    }
}

impl<I: Io> Manifest<I> {
    /// Its number.
    pub(crate) fn number(&self) -> u32 {
        self.header.number
    }

    /// Makes everything durable that was written to its file system, names included.
    pub(crate) fn sync_fs(&self) -> Result<(), IoFailure> {
        uninterrupted(|| self.file.sync_fs()).at("sync the file system of", &self.path)
    }

    /// From now on it is not written anew before it has so many bytes.
    pub(crate) fn set_rewrite_min(&mut self, bytes: u64) {
        self.rewrite_bytes_min = bytes;
    }

    fn is_rewrite_due(&self) -> bool {
        self.end.offset >= (self.image_end * 2).max(self.rewrite_bytes_min)
    }
}

#[cfg(test)]
mod tests;
