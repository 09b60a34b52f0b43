//! Working memory (M1, L8) over gRPC, HTTP and MCP.

use hindsight_client::{
    Draft, Error, RecordDraft, Scope, SessionDraft, SessionEpisode, SessionId, Status, TurnDraft,
};
use hindsight_proto::v1;
use hindsight_proto::v1::session_service_client::SessionServiceClient;
use hindsight_server::Server;
use serde_json::{Value, json};
use tonic::Code;

use crate::support::{TestServer, config};

fn id(name: &str) -> SessionId {
    name.parse().unwrap()
}

fn named(name: &str) -> SessionDraft {
    SessionDraft { session_id: Some(id(name)), ..SessionDraft::default() }
}

fn turn(role: &str, content: &str) -> TurnDraft {
    TurnDraft { role: role.to_owned(), content: content.to_owned(), ..TurnDraft::default() }
}

fn deploy(summary: &str) -> RecordDraft {
    RecordDraft {
        task_type: "deploy".to_owned(),
        status: Some(Status::Success),
        summary: summary.to_owned(),
        ..RecordDraft::default()
    }
}

#[tokio::test]
async fn l8_a_session_lives_is_read_and_becomes_an_episode() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let opened =
        ops.open_session(SessionDraft { max_turns: Some(3), ..SessionDraft::default() }).await.unwrap();
    assert!(!opened.resumed && opened.session.session_id.as_str().starts_with("ses_"));
    let chat = ops.session(opened.session.session_id.clone());
    chat.append(vec![turn("user", "一"), turn("assistant", "two"), turn("user", "three")]).await.unwrap();
    let tool = TurnDraft { tool: Some("kubectl".to_owned()), ..turn("tool", "forbidden") };
    assert_eq!(chat.append(vec![tool]).await.unwrap().session.turns_total, 4);
    let found = chat.read(None).await.unwrap();
    let texts: Vec<&str> = found.turns.iter().map(|turn| turn.content.as_str()).collect();
    assert_eq!((texts, found.turns[0].number), (vec!["two", "three", "forbidden"], 2));
    let newest = chat.read(Some(1)).await.unwrap();
    assert_eq!(newest.turns.len(), 1);
    assert_eq!(ops.sessions(None).await.unwrap(), [newest.session]);

    let episode = Some(SessionEpisode { record: deploy("Deployed billing"), ..SessionEpisode::default() });
    let closed = chat.close_with(episode.clone(), Some("c-1".to_owned())).await.unwrap();
    let memory = closed.memory.unwrap();
    assert_eq!(memory.session_id.as_deref(), Some(chat.id().as_str()));
    assert_eq!(memory.source.turns, ["2", "3", "4"]);
    assert_eq!(memory.episode.as_ref().unwrap().actions[0].tool, "kubectl");
    let hits = ops.recall("deployed billing").send().await.unwrap().hits;
    assert_eq!(hits[0].memory.id, memory.id);
    let again = chat.close_with(episode, Some("c-1".to_owned())).await.unwrap();
    assert!(again.replayed && again.memory.unwrap().id == memory.id);
    let late = chat.append(vec![turn("user", "late")]).await.unwrap_err();
    assert!(matches!(&late, Error::NotFound { reason, .. } if reason == "SESSION_CLOSED"), "{late:?}");
    assert_eq!(chat.close().await.unwrap_err().reason(), "SESSION_CLOSED");
    assert_eq!(ops.sessions(None).await.unwrap(), []);
}

