//! When a call is made again, and what stays the same when it is.

use std::time::Duration;

use hindsight_client::{BatchOptions, ClientBuilder, Draft, Error, Filter, ForgetMode, Patch, WriteOptions};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::mock::{Mock, Seen};

fn fact(content: &str) -> Draft {
    Draft { content: content.to_owned(), ..Draft::default() }
}

fn away() -> Status {
    Status::unavailable("starting")
}

fn exhausted(retry_after: Option<Duration>) -> Status {
    let mut details =
        ErrorDetails::with_error_info("RATE_LIMITED", "hindsight", std::collections::HashMap::new());
    if retry_after.is_some() {
        details.set_retry_info(retry_after);
    }
    Status::with_error_details(Code::ResourceExhausted, "too many calls", details)
}

#[tokio::test]
async fn a_write_is_repeated_with_the_same_request_id_while_the_server_is_away() {
    let server = Mock::failing([away(), away()]).start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    let written = ops.write(fact("部署成功")).await.unwrap();
    assert_eq!((written.memory.content.as_str(), written.revision.0), ("部署成功", 7));
    let seen = server.mock.seen();
    let ids: Vec<&str> = seen.iter().map(|seen| seen.request_id.as_str()).collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.iter().all(|id| *id == ids[0] && id.len() == 36), "{ids:?}");
    assert!(seen.iter().all(|seen| !seen.timeout.is_empty()), "{seen:?}");
}

#[tokio::test]
async fn every_mutation_carries_a_request_id_of_its_own_and_reads_none() {
    let server = Mock::default().start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    let id = ops.write(fact("one")).await.unwrap().memory.id;
    ops.batch_write(Vec::new(), BatchOptions::default()).await.unwrap();
    ops.update(id, Patch { importance: Some(0.5), ..Patch::default() }).await.unwrap();
    ops.forget_ids(&[id]).await.unwrap();
    ops.restore(&[id]).await.unwrap();
    ops.recall("one").await.unwrap();
    ops.get(id).await.unwrap();
    ops.forget_where(Filter::default(), ForgetMode::DryRun).await.unwrap();
    let options = WriteOptions { request_id: Some("mine".to_owned()), ..WriteOptions::default() };
    ops.write_with(fact("two"), None, options).await.unwrap();
    let seen = server.mock.seen();
    let (made, rest) = seen.split_at(5);
    let mut ids: Vec<&String> = made.iter().map(|seen| &seen.request_id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert!(ids.len() == 5 && ids.iter().all(|id| id.len() == 36), "{made:?}");
    let rest: Vec<(&str, &str)> =
        rest.iter().map(|Seen { rpc, request_id, .. }| (*rpc, request_id.as_str())).collect();
    assert_eq!(rest, [("Recall", ""), ("Get", ""), ("Forget", ""), ("Write", "mine")]);
}

#[tokio::test]
async fn after_three_attempts_the_caller_learns_why() {
    let server = Mock::failing([away(), away(), away(), away()]).start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    let error = ops.recall("x").await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!(error.reason(), "UNAVAILABLE");
    assert_eq!(error.to_string(), "the server is unavailable: starting");
    assert_eq!(server.mock.seen().len(), 3);
}

#[tokio::test]
async fn retries_can_be_switched_off() {
    let server = Mock::failing([away()]).start().await;
    let client = ClientBuilder::new().attempts(1).connect(&server.url()).await.unwrap();
    assert!(matches!(client.namespace("ops").unwrap().recall("x").await, Err(Error::Unavailable { .. })));
    assert_eq!(server.mock.seen().len(), 1);
}

#[tokio::test]
async fn only_what_repeating_can_help_is_repeated() {
    let codes = [
        Code::Internal,
        Code::Unknown,
        Code::Aborted,
        Code::DeadlineExceeded,
        Code::Cancelled,
        Code::InvalidArgument,
        Code::DataLoss,
        Code::FailedPrecondition,
        Code::ResourceExhausted,
    ];
    for code in codes {
        let server = Mock::failing([Status::new(code, "no")]).start().await;
        let ops = server.client().await.namespace("ops").unwrap();
        let error = ops.write(fact("x")).await.unwrap_err();
        assert!(!error.is_retryable(), "{code:?}: {error:?}");
        assert_eq!(server.mock.seen().len(), 1, "{code:?}");
    }
}

#[tokio::test]
async fn a_limit_that_passes_is_waited_for() {
    let soon = Some(Duration::from_millis(1));
    let server = Mock::failing([exhausted(soon), exhausted(soon)]).start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    ops.write(fact("x")).await.unwrap();
    assert_eq!(server.mock.seen().len(), 3);
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_is_left_to_the_caller() {
    let late = Some(Duration::from_secs(3600));
    let server = Mock::failing([exhausted(late)]).start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    let error = ops.write(fact("x")).await.unwrap_err();
    assert_eq!((error.reason(), error.retry_after()), ("RATE_LIMITED", late));
    assert!(error.is_retryable());
    assert_eq!(server.mock.seen().len(), 1);
}

#[tokio::test]
async fn a_call_ends_with_its_deadline_and_the_server_knows_it() {
    let server = Mock::hanging().start().await;
    let ops = server.client().await.namespace("ops").unwrap().with_timeout(Duration::from_secs(1));
    let error = ops.write(fact("x")).await.unwrap_err();
    assert_eq!(error, Error::Deadline { timeout: Duration::from_secs(1) });
    assert_eq!(error.to_string(), "no answer within 1000 ms");
    let seen = server.mock.seen();
    assert_eq!(seen.len(), 1);
    let (number, unit) = seen[0].timeout.split_at(seen[0].timeout.len() - 1);
    let number: u64 = number.parse().unwrap();
    let nanos = match unit {
        "m" => number * 1_000_000,
        "u" => number * 1_000,
        "n" => number,
        other => panic!("unit {other}"),
    };
    assert!((1..=1_000_000_000).contains(&nanos), "{nanos}");
}
