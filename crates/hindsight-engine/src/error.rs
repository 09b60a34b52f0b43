//! What can go wrong, and what a caller should do about it.

use hindsight_core::time::Span;
use hindsight_core::{Invalid, Kind, Lsn, MemoryId, Namespace, RuleState, SessionId, Timestamp};
use hindsight_storage::{BackupError, StorageError, StorageErrorKind};

/// What a caller should do about an error. Fronts map this, and nothing else, to their codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is wrong: correct it.
    Invalid,
    /// It names something that isn't there.
    NotFound,
    /// It names something that is there already.
    AlreadyExists,
    /// The memory changed meanwhile: read it again.
    Conflict,
    /// The state of the database or namespace does not allow it; repeating won't help.
    Precondition,
    /// A limit is reached.
    Exhausted,
    /// It names a place in the log that is not there, or not any more.
    OutOfRange,
    /// Data on disk is damaged.
    DataLoss,
    /// Something failed that should not have.
    Internal,
}

/// An error of the engine. Nothing of the request was done, but for [`EngineError::ErasurePending`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Fields of the request are wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// No memory of the namespace has this id.
    #[error("no memory {id} in namespace {namespace}")]
    MemoryNotFound {
        /// The namespace that was searched.
        namespace: Namespace,
        /// The id that was asked for.
        id: MemoryId,
    },
    /// Nothing was ever written to this namespace.
    #[error("no namespace {namespace}: it begins with the first memory written to it")]
    NamespaceNotFound {
        /// The namespace that was asked for.
        namespace: Namespace,
    },
    /// The id that the caller chose is taken.
    #[error("memory {id} exists already: update it, or leave the id out")]
    MemoryExists {
        /// The id.
        id: MemoryId,
    },
    /// The same is known already, and the caller wants no repetition (W6).
    #[error("memory {id} says the same already: update it, or write with on_duplicate reinforce or allow")]
    DuplicateOf {
        /// The memory that says it.
        id: MemoryId,
    },
    /// What it says was forgotten or purged (L4).
    #[error("{what} was forgotten on {}: {}", day(*forgotten_at), instead(*id))]
    TombstonedValue {
        /// Which part of the new memory.
        what: &'static str,
        /// The forgotten memory that said it; none when that is purged.
        id: Option<MemoryId>,
        /// When it was forgotten, or purged.
        forgotten_at: Timestamp,
    },
    /// The caller has seen an older version.
    #[error("memory {id} is at version {current}, not {given}: read it again before changing it")]
    VersionMismatch {
        /// The memory.
        id: MemoryId,
        /// The version that the caller gave.
        given: u64,
        /// The version it has.
        current: u64,
    },
    /// The same request id came with another request.
    #[error("request id {request_id:?} was used for another request: choose a new one")]
    RequestIdReused {
        /// The request id.
        request_id: String,
    },
    /// The vectors were made by another model than the namespace's (W12).
    #[error(
        "the vectors were made by {given:?}, and namespace {namespace} holds vectors of {expected:?}: embed with that model"
    )]
    ModelMismatch {
        /// The namespace.
        namespace: Namespace,
        /// The namespace's model.
        expected: String,
        /// The caller's model.
        given: String,
    },
    /// The vectors have another dimension than the namespace's (W12).
    #[error(
        "a vector of {given_model:?} has {given} numbers, and those of namespace {namespace}, made by {expected_model:?}, have {expected}"
    )]
    DimensionMismatch {
        /// The namespace.
        namespace: Namespace,
        /// The namespace's model.
        expected_model: String,
        /// The dimension of the namespace's vectors.
        expected: usize,
        /// The caller's model.
        given_model: String,
        /// The dimension of the caller's vector.
        given: usize,
    },
    /// A forget by filter would take another number of memories than the caller expects.
    #[error("the filter matches {found} memories, not {expected}: count again with validate_only")]
    CountMismatch {
        /// The number the caller expects.
        expected: u32,
        /// The number the filter matches now.
        found: u32,
    },
    /// The memory is not in the state that the call needs.
    #[error("memory {id} is {state}, not {needed}")]
    WrongState {
        /// The memory.
        id: MemoryId,
        /// The state it is in.
        state: hindsight_core::State,
        /// The state the call needs.
        needed: hindsight_core::State,
    },
    /// There is nothing to roll back (W7).
    #[error("nothing superseded memory {id}, and it superseded nothing: there is nothing to roll back")]
    NotSuperseded {
        /// The memory.
        id: MemoryId,
    },
    /// What replaced a memory was itself replaced (W7).
    #[error("memory {id} was itself superseded by {by}: roll that back first")]
    SupersededSince {
        /// The memory that had replaced the older one.
        id: MemoryId,
        /// The one that replaced it.
        by: MemoryId,
    },
    /// No recall of the namespace that is still remembered has this id (R16).
    #[error(
        "no recall {id} in namespace {namespace}: recalls are remembered for a day and until a restart; name the memories without recall_id"
    )]
    RecallNotFound {
        /// The namespace.
        namespace: Namespace,
        /// The id that was given.
        id: hindsight_core::RecallId,
    },
    /// A rule was meant, and the memory is another thing.
    #[error("memory {id} is a {kind}, no rule: list the rules to find the one that is meant")]
    NotARule {
        /// The memory.
        id: MemoryId,
        /// What it is.
        kind: Kind,
    },
    /// A rule shall be in the state in which it is.
    #[error("rule {id} is {state} already: nothing is to be changed")]
    RuleIsSo {
        /// The rule.
        id: MemoryId,
        /// Its state.
        state: RuleState,
    },
    /// No session of the namespace has this id, as far as is known (L8).
    #[error(
        "no session {session_id} in namespace {namespace}: sessions are in memory alone and end with a restart of the server; open one"
    )]
    SessionNotFound {
        /// The namespace.
        namespace: Namespace,
        /// The id that was given.
        session_id: SessionId,
    },
    /// The session was idle for too long (L8).
    #[error("session {session_id} expired at {at}, after {idle_ttl} without a call: open it again")]
    SessionExpired {
        /// The session.
        session_id: SessionId,
        /// When it ended.
        at: Timestamp,
        /// How long it could be idle.
        idle_ttl: Span,
    },
    /// The session was closed before (L8).
    #[error("session {session_id} was closed at {at}: open it again")]
    SessionClosed {
        /// The session.
        session_id: SessionId,
        /// When it was closed.
        at: Timestamp,
    },
    /// Another call is closing the session (L8).
    #[error("session {session_id} is being closed by another call: wait for that")]
    SessionClosing {
        /// The session.
        session_id: SessionId,
    },
    /// The id that the caller chose is that of an open session with other settings (L8).
    #[error(
        "session {session_id} is open with another agent, scope or other bounds: leave them out, close it, or choose another id"
    )]
    SessionExists {
        /// The session.
        session_id: SessionId,
    },
    /// The log does not reach back as far as a watch wants to begin (L9).
    #[error(
        "what came after revision {after} is not in the log any more: watch after revision {oldest} or later, and read the memories anew"
    )]
    WatchCompacted {
        /// After which revision the watch wants to begin.
        after: Lsn,
        /// The oldest revision after which one can begin now.
        oldest: Lsn,
    },
    /// A watch wants to begin after a revision that is not there (L9).
    #[error(
        "revision {after} is not there: the newest is {newest}; this is another database than the one that gave it, or one restored from a backup"
    )]
    WatchAhead {
        /// After which revision the watch wants to begin.
        after: Lsn,
        /// The newest durable revision.
        newest: Lsn,
    },
    /// The purge is durable and nobody finds the memories; their bytes are still in a file.
    #[error(
        "purged at lsn {lsn}: nobody finds the memories any more; their bytes are erased as soon as possible, which waits for {waits_for}; send the same request id again for the receipt"
    )]
    ErasurePending {
        /// The position of the purge.
        lsn: Lsn,
        /// What stands in the way.
        waits_for: String,
    },
    /// A limit of the whole data directory is reached.
    #[error("{what} is at its limit of {most}")]
    LimitReached {
        /// What is at its limit.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The log or the directory failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A backup could not be taken.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The system gave no random numbers for a new id.
    #[error("the system gives no random numbers")]
    NoRandomness(#[from] std::io::Error),
    /// The system gave no thread.
    #[error("the system gives no thread")]
    NoThread(#[source] std::io::Error),
    /// The log holds a change that can't be applied: the directory was written by something else, or a bug.
    #[error("change at lsn {lsn} can't be applied: {what}")]
    Unapplicable {
        /// The position of the batch.
        lsn: u64,
        /// What does not fit.
        what: &'static str,
    },
}

impl EngineError {
    /// What the caller should do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            EngineError::Invalid(_)
            | EngineError::ModelMismatch { .. }
            | EngineError::DimensionMismatch { .. }
            | EngineError::NotARule { .. } => ErrorKind::Invalid,
            EngineError::MemoryNotFound { .. }
            | EngineError::NamespaceNotFound { .. }
            | EngineError::RecallNotFound { .. }
            | EngineError::SessionNotFound { .. }
            | EngineError::SessionExpired { .. }
            | EngineError::SessionClosed { .. } => ErrorKind::NotFound,
            EngineError::WatchCompacted { .. } | EngineError::WatchAhead { .. } => ErrorKind::OutOfRange,
            EngineError::MemoryExists { .. }
            | EngineError::DuplicateOf { .. }
            | EngineError::SessionExists { .. }
            | EngineError::RequestIdReused { .. } => ErrorKind::AlreadyExists,
            EngineError::VersionMismatch { .. }
            | EngineError::CountMismatch { .. }
            | EngineError::SessionClosing { .. } => ErrorKind::Conflict,
            EngineError::WrongState { .. }
            | EngineError::ErasurePending { .. }
            | EngineError::NotSuperseded { .. }
            | EngineError::RuleIsSo { .. }
            | EngineError::TombstonedValue { .. }
            | EngineError::SupersededSince { .. } => ErrorKind::Precondition,
            EngineError::LimitReached { .. } => ErrorKind::Exhausted,
            EngineError::Unapplicable { .. } => ErrorKind::DataLoss,
            EngineError::NoRandomness(_) | EngineError::NoThread(_) => ErrorKind::Internal,
            EngineError::Storage(error) => storage_kind(error.kind()),
            EngineError::Backup(error) => storage_kind(error.kind()),
        }
    }

    /// The short word of the error, stable on the wire (`ErrorInfo.reason`).
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            EngineError::Invalid(_) => "FIELD_INVALID",
            EngineError::MemoryNotFound { .. } => "MEMORY_NOT_FOUND",
            EngineError::NamespaceNotFound { .. } => "NAMESPACE_NOT_FOUND",
            EngineError::MemoryExists { .. } => "MEMORY_EXISTS",
            EngineError::DuplicateOf { .. } => "DUPLICATE_OF",
            EngineError::TombstonedValue { .. } => "TOMBSTONED_VALUE",
            EngineError::VersionMismatch { .. } => "VERSION_MISMATCH",
            EngineError::RequestIdReused { .. } => "REQUEST_ID_REUSED",
            EngineError::ModelMismatch { .. } => "MODEL_MISMATCH",
            EngineError::DimensionMismatch { .. } => "DIMENSION_MISMATCH",
            EngineError::CountMismatch { .. } => "COUNT_MISMATCH",
            EngineError::WrongState { .. } => "WRONG_STATE",
            EngineError::NotSuperseded { .. } => "NOT_SUPERSEDED",
            EngineError::SupersededSince { .. } => "SUPERSEDED_SINCE",
            EngineError::RecallNotFound { .. } => "RECALL_NOT_FOUND",
            EngineError::NotARule { .. } => "NOT_A_RULE",
            EngineError::RuleIsSo { .. } => "RULE_IS_SO",
            EngineError::SessionNotFound { .. } => "SESSION_NOT_FOUND",
            EngineError::SessionExpired { .. } => "SESSION_EXPIRED",
            EngineError::SessionClosed { .. } => "SESSION_CLOSED",
            EngineError::SessionClosing { .. } => "SESSION_CLOSING",
            EngineError::SessionExists { .. } => "SESSION_EXISTS",
            EngineError::WatchCompacted { .. } => "WATCH_COMPACTED",
            EngineError::WatchAhead { .. } => "WATCH_AHEAD",
            EngineError::ErasurePending { .. } => "ERASURE_PENDING",
            EngineError::LimitReached { .. } => "LIMIT_REACHED",
            EngineError::Unapplicable { .. } => "CHECKSUM_MISMATCH",
            EngineError::NoRandomness(_) | EngineError::NoThread(_) => "INTERNAL",
            EngineError::Storage(error) => storage_reason(error.kind()),
            EngineError::Backup(error) => storage_reason(error.kind()),
        }
    }
}

