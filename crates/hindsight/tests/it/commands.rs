//! What each command does when all is well, and the exit code when it is not.

use serde_json::{Value, json};

use crate::program::{Served, program, run, signal};

#[test]
fn write_get_list_update_forget_restore() {
    let served = Served::start();
    let ran = served
        .run(&[
            "write",
            "我对花生过敏",
            "--kind",
            "preference",
            "--tag",
            "health",
            "--importance",
            "0.9",
            "-o",
            "json",
        ])
        .ok();
    let written = ran.json();
    let memory = &written["memory"];
    assert_eq!((&memory["content"], &memory["kind"]), (&json!("我对花生过敏"), &json!("preference")));
    assert_eq!((&memory["version"], &memory["state"]), (&json!(1), &json!("active")));
    assert_eq!(written["replayed"], json!(false));
    let id = memory["id"].as_str().unwrap();

    assert_eq!(served.run(&["get", id, "-o", "json"]).ok().json(), *memory);
    let listed = served.run(&["list", "--tag", "health"]).ok().lines();
    assert_eq!(listed, std::slice::from_ref(memory));
    assert!(served.run(&["list", "--tag", "other"]).ok().lines().is_empty());

    let flags =
        ["update", id, "--content", "我对花生和虾过敏", "--tag", "diet", "--version", "1", "-o", "json"];
    let updated = served.run(&flags).ok().json()["memory"].clone();
    assert_eq!((&updated["content"], &updated["version"]), (&json!("我对花生和虾过敏"), &json!(2)));
    assert_eq!(updated["tags"], json!(["diet"]));
    assert_eq!(updated["kind"], json!("preference"));
    served.run(&flags).refused(4, &["version 2", "not 1"]);

    let forgotten = served.run(&["forget", id, "-o", "json"]).ok().json();
    assert_eq!((&forgotten["count"], &forgotten["ids"]), (&json!(1), &json!([id])));
    assert!(served.run(&["list"]).ok().lines().is_empty());
    assert_eq!(served.run(&["list", "--state", "forgotten"]).ok().lines().len(), 1);
    assert_eq!(served.run(&["restore", id, "-o", "json"]).ok().json()["count"], json!(1));
    assert_eq!(served.run(&["list"]).ok().lines().len(), 1);
    served.run(&["restore", id]).refused(4, &["active", "forgotten"]);
}

#[test]
fn text_comes_from_the_argument_from_input_or_as_json() {
    let served = Served::start();
    let ran = served.run_with("from the pipe\n".as_bytes(), &["write", "-", "-o", "json"]).ok();
    assert_eq!(ran.json()["memory"]["content"], json!("from the pipe"));
    let draft =
        json!({"content": "whole", "kind": "procedure", "entities": [{"name": "Berlin", "type": "place"}]});
    let ran = served
        .run_with(draft.to_string().as_bytes(), &["write", "--json", "-", "--tag", "x", "-o", "json"])
        .ok();
    let memory = ran.json()["memory"].clone();
    assert_eq!(memory["entities"], json!([{"name": "Berlin", "type": "place"}]));
    assert_eq!((&memory["kind"], &memory["tags"]), (&json!("procedure"), &json!(["x"])));
    let dry = served.run(&["write", "not kept", "--validate-only", "-o", "json"]).ok();
    assert_eq!(dry.json()["memory"]["content"], json!("not kept"));
    assert_eq!(served.count("test"), 2);
}

