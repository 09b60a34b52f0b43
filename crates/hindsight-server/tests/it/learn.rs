//! A memory that learns, over both fronts: the same again, the opposite, history, feedback (W6, W7, L1, R16, R17).

use hindsight_client::{
    Claim, Draft, Error, Feedback, OnDuplicate, Outcome, Relation, State, Status, Verdict, WriteOptions,
};
use serde_json::{Value, json};

use crate::support::{TestServer, draft};

fn city(content: &str, value: &str) -> Draft {
    let claim =
        Claim { subject: "user".into(), attribute: "city".into(), value: value.into(), single_valued: true };
    Draft { claims: vec![claim], ..draft(content) }
}

#[tokio::test]
async fn w6_w7_the_built_in_model_brings_together_what_is_the_same_or_opposite() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let pairs = [
        ("I'm allergic to peanuts.", "I am allergic to peanuts", Outcome::Reinforced, 0),
        ("我的同事在上海工作。", "我的同事在上海工作", Outcome::Reinforced, 0),
        ("The quota is 500 requests", "The quota is 600 requests", Outcome::Created, 0),
        ("Anna likes tea", "Ben likes tea", Outcome::Created, 0),
        ("Agents may deploy on Friday", "Agents must not deploy on Friday", Outcome::Created, 1),
        ("我想减脂", "我想增肌", Outcome::Created, 1),
        ("I love walnuts", "I'm allergic to walnuts", Outcome::Created, 1),
    ];
    for (old, new, outcome, neighbors) in pairs {
        let known = ops.write(draft(old)).await.unwrap();
        let written = ops.write(draft(new)).await.unwrap();
        assert_eq!((written.outcome, written.neighbors.len()), (outcome, neighbors), "{new}");
        if let [neighbor] = &written.neighbors[..] {
            assert_eq!((neighbor.id, neighbor.relation), (known.memory.id, Relation::Conflict));
            assert!(neighbor.similarity.is_some_and(|similarity| similarity >= 0.3), "{neighbor:?}");
        }
    }
}

#[tokio::test]
async fn w6_w7_l1_over_grpc() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let bern = ops.write(city("I live in Bern", "Bern")).await.unwrap();
    let reject = WriteOptions { on_duplicate: Some(OnDuplicate::Reject), ..WriteOptions::default() };
    let refused = ops.write_with(city("I live in Bern.", "Bern"), None, reject).await.unwrap_err();
    assert!(
        matches!(&refused, Error::AlreadyExists { reason, .. } if reason == "DUPLICATE_OF"),
        "{refused:?}"
    );
    let rome = ops.write(city("I moved to Rome", "Rome")).await.unwrap();
    assert_eq!((rome.outcome, rome.neighbors[0].id), (Outcome::Superseded, bern.memory.id));
    let history = ops.history(rome.memory.id, None).await.unwrap().memories;
    assert_eq!(
        history.iter().map(|memory| memory.state).collect::<Vec<_>>(),
        [State::Superseded, State::Active]
    );
    let done = ops.rollback(bern.memory.id).await.unwrap();
    assert_eq!(done.invalidated.unwrap().id, rome.memory.id);
    let recalled = ops.recall("where do I live").await.unwrap();
    assert_eq!(recalled.hits[0].memory.content, "I live in Bern");
    let feedback = Feedback {
        recall_id: recalled.recall_id,
        items: vec![(bern.memory.id, Verdict::Used)],
        task_status: Some(Status::Success),
        ..Feedback::default()
    };
    let judged = ops.feedback(feedback.clone()).await.unwrap();
    assert_eq!(judged.memories[0].usage.success_after_use, 1);
    let elsewhere = server.client().await.namespace("other").unwrap();
    elsewhere.write(draft("x")).await.unwrap();
    let unknown = elsewhere.feedback(feedback).await.unwrap_err();
    assert!(
        matches!(&unknown, Error::NotFound { reason, .. } if reason == "RECALL_NOT_FOUND"),
        "{unknown:?}"
    );
    assert_eq!(ops.recall("where").observe().await.unwrap().recall_id, None);
}

#[tokio::test]
async fn w6_w7_l1_over_http() {
    let server = TestServer::start().await;
    let city = |content: &str, value: &str| {
        json!({"namespace": "ops", "content": content,
            "claims": [{"subject": "user", "attribute": "city", "value": value, "single_valued": true}]})
    };
    let post = async |path: &str, body: Value| server.http("POST", path, body).await;
    let bern = post("/memory/write", city("I live in Bern", "Bern")).await.body;
    let again = post("/memory/write", city("I live in Bern.", "Bern")).await.body;
    assert_eq!((&again["outcome"], &again["memory"]["id"]), (&json!("reinforced"), &bern["memory"]["id"]));
    assert_eq!(again["memory"]["usage"]["verified_count"], json!(1));
    let mut refused = city("I live in Bern", "Bern");
    refused["on_duplicate"] = json!("reject");
    let refused = post("/memory/write", refused).await;
    assert_eq!((refused.status, &refused.body["reason"]), (409, &json!("DUPLICATE_OF")));
    let rome = post("/memory/write", city("I moved to Rome", "Rome")).await.body;
    let neighbor = &rome["neighbors"][0];
    assert_eq!((&rome["outcome"], &neighbor["relation"]), (&json!("superseded"), &json!("superseded")));
    assert_eq!(
        (&neighbor["about"], &neighbor["old"], &neighbor["new"]),
        (&json!("user / city"), &json!("Bern"), &json!("Rome"))
    );
    let id = bern["memory"]["id"].as_str().unwrap();
    let history =
        server.http("GET", &format!("/memory/history?namespace=ops&id={id}"), Value::Null).await.body;
    assert_eq!(history["memories"].as_array().unwrap().len(), 2);
    let done = post("/memory/rollback", json!({"namespace": "ops", "id": id})).await.body;
    assert_eq!((&done["restored"][0]["id"], &done["invalidated"]["id"]), (&json!(id), &rome["memory"]["id"]));
    let found = post("/memory/search", json!({"namespace": "ops", "query": "where do I live"})).await.body;
    let recall_id = &found["recall_id"];
    let judged = post(
        "/memory/feedback",
        json!({"namespace": "ops", "recall_id": recall_id, "used": [id], "task_status": "success"}),
    );
    assert_eq!(judged.await.body["memories"][0]["usage"]["used_count"], json!(1));
    let items = json!([{"memory_id": rome["memory"]["id"], "verdict": "helpful"}]);
    let bad = post("/memory/feedback", json!({"namespace": "ops", "items": items})).await;
    assert_eq!(bad.status, 400);
    let nothing = post("/memory/rollback", json!({"namespace": "ops", "id": again["memory"]["id"]})).await;
    assert_eq!(nothing.status, 200, "the rollback itself is taken back: {:?}", nothing.body);
    let observed =
        post("/memory/search", json!({"namespace": "ops", "query": "where", "observe": true})).await.body;
    assert_eq!(observed.get("recall_id"), None);
    let batch = json!({"namespace": "ops", "items": [{"content": "a new fact"}, {"content": "A new fact."}, {"content": ""}]});
    let batch = post("/memory/batch", batch).await.body;
    let outcomes: Vec<&Value> =
        batch["results"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, [&json!("created"), &json!("reinforced"), &Value::Null]);
}
