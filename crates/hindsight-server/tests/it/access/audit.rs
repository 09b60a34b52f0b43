//! Who did what stands in the trail, and nothing of what was said.

use hindsight_auth::audit;
use hindsight_client::AuditQuery;
use hindsight_server::Server;
use serde_json::json;

use super::{LONG_AGO, Locked, wish};
use crate::support::{TestServer, draft};

#[tokio::test]
async fn s7_each_change_and_each_refusal_is_noted_without_content() {
    let (locked, token) = Locked::with(
        |store| store.create(wish("agent 一", &["ops=read,write"]), LONG_AGO).unwrap().0,
        |_| {},
    )
    .await;
    let ops = locked.client(&token.expose()).await.namespace("ops").unwrap();
    let written = ops.write(draft("CANARY the deploy key is in the vault")).await.unwrap();
    ops.recall("CANARY deploy key").await.unwrap();
    ops.forget_ids(&[written.memory.id]).await.unwrap_err();
    let other = locked.client(&token.expose()).await.namespace("home").unwrap();
    other.write(draft("CANARY x")).await.unwrap_err();
    locked.http("hs_wrong", "POST", "/memory/write", json!({"namespace": "ops", "content": "CANARY"})).await;

    let admin = locked.client(&locked.admin).await;
    let page = admin.audit(AuditQuery::default()).await.unwrap();
    let seen: Vec<(&str, &str, &str, u64, &str)> = page
        .events
        .iter()
        .map(|event| {
            (
                event.token_name.as_str(),
                event.call.as_str(),
                event.namespace.as_str(),
                event.count,
                event.result.as_str(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("", "MemoryService/Write", "", 0, "TOKEN_INVALID"),
            ("agent 一", "MemoryService/Write", "home", 0, "NAMESPACE_DENIED"),
            ("agent 一", "MemoryService/Forget", "", 0, "SCOPE_MISSING"),
            ("agent 一", "MemoryService/Recall", "ops", 1, "OK"),
            ("agent 一", "MemoryService/Write", "ops", 1, "OK"),
        ]
    );
    assert!(
        page.events.iter().all(|event| event.peer == "127.0.0.1" && event.request_id.starts_with("req_"))
    );
    assert_eq!(page.events[4].token_id, token.id().to_string());
    let denied = admin
        .audit(AuditQuery { result: Some("NAMESPACE_DENIED".into()), ..Default::default() })
        .await
        .unwrap();
    assert_eq!(denied.events.len(), 1);
    let ops_only = AuditQuery { namespace: Some("ops".parse().unwrap()), page_size: 1, ..Default::default() };
    let first = admin.audit(ops_only.clone()).await.unwrap();
    let page_token = first.next_page_token.unwrap();
    let second = admin.audit(AuditQuery { page_token, ..ops_only }).await.unwrap();
    assert_eq!(
        (first.events[0].call.as_str(), second.events[0].call.as_str()),
        ("MemoryService/Recall", "MemoryService/Write")
    );
    assert_eq!((first.anchor, second.next_page_token), (None, None));

    let anchor = page.anchor.unwrap().parse().unwrap();
    let TestServer { running, dir } = locked.server;
    running.shutdown().await.unwrap();
    let report = audit::verify(dir.path(), Some(&anchor)).unwrap();
    assert_eq!(report.faults, []);
    for folder in ["audit", "auth"] {
        for file in std::fs::read_dir(dir.path().join(folder)).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            let secret = token.expose();
            assert!(!text.contains("CANARY") && !text.contains("vault"), "{text}");
            assert!(!text.contains(secret.rsplit('_').next().unwrap()), "{text}");
        }
    }
}

#[tokio::test]
async fn s7_the_trail_goes_on_over_a_restart_and_when_each_token_was_used_is_kept() {
    let locked = Locked::start().await;
    let ops = locked.client(&locked.admin).await.namespace("ops").unwrap();
    ops.write(draft("one")).await.unwrap();
    let TestServer { running, dir } = locked.server;
    running.shutdown().await.unwrap();
    let used: Vec<_> = locked.store.load().unwrap().credentials().map(|one| one.last_used_at).collect();
    assert!(used[0].is_some_and(|at| at > LONG_AGO), "{used:?}");

    let running = Server::start(&crate::support::config(dir.path())).await.unwrap();
    let locked = Locked { server: TestServer { running, dir }, ..locked };
    let ops = locked.client(&locked.admin).await.namespace("ops").unwrap();
    ops.write(draft("two")).await.unwrap();
    let page = locked.client(&locked.admin).await.audit(AuditQuery::default()).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(audit::verify(locked.server.dir.path(), None).unwrap().faults, []);
}

#[tokio::test]
async fn s7_without_credentials_only_changes_are_noted() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    ops.write(draft("one")).await.unwrap();
    ops.recall("one").await.unwrap();
    let page = server.client().await.audit(AuditQuery::default()).await.unwrap();
    let calls: Vec<_> = page.events.iter().map(|event| event.call.as_str()).collect();
    assert_eq!(calls, ["MemoryService/Write"]);
    let quiet =
        TestServer::with(|config| config.audit.level = hindsight_server::config::AuditLevel::Off).await;
    quiet.ops().await.write(draft("one")).await.unwrap();
    assert!(!quiet.dir.path().join("audit").exists());
}
