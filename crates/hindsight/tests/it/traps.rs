//! The traps that the design of the interfaces names, by number. Those that are tested here:
//! 2, 4, 6, 8, 11, 13, 18. The others have their tests where the thing itself is:
//!
//! | trap | test |
//! |---|---|
//! | 1: a reply exceeds its budget | hindsight-mcp, `render`: `r10_a_reply_stays_inside_its_budget` |
//! | 3: forged Origin or Host | hindsight-server, `mcp`: `i3_web_pages_and_wrong_addresses_are_refused`; `http`: `a_page_of_another_site_is_refused` |
//! | 5: scope widened by an argument | hindsight-server, `access`: `s6_every_path_asks_as_its_rpc_does`, `s6_every_tool_asks_as_its_rpc_does`, `s1_the_namespace_that_the_door_sees_is_the_one_that_is_used` |
//! | 7: fronts drift apart | `tests/scenarios` |
//! | 9: a retry stores twice | hindsight-engine, the simulation: after each power cut clients send again what was never answered; `import`: `an_import_that_broke_off_is_finished_by_running_it_again` |
//! | 10: a request id lost at a crash | hindsight-engine, the simulation; hindsight-server, `restart` |
//! | 12: unbounded labels of metrics | hindsight-server, `metrics`: `i7_namespaces_have_labels_up_to_a_limit_and_methods_only_those_that_exist` |
//! | 16: old formats | hindsight-engine: `b3_` |
//! | 17: schemas grow | hindsight-mcp, `tools`: `i3_the_tools_cost_a_model_little_and_say_what_they_do` |
//!
//! 14 is about the console, which there is none of. Of 15, liveness tied to storage, only one half has a test: readiness, in the
//! trials of hindsight-faults. No test stalls a disk and asks `/livez`, whose handler touches nothing.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{Served, program};

/// One POST over HTTP/1.1; the status and the body.
fn post(address: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
    let address = address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A server that refuses by the length alone may close before it has read all.
    let _ = stream.write_all(body.as_bytes());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer:?}")).parse().unwrap();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

fn call(served: &Served, namespace: &str, tool: &str, arguments: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}});
    let headers = "mcp-protocol-version: 2025-06-18\r\n";
    let (status, answer) = post(&served.http, &format!("/mcp/{namespace}"), headers, &message.to_string());
    assert_eq!(status, 200, "{answer}");
    answer["result"].clone()
}

