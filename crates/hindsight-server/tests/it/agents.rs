//! Agents of one namespace keep to themselves what they scope to themselves.

use hindsight_client::{Draft, Filter, Scope};
use serde_json::{Value, json};

use crate::support::{TestServer, draft};

#[tokio::test]
async fn an_agent_sees_its_own_memories_beside_the_shared_ones() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let private = |agent: &str| Draft {
        agent_id: Some(agent.into()),
        scope: Some(Scope::Agent),
        ..draft(&format!("the secret plan of {agent}"))
    };
    ops.write(private("a1")).await.unwrap();
    let other = ops.write(private("a2")).await.unwrap().memory.id;
    ops.write(draft("the shared plan")).await.unwrap();

    let contents = |memories: Vec<hindsight_client::Memory>| {
        let mut contents: Vec<String> = memories.into_iter().map(|memory| memory.content).collect();
        contents.sort();
        contents
    };
    let listed = ops.list(Filter::default()).agent("a1").send().await.unwrap().memories;
    assert_eq!(contents(listed), ["the secret plan of a1", "the shared plan"]);
    let recalled = ops.recall("plan").agent("a1").send().await.unwrap().hits;
    let recalled = recalled.into_iter().map(|hit| hit.memory).collect();
    assert_eq!(contents(recalled), ["the secret plan of a1", "the shared plan"]);
    let nobody = ops.list(Filter::default()).send().await.unwrap().memories;
    assert_eq!(contents(nobody), ["the shared plan"]);

    let path = |agent: &str| format!("/memory/get?namespace=ops&id={other}&agent_id={agent}");
    assert_eq!(server.http("GET", &path("a1"), Value::Null).await.status, 404);
    assert_eq!(server.http("GET", &path("a2"), Value::Null).await.status, 200);
    let search = json!({"namespace": "ops", "query": "plan", "agent_id": "a2"});
    let hits = server.http("POST", "/memory/search", search).await;
    assert_eq!(hits.body["hits"].as_array().unwrap().len(), 2, "{hits:?}");
}

#[tokio::test]
async fn namespaces_see_nothing_of_each_other() {
    let server = TestServer::start().await;
    let client = server.client().await;
    let (left, right) = (client.namespace("left").unwrap(), client.namespace("right").unwrap());
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..40 {
        let (name, handle) = if number % 2 == 0 { ("left", left.clone()) } else { ("right", right.clone()) };
        writers.spawn(async move { handle.write(draft(&format!("{name} {number}"))).await.unwrap() });
    }
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
    for (name, handle) in [("left", &left), ("right", &right)] {
        let hits = handle.recall("left right").top_k(100).send().await.unwrap().hits;
        assert_eq!(hits.len(), 20);
        assert!(hits.iter().all(|hit| hit.memory.content.starts_with(name)));
    }
    assert!(client.namespace("elsewhere").unwrap().recall("left").send().await.unwrap().hits.is_empty());
    let unknown = client.namespace("elsewhere").unwrap().stats().await.unwrap_err();
    assert_eq!(unknown.reason(), "NAMESPACE_NOT_FOUND");
}
