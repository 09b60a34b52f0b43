//! A refusal in the words of gRPC: a code, and details that a program can read.

use std::collections::HashMap;

use axum::response::Response;
use hindsight_proto::ERROR_DOMAIN;
use tonic::Status;
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use crate::app::{Code, Refusal};

/// The status for anything that is a refusal or becomes one.
pub(crate) fn refuse(error: impl Into<Refusal>) -> Status {
    status(error.into())
}

/// The whole reply of a call that never reached its method.
pub(crate) fn reply(refusal: Refusal) -> Response {
    status(refusal).into_http()
}

fn status(refusal: Refusal) -> Status {
    let Refusal { code, reason, message, violations, metadata, retry_after } = refusal.clipped();
    let metadata: HashMap<String, String> =
        metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let mut details = ErrorDetails::with_error_info(reason, ERROR_DOMAIN, metadata);
    if !violations.is_empty() {
        let violations = violations.into_iter();
        let violations: Vec<FieldViolation> =
            violations.map(|violation| FieldViolation::new(violation.field, violation.description)).collect();
        details.set_bad_request(violations);
    }
    if retry_after.is_some() {
        details.set_retry_info(retry_after);
    }
    Status::with_error_details(of(code), message, details)
}

/// The label of calls that were answered with this code.
pub(crate) fn word(code: tonic::Code) -> &'static str {
    match code {
        tonic::Code::Ok => "ok",
        tonic::Code::Cancelled => "cancelled",
        tonic::Code::Unknown => "unknown",
        tonic::Code::InvalidArgument => Code::Invalid.word(),
        tonic::Code::DeadlineExceeded => Code::Deadline.word(),
        tonic::Code::NotFound => Code::NotFound.word(),
        tonic::Code::AlreadyExists => Code::AlreadyExists.word(),
        tonic::Code::PermissionDenied => Code::Forbidden.word(),
        tonic::Code::ResourceExhausted => Code::Exhausted.word(),
        tonic::Code::FailedPrecondition => Code::Precondition.word(),
        tonic::Code::Aborted => Code::Aborted.word(),
        tonic::Code::OutOfRange => Code::OutOfRange.word(),
        tonic::Code::Unimplemented => Code::MethodNotAllowed.word(),
        tonic::Code::Internal => Code::Internal.word(),
        tonic::Code::Unavailable => Code::Unavailable.word(),
        tonic::Code::DataLoss => Code::DataLoss.word(),
        tonic::Code::Unauthenticated => Code::Unauthenticated.word(),
    }
}

fn of(code: Code) -> tonic::Code {
    match code {
        Code::Invalid => tonic::Code::InvalidArgument,
        Code::NotFound => tonic::Code::NotFound,
        Code::AlreadyExists => tonic::Code::AlreadyExists,
        Code::Aborted => tonic::Code::Aborted,
        Code::Precondition => tonic::Code::FailedPrecondition,
        Code::Exhausted => tonic::Code::ResourceExhausted,
        Code::OutOfRange => tonic::Code::OutOfRange,
        Code::Unavailable => tonic::Code::Unavailable,
        Code::Deadline => tonic::Code::DeadlineExceeded,
        Code::Unauthenticated => tonic::Code::Unauthenticated,
        Code::Forbidden => tonic::Code::PermissionDenied,
        Code::MethodNotAllowed => tonic::Code::Unimplemented,
        Code::DataLoss => tonic::Code::DataLoss,
        Code::Internal => tonic::Code::Internal,
    }
}