#[test]
fn trap_2_a_client_may_greet_after_it_discovered() {
    let served = Served::start();
    let mut command = served.command(&["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut ask = |message: Value| {
        writeln!(input, "{message}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let about = json!({"name": "test", "version": "1"});
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": about, "io.modelcontextprotocol/clientCapabilities": {}});
    let found =
        ask(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}));
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
    let greeted = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": hello}));
    let words = |answer: &Value| answer["result"]["instructions"].as_str().map(str::to_owned);
    assert!(words(&found).is_some(), "{found}");
    assert_eq!(words(&found), words(&greeted), "{greeted}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn trap_4_two_hundred_calls_at_once_stay_in_their_namespaces() {
    let served = Served::start();
    std::thread::scope(|scope| {
        for index in 0..200 {
            let served = &served;
            scope.spawn(move || {
                let (mine, other) = if index % 2 == 0 { ("left", "right") } else { ("right", "left") };
                let text = format!("{mine} canary number {index}");
                assert_eq!(call(served, mine, "memory_write", json!({"text": text}))["isError"], false);
                let found =
                    call(served, mine, "memory_search", json!({"query": "canary number", "limit": 20}));
                let text = found["content"][0]["text"].as_str().unwrap();
                assert!(text.contains(mine) && !text.contains(other), "{text}");
            });
        }
    });
    assert_eq!((served.count("left"), served.count("right")), (100, 100));
}

#[test]
fn trap_6_the_same_wrong_write_is_refused_by_every_way_in() {
    let served = Served::start();
    let wrong = json!({"content": "too important", "importance": 7});
    let words = "is 7: expected a number from 0 to 1";
    served.run_with(wrong.to_string().as_bytes(), &["write", "--json", "-"]).refused(2, &[words]);
    let imported = served.run_with(wrong.to_string().as_bytes(), &["import", "-"]);
    assert!(imported.code == 7 && imported.stderr.contains(words), "{imported:?}");
    let dry = served.run_with(wrong.to_string().as_bytes(), &["import", "-", "--dry-run"]);
    assert!(dry.code == 7 && dry.stderr.contains(words), "{dry:?}");
    let body = json!({"namespace": "test", "content": "too important", "importance": 7}).to_string();
    let (status, problem) = post(&served.http, "/memory/write", "", &body);
    assert!(status == 400 && problem["violations"][0]["description"] == words, "{problem}");
    let batch = json!({"namespace": "test", "items": [wrong]}).to_string();
    let (_, answer) = post(&served.http, "/memory/batch", "", &batch);
    assert!(answer.to_string().contains(words), "{answer}");
    let said = call(&served, "test", "memory_write", json!({"text": "too important", "importance": 7}));
    assert!(said["isError"] == true && said.to_string().contains("importance"), "{said}");
    assert_eq!(served.count("test"), 0);
}

#[test]
fn trap_8_models_are_read_as_they_write_and_programs_strictly() {
    let served = Served::start();
    let tolerated = json!({"text": "we deploy on Tuesdays", "tags": "[\"deploy\"]", "importance": "0.7",
        "valid_to": null, "task_type": "null"});
    let written = call(&served, "test", "memory_write", tolerated);
    assert_eq!(written["isError"], false, "{written}");
    let found = call(
        &served,
        "test",
        "memory_search",
        json!({"query": "deploy", "limit": "5", "explain": "true", "tags": "deploy", "kind": "null"}),
    );
    assert!(found["content"][0]["text"].as_str().unwrap().contains("Tuesdays"), "{found}");
    let memory = served.run(&["list"]).ok().lines().remove(0);
    assert_eq!((&memory["tags"], memory.get("task_type")), (&json!(["deploy"]), None));
    for body in [
        json!({"namespace": "test", "query": "deploy", "top_k": "5"}),
        json!({"namespace": "test", "query": "deploy", "explain": "true"}),
    ] {
        let (status, problem) = post(&served.http, "/memory/search", "", &body.to_string());
        assert_eq!(status, 400, "{problem}");
    }
}

#[test]
fn trap_11_whatever_is_logged_standard_output_holds_messages_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for level in ["error", "info", "trace"] {
        let mut command = program();
        command
            .args(["-n", "test", "mcp", "--embedded", "--data"])
            .arg(&data)
            .env("HINDSIGHT__LOG__LEVEL", level);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let write = json!({"name": "memory_write", "arguments": {"text": format!("logged at {level}")}});
        let search = json!({"name": "memory_search", "arguments": {"query": "logged"}});
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}))
            .unwrap();
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": write}))
            .unwrap();
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": search}))
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        // All three are answered before the input ends, so that the end cuts none of them off.
        let mut lines = Vec::new();
        for _ in 0..3 {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            lines.push(line);
        }
        drop(input);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert!(child.wait().unwrap().success(), "it ends with its input");
        lines.extend(rest.lines().map(str::to_owned));
        assert_eq!(lines.len(), 3, "{lines:?}");
        for line in lines {
            let message: Value =
                serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} is no message"));
            assert_eq!(message["jsonrpc"], "2.0");
        }
    }
}

#[test]
fn trap_13_an_export_does_not_hold_what_it_has_written() {
    let served = Served::start();
    // In the metadata, which costs no embedding.
    let filler = "x".repeat(9_000);
    let line = |n: usize| format!("{}\n", json!({"text": format!("note {n}"), "id": n, "filler": filler}));
    let lines: String = (0..3_000).map(line).collect();
    served.run_with(lines.as_bytes(), &["import", "-", "--timeout", "10m"]).ok();
    let mut child = served.command(&["export"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let most = || -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (mut line, mut early, mut read) = (String::new(), 0, 0);
    for count in 1..=2_900 {
        line.clear();
        read += output.read_line(&mut line).unwrap();
        if count == 500 {
            early = most();
        }
    }
    // It still has lines to write, so it is still there. What it wrote since is 24 MB.
    let late = most();
    assert!(read > 25_000_000);
    assert!(late < early + 8_000, "{early} KiB after 500 memories, {late} KiB after 2,900");
    std::io::copy(&mut output, &mut std::io::sink()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn trap_18_what_is_too_large_is_told_as_that() {
    let served = Served::start();
    let item = json!({"content": "x".repeat(30_000)});
    let batch = json!({"namespace": "test", "items": vec![item; 180]}).to_string();
    assert!(batch.len() > 5 * 1024 * 1024);
    let (status, problem) = post(&served.http, "/memory/batch", "", &batch);
    assert_eq!((status, &problem["reason"]), (400, &json!("CONTENT_TOO_LARGE")), "{problem}");
    let draft = json!({"content": "x".repeat(5 * 1024 * 1024)}).to_string();
    served
        .run_with(draft.as_bytes(), &["write", "--json", "-"])
        .refused(2, &["larger than", "store it in parts"]);
}
