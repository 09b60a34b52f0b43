//! How the namespace of a call is decided.

use hindsight_proto::v1;
use prost::Message as _;
use serde_json::{Value, json};

use super::raw::{self, outcome};
use super::{Locked, wish};

/// A request's field 1 as bytes.
fn named(namespace: &str) -> Vec<u8> {
    v1::GetNamespaceStatsRequest { namespace: namespace.to_owned() }.encode_to_vec()
}

#[tokio::test]
async fn s1_a_token_for_one_namespace_need_not_name_it() {
    let (locked, token) = Locked::with(
        |store| store.create(wish("a", &["ops=read,write"]), super::LONG_AGO).unwrap().0.expose(),
        |_| {},
    )
    .await;
    let written =
        locked.http(&token, "POST", "/memory/write", json!({"content": "茶 is served at four"})).await;
    assert_eq!((written.status, &written.body["memory"]["namespace"]), (200, &json!("ops")), "{written:?}");
    let id = written.body["memory"]["id"].as_str().unwrap().to_owned();

    let channel = locked.server.channel().await;
    let mut client = v1::memory_service_client::MemoryServiceClient::new(channel.clone());
    let get = v1::GetRequest { id, ..Default::default() };
    let got = client.get(raw::request(Some(&token), get)).await.unwrap().into_inner();
    assert_eq!(got.memory.unwrap().content, "茶 is served at four");
    // By the header it is the same decision.
    let mut request =
        raw::request(Some(&token), v1::RecallRequest { query: "tea".into(), ..Default::default() });
    request.metadata_mut().insert("x-hindsight-namespace", "home".parse().unwrap());
    let denied = client.recall(request).await.unwrap_err();
    assert_eq!(denied.code(), tonic::Code::PermissionDenied);
}

#[tokio::test]
async fn s1_the_namespace_that_the_door_sees_is_the_one_that_is_used() {
    let (locked, token) = Locked::with(
        |store| store.create(wish("a", &["ops=admin"]), super::LONG_AGO).unwrap().0.expose(),
        |_| {},
    )
    .await;
    let admin = locked.client(&locked.admin).await;
    for name in ["ops", "home"] {
        admin.namespace(name).unwrap().write(crate::support::draft("x")).await.unwrap();
    }
    let channel = locked.server.channel().await;
    let stats = |message: Vec<u8>| {
        let (channel, token) = (channel.clone(), token.clone());
        async move { outcome(&channel, "NamespaceService/GetNamespaceStats", Some(&token), message, false).await }
    };
    assert_eq!(stats(named("ops")).await, "OK");
    assert_eq!(stats(Vec::new()).await, "OK");
    // A field that stands twice counts the last time, for the door as for the method.
    assert_eq!(stats([named("ops"), named("home")].concat()).await, "NAMESPACE_DENIED");
    assert_eq!(stats([named("home"), named("ops")].concat()).await, "OK");
    for (bad, reason) in [
        (b"\x0a\x7fops".to_vec(), "MESSAGE_MALFORMED"),
        (b"\x08\x01".to_vec(), "MESSAGE_MALFORMED"),
        (named("../home"), "FIELD_INVALID"),
        (named("ops "), "FIELD_INVALID"),
        (named("*"), "FIELD_INVALID"),
    ] {
        assert_eq!(stats(bad.clone()).await, reason, "{bad:?}");
    }
    // A place that does not exist and one that is not theirs can't be told apart.
    assert_eq!(stats(named("nowhere")).await, "NAMESPACE_DENIED");
    let answer = locked.http(&token, "GET", "/stats?namespace=nowhere", Value::Null).await;
    assert_eq!((answer.status, &answer.body["reason"]), (403, &json!("NAMESPACE_DENIED")));
}

