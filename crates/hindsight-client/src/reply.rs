//! What calls that change something give back.

use hindsight_core::{Invalid, Lsn, Memory, MemoryId, Neighbor, Violation};
use hindsight_proto::v1;
use serde::Serialize;

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// A new memory came into being.
    Created,
    /// Nothing new was stored: a memory that says the same became surer.
    Reinforced,
    /// A new memory came into being and replaced older ones that it contradicts.
    Superseded,
    /// Nothing was stored, and nothing became surer: an agent said what a recall had told it.
    Echoed,
    /// Something that this version of the client does not know.
    Other,
}

/// What became of a write or a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Written {
    /// What it did.
    pub outcome: Outcome,
    /// The memory as it is stored (or would be, when it was only checked): the new one, or the one that became surer.
    pub memory: Memory,
    /// The memories that the new one contradicts; none in the answer to a repeated request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub neighbors: Vec<Neighbor>,
    /// The request id was seen before: nothing was done again, and this is the memory's present state.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BatchWritten {
    /// One result an item, in their order: its id, or why it was refused.
    pub results: Vec<Result<MemoryId, ItemError>>,
    /// What was done, for each item in their order; [`Outcome::Other`] where it was refused.
    pub outcomes: Vec<Outcome>,
    /// The request id was seen before.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// Why an item of a batch was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message} ({reason})")]
#[non_exhaustive]
pub struct ItemError {
    /// The short word of the error, such as `FIELD_INVALID`.
    pub reason: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Which fields are wrong, and what would be right.
    pub violations: Vec<Violation>,
}

/// What became of an update.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Updated {
    /// The memory after it.
    pub memory: Memory,
    /// The request id was seen before: nothing was done again, and this is the memory's present state.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of a forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Forgotten {
    /// How many memories were forgotten (or would be); those that were already do not count.
    pub count: u32,
    /// Their ids, at most 1,000 of them.
    pub ids: Vec<MemoryId>,
    /// What was made from them and stays, at most 1,000 of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<MemoryId>,
    /// The request id was seen before.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Restored {
    /// How many memories came back.
    pub count: u32,
    /// The request id was seen before.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of a feedback.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Judged {
    /// The memories that changed by it, as they are now.
    pub memories: Vec<Memory>,
    /// The request id was seen before: nothing was done again.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What superseded what, around one memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct History {
    /// In the order of the times from which they hold; each says until when it was valid, and what superseded it.
    pub memories: Vec<Memory>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

/// What became of a rollback.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RolledBack {
    /// The memories that are valid again.
    pub restored: Vec<Memory>,
    /// The memory that had superseded them; absent where it was forgotten meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalidated: Option<Memory>,
    /// The request id was seen before: nothing was done again, and these are the memories as they are now.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

