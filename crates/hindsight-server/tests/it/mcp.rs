//! MCP over streamable HTTP.

use serde_json::{Value, json};

use crate::support::{Answer, TestServer};

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("content-type", "application/json");

async fn post(server: &TestServer, path: &str, headers: &[(&str, &str)], message: &Value) -> Answer {
    let headers: Vec<(&str, &str)> = [ACCEPT, JSON].iter().chain(headers).copied().collect();
    server.http_raw("POST", path, &headers, message.to_string().as_bytes()).await
}

async fn call(server: &TestServer, path: &str, tool: &str, arguments: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}});
    let answer = post(server, path, &[("mcp-protocol-version", "2025-06-18")], &message).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["result"].clone()
}

#[tokio::test]
async fn i3_each_address_is_one_namespace() {
    let server = TestServer::start().await;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let answer = post(&server, "/mcp/ops", &[], &hello).await;
    assert_eq!(answer.body["result"]["serverInfo"]["name"], "hindsight", "{answer:?}");

    // Calls of two namespaces side by side never see each other's memories.
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for number in 0..20 {
        for name in ["ops", "home"] {
            let text = format!("the {name} code number {number} is {name}{number}");
            writes.push((format!("/mcp/{name}"), json!({"text": text})));
            reads.push((name, format!("/mcp/{name}"), json!({"query": "code number", "limit": 50})));
        }
    }
    let wrote = writes.into_iter().map(|(path, arguments)| {
        let server = &server;
        async move { call(server, &path, "memory_write", arguments).await }
    });
    for result in futures_util::future::join_all(wrote).await {
        assert_eq!(result["isError"], false, "{result}");
    }
    let read = reads.into_iter().map(|(name, path, arguments)| {
        let server = &server;
        async move { (name, call(server, &path, "memory_search", arguments).await) }
    });
    for (name, result) in futures_util::future::join_all(read).await {
        let other = if name == "ops" { "home" } else { "ops" };
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("{name}1")) && !text.contains(other), "{text}");
    }
}

#[tokio::test]
async fn m9_r9_an_agent_asks_for_the_past_and_sees_how_often_a_thing_was_confirmed() {
    let server = TestServer::start().await;
    let goal = |text: &str, value: &str| json!({"text": text, "subject": "user", "attribute": "goal", "value": value});
    for _ in 0..2 {
        let wrote = call(&server, "/mcp/ops", "memory_write", goal("I want to lose fat", "lose fat")).await;
        assert_eq!(wrote["isError"], false, "{wrote}");
    }
    let found = call(&server, "/mcp/ops", "memory_search", json!({"query": "what do I want"})).await;
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(", verified once | I want to lose fat"), "{text}");
    let early = json!({"query": "what do I want", "as_of": "2020-01-01"});
    let early = call(&server, "/mcp/ops", "memory_search", early).await;
    assert_eq!(early["isError"], true);
    assert!(early["content"][0]["text"].as_str().unwrap().contains("the first memory holds from"), "{early}");
    let later =
        call(&server, "/mcp/ops", "memory_search", json!({"query": "what do I want", "as_of": "2999-01-01"}))
            .await;
    assert!(later["content"][0]["text"].as_str().unwrap().contains("lose fat"), "{later}");
}

#[tokio::test]
async fn i3_the_newer_generation_is_served() {
    let server = TestServer::start().await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "server/discover")];
    let answer = post(&server, "/mcp/ops", &headers, &discover).await;
    assert!(answer.body["result"]["capabilities"]["tools"].is_object(), "{answer:?}");
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": meta}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    let answer = post(&server, "/mcp/ops?profile=full", &headers, &list).await;
    let tools = answer.body["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    assert!(tools.iter().any(|tool| tool["name"] == "memory_record"));
}

#[tokio::test]
async fn i3_web_pages_and_wrong_addresses_are_refused() {
    let server = TestServer::start().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for header in [("origin", "https://evil.example"), ("origin", "null"), ("host", "evil.example")] {
        let answer = post(&server, "/mcp/ops", &[header], &list).await;
        assert_eq!(answer.status, 403, "{header:?}: {answer:?}");
    }
    assert_eq!(post(&server, "/mcp/..%2Fetc", &[], &list).await.fields(), ["namespace"]);
    assert_eq!(post(&server, "/mcp/ops?profile=all", &[], &list).await.fields(), ["profile"]);
    let resource = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": {"uri": "memory://home/overview"}});
    let answer = post(&server, "/mcp/ops", &[], &resource).await;
    assert!(
        answer.body["error"]["message"].as_str().unwrap().contains("memory://ops/overview"),
        "{answer:?}"
    );
}
