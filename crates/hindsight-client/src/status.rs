//! Reads a gRPC status: the code says what kind of error it is, `ErrorInfo` its reason, the other details the rest.

use std::error::Error as _;
use std::time::Duration;

use hindsight_core::Violation;
use hindsight_proto::{CURRENT_VERSION_KEY, ERROR_DOMAIN, OLDEST_REVISION_KEY};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::Error;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the caller learns of it.
    pub(crate) error: Error,
    /// The connection failed, not the server: nobody answered.
    pub(crate) unanswered: bool,
}

impl Failure {
    /// The failure behind a status, of a call that had `timeout`.
    pub(crate) fn of(status: &Status, timeout: Duration) -> Failure {
        if sources(status).any(|error| error.is::<tonic::TimeoutExpired>()) {
            return Failure { error: Error::Deadline { timeout }, unanswered: false };
        }
        // Only this side attaches sources, so one that comes from the connection means that the server said nothing.
        let broken = sources(status).any(|error| {
            error.is::<tonic::transport::Error>()
                || error.is::<tonic::ConnectError>()
                || error.is::<std::io::Error>()
        });
        if broken {
            let last = sources(status).last().map(ToString::to_string).unwrap_or_default();
            let reason = "UNAVAILABLE".to_owned();
            let error = Error::Unavailable { reason, message: last, retry_after: None };
            return Failure { error, unanswered: true };
        }
        Failure { error: answered(status, timeout), unanswered: false }
    }
}

fn sources(status: &Status) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(status.source(), |error| {
        let error: &(dyn std::error::Error + 'static) = *error;
        error.source()
    })
}

/// The error that a server answered with.
fn answered(status: &Status, timeout: Duration) -> Error {
    let details = status.get_error_details();
    let info = details.error_info().filter(|info| info.domain == ERROR_DOMAIN);
    let reason = info.map_or_else(|| code_name(status.code()).to_owned(), |info| info.reason.clone());
    let message = status.message().to_owned();
    let retry_after = details.retry_info().and_then(|retry| retry.retry_delay);
    match status.code() {
        Code::InvalidArgument => Error::Invalid { reason, message, violations: violations(&details) },
        // A message beyond the size limit of the server, or an answer beyond ours: this code, and no details.
        Code::OutOfRange if info.is_none() => Error::Invalid {
            reason: "CONTENT_TOO_LARGE".to_owned(),
            message: format!("{message}; send or ask for less at once"),
            violations: Vec::new(),
        },
        Code::OutOfRange => Error::OutOfRange {
            reason,
            message,
            oldest: info
                .and_then(|info| info.metadata.get(OLDEST_REVISION_KEY)?.parse().ok())
                .map(hindsight_core::Lsn),
        },
        Code::NotFound => Error::NotFound { reason, message },
        Code::Aborted if reason == "VERSION_MISMATCH" => Error::VersionMismatch {
            current: info.and_then(|info| info.metadata.get(CURRENT_VERSION_KEY)?.parse().ok()),
            message,
        },
        Code::Aborted | Code::FailedPrecondition => Error::Conflict { reason, message },
        Code::AlreadyExists => Error::AlreadyExists { reason, message },
        Code::PermissionDenied | Code::Unauthenticated => Error::PermissionDenied { reason, message },
        Code::Unavailable => Error::Unavailable { reason, message, retry_after },
        Code::ResourceExhausted => Error::Exhausted { reason, message, retry_after },
        Code::DeadlineExceeded => Error::Deadline { timeout },
        _ => Error::Server { reason, message },
    }
}

fn violations(details: &ErrorDetails) -> Vec<Violation> {
    let fields = details.bad_request().map(|bad| bad.field_violations.as_slice()).unwrap_or_default();
    let fields = fields.iter();
    fields
        .map(|violation| Violation {
            field: violation.field.clone(),
            description: violation.description.clone(),
        })
        .collect()
}

/// The name of a code as gRPC spells it.
const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
