//! What a caller is told when a call fails: the one map from errors to codes, for every front.

use std::{collections::BTreeMap, time::Duration};

use hindsight_core::{Invalid, Violation};
use hindsight_engine::{EngineError, ErrorKind};
use hindsight_proto::{CURRENT_VERSION_KEY, OLDEST_REVISION_KEY};
use hindsight_storage::StorageError;

use super::AppError;

/// When it makes sense to ask a full disk again: it is looked at twice a second, and nobody frees space sooner.
const DISK_FULL_RETRY: Duration = Duration::from_secs(5);

/// Most characters of what a caller is told, of what is told of one field, and of the name of one.
const TOLD_CHARS_MAX: usize = 600;
const DESCRIPTION_CHARS_MAX: usize = 300;
const NAME_CHARS_MAX: usize = 120;
/// Most fields that are told of.
const VIOLATIONS_MAX: usize = 20;

fn clip(text: &mut String, most: usize) {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
}

/// What kind of no it is; each front has one number for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Invalid,
    NotFound,
    AlreadyExists,
    Aborted,
    Precondition,
    Exhausted,
    OutOfRange,
    Unavailable,
    Deadline,
    Unauthenticated,
    Forbidden,
    MethodNotAllowed,
    DataLoss,
    Internal,
}

impl Code {
    /// The label of calls that ended so, in the words of gRPC.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Code::Invalid => "invalid_argument",
            Code::NotFound => "not_found",
            Code::AlreadyExists => "already_exists",
            Code::Aborted => "aborted",
            Code::Precondition => "failed_precondition",
            Code::Exhausted => "resource_exhausted",
            Code::OutOfRange => "out_of_range",
            Code::Unavailable => "unavailable",
            Code::Deadline => "deadline_exceeded",
            Code::Unauthenticated => "unauthenticated",
            Code::Forbidden => "permission_denied",
            Code::MethodNotAllowed => "unimplemented",
            Code::DataLoss => "data_loss",
            Code::Internal => "internal",
        }
    }
}

/// A call that was not carried out, as its caller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    /// The stable word of the error.
    pub(crate) reason: &'static str,
    /// A sentence that says what would be right.
    pub(crate) message: String,
    /// The fields that are wrong.
    pub(crate) violations: Vec<Violation>,
    /// Facts that a program needs to go on, such as the present version.
    pub(crate) metadata: BTreeMap<&'static str, String>,
    /// When it makes sense to try the same again; absent where it does not.
    pub(crate) retry_after: Option<Duration>,
}

impl Refusal {
    pub(crate) fn new(code: Code, reason: &'static str, message: impl Into<String>) -> Refusal {
        Refusal {
            code,
            reason,
            message: message.into(),
            violations: Vec::new(),
            metadata: BTreeMap::new(),
            retry_after: None,
        }
    }

    /// A request that is larger than the server reads. `field` is what the front calls the whole of it.
    pub(crate) fn too_large(field: &str, found: Option<u64>, limit: usize) -> Refusal {
        let found = found.map_or_else(|| "more bytes".to_owned(), |bytes| format!("{bytes} bytes"));
        let problem = format!("has {found}: at most {limit}; send it in parts, nothing is stored");
        let mut refusal = Refusal::new(Code::Invalid, "CONTENT_TOO_LARGE", format!("the {field} {problem}"));
        refusal.violations.push(Violation { field: field.to_owned(), description: problem });
        refusal.metadata.insert("limit_bytes", limit.to_string());
        refusal
    }

    /// More calls than can be worked on.
    pub(crate) fn overloaded(message: impl Into<String>) -> Refusal {
        let refusal = Refusal::new(Code::Unavailable, "OVERLOADED", message);
        Refusal { retry_after: Some(Duration::from_millis(100)), ..refusal }
    }

    /// The time for the call is over.
    pub(crate) fn deadline(limit: Duration) -> Refusal {
        let message =
            format!("not answered within {} ms: narrow the request or allow more time", limit.as_millis());
        Refusal::new(Code::Deadline, "DEADLINE", message)
    }

    pub(crate) fn internal() -> Refusal {
        Refusal::new(Code::Internal, "INTERNAL", AppError::Panicked.to_string())
    }

    /// What of it goes over the wire: a caller who sends much is not shown all of it again, since what is told goes into a head
    /// that has its limit, too.
    pub(crate) fn clipped(mut self) -> Refusal {
        clip(&mut self.message, TOLD_CHARS_MAX);
        self.violations.truncate(VIOLATIONS_MAX);
        for violation in &mut self.violations {
            clip(&mut violation.field, NAME_CHARS_MAX);
            clip(&mut violation.description, DESCRIPTION_CHARS_MAX);
        }
        self.metadata.values_mut().for_each(|value| clip(value, NAME_CHARS_MAX));
        self
    }

