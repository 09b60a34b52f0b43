//! JSON over HTTP as `curl` sends it.

use serde_json::{Value, json};

use crate::support::TestServer;

#[tokio::test]
async fn the_agent_loop_in_json() {
    let server = TestServer::start().await;
    let record = json!({"namespace": "ops", "task_type": "order_processing", "status": "failure",
        "summary": "Changing the status of an order failed",
        "actions": [{"step": 1, "tool": "query_order", "params": {}, "result": "success"},
                    {"step": 2, "tool": "update_status", "error_code": "permission_denied"}],
        "root_cause": "api_token_expired", "resolution": "refresh_token_then_retry", "tags": ["order", "token"]});
    let recorded = server.http("POST", "/memory/record", record).await;
    assert_eq!(recorded.status, 200, "{recorded:?}");
    assert_eq!((&recorded.body["outcome"], &recorded.body["replayed"]), (&json!("created"), &json!(false)));
    let id = recorded.body["memory"]["id"].as_str().unwrap();
    assert!((recorded.body["memory"]["importance"].as_f64().unwrap() - 0.8).abs() < 1e-6);
    assert!((recorded.body["memory"]["confidence"].as_f64().unwrap() - 0.5).abs() < 1e-6);

    let search = json!({"namespace": "ops", "query": "order status permission", "task_type": "order_processing",
        "top_k": 5, "filters": {"status": ["failure", "partial"], "last": "30d"}, "mode": "hybrid",
        "time_decay_factor": 0.95, "explain": true});
    let found = server.http("POST", "/memory/search", search).await;
    assert_eq!(found.status, 200, "{found:?}");
    let hit = &found.body["hits"][0];
    assert_eq!(hit["memory"]["id"], id);
    let parts = hit["breakdown"]["parts"].as_array().unwrap();
    assert!(
        parts.iter().any(|part| part["name"] == "keyword" && part["contribution"].as_f64().unwrap() > 0.0)
    );
    assert!(
        hit["score"].as_f64().unwrap() > 0.0
            && hit["breakdown"]["confidence"].is_f64()
            && found.body["plan"].is_string()
    );

    let update = json!({"namespace": "ops", "id": id, "content": "已解决", "importance": 0.9, "version": 1});
    let updated = server.http("PUT", "/memory/update", update.clone()).await;
    assert_eq!((updated.status, &updated.body["memory"]["version"]), (200, &json!(2)), "{updated:?}");
    let stale = server.http("POST", "/memory/update", update).await;
    assert_eq!((stale.status, &stale.body["metadata"]["current_version"]), (409, &json!("2")), "{stale:?}");
    let got = server.http("GET", &format!("/memory/get?namespace=ops&id={id}"), Value::Null).await;
    assert_eq!(got.body["memory"]["content"], "已解决");

    let forget = json!({"namespace": "ops", "ids": [id]});
    let forgotten = server.http("DELETE", "/memory/forget", forget).await;
    assert_eq!((forgotten.status, &forgotten.body["count"]), (200, &json!(1)), "{forgotten:?}");
    let search = json!({"namespace": "ops", "query": "已解决"});
    assert_eq!(server.http("POST", "/memory/search", search).await.body["hits"], json!([]));
    let restored = server.http("POST", "/memory/restore", json!({"namespace": "ops", "id": id})).await;
    assert_eq!(restored.body["count"], 1);
    let again = server.http("DELETE", &format!("/memory/forget?namespace=ops&id={id}"), Value::Null).await;
    assert_eq!(again.body["count"], 1);
}

#[tokio::test]
async fn forgetting_by_filter_counts_first() {
    let server = TestServer::start().await;
    let items: Vec<Value> =
        (0..3).map(|number| json!({"content": format!("note {number}"), "tags": ["old"]})).collect();
    let batch = server.http("POST", "/memory/batch", json!({"namespace": "ops", "items": items})).await;
    assert_eq!(batch.body["results"].as_array().unwrap().len(), 3, "{batch:?}");
    let path = "/memory/forget?namespace=ops&filter=%7B%22tag%22%3A%22old%22%7D&validate_only=true";
    assert_eq!(server.http("DELETE", path, Value::Null).await.body["count"], 3);
    let forget = |count: u32| json!({"namespace": "ops", "filter": {"tag": "old"}, "expected_count": count});
    let refused = server.http("DELETE", "/memory/forget", forget(2)).await;
    assert_eq!((refused.status, &refused.body["metadata"]["found_count"]), (409, &json!("3")), "{refused:?}");
    assert_eq!(server.http("DELETE", "/memory/forget", forget(3)).await.body["count"], 3);
}

