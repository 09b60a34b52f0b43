//! Bad input is refused on every front with the name of the field, and nothing is stored.

use hindsight_proto::v1;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::support::TestServer;

fn memory(content: &str) -> v1::Memory {
    v1::Memory { content: content.to_owned(), ..v1::Memory::default() }
}

fn write(memory: v1::Memory) -> v1::WriteRequest {
    v1::WriteRequest { namespace: "ops".into(), memory: Some(memory), ..v1::WriteRequest::default() }
}

fn with_vector(values: &[f32]) -> v1::WriteRequest {
    v1::WriteRequest {
        vectors: vec![v1::Vector { role: 0, values: values.to_vec() }],
        embedding_model: "m".into(),
        ..write(memory("x"))
    }
}

/// The reason and the first field of a refusal.
fn told(status: &Status) -> (String, String) {
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    let details = status.get_error_details();
    let info = details.error_info().unwrap();
    assert_eq!(info.domain, "hindsight");
    let violations = &details.bad_request().unwrap().field_violations;
    assert!(!violations[0].description.is_empty());
    (info.reason.clone(), violations[0].field.clone())
}

#[tokio::test]
async fn grpc_names_the_field() {
    let server = TestServer::start().await;
    let mut wire = server.wire().await;
    let cases: Vec<(v1::WriteRequest, &str)> = vec![
        (with_vector(&[1.0, f32::NAN]), "vectors[0].values"),
        (with_vector(&[f32::INFINITY]), "vectors[0].values"),
        (with_vector(&[0.0, 0.0]), "vectors[0].values"),
        (with_vector(&[]), "vectors[0].values"),
        (with_vector(&vec![1.0; 5000]), "vectors[0].values"),
        (write(memory("")), "content"),
        (write(memory(" \n")), "content"),
        (write(v1::Memory { importance: Some(2.0), ..memory("x") }), "importance"),
        (write(v1::Memory { importance: Some(f32::NAN), ..memory("x") }), "importance"),
        (write(v1::Memory { kind: 99, ..memory("x") }), "kind"),
        (write(v1::Memory { version: 3, ..memory("x") }), "version"),
        (v1::WriteRequest { namespace: "../x".into(), ..write(memory("x")) }, "namespace"),
        (v1::WriteRequest { namespace: String::new(), ..write(memory("x")) }, "namespace"),
        (v1::WriteRequest { memory: None, ..write(memory("x")) }, "memory"),
        (write(memory(&"长".repeat(40_000))), "content"),
    ];
    for (request, field) in cases {
        let status = wire.write(request).await.unwrap_err();
        assert_eq!(told(&status), ("FIELD_INVALID".to_owned(), field.to_owned()));
    }
    let list = v1::ListRequest { namespace: "ops".into(), page_size: -1, ..v1::ListRequest::default() };
    assert_eq!(told(&wire.list(list).await.unwrap_err()).1, "page_size");
    let recall = |vector: Vec<f32>| v1::RecallRequest {
        namespace: "ops".into(),
        vector,
        embedding_model: "m".into(),
        ..v1::RecallRequest::default()
    };
    for vector in [vec![f32::NAN], vec![0.0]] {
        assert_eq!(told(&wire.recall(recall(vector)).await.unwrap_err()).1, "vector");
    }
    let record = v1::RecordRequest { namespace: "ops".into(), ..v1::RecordRequest::default() };
    let record = wire.record(record).await.unwrap_err();
    let details = record.get_error_details();
    let fields: Vec<_> =
        details.bad_request().unwrap().field_violations.iter().map(|v| v.field.as_str()).collect();
    assert_eq!(fields, ["task_type", "status", "summary"]);
    let reversed = v1::RecordRequest {
        namespace: "ops".into(),
        task_type: "t".into(),
        status: 2,
        summary: "s".into(),
        started_at: Some(prost_types::Timestamp { seconds: 10, nanos: 0 }),
        ended_at: Some(prost_types::Timestamp { seconds: 5, nanos: 0 }),
        ..v1::RecordRequest::default()
    };
    assert_eq!(told(&wire.record(reversed).await.unwrap_err()).1, "ended_at");
    assert_eq!(server.contents().await, [""; 0]);
}

#[tokio::test]
async fn a_message_of_five_mebibytes_is_refused_with_the_limit() {
    let server = TestServer::start().await;
    let status = server.wire().await.write(write(memory(&"x".repeat(5 << 20)))).await.unwrap_err();
    assert_eq!(told(&status), ("CONTENT_TOO_LARGE".to_owned(), "message".to_owned()));
    assert!(status.message().contains("at most 4194304") && status.message().contains("nothing is stored"));
    // The connection and the server go on.
    assert!(server.wire().await.write(write(memory("small"))).await.is_ok());

    let body = json!({"namespace": "ops", "content": "x".repeat(5 << 20)});
    let answer = server.http("POST", "/memory/write", body).await;
    assert_eq!((answer.status, &answer.body["reason"]), (400, &json!("CONTENT_TOO_LARGE")));
    assert_eq!(answer.fields(), ["body"]);
    assert!(answer.body["detail"].as_str().unwrap().contains("4194304"));
    // Who asks before sending is told before sending.
    let mut asking = TcpStream::connect(server.running.http_addr()).await.unwrap();
    let head = "POST /memory/write HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 5242880\r\n\r\n";
    asking.write_all(head.as_bytes()).await.unwrap();
    let mut told = String::new();
    asking.read_to_string(&mut told).await.unwrap();
    assert!(told.starts_with("HTTP/1.1 400") && told.contains("CONTENT_TOO_LARGE"), "{told}");
    assert_eq!(server.contents().await, ["small"]);
}