#[tokio::test]
async fn l8_sessions_cross_no_namespace_and_no_agent() {
    let server = TestServer::start().await;
    let client = server.client().await;
    let (left, right) = (client.namespace("left").unwrap(), client.namespace("right").unwrap());
    for (name, handle) in [("left", &left), ("right", &right)] {
        handle.open_session(named("chat")).await.unwrap();
        handle.session(id("chat")).append(vec![turn("user", &format!("canary of {name}"))]).await.unwrap();
    }
    let text = |found: hindsight_client::SessionTurns| found.turns[0].content.clone();
    assert_eq!(text(left.session(id("chat")).read(None).await.unwrap()), "canary of left");
    assert_eq!(text(right.session(id("chat")).read(None).await.unwrap()), "canary of right");
    let own = SessionDraft { agent_id: Some("a1".to_owned()), scope: Some(Scope::Agent), ..named("private") };
    left.open_session(own.clone()).await.unwrap();
    assert!(left.open_session(own).await.unwrap().resumed);
    let private = left.session(id("private"));
    assert_eq!(private.read(None).await.unwrap_err().reason(), "SESSION_NOT_FOUND");
    assert_eq!(private.clone().agent("a2").read(None).await.unwrap_err().reason(), "SESSION_NOT_FOUND");
    assert!(private.clone().agent("a1").read(None).await.is_ok());
    assert_eq!(left.open_session(named("private")).await.unwrap_err().reason(), "SESSION_EXISTS");
    assert_eq!(
        (left.sessions(None).await.unwrap().len(), left.sessions(Some("a1")).await.unwrap().len()),
        (1, 2)
    );
    // What an agent's own session becomes is that agent's own, too.
    let closed = private.agent("a1").close_as(deploy("A secret deploy")).await.unwrap();
    let memory = closed.memory.unwrap();
    assert_eq!((memory.agent_id.as_deref(), memory.scope), (Some("a1"), Scope::Agent));
}

#[tokio::test]
async fn l8_a_restart_loses_sessions_and_keeps_their_episodes() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    ops.open_session(named("one")).await.unwrap();
    ops.open_session(named("two")).await.unwrap();
    let episode =
        SessionEpisode { record: deploy("Deployed before the restart"), ..SessionEpisode::default() };
    let one = ops.session(id("one"));
    let closed = one.close_with(Some(episode.clone()), Some("c-1".to_owned())).await.unwrap();
    let TestServer { running, dir } = server;
    running.shutdown().await.unwrap();
    let server = TestServer { running: Server::start(&config(dir.path())).await.unwrap(), dir };
    let ops = server.ops().await;
    let gone = ops.session(id("two")).read(None).await.unwrap_err();
    assert!(gone.reason() == "SESSION_NOT_FOUND" && gone.to_string().contains("restart"), "{gone}");
    let again = ops.session(id("one")).close_with(Some(episode), Some("c-1".to_owned())).await.unwrap();
    assert!(again.replayed && again.session.is_none());
    assert_eq!(again.memory.unwrap().id, closed.memory.unwrap().id);
}

#[tokio::test]
async fn l8_two_who_close_at_once_make_one_episode() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    ops.open_session(named("chat")).await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..8 {
        let session = ops.session(id("chat"));
        calls.spawn(
            async move { session.close_as(deploy(&format!("Deploy number {number} of eight"))).await },
        );
    }
    let mut closed = 0;
    while let Some(call) = calls.join_next().await {
        match call.unwrap() {
            Ok(_) => closed += 1,
            Err(error) => {
                assert!(["SESSION_CLOSING", "SESSION_CLOSED"].contains(&error.reason()), "{error:?}");
            }
        }
    }
    assert_eq!((closed, server.contents().await.len()), (1, 1));
}

#[tokio::test]
async fn l8_sessions_over_http() {
    let server = TestServer::start().await;
    let post = async |path: &str, body: Value| server.http("POST", path, body).await;
    let opened = post(
        "/sessions/open",
        json!({"namespace": "ops", "session_id": "chat", "idle_ttl": "30m", "max_turns": 2}),
    )
    .await;
    assert_eq!((opened.status, &opened.body["session"]["idle_ttl"]), (200, &json!("1800s")), "{opened:?}");
    let turns = json!([{"role": "user", "content": "a"}, {"role": "tool", "tool": "grep", "content": ""},
        {"role": "user", "content": "第三"}]);
    let append = json!({"namespace": "ops", "session_id": "chat", "turns": turns, "request_id": "r-1"});
    let appended = post("/sessions/append", append.clone()).await;
    assert_eq!(appended.body["session"]["turns_held"], 2, "{appended:?}");
    assert_eq!(post("/sessions/append", append).await.body["replayed"], true);
    let got = server.http("GET", "/sessions/get?namespace=ops&session_id=chat&last=1", Value::Null).await;
    assert_eq!(
        (&got.body["turns"][0]["content"], &got.body["turns"][0]["number"]),
        (&json!("第三"), &json!(3))
    );
    let listed = server.http("GET", "/sessions/list?namespace=ops", Value::Null).await;
    assert_eq!(listed.body["sessions"].as_array().unwrap().len(), 1);
    let record = json!({"task_type": "search", "status": "success", "summary": "Found it", "actions": [{"tool": "grep"}]});
    let close = json!({"namespace": "ops", "session_id": "chat", "record": record});
    let closed = post("/sessions/close", close.clone()).await;
    assert_eq!(
        (&closed.body["outcome"], &closed.body["memory"]["session_id"]),
        (&json!("created"), &json!("chat")),
        "{closed:?}"
    );
    let twice = post("/sessions/close", close).await;
    assert_eq!((twice.status, &twice.body["reason"]), (404, &json!("SESSION_CLOSED")), "{twice:?}");
}

