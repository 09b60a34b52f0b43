//! MCP: the tools of an agent, over streamable HTTP or over the standard streams of `hindsight mcp`. Its answers are made
//! for models, so the fields of the memories that they name are read with `memory_get`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Map, Value, json};

use super::{Front, Place};
use crate::call::Call;

/// How messages travel.
pub(crate) trait Road {
    /// Sends a request; its result.
    fn ask(&mut self, place: &Place<'_>, method: &str, params: Value) -> Value;
    /// The server is at another address.
    fn restarted(&mut self) {}
}

pub(crate) struct Mcp<R>(pub(crate) R);

/// Arguments of each tool, by the names of the fields that they are.
const ARGUMENTS: [(&str, &[&str]); 6] = [
    (
        "write",
        &[
            "content",
            "kind",
            "tags",
            "entities",
            "claims",
            "task_type",
            "occurred_at",
            "valid_to",
            "importance",
            "source",
        ],
    ),
    ("record", &["task_type", "status", "summary", "actions", "root_cause", "resolution", "tags"]),
    (
        "recall",
        &[
            "query",
            "kind",
            "status",
            "task_type",
            "tags",
            "last",
            "from",
            "to",
            "top_k",
            "min_score",
            "include_history",
            "as_of",
        ],
    ),
    ("update", &["id", "content", "tags", "importance", "valid_to", "version"]),
    ("forget", &["ids"]),
    ("feedback", &["recall_id", "used", "ignored", "wrong", "outdated", "task_status"]),
];

impl<R: Road> Front for Mcp<R> {
    fn cannot(&self, call: &Call) -> Option<&'static str> {
        if call.verb == "get" {
            return call.fields.contains_key("agent_id").then_some("no tool says which agent asks");
        }
        let Some((_, known)) = ARGUMENTS.iter().find(|(verb, _)| *verb == call.verb) else {
            return Some("an agent has no tool for it: an operator does it");
        };
        if call.fields.contains_key("agent_id") {
            return Some("no tool says which agent asks");
        }
        if call.only_looks {
            return Some("what an agent searches is counted");
        }
        if call.fields.contains_key("now") {
            return Some("an agent asks by the server's clock");
        }
        if call.verb == "feedback" && !call.fields.contains_key("recall_id") {
            return Some("an agent judges only what a search gave it");
        }
        if call.fields.keys().any(|field| !known.contains(&field.as_str())) {
            return Some("the tool has few arguments, so that models read it in few tokens");
        }
        let is_empty = |claim: &Value| claim["subject"] == "";
        if call
            .fields
            .get("claims")
            .and_then(Value::as_array)
            .is_some_and(|claims| claims.iter().any(is_empty))
        {
            return Some(
                "memory_write has a field for each part of a claim, and names the one that is missing",
            );
        }
        let claims = call.fields.get("claims").and_then(Value::as_array).into_iter().flatten();
        if claims.count() > 1 {
            return Some("memory_write takes one statement");
        }
        if call
            .show
            .iter()
            .any(|field| field.starts_with("hit.") || matches!(field.as_str(), "window" | "held_back"))
        {
            return Some("memory_search shows no numbers but the score");
        }
        // Its tool takes no other kinds.
        let kind = call.fields.get("kind").and_then(Value::as_str);
        if call.verb == "write" && matches!(kind, Some("rule" | "episode")) {
            return Some("agents write no rules: they come from episodes");
        }
        let source = call.fields.get("source").and_then(|source| source["kind"].as_str());
        matches!(source, Some("admin" | "agent_verified"))
            .then_some("an agent can't say that it is an administrator")
    }

    fn call(&mut self, place: &Place<'_>, call: &Call) -> Result<Value, String> {
        let mut arguments: Map<String, Value> = Map::new();
        for (field, value) in &call.fields {
            arguments.extend(argument(&call.verb, field, value));
        }
        let tool =
            if call.verb == "recall" { "memory_search".to_owned() } else { format!("memory_{}", call.verb) };
        let (text, answer) = self.tool(place, &tool, &Value::Object(arguments))?;
        Ok(match call.verb.as_str() {
            "write" | "record" => {
                let memory = self.get(place, &answer["id"]);
                json!({"outcome": answer["outcome"], "memory": memory, "neighbors": neighbors(&text)})
            }
            "update" => json!({"memory": self.get(place, &answer["id"])}),
            "get" => json!({"memory": answer["memories"][0]}),
            "forget" => json!({"count": answer["forgotten"]}),
            "recall" => self.recalled(place, &answer),
            _ => self.judged(place, call, &answer),
        })
    }

    fn restarted(&mut self) {
        self.0.restarted();
    }
}

