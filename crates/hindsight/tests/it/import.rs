//! Importing files of every form, with bad lines among them.

use serde_json::{Value, json};

use crate::program::{Ran, Served};

fn import(served: &Served, lines: &[String], flags: &[&str]) -> Ran {
    let path = served.data.parent().unwrap().join("lines.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    served.run(&[&["import", path.to_str().unwrap()], flags].concat())
}

fn turn(namespace: &str, index: usize, text: &str) -> String {
    json!({"id": format!("{namespace}/{index}"), "namespace": namespace, "text": text, "speaker": "小林",
        "timestamp": format!("2026-05-{:02}T10:00:00Z", index % 28 + 1), "session": 2, "place": "上海"})
    .to_string()
}

/// The program reads HINDSIGHT_NAMESPACE, which the harness sets; these files name their own namespaces.
fn without_namespace(served: &Served, lines: &[String]) -> Ran {
    let path = served.data.parent().unwrap().join("lines.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    let mut command = served.command(&["import", path.to_str().unwrap(), "-o", "json"]);
    let output = command.env_remove("HINDSIGHT_NAMESPACE").output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_bad_line_is_reported_and_the_rest_is_stored() {
    let served = Served::start();
    let mut lines: Vec<String> = (0..250).map(|index| turn("a", index, &format!("第{index}句话"))).collect();
    lines[100] = json!({"content": "too important", "importance": 7}).to_string();
    lines[120] = "{not json".to_owned();
    lines[130] = json!({"content": "a", "mood": 1}).to_string();
    lines[140] = format!(r#"{{"text":"{}"}}"#, "x".repeat(4 * 1024 * 1024));
    lines[150] = String::new();
    let errors = served.data.parent().unwrap().join("errors.jsonl");
    let ran = import(&served, &lines, &["--errors", errors.to_str().unwrap(), "-o", "json"]);
    assert_eq!(ran.code, 7, "{ran:?}");
    for complaint in [
        "lines.jsonl:101: importance: is 7: expected a number from 0 to 1",
        "lines.jsonl:121: json: can't be read: ",
        "lines.jsonl:131: mood: unknown field `mood`",
        "lines.jsonl:141: line: has ",
        "245 memories of 249 lines into 1 namespace",
        "4 lines were refused",
    ] {
        assert!(ran.stderr.contains(complaint), "{complaint:?} is not in {}", ran.stderr);
    }
    let counts = ran.json();
    assert_eq!(
        (&counts["stored"], &counts["failed"], &counts["lines"]),
        (&json!(245), &json!(4), &json!(249))
    );
    assert_eq!(served.count("test"), 245);
    let complaints: Vec<Value> = std::fs::read_to_string(errors)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut found: Vec<_> =
        complaints.iter().map(|c| (c["line"].as_u64().unwrap(), c["field"].as_str().unwrap())).collect();
    found.sort_unstable();
    assert_eq!(found, [(101, "importance"), (121, "json"), (131, "mood"), (141, "line")]);
}

#[test]
fn generic_lines_keep_what_they_carry() {
    let served = Served::start();
    let lines = [turn("conv-1", 3, "我对花生过敏"), turn("conv-2", 4, "I moved to Berlin")];
    let counts = without_namespace(&served, &lines).ok().json();
    assert_eq!(counts["namespaces"], json!({"conv-1": 1, "conv-2": 1}));
    let memory = served.run(&["list", "-n", "conv-1"]).ok().lines().remove(0);
    assert_eq!(memory["content"], json!("我对花生过敏"));
    assert_eq!(memory["occurred_at"], json!("2026-05-04T10:00:00Z"));
    assert_eq!(memory["session_id"], json!("conv-1/2"));
    assert_eq!(memory["source"], json!({"kind": "user_input", "speaker": "小林"}));
    assert_eq!(memory["metadata"], json!({"external_id": "conv-1/3", "place": "上海"}));
    let hits = served.run(&["recall", "过敏", "-n", "conv-1"]).ok().lines();
    assert_eq!(hits[0]["memory"]["id"], memory["id"]);
}

#[test]
fn the_same_file_twice_stores_nothing_twice() {
    let served = Served::start();
    let mut lines: Vec<String> = (0..300).map(|index| turn("a", index, "hello")).collect();
    lines.extend((0..300).map(|index| json!({"content": format!("draft {index}")}).to_string()));
    let first = import(&served, &lines, &["-o", "json"]).ok().json();
    assert_eq!((&first["stored"], &first["already_there"]), (&json!(600), &json!(0)));
    let second = import(&served, &lines, &["-o", "json"]).ok().json();
    assert_eq!((&second["stored"], &second["already_there"]), (&json!(0), &json!(600)));
    assert_eq!(served.count("test"), 600);
    // A file that has grown: lines with an id are known wherever they stand.
    let grown: Vec<String> = (0..350).map(|index| turn("a", index, "hello")).collect();
    let third = import(&served, &grown, &["-o", "json"]).ok().json();
    assert_eq!((&third["stored"], &third["already_there"]), (&json!(50), &json!(300)));
}

#[test]
fn an_import_that_broke_off_is_finished_by_running_it_again() {
    use std::io::Write as _;
    use std::process::Stdio;

    let served = Served::start();
    let line = |index: usize| match index % 2 {
        0 => format!("{}\n", json!({"text": format!("第{index}行"), "id": index})),
        _ => format!("{}\n", json!({"content": format!("line {index}")})),
    };
    let mut command = served.command(&["import", "-", "--timeout", "2s"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for index in 0..1_500 {
        input.write_all(line(index).as_bytes()).unwrap();
    }
    input.flush().unwrap();
    crate::program::wait_until(|| served.count("test") >= 400);
    let (data, folder) = served.kill();
    // The program may be gone before it has read all of this.
    let rest: String = (1_500..3_000).map(line).collect();
    let _ = input.write_all(rest.as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("run it again"), "{stderr}");

    let served = Served::start_on(&data, folder);
    let before = served.count("test");
    assert!((400..3_000).contains(&before), "{before}");
    let whole: String = (0..3_000).map(line).collect();
    let counts = served.run_with(whole.as_bytes(), &["import", "-", "-o", "json"]).ok().json();
    assert_eq!(counts["stored"].as_u64().unwrap() + before, 3_000);
    assert_eq!((&counts["already_there"], served.count("test")), (&json!(before), 3_000));
}

#[test]
fn standard_input_and_the_kind_of_generic_lines() {
    let served = Served::start();
    let lines = [json!({"text": "no namespace, no id"}), json!({"text": "booked", "outcome": "success"})];
    let input: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    served.run_with(input.as_bytes(), &["import", "-", "--kind", "procedure"]).ok();
    let mut kinds: Vec<_> =
        served.run(&["list"]).ok().lines().iter().map(|memory| memory["kind"].clone()).collect();
    kinds.sort_by_key(Value::to_string);
    assert_eq!(kinds, [json!("episode"), json!("procedure")]);
}

#[test]
fn what_can_not_begin_says_so() {
    let served = Served::start();
    let path = served.data.parent().unwrap().join("nowhere.jsonl");
    served.run(&["import", path.to_str().unwrap()]).refused(1, &["nowhere.jsonl"]);
    let ran = without_namespace(&served, &[json!({"text": "homeless"}).to_string()]);
    assert_eq!(ran.code, 7);
    assert!(ran.stderr.contains("lines.jsonl:1: namespace: is missing"), "{ran:?}");
}

#[test]
fn i4_the_files_of_other_memories_are_taken() {
    let served = Served::start();
    let graph = [
        json!({"type": "entity", "name": "Mei_Lin", "entityType": "person", "observations": ["Likes jasmine tea", "对花生过敏"]}),
        json!({"type": "entity", "name": "Acme", "entityType": "company", "observations": []}),
        json!({"type": "relation", "from": "Mei_Lin", "to": "Acme", "relationType": "works_at"}),
    ];
    let lines: Vec<String> = graph.iter().map(Value::to_string).collect();
    let counts = import(&served, &lines, &["-o", "json", "-n", "graph"]).ok().json();
    assert_eq!((&counts["lines"], &counts["stored"]), (&json!(3), &json!(4)));
    let hits = served.run(&["recall", "where does Mei Lin work", "-n", "graph", "--top-k", "1"]).ok().lines();
    assert_eq!(hits[0]["memory"]["content"], "Mei Lin works at Acme.");
    let again = import(&served, &lines, &["-o", "json", "-n", "graph"]).ok().json();
    assert_eq!((&again["stored"], &again["already_there"]), (&json!(0), &json!(4)));

    let mem0 = json!([{"id": "1", "memory": "Loves hiking", "user_id": "alex", "created_at": "2025-05-01T08:00:00Z"},
        {"id": "2", "memory": "Vegetarian", "user_id": "alex", "categories": ["food"]}]);
    let pretty = serde_json::to_string_pretty(&mem0).unwrap();
    served.run_with(pretty.as_bytes(), &["import", "-", "-n", "mem0"]).ok();
    assert_eq!(
        served.run(&["list", "-n", "mem0", "--tag", "food"]).ok().lines()[0]["source"]["speaker"],
        "alex"
    );

    let mapped =
        json!({"body": {"text": "the moon is far"}, "when": 1_700_000_000, "labels": ["sky"], "author": "x"});
    let map = ["--map", "content=body.text,occurred_at=when,tags=labels", "-n", "mapped"];
    import(&served, &[mapped.to_string()], &map).ok();
    let memory = served.run(&["list", "-n", "mapped"]).ok().lines().remove(0);
    assert_eq!((&memory["content"], &memory["tags"]), (&json!("the moon is far"), &json!(["sky"])));
    assert_eq!(memory["metadata"], json!({"author": "x", "body": {}}));
}

#[test]
fn i4_a_dry_run_checks_every_line_and_asks_nobody() {
    let served = Served::start();
    let lines = [json!({"text": "good"}).to_string(), json!({"content": "bad", "importance": 7}).to_string()];
    let away = ["--dry-run", "--server", "http://127.0.0.1:9", "-o", "json"];
    let ran = import(&served, &lines, &away);
    assert_eq!(ran.code, 7);
    assert!(ran.stderr.contains("nothing is stored: would import 1 memory of 2 lines"), "{}", ran.stderr);
    assert_eq!(ran.json()["dry_run"], true);
    assert_eq!(served.count("test"), 0);
}
