//! The only vocabulary of mutation. The log holds batches of changes; `apply` repeats them without deciding anything.

use crate::{Memory, MemoryId, Namespace, State, Timestamp, embedding::NamedVector};

/// A position in the log: the number of a batch, from 1, without gaps.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Lsn(pub u64);

impl std::fmt::Display for Lsn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A memory with its vectors: the complete image after a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The memory.
    pub memory: Memory,
    /// Its vectors, all of the model that the memory names.
    pub vectors: Vec<NamedVector>,
}

/// One mutation of one memory. Everything about it was decided before it was logged.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The memory now looks like this; a new id is a new memory.
    Put(Box<Record>),
    /// The memory is now in this state; nothing else of it changed.
    SetState {
        /// Which memory.
        id: MemoryId,
        /// Its state from now on.
        state: State,
        /// Its version from now on.
        version: u64,
        /// When this was decided.
        at: Timestamp,
    },
}

impl Change {
    /// The memory it is about.
    #[must_use]
    pub fn id(&self) -> MemoryId {
        match self {
            Change::Put(record) => record.memory.id,
            Change::SetState { id, .. } => *id,
        }
    }

    /// The version of that memory after the change.
    #[must_use]
    pub fn version(&self) -> u64 {
        match self {
            Change::Put(record) => record.memory.version,
            Change::SetState { version, .. } => *version,
        }
    }
}

/// The changes of one request: all of them happen, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The namespace all of them belong to.
    pub namespace: Namespace,
    /// When the request was decided.
    pub at: Timestamp,
    /// The request's own id, where the caller gave one (W9).
    pub request: Option<RequestKey>,
    /// The changes, in order.
    pub changes: Vec<Change>,
}

/// What makes a request the same request: its id, and a digest of what it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// The id that the caller chose.
    pub id: String,
    /// The first 128 bits of the BLAKE3 digest of the request.
    pub digest: u128,
}