impl<R: Road> Mcp<R> {
    fn tool(&mut self, place: &Place<'_>, name: &str, arguments: &Value) -> Result<(String, Value), String> {
        let result = self.0.ask(place, "tools/call", json!({"name": name, "arguments": arguments}));
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned();
        if result["isError"] == true {
            // An argument that the tool calls by another name than the other fronts their field.
            return Err(text
                .strip_prefix("limit: ")
                .map_or_else(|| text.clone(), |rest| format!("top_k: {rest}")));
        }
        Ok((text, result["structuredContent"].clone()))
    }

    fn get(&mut self, place: &Place<'_>, id: &Value) -> Value {
        let (_, got) = self.tool(place, "memory_get", &json!({"ids": [id]})).unwrap();
        got["memories"][0].clone()
    }

    fn recalled(&mut self, place: &Place<'_>, answer: &Value) -> Value {
        let found = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let hits: Vec<Value> = found
            .iter()
            .map(|hit| json!({"memory": self.get(place, &hit["id"]), "score": hit["score"]}))
            .collect();
        json!({"hits": hits, "recall_id": answer["recall_id"]})
    }

    /// The tool only counts what changed: the memories that it named are looked at.
    fn judged(&mut self, place: &Place<'_>, call: &Call, answer: &Value) -> Value {
        let named = ["used", "ignored", "wrong", "outdated"].into_iter();
        let named = named.filter_map(|verdict| call.fields.get(verdict)?.as_array()).flatten();
        let memories: Vec<Value> = named.map(|id| self.get(place, id)).collect();
        let count = answer["changed"].as_u64().and_then(|count| usize::try_from(count).ok());
        assert!(count.is_some_and(|count| count <= memories.len()), "{answer}");
        json!({"memories": memories.into_iter().take(count.unwrap_or(0)).collect::<Vec<_>>()})
    }
}

fn argument(verb: &str, field: &str, value: &Value) -> Vec<(String, Value)> {
    let one = |name: &str, value: &Value| vec![(name.to_owned(), value.clone())];
    match (verb, field) {
        (_, "content") => one("text", value),
        ("get", "id") => one("ids", value),
        (_, "claims") => value[0]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(part, value)| (part.clone(), value.clone()))
            .collect(),
        (_, "entities") => {
            let names = value.as_array().into_iter().flatten().map(|entity| entity["name"].clone());
            one("entities", &names.collect())
        }
        ("write", "source") => one("source", &value["kind"]),
        (_, "from") => one("since", value),
        (_, "to") => one("until", value),
        (_, "top_k") => one("limit", value),
        (_, "task_status") => one("outcome", value),
        (_, field) => one(field, value),
    }
}

/// What a write met, from the lines of its answer: `superseded with [mem_…]: old / new`.
fn neighbors(text: &str) -> Value {
    let lines = text.lines().filter_map(|line| {
        let (relation, rest) = line.split_once(" with [")?;
        let (id, said) = rest.split_once("]: ")?;
        let (old, new) = said.split_once(" / ")?;
        Some(json!({"relation": relation, "id": id, "old": old, "new": new}))
    });
    lines.collect()
}

fn message(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// One POST a message.
#[derive(Default)]
pub(crate) struct OverHttp;

impl Road for OverHttp {
    fn ask(&mut self, place: &Place<'_>, method: &str, params: Value) -> Value {
        let path = format!("/mcp/{}?profile=full", place.namespace);
        let body = message(1, method, &params);
        let (status, answer) = super::http::request(place.stage.http(), "POST", &path, Some(&body));
        assert_eq!(status, 200, "{answer}");
        answer["result"].clone()
    }
}

/// The program that an agent's program starts: one a namespace.
#[derive(Default)]
pub(crate) struct OverStreams(Option<Speaker>);

struct Speaker {
    namespace: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Road for OverStreams {
    fn ask(&mut self, place: &Place<'_>, method: &str, params: Value) -> Value {
        if self.0.as_ref().is_none_or(|speaker| speaker.namespace != place.namespace) {
            self.0 = Some(Speaker::start(place));
        }
        self.0.as_mut().unwrap().ask(method, &params)
    }

    fn restarted(&mut self) {
        self.0 = None;
    }
}

impl Speaker {
    fn start(place: &Place<'_>) -> Speaker {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hindsight"))
            .args(["mcp", "--profile", "full", "--server", &place.stage.grpc(), "-n", place.namespace])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut speaker = Speaker { namespace: place.namespace.to_owned(), child, input, output, next: 1 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "scenes", "version": "1"}});
        speaker.ask("initialize", &hello);
        writeln!(speaker.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .unwrap();
        speaker
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        writeln!(self.input, "{}", message(self.next, method, params)).unwrap();
        self.next += 1;
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} is no JSON"));
        answer["result"].clone()
    }
}

impl Drop for Speaker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
