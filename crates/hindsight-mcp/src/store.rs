//! What the tools need of the database: the calls of one namespace.

use std::future::Future;

use hindsight_core::draft::RecordDraft;
use hindsight_core::{
    Draft, Invalid, Kind, Memory, MemoryId, Namespace, Neighbor, Patch, Recall, RecallId, Recalled,
    RuleState, Session, SessionDraft, SessionId, Status, Turn, TurnDraft, Verdict,
};

/// Why a call was not carried out, as one sentence that says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

impl From<Invalid> for Trouble {
    fn from(invalid: Invalid) -> Self {
        Trouble(invalid.to_string())
    }
}

/// What became of a write.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The word for it, such as `created`.
    pub outcome: String,
    /// The memory as it stands now.
    pub memory: Memory,
    /// The memories that it contradicts.
    pub neighbors: Vec<Neighbor>,
}

/// What became of what a recall returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The recall; without it any memories may be named.
    pub recall_id: Option<RecallId>,
    /// The memories, each with what is said of it.
    pub items: Vec<(MemoryId, Verdict)>,
    /// How the task ended that they were recalled for.
    pub task_status: Option<Status>,
}

/// A call on working memory.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionCall {
    /// Open one.
    Open(SessionDraft),
    /// Append turns.
    Append(SessionId, Vec<TurnDraft>),
    /// Read the newest turns.
    Read(SessionId, Option<usize>),
    /// End it; with a record it becomes an episode.
    Close(SessionId, Option<Box<RecordDraft>>),
}

/// What a call on working memory gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSaid {
    /// How the session stands, or stood when it was closed.
    pub session: Option<Session>,
    /// Its turns, where they were asked for.
    pub turns: Vec<Turn>,
    /// The episode that it became.
    pub episode: Option<MemoryId>,
    /// Whether it is closed now.
    pub is_closed: bool,
}

/// One namespace of a database. The namespace is fixed: no call can name another.
pub trait Store: Clone + Send + Sync + 'static {
    /// The namespace.
    fn namespace(&self) -> &Namespace;

    /// The few memories that matter now; nothing when the namespace has none at all: it begins with its first.
    fn recall(&self, recall: Recall) -> impl Future<Output = Result<Option<Recalled>, Trouble>> + Send;

    /// Stores one memory.
    fn write(&self, draft: Draft) -> impl Future<Output = Result<Stored, Trouble>> + Send;

    /// Stores a finished task.
    fn record(&self, record: RecordDraft) -> impl Future<Output = Result<Stored, Trouble>> + Send;

    /// One memory by id.
    fn get(&self, id: MemoryId) -> impl Future<Output = Result<Memory, Trouble>> + Send;

    /// Changes fields of a memory; with a `version`, only if it still is that one.
    fn update(
        &self,
        id: MemoryId,
        patch: Patch,
        version: Option<u64>,
    ) -> impl Future<Output = Result<Memory, Trouble>> + Send;

    /// Takes memories out of recall; says how many.
    fn forget(&self, ids: Vec<MemoryId>) -> impl Future<Output = Result<u32, Trouble>> + Send;

    /// Takes in what became of what was recalled; says how many memories changed by it.
    fn feedback(&self, judgement: Judgement) -> impl Future<Output = Result<usize, Trouble>> + Send;

    /// Rules in this state, for this type of task or any; at most so many.
    fn rules(
        &self,
        state: RuleState,
        task_type: Option<String>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Memory>, Trouble>> + Send;

    /// Merges what is known of an entity, of one kind or of facts and preferences, into one memory; gives it and its parts. A
    /// dry run only shows it.
    fn summarize(
        &self,
        entity: String,
        kind: Option<Kind>,
        is_dry: bool,
    ) -> impl Future<Output = Result<(Memory, Vec<MemoryId>), Trouble>> + Send;

    /// Works on a session of the namespace.
    fn session(&self, call: SessionCall) -> impl Future<Output = Result<SessionSaid, Trouble>> + Send;

    /// How many memories there are, by kind; nothing when the namespace has none.
    fn kinds(&self) -> impl Future<Output = Result<Vec<(String, u64)>, Trouble>> + Send;
}
