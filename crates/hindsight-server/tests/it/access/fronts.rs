//! The same locks on the other fronts: HTTP paths and the tools of MCP.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Callers, Locked};

/// Each path with a method, and who may use it in namespace `ops` beside the administrators.
const ROUTES: &[(&str, &str, &[&str])] = &[
    ("POST", "/memory/write", &["write"]),
    ("POST", "/memory/record", &["write"]),
    ("POST", "/memory/batch", &["write"]),
    ("POST", "/memory/search", &["read"]),
    ("POST", "/memory/explain", &["observe", "read"]),
    ("GET", "/memory/rules", &["observe", "read"]),
    ("POST", "/memory/rules", &["write"]),
    ("PATCH", "/memory/rules/mem_01k9zq4t8rc5d2v7n3hx6w0jab", &["rules"]),
    ("POST", "/memory/consolidate", &["rules"]),
    ("POST", "/memory/summarize", &["write"]),
    ("GET", "/memory/get", &["observe", "read"]),
    ("POST", "/memory/list", &["observe", "read"]),
    ("PUT", "/memory/update", &["write"]),
    ("DELETE", "/memory/forget", &["forget"]),
    ("POST", "/memory/restore", &["forget"]),
    ("POST", "/memory/feedback", &["write"]),
    ("POST", "/memory/history", &["observe", "read"]),
    ("POST", "/memory/rollback", &["write"]),
    ("DELETE", "/memory/purge", &["purge"]),
    ("DELETE", "/namespaces/drop", &[]),
    ("GET", "/stats", &["observe", "read"]),
    ("POST", "/audit", &["audit"]),
    ("POST", "/jobs/run", &[]),
    ("POST", "/sessions/open", &["write"]),
    ("POST", "/sessions/append", &["write"]),
    ("POST", "/sessions/get", &["observe", "read"]),
    ("POST", "/sessions/close", &["write"]),
    ("POST", "/sessions/list", &["observe", "read"]),
    ("GET", "/namespaces/ops", &["observe", "read"]),
    ("PATCH", "/namespaces/ops", &[]),
];

fn refused(answer: &crate::support::Answer) -> Option<&str> {
    let reason = answer.body["reason"].as_str()?;
    matches!(answer.status, 401 | 403).then_some(reason)
}

fn is_admin(kind: &str) -> bool {
    matches!(kind, "admin" | "local_admin")
}