/// The date of a time, as it stands before the `T`.
fn day(time: Timestamp) -> String {
    time.to_string().chars().take_while(|one| *one != 'T').collect()
}

/// What can be done instead of writing it.
fn instead(forgotten: Option<MemoryId>) -> String {
    match forgotten {
        Some(id) => format!("restore {id}, or insist with allow_forgotten"),
        None => "insist with allow_forgotten to store it all the same".to_owned(),
    }
}

fn storage_kind(kind: StorageErrorKind) -> ErrorKind {
    match kind {
        StorageErrorKind::Corrupt | StorageErrorKind::Replay => ErrorKind::DataLoss,
        StorageErrorKind::Poisoned
        | StorageErrorKind::Closed
        | StorageErrorKind::Refused
        | StorageErrorKind::NotWritable => ErrorKind::Precondition,
        StorageErrorKind::Unstorable | StorageErrorKind::Full => ErrorKind::Exhausted,
        StorageErrorKind::Io => ErrorKind::Internal,
    }
}

fn storage_reason(kind: StorageErrorKind) -> &'static str {
    match kind {
        StorageErrorKind::Poisoned => "STORAGE_POISONED",
        StorageErrorKind::Full => "DISK_FULL",
        StorageErrorKind::Closed => "DRAINING",
        StorageErrorKind::Refused | StorageErrorKind::NotWritable => "DATA_DIR_REFUSED",
        StorageErrorKind::Unstorable => "BATCH_TOO_LARGE",
        StorageErrorKind::Corrupt | StorageErrorKind::Replay => "CHECKSUM_MISMATCH",
        StorageErrorKind::Io => "STORAGE_FAILED",
    }
}