#[tokio::test]
async fn http_names_the_field() {
    let server = TestServer::start().await;
    let vector = |values: &str| {
        format!(
            r#"{{"namespace":"ops","content":"x","embedding_model":"m","vectors":[{{"values":{values}}}]}}"#
        )
    };
    let cases: Vec<(String, &str)> = vec![
        (vector("[1, 1e39]"), "vectors[0].values"),
        (vector("[1, 1e999]"), "vectors[0].values[1]"),
        (vector("[NaN]"), "vectors[0].values[0]"),
        (vector("[0, 0]"), "vectors[0].values"),
        (vector("[\"a\"]"), "vectors[0].values[0]"),
        (vector("[]"), "vectors[0].values"),
        (r#"{"namespace":"ops","content":""}"#.into(), "content"),
        (r#"{"namespace":"ops"}"#.into(), "content"),
        (r#"{"namespace":"ops","content":"x","importance":2}"#.into(), "importance"),
        (r#"{"namespace":"ops","content":"x","importance":1e999}"#.into(), "importance"),
        (r#"{"namespace":"ops","content":"x","kind":"diary"}"#.into(), "kind"),
        (r#"{"namespace":"../x","content":"x"}"#.into(), "namespace"),
        (r#"{"content":"x"}"#.into(), "namespace"),
        (r#"{"namespace":"ops","content":"x","contnt":"y"}"#.into(), "contnt"),
        (r#"{"namespace":"ops","content":"x","state":"archived"}"#.into(), "state"),
        (r#"{"namespace":"ops","content":"x","occurred_at":"soon"}"#.into(), "occurred_at"),
        (r#"{"namespace":"ops","content":"x""#.into(), "body"),
        ("[]".into(), "body"),
        ("\"x\"".into(), "body"),
    ];
    for (body, field) in cases {
        let answer = server.http_raw("POST", "/memory/write", &[], body.as_bytes()).await;
        assert_eq!((answer.status, answer.fields()[0]), (400, field), "{body}: {answer:?}");
        assert!(answer.head.contains("application/problem+json"));
        assert!(answer.body["request_id"].as_str().unwrap().starts_with("req_"));
    }
    for (path, body, field) in [
        (
            "/memory/record",
            json!({"namespace": "ops", "task_type": "t", "status": "failure", "summary": "s", "actions": [{"tool": "a"}, {"tol": "b"}]}),
            "actions[1].tol",
        ),
        (
            "/memory/record",
            json!({"namespace": "ops", "task_type": "t", "status": "broken", "summary": "s"}),
            "status",
        ),
        (
            "/memory/record",
            json!({"namespace": "ops", "task_type": "t", "status": "failure", "summary": "s", "actions": [{"tool": ""}]}),
            "actions[0].tool",
        ),
        ("/memory/search", json!({"namespace": "ops", "query": "x", "top_q": 5}), "top_q"),
        ("/memory/search", json!({"namespace": "ops", "query": "x", "top_k": 0}), "top_k"),
        (
            "/memory/search",
            json!({"namespace": "ops", "query": "x", "filters": {"kinds": ["fact"], "statis": ["failure"]}}),
            "filter.statis",
        ),
        (
            "/memory/search",
            json!({"namespace": "ops", "query": "x", "time_decay_factor": 1.5}),
            "time_decay_factor",
        ),
        ("/memory/forget", json!({"namespace": "ops"}), "ids"),
        ("/memory/forget", json!({"namespace": "ops", "filter": {}}), "filter"),
        ("/memory/forget", json!({"namespace": "ops", "ids": ["mem_1"]}), "ids[0]"),
        ("/memory/update", json!({"namespace": "ops", "content": "x"}), "id"),
        ("/memory/list", json!({"namespace": "ops", "page_size": -1}), "page_size"),
    ] {
        let answer = server.http("POST", path, body).await;
        let field = if field == "filter.statis" { "filters.statis" } else { field };
        assert_eq!((answer.status, answer.fields()[0]), (400, field), "{path}: {answer:?}");
    }
    let answer = server.http("GET", "/memory/list?namespace=ops&page_size=-1", Value::Null).await;
    assert_eq!((answer.status, answer.fields()), (400, vec!["page_size"]));
    assert_eq!(server.contents().await, [""; 0]);
}
