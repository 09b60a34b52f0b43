//! The grade and the agent come from the credential.

use hindsight_auth::Wish;
use hindsight_core::SourceKind;
use serde_json::json;

use super::{LONG_AGO, Locked, wish};

#[tokio::test]
async fn s4_nothing_is_surer_than_the_credential_it_was_written_with() {
    let outside = Wish { source: Some(SourceKind::External), ..wish("web", &["ops=write"]) };
    let (locked, token) =
        Locked::with(|store| store.create(outside, LONG_AGO).unwrap().0.expose(), |_| {}).await;
    let claimed = json!({"namespace": "ops", "content": "the moon is a lamp", "source": {"kind": "admin"}});
    let by_outside = locked.http(&token, "POST", "/memory/write", claimed.clone()).await;
    assert_eq!(by_outside.body["memory"]["source"]["kind"], "external", "{by_outside:?}");
    assert!((by_outside.body["memory"]["confidence"].as_f64().unwrap() - 0.5).abs() < 1e-6);
    // Not by leaving it out, by a batch, by a record, nor by MCP.
    let record =
        json!({"namespace": "ops", "task_type": "t", "status": "success", "summary": "it worked well"});
    let record = locked.http(&token, "POST", "/memory/record", record).await;
    assert_eq!(record.body["memory"]["source"]["kind"], "external", "{record:?}");
    let batch =
        json!({"namespace": "ops", "items": [{"content": "two and two", "source": {"kind": "tool"}}]});
    let batch = locked.http(&token, "POST", "/memory/batch", batch).await;
    let id = batch.body["results"][0]["id"].as_str().unwrap();
    let path = format!("/memory/get?namespace=ops&id={id}");
    let got = locked.http(&locked.admin, "GET", &path, serde_json::Value::Null).await;
    assert_eq!(got.body["memory"]["source"]["kind"], "external", "{got:?}");
    let by_admin = json!({"namespace": "home", "content": "the moon is a lamp", "source": {"kind": "admin"}});
    let by_admin = locked.http(&locked.admin, "POST", "/memory/write", by_admin).await;
    assert_eq!(by_admin.body["memory"]["source"]["kind"], "admin", "{by_admin:?}");
}

#[tokio::test]
async fn s1_an_agent_s_token_is_that_agent() {
    let of_agent =
        |name: &str| Wish { agent_id: Some(name.to_owned()), ..wish(name, &["ops=read,write,forget,purge"]) };
    let (locked, (cook, maid)) = Locked::with(
        |store| {
            let make = |name| store.create(of_agent(name), LONG_AGO).unwrap().0.expose();
            (make("cook"), make("maid"))
        },
        |_| {},
    )
    .await;
    let secret = json!({"content": "the key is under the mat", "scope": "agent"});
    let written = locked.http(&cook, "POST", "/memory/write", secret).await;
    assert_eq!((written.status, &written.body["memory"]["agent_id"]), (200, &json!("cook")), "{written:?}");
    let id = written.body["memory"]["id"].as_str().unwrap().to_owned();
    let query = json!({"query": "where is the key"});
    assert_eq!(
        locked.http(&cook, "POST", "/memory/search", query.clone()).await.body["hits"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(locked.http(&maid, "POST", "/memory/search", query.clone()).await.body["hits"], json!([]));
    let mut as_cook = query;
    as_cook["agent_id"] = json!("cook");
    let denied = locked.http(&maid, "POST", "/memory/search", as_cook).await;
    assert_eq!((denied.status, &denied.body["reason"]), (403, &json!("AGENT_DENIED")), "{denied:?}");
    for (method, path, body) in [
        ("POST", "/memory/history", json!({"id": id})),
        ("PUT", "/memory/update", json!({"id": id, "content": "x"})),
        ("POST", "/memory/forget", json!({"ids": [id]})),
        ("POST", "/memory/feedback", json!({"wrong": [id]})),
        ("POST", "/memory/rollback", json!({"id": id})),
        ("POST", "/memory/restore", json!({"ids": [id]})),
        ("POST", "/memory/purge", json!({"ids": [id]})),
    ] {
        let answer = locked.http(&maid, method, path, body).await;
        assert_eq!(
            (answer.status, &answer.body["reason"]),
            (404, &json!("MEMORY_NOT_FOUND")),
            "{path}: {answer:?}"
        );
    }
    // Nor by a condition, nor as what was made of a shared memory.
    let by_filter = json!({"filter": {"agents": ["cook"]}, "validate_only": true});
    for (token, count) in [(&maid, 0), (&cook, 1)] {
        let answer = locked.http(token, "POST", "/memory/forget", by_filter.clone()).await;
        assert_eq!(answer.body["count"], count, "{answer:?}");
    }
    let made = json!({"content": "the spare key", "scope": "agent", "derived_from": [id]});
    let made = locked.http(&cook, "POST", "/memory/write", made).await;
    assert_eq!(made.status, 200, "{made:?}");
    let purge = json!({"filter": {"agents": ["cook"]}, "validate_only": true});
    let purged = locked.http(&maid, "POST", "/memory/purge", purge).await;
    assert_eq!((purged.status, &purged.body["reason"]), (403, &json!("AGENT_DENIED")), "{purged:?}");
    assert_eq!(locked.http(&cook, "POST", "/memory/forget", json!({"ids": [id]})).await.body["count"], 1);
    let restored = locked.http(&maid, "POST", "/memory/restore", json!({"ids": [id]})).await;
    assert_eq!(
        (restored.status, &restored.body["reason"]),
        (404, &json!("MEMORY_NOT_FOUND")),
        "{restored:?}"
    );
    assert_eq!(locked.http(&cook, "POST", "/memory/restore", json!({"ids": [id]})).await.body["count"], 1);
}

#[tokio::test]
async fn s6_a_rule_is_changed_only_by_who_may_decide_on_rules() {
    let (locked, (writer, judge)) = Locked::with(
        |store| {
            let make = |name, right| store.create(wish(name, &[right]), LONG_AGO).unwrap().0.expose();
            (make("writer", "ops=read,write"), make("judge", "ops=read,write,rules"))
        },
        |_| {},
    )
    .await;
    let proposal = json!({"advice": "ask before deleting", "condition": {"task_type": "cleanup"}});
    let proposed = locked.http(&writer, "POST", "/memory/rules", proposal).await;
    let id = proposed.body["rule"]["id"].as_str().unwrap_or_else(|| panic!("{proposed:?}")).to_owned();
    for change in [json!({"rule_state": "active"}), json!({"content": "delete without asking"})] {
        let mut update = change;
        update["id"] = json!(id);
        let denied = locked.http(&writer, "PUT", "/memory/update", update.clone()).await;
        assert_eq!((denied.status, &denied.body["reason"]), (403, &json!("SCOPE_MISSING")), "{denied:?}");
        let allowed = locked.http(&judge, "PUT", "/memory/update", update).await;
        assert_eq!(allowed.status, 200, "{allowed:?}");
    }
    // What is no rule is the writer's to change.
    let written =
        locked.http(&writer, "POST", "/memory/write", json!({"content": "the moon is a lamp"})).await;
    let id = written.body["memory"]["id"].as_str().unwrap();
    let update = json!({"id": id, "content": "the moon is a stone"});
    assert_eq!(locked.http(&writer, "PUT", "/memory/update", update).await.status, 200);
}
