//! The example that the README shows, against the real server: what one run records, the next one recalls.

#[path = "../../../hindsight-client/examples/agent_loop.rs"]
#[expect(dead_code, reason = "the example's `main` is for readers")]
mod example;

use hindsight_client::Filter;

use crate::support::TestServer;

#[tokio::test]
async fn the_second_run_follows_what_the_first_recorded() {
    let server = TestServer::start().await;
    let client = server.client().await;
    assert_eq!(example::run(&client).await.unwrap(), None);
    assert_eq!(example::run(&client).await.unwrap().as_deref(), Some("refresh the token, then retry"));
    let ops = client.namespace("ops").unwrap();
    let episodes = ops.list(Filter::default()).await.unwrap().memories;
    let ends: Vec<_> = episodes.iter().map(|memory| memory.status.unwrap().as_str()).collect();
    assert_eq!(ends, ["failure", "success"]);
    // The success that came after lowers the failure's confidence of 0.5 (W8).
    assert_eq!((episodes[0].importance, episodes[0].confidence), (0.8, 0.4));
}