    fn with_violation(mut self, field: &str) -> Refusal {
        let description = self.message.clone();
        self.violations.push(Violation { field: field.to_owned(), description });
        self
    }
}

impl From<Invalid> for Refusal {
    fn from(invalid: Invalid) -> Self {
        Refusal {
            violations: invalid.violations.clone(),
            ..Refusal::new(Code::Invalid, "FIELD_INVALID", invalid.to_string())
        }
    }
}

impl From<AppError> for Refusal {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Engine(error) => of_engine(&error, ["embedding_model", "vectors"]),
            AppError::QueryVector(error) => of_engine(&error, ["embedding_model", "vector"]),
            AppError::ForeignModel { .. } => {
                Refusal::new(Code::Invalid, "MODEL_MISMATCH", error.to_string()).with_violation("vector")
            }
            AppError::NothingToEmbed { .. } => {
                Refusal::new(Code::Invalid, "FIELD_INVALID", error.to_string()).with_violation("query")
            }
            AppError::Overloaded | AppError::NamespaceOverloaded => Refusal::overloaded(error.to_string()),
            AppError::BackupRuns => {
                let refusal = Refusal::overloaded(error.to_string());
                Refusal { retry_after: Some(Duration::from_secs(10)), ..refusal }
            }
            AppError::Embed(error) => {
                tracing::error!(%error, "the embedder refused a batch that the server cut");
                Refusal::internal()
            }
            AppError::Refused(refusal) => *refusal,
            AppError::Draining => {
                let refusal = Refusal::new(Code::Unavailable, "DRAINING", error.to_string());
                Refusal { retry_after: Some(Duration::from_secs(1)), ..refusal }
            }
            AppError::Panicked => {
                tracing::error!("a call panicked");
                Refusal::internal()
            }
        }
    }
}

/// The engine's errors. The two fields are what the caller calls the model's name and the vectors.
fn of_engine(error: &EngineError, [model, vectors]: [&str; 2]) -> Refusal {
    if let EngineError::Invalid(invalid) = error {
        return invalid.clone().into();
    }
    let code = code_of(error.kind());
    if matches!(code, Code::DataLoss | Code::Internal) {
        tracing::error!(error = error as &dyn std::error::Error, "the engine failed");
    }
    let mut refusal = Refusal::new(code, error.reason(), error.to_string());
    note_facts(error, &mut refusal);
    match error {
        EngineError::Storage(StorageError::DiskFull { .. }) => {
            Refusal { retry_after: Some(DISK_FULL_RETRY), ..refusal }
        }
        EngineError::ModelMismatch { .. } => of_model(error, refusal).with_violation(model),
        EngineError::DimensionMismatch { .. } => of_model(error, refusal).with_violation(vectors),
        _ => refusal,
    }
}

/// Notes what a program needs to go on.
fn note_facts(error: &EngineError, refusal: &mut Refusal) {
    let mut note = |key, value: &dyn std::fmt::Display| refusal.metadata.insert(key, value.to_string());
    match error {
        EngineError::MemoryNotFound { id, .. }
        | EngineError::MemoryExists { id }
        | EngineError::DuplicateOf { id }
        | EngineError::NotSuperseded { id }
        | EngineError::NotARule { id, .. } => {
            note("id", id);
        }
        EngineError::RuleIsSo { id, state } => {
            note("id", id);
            note("state", state);
        }
        EngineError::TombstonedValue { id, forgotten_at, .. } => {
            note("forgotten_at", forgotten_at);
            if let Some(id) = id {
                note("id", id);
            }
        }
        EngineError::SupersededSince { id, by } => {
            note("id", id);
            note("superseded_by", by);
        }
        EngineError::RecallNotFound { id, .. } => {
            note("recall_id", id);
        }
        EngineError::VersionMismatch { id, given, current } => {
            note("id", id);
            note("given_version", given);
            note(CURRENT_VERSION_KEY, current);
        }
        EngineError::CountMismatch { expected, found } => {
            note("expected_count", expected);
            note("found_count", found);
        }
        EngineError::WrongState { id, state, needed } => {
            note("id", id);
            note("state", state);
            note("needed_state", needed);
        }
        EngineError::LimitReached { most, .. } => {
            note("limit", most);
        }
        EngineError::Storage(StorageError::DiskFull { needed_bytes, .. }) => {
            note("needed_bytes", needed_bytes);
        }
        error => note_place(error, &mut note),
    }
}

/// Notes which model was expected and which was given.
fn of_model(error: &EngineError, mut refusal: Refusal) -> Refusal {
    let mut note = |key, value: &dyn std::fmt::Display| refusal.metadata.insert(key, value.to_string());
    match error {
        EngineError::ModelMismatch { expected, given, .. } => {
            note("expected_model", expected);
            note("given_model", given);
        }
        EngineError::DimensionMismatch { expected_model, expected, given_model, given, .. } => {
            note("expected_model", expected_model);
            note("expected_dimension", expected);
            note("given_model", given_model);
            note("given_dimension", given);
        }
        _ => {}
    }
    refusal
}

