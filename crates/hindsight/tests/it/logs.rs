//! What the server logs: never what memories, queries or tokens say, at whatever level; and the id of its call on every line.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::program::{program, signal, wait_until};

/// A word that stands in everything that a caller says.
const CANARY: &str = "CANARYQXZ";

/// One request over HTTP; the status and the body.
fn post(address: &str, path: &str, token: &str, body: &Value) -> (u16, String) {
    let text = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

/// Calls that say the canary in every place that takes a text.
fn say_it(http: &str, token: &str) {
    let say = |path: &str, body: Value| post(http, path, token, &body);
    let draft = json!({"namespace": "ops", "content": format!("{CANARY} deploys fail"), "tags": [CANARY], "task_type": CANARY,
        "metadata": {CANARY: CANARY}, "claims": [{"subject": CANARY, "attribute": "is", "value": CANARY}],
        "entities": [{"name": CANARY}], "agent_id": CANARY, "source": {"conversation_id": CANARY}});
    let (status, answer) = say("/memory/write", draft.clone());
    assert_eq!(status, 200, "{answer}");
    let record = json!({"namespace": "ops", "goal": CANARY, "task_type": CANARY, "status": "failure", "root_cause": CANARY,
        "actions": [{"tool": CANARY, "params": {"a": CANARY}, "result": CANARY, "error_code": CANARY}]});
    for (path, body) in [
        ("/memory/record", record),
        ("/memory/batch", json!({"namespace": "ops", "items": [{"content": CANARY}, {CANARY: 1}]})),
        ("/memory/search", json!({"namespace": "ops", "query": CANARY, "explain": true, "as_text": true})),
        ("/memory/search", json!({"namespace": "ops", "query": CANARY, "mode": CANARY})),
        ("/memory/search", json!({"namespace": "ops", "vector": [1.0], "embedding_model": CANARY})),
        ("/memory/get", json!({"namespace": "ops", "id": CANARY})),
        ("/memory/forget", json!({"namespace": "ops", "filter": {"tags": [CANARY]}})),
        ("/memory/purge", json!({"namespace": "ops", "filter": {"tags": [CANARY]}, "expected_count": 7})),
        ("/memory/summarize", json!({"namespace": "ops", "entity": CANARY})),
        (
            "/memory/rules",
            json!({"namespace": "ops", "advice": CANARY, "polarity": "avoid", "task_type": CANARY}),
        ),
        ("/memory/consolidate", json!({"namespace": "ops"})),
        ("/sessions/open", json!({"namespace": "ops", "session_id": "s", "goal": CANARY})),
        (
            "/sessions/append",
            json!({"namespace": "ops", "session_id": "s", "turns": [{"role": "user", "content": CANARY}]}),
        ),
        ("/jobs/run", json!({"job": "archive"})),
        (
            "/mcp/ops",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": CANARY}}}),
        ),
        (
            "/mcp/ops",
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "memory_write", "arguments": {"content": CANARY}}}),
        ),
    ] {
        let (status, answer) = say(path, body);
        assert_ne!(status, 500, "{path}: {answer}");
    }
    assert_eq!(post(http, "/memory/write", "hs_CANARYQXZ", &draft).0, 401);
}

#[test]
fn s7_no_log_line_says_what_a_memory_a_query_or_a_token_says_and_each_names_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let generated = program().args(["token", "generate"]).output().unwrap();
    std::fs::write(path("token"), &generated.stdout).unwrap();
    let token = String::from_utf8(generated.stdout).unwrap().trim().to_owned();
    let mut child = program()
        .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-level", "trace"])
        .args(["--log-format", "json", "--data", &path("data"), "--ready-file", &path("ready")])
        .args(["--auth-token-file", &path("token")])
        .stderr(std::fs::File::create(path("log")).unwrap())
        .spawn()
        .unwrap();
    wait_until(|| folder.path().join("ready").exists());
    let ready: Value = serde_json::from_slice(&std::fs::read(path("ready")).unwrap()).unwrap();
    let (grpc, http) = (ready["grpc"].as_str().unwrap(), ready["http"].as_str().unwrap());
    say_it(http, &token);
    for args in
        [&["write", CANARY][..], &["recall", CANARY], &["list", "--tag", CANARY], &["sessions", "list"]]
    {
        let mut command = program();
        command.env("HINDSIGHT_SERVER", format!("http://{grpc}")).env("HINDSIGHT_NAMESPACE", "ops");
        let ran = command.env("HINDSIGHT_TOKEN", &token).args(args).output().unwrap();
        assert!(ran.status.success(), "{args:?}: {ran:?}");
    }
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let log = std::fs::read_to_string(path("log")).unwrap();
    let secret = token.rsplit('_').next().unwrap();
    for line in log.lines() {
        assert!(!line.to_uppercase().contains(CANARY), "{line}");
        assert!(!line.contains(secret), "{line}");
    }
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The lines about calls, and those that the engine logs during one.
    let about: Vec<&Value> = lines.iter().filter(|line| line["message"] == "call").collect();
    assert!(about.len() > 20, "{}", about.len());
    for line in &about {
        assert!(line["request_id"].as_str().is_some_and(|id| id.starts_with("req_")), "{line}");
    }
    let of_calls: Vec<&Value> = lines.iter().filter(|line| line["span"]["name"] == "call").collect();
    assert!(!of_calls.is_empty());
    for line in of_calls {
        assert!(line["span"]["request_id"].as_str().is_some_and(|id| id.starts_with("req_")), "{line}");
    }
}
