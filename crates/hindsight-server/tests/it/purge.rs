//! Gone for good, over both fronts (L3, L4).

use std::path::Path;

use hindsight_client::{Draft, Error, Filter, ForgetMode};
use serde_json::{Value, json};

use crate::support::TestServer;

fn text(content: &str) -> Draft {
    Draft { content: content.to_owned(), ..Draft::default() }
}

fn holds(path: &Path, needle: &str) -> bool {
    if path.is_dir() {
        return std::fs::read_dir(path).unwrap().any(|entry| holds(&entry.unwrap().path(), needle));
    }
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[tokio::test]
async fn l4_a_purge_over_grpc_leaves_no_byte_and_gives_a_receipt() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let id = ops.write(text("the-secret-canary-of-grpc")).await.unwrap().memory.id;
    ops.write(text("something else that stays")).await.unwrap();
    assert!(holds(server.dir.path(), "the-secret-canary-of-grpc"), "positive control");
    let purged = ops.purge_ids(&[id]).await.unwrap();
    assert_eq!((purged.count, purged.ids.as_slice()), (1, [id].as_slice()));
    let receipt = purged.receipt.unwrap();
    assert!(receipt.files_removed >= 1 && !receipt.kept.is_empty(), "{receipt:?}");
    assert!(!holds(server.dir.path(), "the-secret-canary-of-grpc"));
    assert!(matches!(ops.purge_ids(&[id]).await, Err(Error::NotFound { .. })));
    assert_eq!(server.contents().await, ["something else that stays"]);

    let all = Filter { tags: vec!["nothing".to_owned()], ..Filter::default() };
    assert_eq!(ops.purge_where(all.clone(), ForgetMode::DryRun).await.unwrap().count, 0);
    assert!(matches!(ops.purge_where(all, ForgetMode::Expect(3)).await, Err(Error::Conflict { .. })));
    let empty = ops.purge_where(Filter::default(), ForgetMode::Unchecked).await;
    let Err(Error::Invalid { violations, .. }) = empty else { panic!("{empty:?}") };
    assert_eq!(violations[0].field, "filter");
    let whole = ops.purge_all(ForgetMode::Expect(1)).await.unwrap();
    assert_eq!((whole.count, whole.receipt.unwrap().memories), (1, 1));
    assert!(matches!(ops.stats().await, Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn a_drop_over_grpc_and_http_counts_first() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    ops.write(text("one")).await.unwrap();
    assert_eq!(ops.drop_namespace(ForgetMode::DryRun).await.unwrap().count, 1);
    assert!(matches!(ops.drop_namespace(ForgetMode::Expect(2)).await, Err(Error::Conflict { .. })));
    assert_eq!(ops.drop_namespace(ForgetMode::Expect(1)).await.unwrap().count, 1);
    assert!(matches!(ops.drop_namespace(ForgetMode::Unchecked).await, Err(Error::NotFound { .. })));
    ops.write(text("two")).await.unwrap();
    assert_eq!(server.contents().await, ["two"]);
    let dropped =
        server.http("POST", "/namespaces/drop", json!({"namespace": "ops", "expected_count": 1})).await;
    assert_eq!((dropped.status, &dropped.body["count"]), (200, &json!(1)), "{dropped:?}");
    let gone = server.http("DELETE", "/namespaces/drop?namespace=ops", Value::Null).await;
    assert_eq!((gone.status, &gone.body["reason"]), (404, &json!("NAMESPACE_NOT_FOUND")), "{gone:?}");
}

#[tokio::test]
async fn l3_a_purge_over_http_names_what_is_wrong() {
    let server = TestServer::start().await;
    let body = json!({"namespace": "ops", "content": "the-secret-canary-of-http", "tags": ["old"]});
    let written = server.http("POST", "/memory/write", body).await;
    let id = written.body["memory"]["id"].as_str().unwrap();
    for (body, field) in [
        (json!({"namespace": "ops"}), "ids"),
        (json!({"namespace": "ops", "ids": [id], "filter": {"tag": "old"}}), "filter"),
        (json!({"namespace": "ops", "ids": [id], "whole_namespace": true}), "whole_namespace"),
        (json!({"namespace": "ops", "ids": [id], "expected_count": 1}), "expected_count"),
        (json!({"namespace": "ops", "ids": ["x"]}), "ids[0]"),
        (json!({"namespace": "ops", "whole": true}), "whole"),
    ] {
        let refused = server.http("POST", "/memory/purge", body.clone()).await;
        assert_eq!((refused.status, refused.fields()[0]), (400, field), "{body}");
    }
    let dry = "/memory/purge?namespace=ops&whole_namespace=true&validate_only=true";
    assert_eq!(server.http("DELETE", dry, Value::Null).await.body["count"], 1);
    let body =
        json!({"namespace": "ops", "filter": {"tag": "old"}, "expected_count": 1, "request_id": "p-1"});
    let purged = server.http("POST", "/memory/purge", body.clone()).await;
    assert_eq!((purged.status, &purged.body["receipt"]["memories"]), (200, &json!(1)), "{purged:?}");
    assert!(!holds(server.dir.path(), "the-secret-canary-of-http"));
    let again = server.http("POST", "/memory/purge", body).await;
    assert_eq!((&again.body["replayed"], &again.body["receipt"]), (&json!(true), &purged.body["receipt"]));
}