impl Written {
    pub(crate) fn from_wire(wire: v1::WriteResponse) -> Result<Written, Invalid> {
        Ok(Written {
            outcome: outcome(wire.outcome),
            memory: memory(wire.memory)?,
            neighbors: listed("neighbors", wire.neighbors)?,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }

    pub(crate) fn of_record(wire: v1::RecordResponse) -> Result<Written, Invalid> {
        let v1::RecordResponse { outcome, memory, replayed, revision, neighbors } = wire;
        Written::from_wire(v1::WriteResponse { outcome, memory, replayed, revision, neighbors })
    }
}

impl BatchWritten {
    pub(crate) fn from_wire(wire: v1::BatchWriteResponse, items: usize) -> Result<BatchWritten, Invalid> {
        if wire.results.len() != items {
            let found = wire.results.len();
            return Err(Invalid::one("results", format!("has {found} items for {items} memories")));
        }
        let outcomes = wire.results.iter().map(|result| outcome(result.outcome)).collect();
        let results = wire.results.into_iter().enumerate();
        let results = results.map(|(index, result)| match result.result {
            Some(v1::batch_result::Result::Id(id)) => {
                id.parse().map(Ok).map_err(|bad: hindsight_core::ids::BadId| {
                    Invalid::one(format!("results[{index}].id"), bad.to_string())
                })
            }
            Some(v1::batch_result::Result::Error(error)) => Ok(Err(ItemError::from_wire(error))),
            None => Err(Invalid::one(format!("results[{index}]"), "is neither an id nor an error")),
        });
        Ok(BatchWritten {
            results: results.collect::<Result<_, Invalid>>()?,
            outcomes,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }
}

impl ItemError {
    fn from_wire(wire: v1::ItemError) -> ItemError {
        let violations = wire.violations.into_iter();
        ItemError {
            reason: wire.reason,
            message: wire.message,
            violations: violations
                .map(|violation| Violation { field: violation.field, description: violation.description })
                .collect(),
        }
    }
}

impl Updated {
    pub(crate) fn from_wire(wire: v1::UpdateResponse) -> Result<Updated, Invalid> {
        Ok(Updated { memory: memory(wire.memory)?, replayed: wire.replayed, revision: Lsn(wire.revision) })
    }
}

impl Forgotten {
    pub(crate) fn from_wire(wire: &v1::ForgetResponse) -> Result<Forgotten, Invalid> {
        let read = |ids: &[String]| {
            let ids = ids.iter().map(|id| hindsight_proto::call::memory_id(id));
            ids.collect::<Result<Vec<MemoryId>, Invalid>>()
        };
        Ok(Forgotten {
            count: wire.count,
            ids: read(&wire.ids)?,
            derived: read(&wire.derived)?,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }
}

impl Restored {
    pub(crate) fn from_wire(wire: &v1::RestoreResponse) -> Restored {
        Restored { count: wire.count, replayed: wire.replayed, revision: Lsn(wire.revision) }
    }
}

impl Judged {
    pub(crate) fn from_wire(wire: v1::FeedbackResponse) -> Result<Judged, Invalid> {
        let memories = listed("memories", wire.memories)?;
        Ok(Judged { memories, replayed: wire.replayed, revision: Lsn(wire.revision) })
    }
}

impl History {
    pub(crate) fn from_wire(wire: v1::GetHistoryResponse) -> Result<History, Invalid> {
        Ok(History { memories: listed("memories", wire.memories)?, revision: Lsn(wire.revision) })
    }
}

impl RolledBack {
    pub(crate) fn from_wire(wire: v1::RollbackResponse) -> Result<RolledBack, Invalid> {
        let invalidated = wire.invalidated.map(Memory::try_from).transpose();
        Ok(RolledBack {
            restored: listed("restored", wire.restored)?,
            invalidated: invalidated.map_err(|invalid| invalid.under("invalidated."))?,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }
}

/// The items of a list of an answer.
pub(crate) fn listed<W, T: TryFrom<W, Error = Invalid>>(
    field: &str,
    items: Vec<W>,
) -> Result<Vec<T>, Invalid> {
    let items = items.into_iter().enumerate();
    items
        .map(|(index, item)| {
            T::try_from(item).map_err(|invalid| invalid.under(&format!("{field}[{index}].")))
        })
        .collect()
}

/// The memory of an answer.
pub(crate) fn memory(wire: Option<v1::Memory>) -> Result<Memory, Invalid> {
    let wire = wire.ok_or_else(|| Invalid::one("memory", "is missing"))?;
    wire.try_into().map_err(|invalid: Invalid| invalid.under("memory."))
}

pub(crate) fn outcome(number: i32) -> Outcome {
    match v1::Outcome::try_from(number) {
        Ok(v1::Outcome::Created) => Outcome::Created,
        Ok(v1::Outcome::Reinforced) => Outcome::Reinforced,
        Ok(v1::Outcome::Superseded) => Outcome::Superseded,
        Ok(v1::Outcome::Echoed) => Outcome::Echoed,
        Ok(v1::Outcome::Unspecified) | Err(_) => Outcome::Other,
    }
}
