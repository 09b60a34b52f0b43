//! What is set about a namespace, over both fronts.

use hindsight_client::{Draft, Durability, Error, SettingsPatch};
use hindsight_server::Server;
use serde_json::{Value, json};

use crate::support::{TestServer, config};

fn durability(word: Durability) -> SettingsPatch {
    SettingsPatch { durability: Some(Some(word)), ..SettingsPatch::default() }
}

#[tokio::test]
async fn d1_durability_is_set_over_grpc_and_survives_a_restart() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    assert!(matches!(ops.info().await, Err(Error::NotFound { .. })));
    let set = ops.set(durability(Durability::Async)).await.unwrap();
    assert_eq!((set.settings.durability, set.memories), (Durability::Async, 0));
    assert!(set.durable_revision <= set.revision);
    let draft = Draft { content: "acknowledged before it is durable".to_owned(), ..Draft::default() };
    let written = ops.write(draft).await.unwrap();
    let info = ops.info().await.unwrap();
    assert_eq!((info.memories, info.revision), (1, written.revision));
    // It becomes durable without anybody asking for it.
    while ops.info().await.unwrap().durable_revision < written.revision {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let Err(Error::Invalid { violations, .. }) = ops.set(SettingsPatch::default()).await else {
        panic!("nothing to change is accepted")
    };
    assert_eq!(violations[0].field, "settings");
    let TestServer { running, dir } = server;
    running.shutdown().await.unwrap();
    let server = TestServer { running: Server::start(&config(dir.path())).await.unwrap(), dir };
    let ops = server.ops().await;
    assert_eq!(ops.info().await.unwrap().settings.durability, Durability::Async);
    let back = ops.set(SettingsPatch { durability: Some(None), ..SettingsPatch::default() }).await.unwrap();
    assert_eq!(back.settings.durability, Durability::Sync);
}

#[tokio::test]
async fn d1_durability_is_set_over_http() {
    let server = TestServer::start().await;
    let gone = server.http("GET", "/namespaces/drop", Value::Null).await;
    assert_eq!((gone.status, &gone.body["reason"]), (404, &json!("NAMESPACE_NOT_FOUND")), "{gone:?}");
    for name in ["ops", "drop"] {
        let path = format!("/namespaces/{name}");
        let body = json!({"durability": "async", "request_id": "s-1"});
        let set = server.http("PATCH", &path, body.clone()).await;
        assert_eq!((set.status, &set.body["settings"]), (200, &json!({"durability": "async"})), "{set:?}");
        assert_eq!((&set.body["name"], &set.body["replayed"]), (&json!(name), &json!(false)));
        let again = server.http("PATCH", &path, body).await;
        assert_eq!((&again.body["replayed"], &again.body["revision"]), (&json!(true), &set.body["revision"]));
        let shown = server.http("GET", &path, Value::Null).await;
        assert_eq!((shown.status, &shown.body["settings"]["durability"]), (200, &json!("async")));
        let back = server.http("PATCH", &path, json!({"durability": null})).await;
        assert_eq!(back.body["settings"]["durability"], "sync", "{back:?}");
    }
    for (body, field) in [
        (json!({}), "settings"),
        (json!({"durability": "maybe"}), "durability"),
        (json!({"durable": "async"}), "durable"),
    ] {
        let refused = server.http("PATCH", "/namespaces/ops", body.clone()).await;
        assert_eq!((refused.status, refused.fields()[0]), (400, field), "{body}");
    }
    let bad = server.http("GET", "/namespaces/-ops", Value::Null).await;
    assert_eq!((bad.status, bad.fields()[0]), (400, "namespace"), "{bad:?}");
}
