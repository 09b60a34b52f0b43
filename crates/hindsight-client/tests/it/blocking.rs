//! The calls that wait.

use hindsight_client::{ConnectHint, Error, RecordDraft, Status, blocking};

use crate::mock::Mock;

#[test]
fn calls_wait_for_their_answers_without_a_runtime_of_the_caller() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(Mock::default().start());
    let client = blocking::Client::connect(&server.url()).unwrap();
    let ops = client.namespace("ops").unwrap();
    let record = RecordDraft {
        task_type: "order_processing".to_owned(),
        status: Some(Status::Failure),
        summary: "Updating an order".to_owned(),
        resolution: Some("refresh the token, then retry".to_owned()),
        ..RecordDraft::default()
    };
    ops.record(record).unwrap();
    assert_eq!(ops.recall("update an order").unwrap().hits.len(), 1);
    assert!(client.namespace("../etc").is_err());
}

#[tokio::test]
async fn inside_a_runtime_it_is_refused_and_not_a_panic() {
    let server = Mock::default().start().await;
    let url = server.url();
    let inside = blocking::Client::connect(&url).unwrap_err();
    assert!(matches!(inside, Error::Connect { hint: ConnectHint::InsideRuntime, .. }), "{inside:?}");
    let outside = tokio::task::spawn_blocking(move || {
        std::thread::spawn(move || blocking::Client::connect(&url)).join()
    });
    let client = outside.await.unwrap().unwrap().unwrap();
    assert!(client.server_info().unwrap_err().to_string().contains("use hindsight_client::Client"));
    // It is dropped here, inside the runtime.
    drop(client);
}
