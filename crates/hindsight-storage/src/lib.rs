//! How memories reach the disk and come back: one write-ahead log for all namespaces, and record files for what has
//! left it.
//!
//! What it does: gives every batch a number, makes it durable together with all others that wait, hands all of them
//! back in order after a crash, and tells a torn commit from damage; moves what changed into record files when the
//! log has grown long, and reads them. What it does not: it knows nothing of what a batch means, applies none, and
//! answers no recall.
//!
//! Reading order: [`store`] (a data directory), `log` (how a batch becomes durable), `space` (a full disk), `recovery` (what happens after
//! a crash), [`frame`] and [`segment`] (the bytes, described in `docs/disk-format.md`), `codec` (what is in a frame),
//! [`checkpoint`] (from the log into record files), [`records`] (the files), [`snapshot`] (what is derived of them), [`manifest`] (which there are),
//! [`tail`] (the log read while it is written), [`erasure`] (what was purged leaves no byte),
//! [`directory`] (where each memory lies in them, on sled), [`backup`], [`mod@verify`] and [`inspect`]
//! (reading all of it without changing anything), [`mod@repair`] (a new directory of what is left of a damaged one), [`io`] (the seam to the machine; `real` is the machine, `clocked` the same with another clock, `testing` a
//! disk that loses and tears).
//!
//! What is promised: a batch that was acknowledged survives any crash; after a crash the log is a prefix of what was
//! appended, at least up to the last acknowledged batch; a batch is there whole or not at all; damage below that
//! point stops the start and changes nothing; a full disk refuses what is new and loses nothing; after a failed sync
//! nothing is acknowledged any more.
#![forbid(unsafe_code)]

pub mod backup;
pub mod checkpoint;
mod clocked;
mod codec;
pub mod directory;
pub mod erasure;
mod error;
pub mod frame;
pub mod inspect;
pub mod io;
mod log;
pub mod manifest;
mod options;
mod reader;
mod real;
pub mod records;
mod recovery;
pub mod repair;
#[doc(hidden)]
pub mod sabotage;
pub mod segment;
pub mod snapshot;
mod space;
pub mod store;
mod stored;
pub mod tail;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod verify;
mod walk;

pub use backup::{BackupError, BackupFault, BackupHeader, BackupReport};
pub use checkpoint::{
    CheckpointReport, CheckpointSource, NamespaceCheckpoint, StoredCheckpoint, UnfitCheckpoint,
};
pub use clocked::{Clock, ClockedIo};
pub use codec::{
    CodecError, SCHEMA_VERSION, batch_namespace, decode_batch, decode_edits, decode_record, encode_batch,
    encode_edits, encode_record,
};
pub use erasure::{Erased, Erasure, ErasureDone, ErasureFile, ErasureReceipt, LedgerFault};
pub use error::{IoFailure, ReplayError, StorageError, StorageErrorKind};
pub use log::{Committed, DroppedSegments, Log, Pace, SYNC_BOUNDS_US, SyncCounts};
pub use manifest::{StoredModel, StoredNamespace};
pub use options::LogOptions;
pub use real::{RealFile, RealIo};
pub use records::{
    Digest, FilesSummary, Loaded, NamespaceId, RecordFiles, RecordPosition, SeenRequest, StoredFile,
    record_digest,
};
pub use recovery::{Floor, Recovered, TornTail};
pub use snapshot::{NewSnapshot, Snapshot, SnapshotFault, StoredSnapshot};
pub use space::Urgency;
pub use store::{Holder, Opening, Storage, StorageOptions};
pub use tail::{LogCursor, ReadMost, TailError};
