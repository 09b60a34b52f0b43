//! Every kind of status becomes its kind of error, with the reason and the details that the server gave.

use std::collections::HashMap;

use hindsight_client::{ClientBuilder, Error, Patch, UpdateOptions};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::mock::Mock;

fn status(code: Code, reason: &str, metadata: &[(&str, &str)]) -> Status {
    let metadata: HashMap<String, String> =
        metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Status::with_error_details(code, "说明", ErrorDetails::with_error_info(reason, "hindsight", metadata))
}

async fn error_of(status: Status) -> Error {
    let server = Mock::failing([status]).start().await;
    server.client().await.namespace("ops").unwrap().recall("x").await.unwrap_err()
}

#[tokio::test]
async fn wrong_fields_are_named() {
    let mut details = ErrorDetails::with_error_info("FIELD_INVALID", "hindsight", HashMap::new());
    details.add_bad_request_violation("importance", "is 1.5: expected a number from 0 to 1");
    let status = Status::with_error_details(Code::InvalidArgument, "importance: is 1.5", details);
    let error = error_of(status).await;
    assert_eq!((error.reason(), error.violations()[0].field.as_str()), ("FIELD_INVALID", "importance"));
    assert_eq!(error.violations()[0].description, "is 1.5: expected a number from 0 to 1");
    assert_eq!(error.to_string(), "importance: is 1.5");
}

#[tokio::test]
async fn kinds_and_reasons() {
    type IsRight = fn(&Error) -> bool;
    let cases: [(Code, &str, IsRight); 8] = [
        (Code::NotFound, "MEMORY_NOT_FOUND", |error| matches!(error, Error::NotFound { .. })),
        (Code::AlreadyExists, "REQUEST_ID_REUSED", |error| matches!(error, Error::AlreadyExists { .. })),
        (Code::Aborted, "COUNT_MISMATCH", |error| matches!(error, Error::Conflict { .. })),
        (Code::FailedPrecondition, "WRONG_STATE", |error| matches!(error, Error::Conflict { .. })),
        (Code::PermissionDenied, "SCOPE_MISSING", |error| matches!(error, Error::PermissionDenied { .. })),
        (Code::Unauthenticated, "TOKEN_MISSING", |error| matches!(error, Error::PermissionDenied { .. })),
        (Code::ResourceExhausted, "DISK_FULL", |error| {
            matches!(error, Error::Exhausted { retry_after: None, .. })
        }),
        (Code::DataLoss, "CHECKSUM_MISMATCH", |error| matches!(error, Error::Server { .. })),
    ];
    for (code, reason, is_right) in cases {
        let error = error_of(status(code, reason, &[])).await;
        assert!(is_right(&error), "{code:?}: {error:?}");
        assert_eq!(error.reason(), reason);
        assert!(error.to_string().contains("说明"), "{error}");
        assert!(!error.is_retryable(), "{error:?}");
    }
}

#[tokio::test]
async fn a_stale_version_tells_the_present_one() {
    let mismatch = |metadata: &[(&str, &str)]| status(Code::Aborted, "VERSION_MISMATCH", metadata);
    let server = Mock::failing([mismatch(&[("current_version", "12")]), mismatch(&[])]).start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    let update = || {
        let patch = Patch { importance: Some(0.5), ..Patch::default() };
        let options = UpdateOptions { version: Some(3), ..UpdateOptions::default() };
        ops.update_with(hindsight_client::MemoryId::from_u128(1), patch, options)
    };
    assert!(matches!(update().await, Err(Error::VersionMismatch { current: Some(12), .. })));
    assert!(matches!(update().await, Err(Error::VersionMismatch { current: None, .. })));
}

#[tokio::test]
async fn without_details_the_code_is_the_reason() {
    let error = error_of(Status::internal("boom")).await;
    assert_eq!((error.reason(), error.to_string().as_str()), ("INTERNAL", "boom (INTERNAL)"));
    let foreign = ErrorDetails::with_error_info("THEIRS", "other.example", HashMap::new());
    let error = error_of(Status::with_error_details(Code::Internal, "boom", foreign)).await;
    assert_eq!(error.reason(), "INTERNAL");
}

#[tokio::test]
async fn a_message_that_is_too_large_says_so() {
    let server = Mock::default().start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    let huge = hindsight_client::Draft { content: "x".repeat(5 << 20), ..Default::default() };
    let error = ops.write(huge).await.unwrap_err();
    assert_eq!(error.reason(), "CONTENT_TOO_LARGE");
    assert!(error.to_string().contains("at most 4194304 can be sent"), "{error}");
    assert_eq!(server.mock.seen(), []);
}

#[tokio::test]
async fn a_limit_of_the_server_or_of_the_answer_says_so_too() {
    let server = Mock::default().start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    let draft = |chars| hindsight_client::Draft { content: "x".repeat(chars), ..Default::default() };
    ops.write(draft(20_000)).await.unwrap();
    // The server takes tonic's default of 4 MiB, and this client sends more.
    let small =
        ClientBuilder::new().message_bytes_max(64 << 20, 10_000).connect(&server.url()).await.unwrap();
    let ops = small.namespace("ops").unwrap();
    for error in [ops.write(draft(5 << 20)).await.unwrap_err(), ops.recall("x").await.unwrap_err()] {
        assert_eq!(error.reason(), "CONTENT_TOO_LARGE");
        assert!(error.to_string().ends_with("send or ask for less at once"), "{error}");
    }
}
