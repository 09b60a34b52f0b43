//! The answer to "why is this memory, or is it not, in the answer?" (R11).

use serde::Serialize;

use crate::{Breakdown, Lsn, MemoryId, Reason};

/// What became of one memory in one recall.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The memory.
    pub id: MemoryId,
    /// What became of it.
    pub reason: Reason,
    /// The same in a sentence, with the condition, the number or the time that decided.
    pub detail: String,
    /// The memory that replaced it, or that it collapsed into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<MemoryId>,
    /// Its place among what could be returned, from 1; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// How alike it is to the query in itself, 0–1; absent where it was not scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// How its score came about; absent where it was not scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// How many memories the filter allowed.
    pub allowed: u64,
    /// The log position that this reflects.
    pub revision: Lsn,
    /// How the answer was found, as a tree of lines.
    pub plan: String,
}

/// Why a memory may not be returned at all, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barrier {
    /// What keeps it out.
    pub reason: Reason,
    /// The same in a sentence.
    pub detail: String,
    /// The memory that replaced it.
    pub other: Option<MemoryId>,
}

impl Barrier {
    /// A barrier that no other memory has part in.
    #[must_use]
    pub fn new(reason: Reason, detail: impl Into<String>) -> Barrier {
        Barrier { reason, detail: detail.into(), other: None }
    }
}
