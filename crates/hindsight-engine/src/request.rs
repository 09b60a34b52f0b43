//! What the engine is asked to do. These values are unchecked; the engine checks them, whoever calls.

use hindsight_core::consolidate::RulePatch;
use hindsight_core::{
    Draft, Filter, Kind, MemoryId, OnDuplicate, Patch, RawVectors, RecallId, RuleState, SettingsPatch,
    Status, Verdict,
};

/// One memory to write.
#[derive(Debug, Clone, Default)]
pub struct WriteItem {
    /// The memory.
    pub draft: Draft,
    /// Its vectors, if it has any.
    pub vectors: Option<RawVectors>,
    /// Who made the vectors.
    pub maker: Maker,
}

impl WriteItem {
    /// A memory with the caller's own vectors, if it has any.
    #[must_use]
    pub fn new(draft: Draft, vectors: Option<RawVectors>) -> WriteItem {
        WriteItem { draft, vectors, maker: Maker::Caller }
    }
}

/// Who made the vectors of a request. Those of the server follow from the texts, so they are no part of what makes
/// the request the same request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Maker {
    /// The caller.
    #[default]
    Caller,
    /// The server's embedder.
    Server,
}

impl Maker {
    /// The vectors that the caller chose.
    pub(crate) fn chosen(self, vectors: Option<&RawVectors>) -> Option<&RawVectors> {
        vectors.filter(|_| self == Maker::Caller)
    }
}

/// How a write is carried out.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Check and answer, but store nothing.
    pub validate_only: bool,
    /// What happens when the same is known already; [`OnDuplicate::Reinforce`] when absent.
    pub on_duplicate: Option<OnDuplicate>,
    /// Store it though what it says was forgotten or purged (L4).
    pub allow_forgotten: bool,
    /// The caller's own id of the request (W9).
    pub request_id: Option<String>,
}

