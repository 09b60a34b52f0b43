//! How memories reach the disk and come back: one write-ahead log for all namespaces.
//!
//! What it does: gives every batch a number, makes it durable together with all others that wait, hands all of them
//! back in order after a crash, and tells a torn commit from damage. What it does not: it knows nothing of what a
//! batch means, applies none, and answers no recall.
//!
//! Reading order: [`store`] (a data directory), `log` (how a batch becomes durable), `recovery` (what happens after
//! a crash), [`frame`] and [`segment`] (the bytes, described in `docs/disk-format.md`), `codec` (what is in a frame),
//! [`io`] (the seam to the machine; `real` is the machine, `testing` a disk that loses and tears).
//!
//! What is promised: a batch that was acknowledged survives any crash; after a crash the log is a prefix of what was
//! appended, at least up to the last acknowledged batch; a batch is there whole or not at all; damage below that
//! point stops the start and changes nothing; after a failed write or sync nothing is acknowledged any more.
#![forbid(unsafe_code)]

mod codec;
mod error;
pub mod frame;
pub mod io;
mod log;
mod options;
mod reader;
mod real;
mod recovery;
pub mod segment;
pub mod store;
mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use codec::{CodecError, SCHEMA_VERSION, decode_batch, encode_batch};
pub use error::{IoFailure, ReplayError, StorageError, StorageErrorKind};
pub use log::{Committed, Log};
pub use options::LogOptions;
pub use real::{RealFile, RealIo};
pub use recovery::{Recovered, TornTail};
pub use store::{Holder, Storage, StorageOptions};