#[tokio::test]
async fn a_bad_item_of_a_batch_is_refused_by_itself() {
    let server = TestServer::start().await;
    let batch = json!({"namespace": "ops", "items": [{"content": "好"}, {"contnt": "x"}, {"content": ""}, {"content": "d"}]});
    let answer = server.http("POST", "/memory/batch", batch.clone()).await;
    let results = answer.body["results"].as_array().unwrap();
    assert!(results[0]["id"].is_string() && results[3]["id"].is_string(), "{answer:?}");
    assert_eq!(results[1]["error"]["violations"][0]["field"], "contnt");
    assert_eq!(results[2]["error"]["violations"][0]["field"], "content");
    assert_eq!(server.contents().await, ["d", "好"]);
    let mut all = batch;
    all["all_or_nothing"] = json!(true);
    let refused = server.http("POST", "/memory/batch", all).await;
    assert_eq!((refused.status, refused.fields()[0]), (400, "items[1].contnt"));
    assert_eq!(server.contents().await, ["d", "好"]);
}

#[tokio::test]
async fn a_key_makes_a_request_act_once() {
    let server = TestServer::start().await;
    let body = json!({"content": "once"}).to_string();
    let headers =
        [("idempotency-key", "k-1"), ("x-hindsight-namespace", "ops"), ("content-type", "text/plain")];
    let first = server.http_raw("POST", "/memory/write", &headers, body.as_bytes()).await;
    let second = server.http_raw("POST", "/memory/write", &headers, body.as_bytes()).await;
    assert_eq!(
        (&first.body["replayed"], &second.body["replayed"]),
        (&json!(false), &json!(true)),
        "{second:?}"
    );
    assert_eq!(first.body["memory"]["id"], second.body["memory"]["id"]);
    let other = json!({"content": "twice"}).to_string();
    let refused = server.http_raw("POST", "/memory/write", &headers, other.as_bytes()).await;
    assert_eq!((refused.status, &refused.body["reason"]), (409, &json!("REQUEST_ID_REUSED")));
}

