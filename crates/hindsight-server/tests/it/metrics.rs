//! `/metrics`: the names are an interface, the labels are bounded, and the numbers are right.

use hindsight_client::Filter;
use serde_json::{Value, json};

use crate::access::{LONG_AGO, Locked, wish};
use crate::support::{TestServer, draft};

/// `HINDSIGHT_METRICS=write` writes it anew.
const NAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/metrics/names.txt");

async fn text(server: &TestServer) -> String {
    let (status, head, text) = server.http_text("GET", "/metrics", &[], b"").await;
    assert_eq!(status, 200, "{text}");
    assert!(head.to_lowercase().contains("content-type: text/plain; version=0.0.4"), "{head}");
    text
}

/// The value of a series, as it is written with its labels; none where there is none.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test]
async fn i7_the_names_and_types_are_those_of_the_list() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    ops.write(draft("the deploy failed")).await.unwrap();
    ops.recall("deploy").await.unwrap();
    let text = text(&server).await;
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    names.sort_unstable();
    let names = names.join("\n") + "\n";
    if std::env::var_os("HINDSIGHT_METRICS").is_some_and(|wish| wish == "write") {
        std::fs::write(NAMES, &names).unwrap();
    }
    assert_eq!(names, std::fs::read_to_string(NAMES).unwrap(), "names of metrics are an interface");
    // Each says what it is.
    for name in names.lines().filter_map(|line| line.split(' ').next()) {
        assert!(text.contains(&format!("# HELP {name} ")), "{name}");
    }
}

#[tokio::test]
async fn s6_metrics_tell_of_all_namespaces_so_only_who_may_look_everywhere_reads_them() {
    let make = |store: &hindsight_auth::TokenStore, grant: &str| {
        store.create(wish(grant, &[grant]), LONG_AGO).unwrap().0.expose()
    };
    let (locked, tokens) =
        Locked::with(|store| ["ops=admin", "*=observe"].map(|grant| make(store, grant)), |_| {}).await;
    for (token, expected) in [("hs_garbage", 401), (&tokens[0], 403), (&tokens[1], 200)] {
        let bearer = format!("Bearer {token}");
        let (status, _, text) =
            locked.server.http_text("GET", "/metrics", &[("authorization", &bearer)], b"").await;
        assert_eq!(status, expected, "{text}");
    }
    let bearer = format!("Bearer {}", locked.admin);
    let (_, _, text) = locked.server.http_text("GET", "/metrics", &[("authorization", &bearer)], b"").await;
    let of = |reason: &str| value(&text, &format!("hindsight_auth_failures_total{{reason=\"{reason}\"}}"));
    assert_eq!((of("TOKEN_INVALID"), of("SCOPE_MISSING")), (Some(1.0), Some(1.0)), "{text}");
    assert_eq!(
        value(&text, "hindsight_requests_total{front=\"http\",method=\"Metrics\",code=\"ok\"}"),
        Some(1.0)
    );
}

#[tokio::test]
async fn i7_calls_are_counted_by_front_method_and_code() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    for number in 0..3 {
        ops.write(draft(&format!("note {number} about deploys"))).await.unwrap();
    }
    ops.recall("deploys").await.unwrap();
    assert!(ops.recall("x".repeat(9_000).as_str()).await.is_err());
    let wrong = server.http("POST", "/memory/write", json!({"namespace": "ops", "contnet": "x"})).await;
    assert_eq!(wrong.status, 400);
    assert_eq!(server.http("POST", "/memory/nothing", Value::Null).await.status, 404);
    let tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": "deploys"}}});
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let answer = server.http_raw("POST", "/mcp/ops", &headers, tool.to_string().as_bytes()).await;
    assert_eq!(answer.status, 200, "{answer:?}");

    let text = text(&server).await;
    let requests = |front: &str, method: &str, code: &str| {
        let series =
            format!("hindsight_requests_total{{front=\"{front}\",method=\"{method}\",code=\"{code}\"}}");
        value(&text, &series).unwrap_or_default()
    };
    assert_eq!(requests("grpc", "MemoryService/Write", "ok"), 3.0, "{text}");
    assert_eq!(requests("grpc", "MemoryService/Recall", "ok"), 1.0);
    assert_eq!(requests("grpc", "MemoryService/Recall", "invalid_argument"), 1.0);
    assert_eq!(requests("http", "MemoryService/Write", "invalid_argument"), 1.0);
    assert_eq!(requests("http", "unknown", "not_found"), 1.0);
    assert_eq!(requests("mcp", "MemoryService/Recall", "ok"), 1.0);
    // Two by gRPC and MCP; the one that was refused is none.
    assert_eq!(value(&text, "hindsight_recall_duration_seconds_count"), Some(2.0));
    assert_eq!(value(&text, "hindsight_write_outcomes_total{outcome=\"created\"}"), Some(3.0));
    assert_eq!(value(&text, "hindsight_memories"), Some(3.0));
    assert!(value(&text, "hindsight_wal_fsync_duration_seconds_count").unwrap() >= 1.0);
    assert_eq!(value(&text, "hindsight_poisoned"), Some(0.0));
    assert!(value(&text, "hindsight_disk_free_bytes").unwrap() > 0.0);
    assert_eq!(value(&text, "hindsight_requests_in_flight{front=\"grpc\"}"), Some(0.0));
}

#[tokio::test]
async fn i7_what_is_refused_by_a_limit_is_counted_with_its_reason() {
    let server = TestServer::with(|config| config.limits.message_bytes = 2_000).await;
    let body = json!({"namespace": "ops", "content": "x".repeat(4_000)});
    assert_eq!(server.http("POST", "/memory/write", body).await.status, 400);
    let text = text(&server).await;
    let of = |reason: &str| value(&text, &format!("hindsight_quota_rejections_total{{reason=\"{reason}\"}}"));
    assert_eq!((of("CONTENT_TOO_LARGE"), of("OVERLOADED")), (Some(1.0), Some(0.0)), "{text}");
}

#[tokio::test]
async fn i7_namespaces_have_labels_up_to_a_limit_and_methods_only_those_that_exist() {
    let server = TestServer::start().await;
    let client = server.client().await;
    for number in 0..110 {
        let namespace = client.namespace(&format!("tenant-{number}")).unwrap();
        namespace.write(draft("one note")).await.unwrap();
        let path = format!("/nothing/{number}");
        assert_eq!(server.http("GET", &path, Value::Null).await.status, 404);
    }
    let big = client.namespace("tenant-109").unwrap();
    big.write(draft("a second note about another thing")).await.unwrap();
    assert_eq!(big.list(Filter::default()).send().await.unwrap().memories.len(), 2);
    let text = text(&server).await;
    let series: Vec<&str> =
        text.lines().filter(|line| line.starts_with("hindsight_namespace_memories{")).collect();
    assert_eq!(series.len(), 101);
    assert_eq!(value(&text, "hindsight_namespace_memories{namespace=\"tenant-109\"}"), Some(2.0));
    assert_eq!(value(&text, "hindsight_namespace_memories{namespace=\"other\"}"), Some(10.0));
    assert_eq!(value(&text, "hindsight_namespaces"), Some(110.0));
    assert!(!text.contains("/nothing/"), "{text}");
}