#[tokio::test]
async fn s6_a_recall_that_leaves_no_trace_needs_only_observe() {
    let (locked, token) = Locked::with(
        |store| store.create(wish("a", &["ops=observe"]), super::LONG_AGO).unwrap().0.expose(),
        |_| {},
    )
    .await;
    let admin = locked.client(&locked.admin).await.namespace("ops").unwrap();
    admin.write(crate::support::draft("deploys go through Argo")).await.unwrap();
    let search = |observe: Value| json!({"namespace": "ops", "query": "deploys", "observe": observe});
    let seen = locked.http(&token, "POST", "/memory/search", search(json!(true))).await;
    assert_eq!((seen.status, seen.body["hits"].as_array().unwrap().len()), (200, 1), "{seen:?}");
    for traced in [json!(false), json!(null), json!("true")] {
        let refused = locked.http(&token, "POST", "/memory/search", search(traced)).await;
        assert_eq!((refused.status, &refused.body["metadata"]["needed_right"]), (403, &json!("read")));
    }
    let channel = locked.server.channel().await;
    let recall = |observe| {
        v1::RecallRequest { namespace: "ops".into(), query: "deploys".into(), observe, ..Default::default() }
            .encode_to_vec()
    };
    assert_eq!(outcome(&channel, "MemoryService/Recall", Some(&token), recall(true), false).await, "OK");
    assert_eq!(
        outcome(&channel, "MemoryService/Recall", Some(&token), recall(false), false).await,
        "SCOPE_MISSING"
    );
}

#[tokio::test]
async fn s6_a_token_that_is_made_over_the_wire_counts_at_once() {
    let locked = Locked::start().await;
    let admin = locked.client(&locked.admin).await;
    let wish = hindsight_client::TokenWish {
        name: "reader".into(),
        grants: vec!["ops=read".parse().unwrap()],
        ..Default::default()
    };
    let made = admin.create_token(wish.clone()).await.unwrap();
    assert!(!format!("{made:?}").contains(&made.token));
    let reader = locked.client(&made.token).await;
    let denied = reader.create_token(wish.clone()).await.unwrap_err();
    assert_eq!(denied.reason(), "SCOPE_MISSING", "{denied}");
    let bad =
        admin.create_token(hindsight_client::TokenWish { grants: Vec::new(), ..wish }).await.unwrap_err();
    assert_eq!(bad.violations()[0].field, "grants");
    let tokens = admin.tokens().await.unwrap();
    assert_eq!(tokens.len(), 2);
    assert!(tokens.contains(&made.credential));

    let listed = locked.http(&locked.admin, "GET", "/tokens?page_size=1", Value::Null).await;
    assert!(listed.body["next_page_token"].is_string(), "{listed:?}");
    assert!(!listed.body.to_string().contains("hash"), "{listed:?}");
    admin.revoke_token(made.credential.id).await.unwrap();
    assert_eq!(reader.server_info().await.unwrap_err().reason(), "TOKEN_INVALID");
    let unknown = admin.revoke_token("aaaaaaaa".parse().unwrap()).await.unwrap_err();
    assert_eq!(unknown.reason(), "TOKEN_NOT_FOUND");
}

#[tokio::test]
async fn s6_a_token_taken_back_on_the_command_line_is_refused_soon() {
    let (locked, token) =
        Locked::with(|store| store.create(wish("a", &["ops=read"]), super::LONG_AGO).unwrap().0, |_| {})
            .await;
    let client = locked.client(&token.expose()).await;
    locked.store.revoke(token.id(), super::LONG_AGO).unwrap();
    // A test that hangs is ended by its runner: the server looks at the file twice a second.
    while client.server_info().await.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(client.server_info().await.unwrap_err().reason(), "TOKEN_INVALID");
}

#[tokio::test]
async fn s1_a_database_does_not_open_because_the_file_of_its_tokens_goes_away() {
    let locked = Locked::start().await;
    let ask = async |token: &str| locked.http(token, "GET", "/stats?namespace=ops", Value::Null).await.status;
    locked
        .client(&locked.admin)
        .await
        .namespace("ops")
        .unwrap()
        .write(crate::support::draft("x"))
        .await
        .unwrap();
    assert_eq!((ask("hs_garbage").await, ask(&locked.admin).await), (401, 200));
    std::fs::remove_file(locked.store.path()).unwrap();
    // The file is looked at twice a second.
    tokio::time::sleep(std::time::Duration::from_millis(1_200)).await;
    assert_eq!((ask("hs_garbage").await, ask(&locked.admin).await), (401, 200));
}
