//! Bad input is refused with the field's name and what would be right, and nothing is stored.

use serde_json::{Value, json};

use crate::program::Served;

/// Sends a draft as JSON; it must be refused as bad input.
#[track_caller]
fn refused(served: &Served, draft: &str, words: &[&str]) {
    served.run_with(draft.as_bytes(), &["write", "--json", "-"]).refused(2, words);
}

#[test]
fn fields_of_a_memory() {
    let served = Served::start();
    let refused = |draft: Value, words: &[&str]| refused(&served, &draft.to_string(), words);
    refused(json!({"content": "  "}), &["content", "empty"]);
    refused(json!({}), &["content", "empty"]);
    refused(json!({"content": "a", "importance": 1.5}), &["importance", "from 0 to 1"]);
    refused(json!({"content": "a", "kind": "diary"}), &["kind", "diary", "episode"]);
    refused(json!({"content": "a", "colour": "red"}), &["colour", "unknown field", "content"]);
    refused(json!({"content": "a", "kind": "episode"}), &["status", "success, failure or partial"]);
    refused(json!({"content": "a", "occurred_at": "soon"}), &["occurred_at", "RFC 3339"]);
    refused(json!({"content": "字".repeat(32_001)}), &["content", "32001", "32000"]);
    refused(json!({"content": "a", "episode": {"actions": [{"tool": ""}]}}), &["episode.actions[0].tool"]);
    served.run(&["write", "a", "--importance", "-1"]).refused(2, &["importance", "from 0 to 1"]);
    served.run(&["write", "a", "--kind", "diary"]).refused(2, &["--kind", "diary", "preference"]);
    served.run(&["write", "a", "--occurred-at", "soon"]).refused(2, &["--occurred-at", "RFC 3339"]);
    served.run(&["write", "a", "-n", "../etc"]).refused(2, &["../etc", "--namespace"]);
    served
        .run(&["record", "--task-type", "t", "--summary", "s"])
        .refused(2, &["status", "success, failure or partial"]);
    served.run(&["record", "--task-type", "t", "--status", "failure"]).refused(2, &["summary"]);
    served
        .run(&["record", "--task-type", "t", "--status", "failure", "--action", "{\"tol\":1}"])
        .refused(2, &["tol"]);
    assert_eq!(served.run(&["namespaces"]).ok().stdout, "");
}

#[test]
fn vectors() {
    let served = Served::start();
    let with = |values: &str| {
        format!(r#"{{"content":"a","embedding_model":"my-model","vectors":[{{"values":{values}}}]}}"#)
    };
    refused(&served, &with("[]"), &["vectors[0].values", "empty"]);
    refused(&served, &with("[0, 0]"), &["vectors[0].values", "zero"]);
    refused(&served, &with("[1, NaN]"), &["json", "column"]);
    refused(&served, &with("[1, 1e999]"), &["out of range"]);
    refused(&served, &with("[1, 1e39]"), &["vectors[0].values", "finite"]);
    refused(&served, &with(r#"[1, "x"]"#), &["vectors[0].values[1]"]);
    refused(&served, r#"{"content":"a","vectors":[{"values":[1,0]}]}"#, &["embedding_model", "missing"]);
    assert_eq!(served.run(&["namespaces"]).ok().stdout, "");

    served.run_with(with("[1, 0, 0]").as_bytes(), &["write", "--json", "-"]).ok();
    refused(&served, &with("[1, 0]"), &["my-model", "3", "2"]);
    let other = with("[1, 0, 0]").replace("my-model", "other-model");
    refused(&served, &other, &["my-model", "other-model"]);
    assert_eq!(served.count("test"), 1);
}

#[test]
fn questions_and_pages() {
    let served = Served::start();
    served.write("something", &[]);
    served.run(&["recall", "a", "--top-k", "0"]).refused(2, &["top_k", "1 to 100"]);
    served.run(&["recall", "a", "--min-score", "2"]).refused(2, &["min_score", "from 0 to 1"]);
    served.run(&["recall", "a", "--mode", "psychic"]).refused(2, &["--mode", "hybrid"]);
    served.run(&["recall", "a", "--half-life-days", "-3"]).refused(2, &["half_life_days"]);
    served.run(&["recall", "a", "--last", "a while"]).refused(2, &["--last", "7d"]);
    served.run(&["recall", "a", "--time-zone", "Mars/Olympus"]).refused(2, &["time_zone", "Asia/Shanghai"]);
    served.run(&["recall", "a", "--filter", r#"{"kind":"diary"}"#]).refused(2, &["filter.kind", "diary"]);
    served.run(&["list", "--limit", "-1"]).refused(2, &["--limit"]);
}

#[test]
fn a_message_of_five_mebibytes() {
    let served = Served::start();
    let text = "x".repeat(5 * 1024 * 1024);
    served.run_with(text.as_bytes(), &["write", "-"]).refused(2, &["4194304 bytes"]);
    assert_eq!(served.run(&["namespaces"]).ok().stdout, "");
}
