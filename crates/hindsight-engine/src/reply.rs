//! What the engine answers. Each answer comes as an [`crate::Unsynced`] value and can be read once the log is synced.

use hindsight_core::consolidate::RuleEvent;
use hindsight_core::{LeftOut, Lsn, Memory, MemoryId, Neighbor, Outcome, RuleChange, Settings, Timestamp};
use hindsight_storage::ErasureReceipt;

use crate::EngineError;

/// What became of a write.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// What it did (or would do, with `validate_only`).
    pub outcome: Outcome,
    /// The memory as it is stored (or would be, with `validate_only`): the new one, or the one that became surer.
    pub memory: Memory,
    /// The memories that the new one contradicts; none in the answer to a repeated request.
    pub neighbors: Vec<Neighbor>,
    /// The request id was seen before: nothing was done again, and this is the memory's present state.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of an item of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemWritten {
    /// The memory: a new one, or one that became surer.
    pub id: MemoryId,
    /// What was done.
    pub outcome: Outcome,
}

/// What became of a batch.
#[derive(Debug)]
pub struct BatchWritten {
    /// One result an item, in their order.
    pub results: Vec<Result<ItemWritten, EngineError>>,
    /// The request id was seen before.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of an update.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// The memory after it.
    pub memory: Memory,
    /// The request id was seen before: nothing was done again, and this is the memory's present state.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of a forget or a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    /// How many memories changed (or would).
    pub count: u32,
    /// Their ids, at most 1,000 of them, in order.
    pub ids: Vec<MemoryId>,
    /// What was made from those and stays, at most 1,000 of them, in order.
    pub derived: Vec<MemoryId>,
    /// The request id was seen before.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What superseded what, around one memory.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The memories, in the order of the times from which they hold; each says until when it was valid, and what replaced it.
    pub memories: Vec<Memory>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

/// What became of a rollback.
#[derive(Debug, Clone, PartialEq)]
pub struct RolledBack {
    /// The memories that are valid again.
    pub restored: Vec<Memory>,
    /// The memory that had replaced them; absent where it was forgotten meanwhile.
    pub invalidated: Option<Memory>,
    /// The request id was seen before: nothing was done again, and these are the memories as they are now.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of a feedback.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The memories that changed by it, as they are now.
    pub memories: Vec<Memory>,
    /// The request id was seen before: nothing was done again.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What a consolidation came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Consolidated {
    /// The rules that it made or changed (or would, with `validate_only`), at most 1,000 of them.
    pub rules: Vec<ConsolidatedRule>,
    /// Cases that got a rule.
    pub created: u64,
    /// Rules that have a new version.
    pub revised: u64,
    /// Cases whose rule was replaced by another.
    pub replaced: u64,
    /// Episodes that were read.
    pub episodes: u64,
    /// Cases that they tell of: a type of task and a cause.
    pub cases: u64,
    /// The request id was seen before: nothing was done again, and these are the rules of its last batch as they are now.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What a consolidation did to one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidatedRule {
    /// What it did.
    pub change: RuleChange,
    /// The rule after it.
    pub rule: Memory,
    /// How often an episode agreed.
    pub agreeing: u32,
    /// How often one spoke of it.
    pub episodes: u32,
    /// The rules that it took the place of.
    pub replaces: Vec<MemoryId>,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleHistory {
    /// What happened, the oldest first, each with the rule that it happened to.
    pub events: Vec<(MemoryId, RuleEvent)>,
    /// The rule, those that it replaced and those that replaced it, in the order of the times from which they hold.
    pub rules: Vec<Memory>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

/// What became of the memories of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Summarized {
    /// The summary (or what it would be, with `validate_only`).
    pub summary: Memory,
    /// Its parts, which are history now, the oldest first.
    pub parts: Vec<MemoryId>,
    /// What is about the entity too, and no part of it; none in the answer to a repeated request.
    pub left_out: Vec<(MemoryId, LeftOut)>,
    /// The request id was seen before: nothing was done again, and this is the summary as it is now.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What became of a purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeDone {
    /// How many memories are gone (or would be), forgotten ones included.
    pub count: u32,
    /// Their ids, at most 1,000 of them, in order; none when the request was carried out before.
    pub ids: Vec<MemoryId>,
    /// What was made from those and stays, at most 1,000 of them, in order.
    pub derived: Vec<MemoryId>,
    /// The request id was seen before: nothing was done again.
    pub replayed: bool,
    /// The log position that holds it, or that the count reflects.
    pub revision: Lsn,
    /// What was erased from where; absent when nothing was purged.
    pub receipt: Option<ErasureReceipt>,
}

/// One memory, read by id.
#[derive(Debug, Clone, PartialEq)]
pub struct Got {
    /// The memory.
    pub memory: Memory,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The memories, in the order of their ids.
    pub memories: Vec<Memory>,
    /// Whether more follow after the last of them.
    pub more: bool,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

/// What a namespace holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamespaceStats {
    /// Memories by kind, without the forgotten ones.
    pub by_kind: Vec<(&'static str, u64)>,
    /// Memories by outcome, without the forgotten ones.
    pub by_status: Vec<(&'static str, u64)>,
    /// Memories by state, all of them.
    pub by_state: Vec<(&'static str, u64)>,
    /// Memories with at least one vector, without the forgotten ones.
    pub embedded: u64,
    /// The model of the namespace's vectors, once it has one.
    pub model: Option<Model>,
    /// Distinct terms of the keyword index.
    pub terms: u64,
    /// When the oldest memory happened.
    pub oldest_at: Option<Timestamp>,
    /// When the newest memory happened.
    pub newest_at: Option<Timestamp>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
    /// The graph over the vectors of its active memories; none while every search scans.
    pub vector_graph: Option<VectorGraph>,
}

/// The graph over a namespace's vectors, and how good it was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VectorGraph {
    /// Vectors that it was built from.
    pub covered: u64,
    /// Those of them that are gone.
    pub dead: u64,
    /// Memories with vectors that came after it was begun; they are scanned beside it.
    pub newer: u64,
    /// Estimated bytes beside the vectors.
    pub bytes: u64,
    /// Of its last answers, how many were compared with the exact scan.
    pub sampled: u32,
    /// Memories that the scan found for them.
    pub wanted: u64,
    /// How many of those the answers had.
    pub found: u64,
}

impl VectorGraph {
    /// The share of what the scan found that its answers had, 0–1; none before the first one was compared.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a few hundred answers of at most 100 memories")]
        let share = self.found as f64 / self.wanted as f64;
        (self.wanted > 0).then_some(share)
    }
}

/// The model that made a namespace's vectors; fixed by the first of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// How many numbers its vectors have.
    pub dimension: usize,
}

/// A namespace and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceSummary {
    /// Its name.
    pub name: hindsight_core::Namespace,
    /// Its memories, without the forgotten ones.
    pub memories: u64,
}

/// A namespace with what is set about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceInfo {
    /// Its settings.
    pub settings: Settings,
    /// Its memories, without the forgotten ones.
    pub memories: u64,
    /// The log position that the answer reflects, or that holds the change.
    pub revision: Lsn,
    /// The newest durable log position when the answer was made: where durability is async, what was acknowledged behind it
    /// could still be lost.
    pub durable: Lsn,
    /// The request id was seen before: nothing was done again, and these are the settings as they are now.
    pub replayed: bool,
}
