//! The example does what it says: the second run follows what the first one recorded.

#[path = "../../examples/agent_loop.rs"]
#[expect(dead_code, reason = "the example's `main` is for readers")]
mod example;

use crate::mock::Mock;

#[tokio::test]
async fn the_second_run_follows_the_advice_of_the_first() {
    let server = Mock::default().start().await;
    let client = server.client().await;
    assert_eq!(example::run(&client).await.unwrap(), None);
    assert_eq!(example::run(&client).await.unwrap().as_deref(), Some("refresh the token, then retry"));
    let rpcs: Vec<&str> = server.mock.seen().iter().map(|seen| seen.rpc).collect();
    assert_eq!(rpcs, ["Recall", "Record", "Recall", "Record"]);
}
