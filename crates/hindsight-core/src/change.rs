//! The only vocabulary of mutation. The log holds batches of changes; `apply` repeats them without deciding anything.

use crate::{Memory, MemoryId, Namespace, Settings, State, Timestamp, Usage, embedding::NamedVector};

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

/// One mutation of a memory, or of a whole namespace. Everything about it was decided before it was logged.
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
    /// The memory now stands like this; its texts and vectors stay.
    Stand {
        /// Which memory.
        id: MemoryId,
        /// Its standing from now on.
        standing: Box<Standing>,
        /// Its version from now on.
        version: u64,
        /// When this was decided.
        at: Timestamp,
    },
    /// Recalls returned the memory. This is no new version: whoever has read the memory may still change it.
    Access {
        /// Which memory.
        id: MemoryId,
        /// How many recalls returned it.
        count: u32,
        /// When the last of them did.
        at: Timestamp,
    },
    /// The namespace is no more: every memory, request id and setting of it is gone.
    DropNamespace,
    /// Memories, or all of the namespace, are gone, and their bytes are to be erased from the disk.
    Purge(Box<Purge>),
    /// The namespace has these settings from now on, all of them. Also its first batch may say so.
    Settings(Box<Settings>),
}

/// What of a memory changes without a word of it: where it is in its life, how sure it is, until when it is true, what
/// replaced it and how it was used.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Where it is in its life.
    pub state: State,
    /// How sure it is, 0–1.
    pub confidence: f32,
    /// Until when it is true in the world.
    pub valid_to: Option<Timestamp>,
    /// The memory that replaced it.
    pub superseded_by: Option<MemoryId>,
    /// How it was used.
    pub usage: Usage,
}

impl Standing {
    /// How a memory stands.
    #[must_use]
    pub fn of(memory: &Memory) -> Standing {
        Standing {
            state: memory.state,
            confidence: memory.confidence,
            valid_to: memory.valid_to,
            superseded_by: memory.superseded_by,
            usage: memory.usage.clone(),
        }
    }

    /// Gives it to a memory.
    pub fn give_to(self, memory: &mut Memory) {
        let Standing { state, confidence, valid_to, superseded_by, usage } = self;
        memory.enter(state);
        memory.confidence = confidence;
        memory.valid_to = valid_to;
        memory.superseded_by = superseded_by;
        memory.usage = usage;
    }
}

impl Change {
    /// The memory it is about; `None` for a change that names none.
    #[must_use]
    pub fn id(&self) -> Option<MemoryId> {
        match self {
            Change::Put(record) => Some(record.memory.id),
            Change::SetState { id, .. } | Change::Stand { id, .. } | Change::Access { id, .. } => Some(*id),
            Change::DropNamespace | Change::Purge(_) | Change::Settings(_) => None,
        }
    }

    /// The version of that memory after the change; none where it stays.
    #[must_use]
    pub fn version(&self) -> Option<u64> {
        match self {
            Change::Put(record) => Some(record.memory.version),
            Change::SetState { version, .. } | Change::Stand { version, .. } => Some(*version),
            Change::Access { .. } | Change::DropNamespace | Change::Purge(_) | Change::Settings(_) => None,
        }
    }
}

/// What is purged. It holds no id in the clear: whoever reads the log afterwards can test whether a memory whose id it
/// knows was purged, and learns no id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purge {
    /// The key of all hashes here.
    pub key: [u8; 32],
    /// What is gone.
    pub target: Purged,
    /// How many memories that were, forgotten ones included.
    pub memories: u64,
    /// Hashes of the request's id and of what it asked for, where the caller gave an id.
    pub request: Option<PurgeRequestHash>,
    /// Hashes of what the memories said, in ascending order: that is not to come back unasked. None for a whole namespace.
    pub values: Vec<u128>,
}

/// What a purge takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purged {
    /// The memories with these hashes, in ascending order.
    Memories(Vec<u128>),
    /// The namespace with all that is in it; the hash of its name.
    Namespace(u128),
}

/// What makes a purge the same purge when it is asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurgeRequestHash {
    /// Of the id that the caller chose.
    pub id: u128,
    /// Of the id and the digest of the request.
    pub digest: u128,
}

/// Says of the id before it, among those of a request, that its memory was there before. No memory has this id: its time
/// is the year 10889.
pub const WAS_THERE: MemoryId = MemoryId::from_u128(u128::MAX);

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

impl Batch {
    /// The memories that a repeated request is answered with: those that got a new image or state, in the order of the
    /// changes, then those that only stand differently. Behind one that was there before and got a new image stands
    /// [`WAS_THERE`], so that the answer can tell what was new.
    #[must_use]
    pub fn changed_ids(&self) -> Vec<MemoryId> {
        let mut ids = Vec::with_capacity(self.changes.len());
        let mut others = Vec::new();
        for change in &self.changes {
            match change {
                Change::Put(record) if record.memory.version > 1 => ids.extend([record.memory.id, WAS_THERE]),
                Change::Put(record) => ids.push(record.memory.id),
                Change::SetState { id, .. } => ids.push(*id),
                Change::Stand { id, .. } => others.push(*id),
                Change::Access { .. } | Change::DropNamespace | Change::Purge(_) | Change::Settings(_) => {}
            }
        }
        ids.append(&mut others);
        ids
    }
}

/// What makes a request the same request: its id, and a digest of what it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// The id that the caller chose.
    pub id: String,
    /// The first 128 bits of the BLAKE3 digest of the request.
    pub digest: u128,
}