pub(super) fn code_of(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::Invalid => Code::Invalid,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::AlreadyExists => Code::AlreadyExists,
        ErrorKind::Conflict => Code::Aborted,
        ErrorKind::Precondition => Code::Precondition,
        ErrorKind::Exhausted => Code::Exhausted,
        ErrorKind::OutOfRange => Code::OutOfRange,
        ErrorKind::DataLoss => Code::DataLoss,
        ErrorKind::Internal => Code::Internal,
    }
}

/// Which session it is about, or which place in the log.
fn note_place(
    error: &EngineError,
    note: &mut dyn FnMut(&'static str, &dyn std::fmt::Display) -> Option<String>,
) {
    match error {
        EngineError::SessionNotFound { session_id, .. }
        | EngineError::SessionExpired { session_id, .. }
        | EngineError::SessionClosed { session_id, .. }
        | EngineError::SessionClosing { session_id }
        | EngineError::SessionExists { session_id } => {
            note("session_id", session_id);
        }
        EngineError::WatchCompacted { after, oldest } => {
            note("after_revision", after);
            note(OLDEST_REVISION_KEY, oldest);
        }
        EngineError::WatchAhead { after, newest } => {
            note("after_revision", after);
            note("newest_revision", newest);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch() -> EngineError {
        EngineError::DimensionMismatch {
            namespace: "ops".parse().unwrap(),
            expected_model: "a".into(),
            expected: 3,
            given_model: "b".into(),
            given: 2,
        }
    }

    #[test]
    fn s5_what_a_caller_sent_is_not_shown_back_without_end() {
        let mut refusal = Refusal::new(Code::Invalid, "FIELD_INVALID", "字".repeat(5_000));
        let violation = Violation { field: "f".repeat(5_000), description: "d".repeat(5_000) };
        refusal.violations = vec![violation; 500];
        let clipped = refusal.clipped();
        assert_eq!(clipped.message.chars().count(), TOLD_CHARS_MAX + 1);
        assert_eq!(clipped.violations.len(), VIOLATIONS_MAX);
        let violation = &clipped.violations[0];
        assert_eq!((violation.field.chars().count(), violation.description.chars().count()), (121, 301));
        let short = Refusal::new(Code::Invalid, "FIELD_INVALID", "short");
        assert_eq!(short.clone().clipped(), short);
    }

    #[test]
    fn vectors_are_called_as_the_caller_calls_them() {
        let write = Refusal::from(AppError::Engine(mismatch()));
        let recall = Refusal::from(AppError::QueryVector(mismatch()));
        assert_eq!((write.violations[0].field.as_str(), write.code), ("vectors", Code::Invalid));
        assert_eq!(recall.violations[0].field, "vector");
        assert_eq!(recall.metadata["expected_dimension"], "3");
    }

    #[test]
    fn d6_a_full_disk_says_what_is_needed_and_when_to_ask_again() {
        let source = std::sync::Arc::new(std::io::Error::from_raw_os_error(28));
        let failure = hindsight_storage::IoFailure { op: "write", path: "/data/log/1.log".into(), source };
        let full = StorageError::DiskFull { path: "/data".into(), needed_bytes: 134_217_728, failure };
        let refusal = Refusal::from(AppError::Engine(full.into()));
        assert_eq!((refusal.code, refusal.reason), (Code::Exhausted, "DISK_FULL"));
        assert_eq!(refusal.retry_after, Some(DISK_FULL_RETRY));
        assert_eq!(refusal.metadata["needed_bytes"], "134217728");
        assert!(refusal.message.contains("more than 128 MiB are free"), "{}", refusal.message);
    }

    #[test]
    fn d5_a_poisoned_log_says_which_call_failed_and_how() {
        let source = std::sync::Arc::new(std::io::Error::from_raw_os_error(28));
        let failure = hindsight_storage::IoFailure { op: "sync", path: "/data/log/1.log".into(), source };
        let refusal = Refusal::from(AppError::Engine(StorageError::Poisoned(failure).into()));
        assert_eq!((refusal.code, refusal.reason), (Code::Precondition, "STORAGE_POISONED"));
        assert!(
            refusal.message.contains("can't sync /data/log/1.log: No space left on device"),
            "{}",
            refusal.message
        );
    }

    #[test]
    fn a_stale_version_comes_with_the_present_one() {
        let id = hindsight_core::MemoryId::from_u128(1);
        let error = EngineError::VersionMismatch { id, given: 1, current: 4 };
        let refusal = Refusal::from(AppError::Engine(error));
        assert_eq!((refusal.code, refusal.metadata[CURRENT_VERSION_KEY].as_str()), (Code::Aborted, "4"));
        assert_eq!(refusal.retry_after, None);
    }
}
