//! Record files: where memories lie when the log no longer has them.
//!
//! A namespace has a folder of them, `ns/<id>/records-<n>.rec`. A file is written once, by a checkpoint, and never
//! changed; a later file of a namespace wins over an earlier one. It holds after-images of memories, forgotten ones
//! included, and the request ids that were seen. Every entry has a checksum of its own, so that one memory can be read
//! by its position; the whole file has a BLAKE3 in the manifest.
//!
//! Reading order: `layout` (the bytes, described in `docs/disk-format.md`, section "Record file"), `writer`, `scan` (a
//! whole file in order), `point` (one record by its position), `places` (where all of them lie), `files` (all of them, as the manifest names them),
//! `digest` (whether a namespace is whole), `vectors` (their components, which are not kept in memory).

mod digest;
mod dump;
mod files;
mod layout;
mod place;
mod places;
mod point;
mod salvage;
mod scan;
mod vectors;
mod writer;

use hindsight_core::{Lsn, MemoryId, Record, RequestKey};

pub use digest::{Digest, record_digest};
pub(crate) use dump::dump;
pub use files::{FilesSummary, RecordFiles};
pub(crate) use files::{Newest, Pin};
pub use layout::{EntryKind, RECORD_FILE_VERSION, RecordFault, RecordFileHeader};
pub use place::{NS_DIR, NamespaceId, namespace_dir, parse_namespace_dir, parse_record_file, record_path};
pub(crate) use place::{is_unfinished_record_file, parse_number};
pub(crate) use places::Places;
pub(crate) use salvage::{Gap, header_of, salvage};
pub use scan::scan_file;
pub(crate) use vectors::{VectorFile, checks, put_away};
pub(crate) use writer::RecordWriter;

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordPosition {
    /// The namespace.
    pub namespace: NamespaceId,
    /// The number of the file in the namespace's folder.
    pub file: u32,
    /// Where the entry begins, in bytes from the start of the file.
    pub offset: u64,
}

/// What the manifest says of a record file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredFile {
    /// Its length.
    pub bytes: u64,
    /// The BLAKE3 of all its bytes.
    pub blake3: [u8; 32],
    /// How many records are in it.
    pub records: u64,
    /// How many request ids are in it.
    pub requests: u64,
    /// The digest of its records.
    pub digest: Digest,
}

/// A request that was carried out, and must not be again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRequest {
    /// What makes it the same request.
    pub key: RequestKey,
    /// The memories it changed, in order.
    pub ids: Vec<MemoryId>,
    /// The batch that holds it.
    pub lsn: Lsn,
}

/// One entry of a record file.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are records, and each is handed on at once")]
pub enum Loaded {
    /// An after-image of a memory. A later one of the same memory replaces it.
    Record {
        /// Where it lies.
        position: RecordPosition,
        /// The batch of its newest change.
        lsn: Lsn,
        /// The memory with its vectors.
        record: Record,
        /// Where the entry ends, in bytes from the start of the file.
        end: u64,
    },
    /// A request id. They come in the order in which they were seen.
    Request(SeenRequest),
}

#[cfg(test)]
mod tests;