#[tokio::test]
async fn a_list_takes_conditions_as_parameters() {
    let server = TestServer::start().await;
    for (content, kind) in [("茶", "preference"), ("b", "fact"), ("c", "preference"), ("d", "preference")] {
        server
            .http("POST", "/memory/write", json!({"namespace": "ops", "content": content, "kind": kind}))
            .await;
    }
    let first =
        server.http("GET", "/memory/list?namespace=ops&kind=preference&page_size=2", Value::Null).await;
    let contents = |page: &Value| -> Vec<String> {
        page["memories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["content"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut all = contents(&first.body);
    assert_eq!(all.len(), 2);
    let token = first.body["next_page_token"].as_str().unwrap();
    let path = format!("/memory/list?namespace=ops&kind=preference&page_size=2&page_token={token}");
    let second = server.http("GET", &path, Value::Null).await;
    all.extend(contents(&second.body));
    all.sort();
    assert_eq!((all, second.body.get("next_page_token")), (vec!["c".into(), "d".into(), "茶".into()], None));
    let stats = server.http("GET", "/stats?namespace=ops", Value::Null).await;
    assert_eq!(stats.body["by_kind"], json!({"fact": 1, "preference": 3}));
    let names = server.http("GET", "/namespaces", Value::Null).await;
    assert_eq!(names.body, json!({"namespaces": [{"name": "ops", "memories": 4}]}));
}

#[tokio::test]
async fn a_slip_in_the_path_or_method_is_told() {
    let server = TestServer::start().await;
    let path = server.http("POST", "/memory/serch", json!({})).await;
    assert_eq!(path.status, 404);
    assert!(path.body["detail"].as_str().unwrap().contains("did you mean /memory/search?"), "{path:?}");
    let method = server.http("GET", "/memory/write", Value::Null).await;
    assert_eq!((method.status, &method.body["reason"]), (405, &json!("NO_SUCH_METHOD")));
    let missing =
        server.http("GET", "/memory/get?namespace=ops&id=mem_01k9zq4t8rc5d2v7n3hx6w0jab", Value::Null).await;
    assert_eq!((missing.status, &missing.body["reason"]), (404, &json!("MEMORY_NOT_FOUND")));
}

#[tokio::test]
async fn a_page_of_another_site_is_refused() {
    let server = TestServer::start().await;
    let body = br#"{"namespace":"ops","content":"x"}"#;
    for (name, value, reason) in [
        ("host", "evil.example", "HOST_DENIED"),
        ("host", "127.0.0.1.evil.example:7421", "HOST_DENIED"),
        ("origin", "https://evil.example", "ORIGIN_DENIED"),
        ("origin", "null", "ORIGIN_DENIED"),
    ] {
        let answer = server.http_raw("POST", "/memory/write", &[(name, value)], body).await;
        assert_eq!((answer.status, answer.body["reason"].as_str().unwrap()), (403, reason), "{answer:?}");
    }
    let own = server.http_raw("POST", "/memory/write", &[("origin", "http://localhost:7421")], body).await;
    assert_eq!(own.status, 200);
    assert_eq!(server.contents().await, ["x"]);
}

/// The field names that a path takes, as the server says when it is given one that it does not know.
async fn fields_of(server: &TestServer, method: &str, path: &str) -> std::collections::BTreeSet<String> {
    let id = "mem_01J00000000000000000000000";
    let path = path.replace("{id}", id).replace("{namespace}", "ops");
    let right = [
        json!({}),
        json!({"id": id}),
        json!({"session_id": "s"}),
        json!({"items": []}),
        json!({"job": "purge"}),
    ];
    for also in right {
        for namespace in [Some("ops"), None] {
            let mut body = also.clone();
            body["zzqqzzqqzz"] = json!(1);
            if let Some(namespace) = namespace {
                body["namespace"] = json!(namespace);
            }
            let answer = server.http(&method.to_uppercase(), &path, body).await;
            let told = answer.body["violations"][0].clone();
            if told["field"] != "zzqqzzqqzz" {
                continue;
            }
            let told = told["description"].as_str().unwrap();
            let names = told.split("expected one of ").nth(1).unwrap_or_default();
            return names.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        }
    }
    panic!("{method} {path} never named its fields");
}

#[tokio::test]
async fn i5_the_document_names_the_fields_that_each_path_takes_and_no_others() {
    let server = TestServer::start().await;
    let (status, _, text) = server.http_text("GET", "/openapi.json", &[], b"").await;
    assert_eq!(status, 200);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document, hindsight_server::openapi());
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let probes = ["/health", "/livez", "/readyz", "/info"];
            if probes.contains(&path.as_str()) {
                assert_eq!(server.http("GET", path, Value::Null).await.status, 200, "{path}");
                continue;
            }
            let in_body = &described["requestBody"]["content"]["application/json"]["schema"]["properties"];
            let mut named: std::collections::BTreeSet<String> = match in_body.as_object() {
                Some(properties) => properties.keys().cloned().collect(),
                None => {
                    let parameters = described["parameters"].as_array().unwrap().iter();
                    let query = parameters.filter(|parameter| parameter["in"] == "query");
                    query.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
                }
            };
            // A refusal is cut where it gets long: what it names must be described, and nearly all of it is named.
            let told = fields_of(&server, method, path).await;
            let missing: Vec<&String> = told.difference(&named).filter(|name| !name.ends_with('…')).collect();
            assert!(missing.is_empty(), "{method} {path} takes {missing:?} too");
            if !told.iter().any(|name| name.ends_with('…')) {
                named.retain(|name| !told.contains(name));
                assert!(named.is_empty(), "{method} {path} takes no {named:?}");
            }
        }
    }
    // What is not described is not there.
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "patch", "delete"] {
            if methods.get(method).is_none() && path != "/namespaces/drop" {
                let place = path.replace("{id}", "x").replace("{namespace}", "x");
                assert_eq!(
                    server.http(&method.to_uppercase(), &place, Value::Null).await.status,
                    405,
                    "{method} {path}"
                );
            }
        }
    }
}

#[tokio::test]
async fn i5_a_version_is_an_etag_and_if_match_holds_a_change_to_it() {
    let server = TestServer::start().await;
    let written =
        server.http("POST", "/memory/write", json!({"namespace": "ops", "content": "tea at four"})).await;
    assert!(written.head.to_lowercase().contains("etag: \"1\""), "{written:?}");
    let id = written.body["memory"]["id"].clone();
    let change = json!({"namespace": "ops", "id": id, "content": "tea at five"}).to_string();
    let update = async |tag: &str| {
        server.http_raw("PUT", "/memory/update", &[("if-match", tag)], change.as_bytes()).await
    };
    let changed = update("\"1\"").await;
    assert_eq!(changed.status, 200, "{changed:?}");
    assert!(changed.head.to_lowercase().contains("etag: \"2\""), "{changed:?}");
    let stale = update("\"1\"").await;
    assert_eq!((stale.status, &stale.body["metadata"]["current_version"]), (409, &json!("2")), "{stale:?}");
    assert_eq!(update("W/soon").await.status, 400);
    let got = server
        .http("GET", &format!("/memory/get?namespace=ops&id={}", id.as_str().unwrap()), Value::Null)
        .await;
    assert!(got.head.to_lowercase().contains("etag: \"2\""), "{got:?}");
}