#[test]
fn a_request_id_sent_twice_acts_once() {
    let served = Served::start();
    let send = || served.run(&["write", "once", "--request-id", "r-1", "-o", "json"]).ok().json();
    let (first, second) = (send(), send());
    assert_eq!((&first["replayed"], &second["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(first["memory"], second["memory"]);
    assert_eq!(served.count("test"), 1);
    served.run(&["write", "other", "--request-id", "r-1"]).refused(4, &["r-1"]);
}

fn record_two(served: &Served) {
    let failed = json!({"tool": "payment_api", "params": {"amount": 12}, "error_code": "ETIMEDOUT",
        "error_message": "no answer in 30 s"});
    let args = [
        "record",
        "--task-type",
        "refund",
        "--status",
        "failure",
        "--summary",
        "refund of order 7 failed",
        "--action",
        &failed.to_string(),
        "--root-cause",
        "the payment gateway was down",
        "-o",
        "json",
    ];
    let memory = served.run(&args).ok().json()["memory"].clone();
    assert_eq!((&memory["kind"], &memory["status"]), (&json!("episode"), &json!("failure")));
    assert_eq!(memory["episode"]["transient"], json!(true));
    assert!(memory["content"].as_str().unwrap().contains("ETIMEDOUT"));
    let old = [
        "record",
        "--task-type",
        "refund",
        "--status",
        "success",
        "--summary",
        "refund of order 5 done",
        "--occurred-at",
        "2020-01-01",
    ];
    served.run(&old).ok();
}

#[test]
fn recall_finds_filters_and_explains() {
    let served = Served::start();
    record_two(&served);
    served.write("the office is in Berlin", &[]);
    let hits = served.run(&["recall", "refund failed with a timeout", "--kind", "episode"]).ok().lines();
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0]["memory"]["status"], json!("failure"));
    assert!(hits[0]["score"].as_f64().unwrap() > hits[1]["score"].as_f64().unwrap());

    let filters: [(&[&str], usize); 8] = [
        (&["--status", "failure"], 1),
        (&["--tool", "payment_api"], 1),
        (&["--error-code", "ETIMEDOUT"], 1),
        (&["--error-code", "E_OTHER"], 0),
        (&["--task-type", "refund", "--last", "7d"], 1),
        (&["--task-type", "refund", "--to", "2021-01-01"], 1),
        (&["--filter", r#"{"any":[{"status":"success"},{"status":"failure"}]}"#], 2),
        (&["--top-k", "1", "--kind", "episode,fact"], 1),
    ];
    for (flags, expected) in filters {
        let args = [&["search", "refund"], flags].concat();
        assert_eq!(served.run(&args).ok().lines().len(), expected, "{flags:?}");
    }

    let answer = served.run(&["recall", "refund timeout", "--explain", "-o", "json"]).ok().json();
    let breakdown = &answer["hits"][0]["breakdown"];
    let part = &breakdown["parts"][0];
    for field in ["name", "raw", "normalized", "weight", "contribution"] {
        assert!(!part[field].is_null(), "{field} in {breakdown:#}");
    }
    assert!(answer["plan"].as_str().is_some_and(|plan| !plan.is_empty()), "{answer:#}");
    let table = served.run(&["recall", "refund gateway", "--explain", "-o", "table"]).ok();
    for word in ["contribution", "confidence", "source", "found: refund", "plan", "similarity"] {
        assert!(table.stdout.contains(word), "{word} in {}", table.stdout);
    }
    assert!(!table.stdout.contains('\u{1b}'), "no colours but on a terminal: {table:?}");
}

#[test]
fn the_same_now_gives_the_same_answer() {
    let served = Served::start();
    record_two(&served);
    let args = [
        "recall",
        "昨天的退款 refund",
        "--now",
        "2026-12-01T00:00:00Z",
        "--time-zone",
        "Asia/Shanghai",
        "-o",
        "json",
    ];
    let hits = |json: Value| json["hits"].clone();
    assert_eq!(hits(served.run(&args).ok().json()), hits(served.run(&args).ok().json()));
}

#[test]
fn what_is_an_agents_own_only_that_agent_sees() {
    let served = Served::start();
    let id = served.write("my own notes", &["--agent", "a-1", "--scope", "agent"]);
    for command in [&["list"][..], &["recall", "notes"], &["export"]] {
        assert_eq!(served.run(command).ok().lines().len(), 0, "{command:?}");
        let as_other = [command, &["--agent", "a-2"]].concat();
        assert_eq!(served.run(&as_other).ok().lines().len(), 0, "{command:?}");
        let as_owner = [command, &["--agent", "a-1"]].concat();
        assert_eq!(served.run(&as_owner).ok().lines().len(), 1, "{command:?}");
    }
    served.run(&["get", &id]).refused(3, &[&id]);
    served.run(&["get", &id, "--agent", "a-2"]).refused(3, &[&id]);
    served.run(&["get", &id, "--agent", "a-1"]).ok();
}

#[test]
fn an_empty_answer_says_why() {
    let served = Served::start();
    let nothing = served.run(&["recall", "anything"]).ok();
    assert!(nothing.stderr.contains("namespace test holds nothing"), "{nothing:?}");
    served.write("something", &[]);
    let filtered = served.run(&["recall", "something", "--kind", "rule"]).ok();
    assert!(filtered.stderr.contains("filter"), "{filtered:?}");
    assert_eq!((nothing.stdout.as_str(), filtered.stdout.as_str()), ("", ""));
}

#[test]
fn a_filter_forgets_only_what_was_counted() {
    let served = Served::start();
    for index in 0..3 {
        served.write(&format!("note {index}"), &["--tag", "old"]);
    }
    served.write("kept", &[]);
    let dry = served.run(&["forget", "--tag", "old", "--dry-run", "-o", "json"]).ok().json();
    assert_eq!(dry["count"], json!(3));
    assert_eq!(served.count("test"), 4);
    served.run(&["forget", "--tag", "old"]).refused(2, &["3 memories", "--yes"]);
    assert_eq!(served.run(&["forget", "--tag", "old", "--yes", "-o", "json"]).ok().json()["count"], json!(3));
    assert_eq!(served.count("test"), 1);
    served.run(&["forget"]).refused(2, &["ids", "filter"]);
}

#[test]
fn stats_namespaces_health_and_version() {
    let served = Served::start();
    record_two(&served);
    served.write("a fact", &[]);
    served.write("elsewhere", &["-n", "other"]);
    let stats = served.run(&["stats"]).ok().json();
    assert_eq!(stats["by_kind"]["episode"], json!(2));
    assert_eq!(stats["by_status"]["failure"], json!(1));
    assert_eq!(stats["by_state"]["active"], json!(3));
    let names = served.run(&["namespaces"]).ok().lines();
    assert_eq!(names, [json!({"name": "other", "memories": 1}), json!({"name": "test", "memories": 3})]);
    let health = served.run(&["health", "-o", "json"]).ok().json();
    assert_eq!(health["version"], json!(env!("CARGO_PKG_VERSION")));
    assert_eq!(health["namespaces"], json!(2));
    assert_eq!(run(&["version", "-o", "json"]).ok().json()["version"], json!(env!("CARGO_PKG_VERSION")));
    for command in ["stats", "namespaces", "health", "version", "list"] {
        let table = served.run(&[command, "-o", "table"]).ok();
        assert!(!table.stdout.trim().is_empty() && !table.stdout.contains('{'), "{command}: {table:?}");
    }
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let served = Served::start();
    served.run(&["recal", "typo"]).refused(2, &["recall"]);
    served.run(&["get", "not-an-id"]).refused(2, &["not-an-id", "mem_"]);
    let missing = "mem_01k9zq4t8rc5d2v7n3hx6w0jab";
    served.run(&["get", missing]).refused(3, &[missing]);
    served.run(&["update", missing, "--content", "a"]).refused(3, &[missing]);
    served.run(&["stats", "-n", "nobody"]).refused(3, &["nobody"]);
    let id = served.write("taken", &[]);
    let again = json!({"id": id, "content": "taken again"}).to_string();
    let ran = served.run_with(again.as_bytes(), &["write", "--json", "-"]);
    ran.refused(4, &[&id, "exists"]);
    let output = program().args(["list", "--server", &served.grpc]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("HINDSIGHT_NAMESPACE"));
}

#[test]
fn no_server_is_told_with_a_hint() {
    let served = Served::start();
    let (grpc, http) = (served.grpc.clone(), served.http.clone());
    // The port of HTTP is the usual mistake.
    let wrong = served.run(&["health", "--server", &http]);
    assert_eq!(wrong.code, 6, "{wrong:#?}");
    assert!(wrong.stderr.contains("check the port"), "{wrong:#?}");
    drop(served);
    let gone = run(&["recall", "a", "-n", "test", "--server", &grpc]);
    gone.refused(6, &[&grpc, "hint"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::process::Stdio;
    let served = Served::start();
    let text = "x".repeat(10_000);
    for _ in 0..20 {
        served.write(&text, &[]);
    }
    let mut child = served
        .command(&["list", "-o", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    let readme = include_str!("../../../../README.md").replace("\\\n", " ");
    // What `mcp config` prints for people beside the data is looked at by its own test.
    let is_other = |line: &str| line.starts_with("hindsight serve") || line.contains(" mcp config ");
    let is_command = |line: &&str| line.starts_with("hindsight ") && !is_other(line);
    let commands: Vec<&str> = readme.lines().filter(is_command).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    let served = Served::start();
    let script = format!("set -e\nhindsight() {{ \"$BIN\" \"$@\"; }}\n{}\n", commands.join("\n"));
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .env("BIN", env!("CARGO_BIN_EXE_hindsight"))
        .env("HINDSIGHT_SERVER", &served.grpc)
        .env("HINDSIGHT_NAMESPACE", "ops")
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && stderr.is_empty(), "{script}\n{stdout}\n{stderr}");
    assert!(stdout.contains("api_token_expired"), "{stdout}");
}

#[test]
fn closed_standard_error_is_no_crash() {
    let served = Served::start();
    // Closed before the program starts: even its error message can't be written.
    let script = "\"$BIN\" stats -n nobody 2>&-";
    let status = std::process::Command::new("sh")
        .args(["-c", script])
        .env("BIN", env!("CARGO_BIN_EXE_hindsight"))
        .env("HINDSIGHT_SERVER", &served.grpc)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn a_slow_server_is_a_timeout() {
    let served = Served::start();
    let pid = u32::try_from(served.ready["pid"].as_u64().unwrap()).unwrap();
    signal(pid, "STOP");
    let ran = served.run(&["recall", "a", "--timeout", "300ms"]);
    signal(pid, "CONT");
    ran.refused(2, &["300ms"]);
    signal(pid, "STOP");
    let ran = served.run(&["recall", "a", "--timeout", "0.3s"]);
    signal(pid, "CONT");
    ran.refused(6, &[]);
}