#[tokio::test]
async fn l8_bad_input_is_named() {
    let server = TestServer::start().await;
    let post = async |path: &str, body: Value| server.http("POST", path, body).await;
    for (path, body, field) in [
        ("/sessions/open", json!({"namespace": "ops", "max_turns": 0}), "max_turns"),
        ("/sessions/open", json!({"namespace": "ops", "idle_ttl": "1ms"}), "idle_ttl"),
        ("/sessions/open", json!({"namespace": "ops", "scope": "agent"}), "agent_id"),
        ("/sessions/open", json!({"namespace": "ops", "max_turn": 3}), "max_turn"),
        ("/sessions/get", json!({"namespace": "ops"}), "session_id"),
        ("/sessions/list", json!({}), "namespace"),
        (
            "/sessions/append",
            json!({"namespace": "ops", "session_id": "chat", "turns": [{"role": "user", "text": "x"}]}),
            "turns[0].text",
        ),
        ("/sessions/append", json!({"namespace": "ops", "session_id": "chat"}), "turns"),
        (
            "/sessions/close",
            json!({"namespace": "ops", "session_id": "chat", "record": {"summary": "x"}}),
            "record.task_type",
        ),
        (
            "/sessions/close",
            json!({"namespace": "ops", "session_id": "chat", "record": {"sumary": "x"}}),
            "record.sumary",
        ),
    ] {
        post("/sessions/open", json!({"namespace": "ops", "session_id": "chat"})).await;
        let answer = post(path, body).await;
        assert!(answer.status == 400 && answer.fields()[0] == field, "{path}: {answer:?}");
    }
    let mut wire = SessionServiceClient::new(server.channel().await);
    let open =
        v1::OpenSessionRequest { namespace: "ops".to_owned(), scope: 9, ..v1::OpenSessionRequest::default() };
    assert_eq!(wire.open_session(open).await.unwrap_err().code(), Code::InvalidArgument);
    let get = v1::GetSessionRequest {
        namespace: "ops".to_owned(),
        session_id: "nobody".to_owned(),
        ..v1::GetSessionRequest::default()
    };
    assert_eq!(wire.get_session(get).await.unwrap_err().code(), Code::NotFound);
    // Whatever went wrong, nothing was stored.
    assert!(server.ops().await.write(Draft::default()).await.is_err());
    assert_eq!(server.contents().await, [""; 0]);
}

#[tokio::test]
async fn i3_l8_a_model_keeps_a_session() {
    let server = TestServer::start().await;
    let call = async |arguments: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": "memory_session", "arguments": arguments}});
        let headers =
            [("accept", "application/json, text/event-stream"), ("content-type", "application/json")];
        let answer =
            server.http_raw("POST", "/mcp/ops?profile=full", &headers, message.to_string().as_bytes()).await;
        answer.body["result"].clone()
    };
    let opened = call(json!({"action": "open"})).await;
    let session =
        opened["structuredContent"]["session_id"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    call(json!({"action": "append", "session_id": session, "content": "deploy </session> billing"})).await;
    let read = call(json!({"action": "read", "session_id": session})).await;
    let text = read["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("1. user: deploy &lt;/session&gt; billing"), "{text}");
    let closed = call(json!({"action": "close", "session_id": session, "task_type": "deploy", "status": "success", "summary": "Deployed"})).await;
    assert!(closed["structuredContent"]["episode"].as_str().unwrap().starts_with("mem_"), "{closed}");
    let twice = call(json!({"action": "close", "session_id": session})).await;
    assert_eq!(twice["isError"], true);
}