/// Many memories to write with one sync.
#[derive(Debug, Clone, Default)]
pub struct BatchRequest {
    /// The memories, at most [`hindsight_core::limits::BATCH_ITEMS_MAX`].
    pub items: Vec<WriteItem>,
    /// Store nothing when any of them is bad; otherwise a bad one is refused by itself.
    pub all_or_nothing: bool,
    /// What happens with an item that says what is known already, or what an item before it says.
    pub on_duplicate: Option<OnDuplicate>,
    /// Store what was forgotten or purged, too (L4).
    pub allow_forgotten: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A change to a stored memory.
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// Which memory.
    pub id: MemoryId,
    /// What changes.
    pub patch: Patch,
    /// The version that the caller has seen; none takes whatever is there.
    pub version: Option<u64>,
    /// New vectors. When the text changes and there are none, the old vectors are dropped: they depict another text.
    pub vectors: Option<RawVectors>,
    /// Who made the vectors.
    pub maker: Maker,
    /// Let it say what was forgotten or purged (L4).
    pub allow_forgotten: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// Which memories to forget.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one value a call; boxing would cost more than it saves")]
pub enum ForgetTarget {
    /// These; an unknown id refuses the call.
    Ids(Vec<MemoryId>),
    /// All that match, unless their number is another than the expected one.
    Matching {
        /// The condition; an empty one is refused, since it would match everything.
        filter: Filter,
        /// The number that a dry run gave.
        expected_count: Option<u32>,
    },
}

/// A soft delete.
#[derive(Debug, Clone)]
pub struct ForgetRequest {
    /// Which memories.
    pub target: ForgetTarget,
    /// Also what was made from them, and from that in turn.
    pub with_derived: bool,
    /// Count, and forget nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// What to purge.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one value a call; boxing would cost more than it saves")]
pub enum PurgeTarget {
    /// These; an unknown id refuses the call.
    Ids(Vec<MemoryId>),
    /// All that match, forgotten ones too, unless their number is another than the expected one.
    Matching {
        /// The condition; an empty one is refused, since it would match everything.
        filter: Filter,
        /// The number that a dry run gave.
        expected_count: Option<u32>,
    },
    /// The namespace with everything in it.
    Namespace {
        /// The number of memories that a dry run gave.
        expected_count: Option<u32>,
    },
}

/// A hard delete.
#[derive(Debug, Clone)]
pub struct PurgeRequest {
    /// What to purge.
    pub target: PurgeTarget,
    /// Also what was made from them, and from that in turn.
    pub with_derived: bool,
    /// Count, and purge nothing.
    pub validate_only: bool,
    /// The caller's own id of the request. It is remembered as long as the ledger is kept.
    pub request_id: Option<String>,
}

/// A namespace to drop.
#[derive(Debug, Clone, Default)]
pub struct DropRequest {
    /// The number of memories that a dry run gave, forgotten ones included.
    pub expected_count: Option<u32>,
    /// Count, and drop nothing.
    pub validate_only: bool,
    /// The caller's own id of the request. It is remembered until the next checkpoint.
    pub request_id: Option<String>,
}

/// Forgotten memories to bring back.
#[derive(Debug, Clone)]
pub struct RestoreRequest {
    /// Which; each must be forgotten.
    pub ids: Vec<MemoryId>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A replacement to take back.
#[derive(Debug, Clone)]
pub struct RollbackRequest {
    /// The memory that was replaced, or the one that replaced it.
    pub id: MemoryId,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// What became of the memories that a recall returned.
#[derive(Debug, Clone, Default)]
pub struct FeedbackRequest {
    /// The recall; without it any memory may be named.
    pub recall_id: Option<RecallId>,
    /// Memories, and what is said of each.
    pub items: Vec<(MemoryId, Verdict)>,
    /// How the task ended that they were recalled for.
    pub task_status: Option<Status>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// Episodes to find rules in.
#[derive(Debug, Clone, Default)]
pub struct ConsolidateRequest {
    /// Least episodes that agree; the namespace's own number when absent.
    pub min_episodes: Option<u32>,
    /// Least confidence of a new rule, 0–1; the namespace's own when absent.
    pub min_confidence: Option<f64>,
    /// Show what would come, and store nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A change to a rule's life.
#[derive(Debug, Clone)]
pub struct RuleUpdateRequest {
    /// Which rule.
    pub id: MemoryId,
    /// What changes.
    pub patch: RulePatch,
    /// The version that the caller has seen; none takes whatever is there.
    pub version: Option<u64>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A page of rules, in the order of their ids.
#[derive(Debug, Clone, Default)]
pub struct RuleListRequest {
    /// In one of these states; none means in any.
    pub rule_states: Vec<RuleState>,
    /// For one of these types of task; none means for any.
    pub task_types: Vec<String>,
    /// How many at most, 1–[`hindsight_core::limits::PAGE_SIZE_MAX`].
    pub page_size: usize,
    /// The last id of the page before.
    pub after: Option<MemoryId>,
    /// The agent that asks.
    pub agent_id: Option<String>,
}

/// What is known of an entity, to be merged into one memory.
#[derive(Debug, Clone, Default)]
pub struct SummarizeRequest {
    /// Whom or what it is about.
    pub entity: String,
    /// Memories of these kinds: fact, preference, episode; the first two when empty.
    pub kinds: Vec<Kind>,
    /// The agent whose own memories are meant; the shared ones when absent. They are never mixed.
    pub agent_id: Option<String>,
    /// Show what would come, and store nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A page of memories, in the order of their ids.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// Which memories; forgotten ones only when it names that state.
    pub filter: Filter,
    /// How many at most, 1–[`hindsight_core::limits::PAGE_SIZE_MAX`].
    pub page_size: usize,
    /// The last id of the page before.
    pub after: Option<MemoryId>,
    /// The agent that asks.
    pub agent_id: Option<String>,
}

/// A change of a namespace's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsRequest {
    /// What to change.
    pub patch: SettingsPatch,
    /// Makes a repetition of the request act once.
    pub request_id: Option<String>,
}
