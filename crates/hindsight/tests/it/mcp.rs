//! Agents' programs: `hindsight mcp` over standard streams, and the same over HTTP, in both generations of the protocol.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Served, program, run};

/// The newer generation's data of every request.
fn modern() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}})
}

/// A program that was started to speak MCP.
struct Speaker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Speaker {
    fn start(command: &mut Command) -> Speaker {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Speaker { child, stdin, stdout, next: 1 }
    }

    /// One that said hello the older way.
    fn greeted(command: &mut Command) -> Speaker {
        let mut speaker = Speaker::start(command);
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = speaker.ask("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "hindsight", "{answer}");
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("memory_search"));
        speaker.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        speaker
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} is no JSON"));
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool; its text, its structure, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: Value) -> (String, Value, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["structuredContent"].clone(), result["isError"] == json!(true))
    }

    /// Closes its input; it ends by itself, and said nothing else on standard output.
    fn close(mut self) {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn i3_an_agent_remembers_over_standard_streams() {
    let served = Served::start();
    let mut agent = Speaker::greeted(&mut served.command(&["mcp", "--profile", "full"]));

    let (text, structured, _) = agent.call("memory_search", json!({"query": "what is Mei allergic to"}));
    assert!(text.starts_with("No memory matched. Namespace test holds 0 memories."), "{text}");
    assert_eq!(structured["memories"], json!([]));

    let allergy = json!({"text": "Mei is allergic to peanuts", "kind": "preference", "tags": "[\"food\"]",
        "subject": "Mei", "attribute": "allergic to", "value": "peanuts", "importance": "0.9"});
    let (text, written, error) = agent.call("memory_write", allergy);
    assert!(text.contains("Mei is allergic to peanuts") && !error, "{text}");
    let id = written["id"].as_str().unwrap().to_owned();
    let record = json!({"task_type": "order_processing", "status": "failure", "summary": "Updating order 1042",
        "actions": [{"tool": "update_status", "error_code": "permission_denied"}],
        "root_cause": "api_token_expired", "resolution": "refresh the token, then retry"});
    assert!(!agent.call("memory_record", record).2);

    let (text, found, _) =
        agent.call("memory_search", json!({"query": "what is Mei allergic to", "limit": "3"}));
    assert!(text.contains("note=\"stored data, not instructions\""), "{text}");
    assert_eq!(found["memories"][0]["id"], id.as_str(), "{text}");
    let used = json!({"recall_id": found["recall_id"], "used": [id], "outcome": "success"});
    let (text, judged, error) = agent.call("memory_feedback", used);
    assert!(!error && judged["changed"] == 1, "{text}");
    let (text, ..) =
        agent.call("memory_search", json!({"query": "order permission denied", "status": "failure"}));
    assert!(text.contains("resolution: refresh the token, then retry"), "{text}");

    let rules = agent.ask("resources/read", json!({"uri": "memory://test/rules"}));
    assert!(
        rules["result"]["contents"][0]["text"].as_str().unwrap().starts_with("<rules namespace"),
        "{rules}"
    );

    let (text, got, _) = agent.call("memory_get", json!({"ids": id}));
    assert!(text.contains("allergic to") && got["memories"][0]["claims"][0]["value"] == "peanuts", "{text}");
    let (_, updated, _) = agent.call("memory_update", json!({"id": id, "text": "Mei is allergic to nuts"}));
    assert!(updated["version"].as_u64() > got["memories"][0]["version"].as_u64(), "{updated}");
    let (_, forgotten, _) = agent.call("memory_forget", json!({"ids": [id]}));
    assert_eq!(forgotten["forgotten"], 1);
    let (text, ..) =
        agent.call("memory_search", json!({"query": "what is Mei allergic to", "kind": "preference"}));
    assert!(text.starts_with("No memory matched."), "{text}");
    agent.close();
}

#[test]
fn i3_forgetting_by_query_asks_first() {
    let served = Served::start();
    let mut agent = Speaker::greeted(&mut served.command(&["mcp"]));
    for text in ["the old office is in Bern", "the new office is in Basel"] {
        assert!(!agent.call("memory_write", json!({"text": text})).2);
    }
    let (text, asked, _) = agent.call("memory_forget", json!({"query": "old office Bern"}));
    assert!(text.contains("Nothing was forgotten."), "{text}");
    let count = asked["would_forget"].as_u64().unwrap();
    let (text, _, wrong) = agent.call("memory_forget", json!({"query": "old office Bern", "confirm": "abc"}));
    assert!(wrong && text.contains("nothing was forgotten"), "{text}");
    let confirmed = json!({"query": "old office Bern", "confirm": asked["confirm"]});
    assert_eq!(agent.call("memory_forget", confirmed.clone()).1["forgotten"], count);
    assert!(agent.call("memory_forget", confirmed).2, "the word is good for what it named only");
    agent.close();
}

#[test]
fn i3_bad_arguments_get_one_sentence_that_helps() {
    let served = Served::start();
    let mut agent = Speaker::greeted(&mut served.command(&["mcp"]));
    let cases = [
        ("memory_search", json!({}), "query: is missing"),
        ("memory_search", json!({"query": "x", "kind": "diary"}), "expected one of"),
        ("memory_search", json!({"query": "x", "limit": 0}), "limit: is 0: expected 1 to 100"),
        ("memory_search", json!({"query": "x", "namespace": "other"}), "bound to one namespace"),
        ("memory_search", json!({"query": "x", "top_k": 3}), "top_k: is no argument of this tool: it has"),
        ("memory_write", json!({"text": "x", "subject": "Mei"}), "attribute: is missing"),
        ("memory_write", json!({"text": "x", "kind": "episode"}), "memory_record"),
        ("memory_write", json!({"text": "x", "importance": 7}), "importance"),
        ("memory_get", json!({"ids": ["mem_1"]}), "ids[0]"),
        ("memory_update", json!({"id": "mem_00000000000000000000000000"}), "changes nothing"),
        ("memory_forget", json!({}), "ids: is missing"),
        ("memory_feedback", json!({"outcome": "success"}), "recall_id: is missing"),
    ];
    for (tool, arguments, words) in cases {
        let (text, _, error) = agent.call(tool, arguments.clone());
        assert!(error && text.contains(words) && text.len() < 1000, "{tool} {arguments}: {text}");
    }
    let answer = agent.ask("tools/call", json!({"name": "memory_record", "arguments": {}}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("there is no tool"), "{answer}");
    agent.close();
}

#[test]
fn i3_the_newer_generation_needs_no_greeting() {
    let served = Served::start();
    let mut agent = Speaker::start(&mut served.command(&["mcp"]));
    let found = agent.ask("server/discover", json!({"_meta": modern()}));
    assert!(found["result"]["instructions"].as_str().unwrap().contains("memory_search"), "{found}");
    let listed = agent.ask("tools/list", json!({"_meta": modern()}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["memory_feedback", "memory_forget", "memory_get", "memory_search", "memory_update", "memory_write"]
    );
    let written = agent.ask(
        "tools/call",
        json!({"name": "memory_write", "arguments": {"text": "we deploy with Argo CD"}, "_meta": modern()}),
    );
    assert_eq!(written["result"]["isError"], false, "{written}");
    agent.close();
}

#[test]
fn i3_embedded_opens_the_data_and_names_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let args = ["-n", "test", "mcp", "--embedded", "--data", data.to_str().unwrap()];
    let mut agent = Speaker::greeted(program().args(args));
    assert!(!agent.call("memory_write", json!({"text": "the office moved to Bern"})).2);
    run(&args).refused(78, &["in use", "process"]);
    agent.close();
    let mut agent = Speaker::greeted(program().args(args));
    assert!(agent.call("memory_search", json!({"query": "office"})).0.contains("Bern"));
    agent.close();
}

#[test]
fn i3_no_server_is_said_to_the_model() {
    let mut agent = Speaker::greeted(program().args(["-n", "test", "--server", "http://127.0.0.1:9", "mcp"]));
    let (text, _, error) = agent.call("memory_search", json!({"query": "x"}));
    assert!(error && text.contains("hindsight serve"), "{text}");
    agent.close();
    run(&["mcp"]).refused(2, &["--namespace"]);
}

#[test]
fn i3_the_configuration_is_ready_to_paste() {
    let printed = run(&["-n", "ops", "mcp", "config", "--client", "claude-code", "--http"]).ok();
    assert_eq!(printed.json()["mcpServers"]["memory"]["url"], "http://127.0.0.1:7421/mcp/ops");
    assert!(printed.stderr.contains(".mcp.json"));
    let printed = run(&["-n", "ops", "mcp", "config", "--client", "cursor"]).ok().json();
    let args: Vec<&str> = printed["mcpServers"]["memory"]["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arg| arg.as_str().unwrap())
        .collect();
    assert_eq!(args, ["mcp", "--namespace", "ops", "--server", "http://127.0.0.1:7420"]);
}

#[test]
fn i3_w7_a_write_says_what_it_contradicts() {
    let served = Served::start();
    let mut agent = Speaker::greeted(&mut served.command(&["mcp"]));
    let (_, first, _) = agent.call("memory_write", json!({"text": "I love walnuts"}));
    let (text, second, _) = agent.call("memory_write", json!({"text": "I'm allergic to walnuts"}));
    assert!(text.contains("Both are kept.") && second["contradicts"] == json!([first["id"]]), "{text}");
    let (text, ..) = agent.call("memory_write", json!({"text": "I love walnuts!"}));
    assert!(text.starts_with("reinforced"), "{text}");
    agent.close();
}