#[tokio::test]
async fn s6_every_path_asks_as_its_rpc_does() {
    let (locked, callers) = Locked::with(Callers::make, |_| {}).await;
    let mut cases = Vec::new();
    for route in ROUTES {
        for caller in &callers.0 {
            cases.push((route, caller));
        }
    }
    let answers = futures_util::future::join_all(cases.iter().map(|((method, path, _), (_, token))| {
        let server = &locked.server;
        async move {
            let mut headers = vec![("x-hindsight-namespace", "ops")];
            let bearer = token.as_ref().map(|token| format!("Bearer {token}"));
            headers.extend(bearer.as_ref().map(|bearer| ("authorization", bearer.as_str())));
            server.http_raw(method, path, &headers, b"").await
        }
    }))
    .await;
    for (((_, path, allowed), (kind, _)), answer) in cases.into_iter().zip(answers) {
        let expected = match Callers::refusal(kind) {
            Some(reason) => Some(reason),
            None if is_admin(kind) || allowed.contains(kind) => None,
            None if *kind == "other" => Some("NAMESPACE_DENIED"),
            None => Some("SCOPE_MISSING"),
        };
        assert_eq!(refused(&answer), expected, "{path} by {kind}: {answer:?}");
        if answer.status == 401 {
            assert!(answer.head.contains("www-authenticate: Bearer realm=\"hindsight\""), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn s6_what_belongs_to_no_namespace_asks_too() {
    let (locked, callers) = Locked::with(Callers::make, |_| {}).await;
    for (kind, token) in &callers.0 {
        let bearer = token.as_ref().map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> =
            bearer.as_ref().map(|bearer| ("authorization", bearer.as_str())).into_iter().collect();
        for open in ["/health", "/livez", "/readyz"] {
            assert_eq!(
                locked.server.http_raw("GET", open, &headers, b"").await.status,
                200,
                "{open} by {kind}"
            );
        }
        let info = locked.server.http_raw("GET", "/info", &headers, b"").await;
        assert_eq!(refused(&info), Callers::refusal(kind), "{kind}: {info:?}");
        let tokens = locked.server.http_raw("GET", "/tokens", &headers, b"").await;
        let expected = Callers::refusal(kind).or((*kind != "admin").then_some("SCOPE_MISSING"));
        assert_eq!(refused(&tokens), expected, "{kind}: {tokens:?}");
    }
    let elsewhere = locked.server.http("GET", "/tokenz", Value::Null).await;
    assert_eq!(elsewhere.status, 404, "{elsewhere:?}");
}

/// Each tool with arguments that reach the database, and who may use it beside the administrators.
fn tools() -> Vec<(&'static str, Value, &'static [&'static str])> {
    let id = "mem_01k9zq4t8rc5d2v7n3hx6w0jab";
    vec![
        ("memory_search", json!({"query": "deploys"}), &["observe", "read"]),
        ("memory_write", json!({"text": "deploys go through Argo"}), &["write"]),
        ("memory_update", json!({"id": id, "text": "x"}), &["write"]),
        ("memory_forget", json!({"ids": [id]}), &["forget"]),
        ("memory_get", json!({"ids": [id]}), &["observe", "read"]),
        ("memory_feedback", json!({"recall_id": "rcl_01k9zq4t8rc5d2v7n3hx6w0jab", "used": [id]}), &["write"]),
        ("memory_session", json!({"action": "open"}), &["write"]),
        (
            "memory_session",
            json!({"action": "read", "session_id": "ses_01k9zq4t8rc5d2v7n3hx6w0jab"}),
            &["observe", "read"],
        ),
        ("memory_record", json!({"task_type": "t", "status": "success", "summary": "s"}), &["write"]),
        ("memory_rules", json!({}), &["observe", "read"]),
        ("memory_summarize", json!({"entity": "nobody"}), &["write"]),
    ]
}

#[tokio::test]
async fn s6_every_tool_asks_as_its_rpc_does() {
    let (locked, callers) = Locked::with(Callers::make, |_| {}).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let bearer = format!("Bearer {}", locked.admin);
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2025-06-18"),
        ("authorization", bearer.as_str()),
    ];
    let listed = locked.server.http_raw("POST", "/mcp/ops?profile=full", &headers, list.as_bytes()).await;
    let listed = listed.body["result"]["tools"].as_array().unwrap().iter();
    let listed: BTreeSet<&str> = listed.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(listed, tools().into_iter().map(|(tool, ..)| tool).collect(), "a tool has no row here");
    for (tool, arguments, allowed) in tools() {
        for (kind, token) in &callers.0 {
            let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments}})
            .to_string();
            let bearer = token.as_ref().map(|token| format!("Bearer {token}"));
            let mut headers = vec![
                ("accept", "application/json, text/event-stream"),
                ("content-type", "application/json"),
                ("mcp-protocol-version", "2025-06-18"),
            ];
            headers.extend(bearer.as_ref().map(|bearer| ("authorization", bearer.as_str())));
            let path = "/mcp/ops?profile=full";
            let answer = locked.server.http_raw("POST", path, &headers, message.as_bytes()).await;
            let at_door = Callers::refusal(kind).or((*kind == "other").then_some("NAMESPACE_DENIED"));
            assert_eq!(refused(&answer), at_door, "{tool} by {kind}: {answer:?}");
            if at_door.is_some() {
                continue;
            }
            let text = answer.body["result"]["content"][0]["text"].as_str().unwrap_or_default();
            let denied = text.contains("needs the right");
            let may = is_admin(kind) || allowed.contains(kind);
            assert_eq!(denied, !may, "{tool} by {kind}: {answer:?}");
        }
    }
}
