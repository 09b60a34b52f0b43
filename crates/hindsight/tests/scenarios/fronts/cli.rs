//! The command line: the program itself, a process a step.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::{Front, Place};
use crate::call::Call;

pub(crate) struct Cli;

/// Which flag a field is, for the commands that know it under another name than its own.
const FLAGS: [(&str, &str); 14] = [
    ("session_id", ""),
    ("idle_ttl", "idle"),
    ("job", ""),
    ("agent_id", "agent"),
    ("tags", "tag"),
    ("keywords", "keyword"),
    ("actions", "action"),
    ("time_decay_factor", "factor-per-day"),
    ("task_status", "task"),
    ("id", ""),
    ("ids", ""),
    ("content", ""),
    ("query", ""),
    ("recall_id", ""),
];

/// Fields that have no flag of their own, and so go in as JSON.
const AS_JSON: [&str; 3] = ["rule", "episode", "metadata"];

impl Front for Cli {
    fn cannot(&self, call: &Call) -> Option<&'static str> {
        let has = |field: &str| call.fields.contains_key(field);
        match call.verb.as_str() {
            "batch" => Some("the command line stores one memory a call, or imports a file"),
            "forget" | "restore" | "purge" | "rollback" | "drop" if has("request_id") => {
                Some("the client gives these calls their request ids itself")
            }
            "forget" | "purge" | "drop" if has("expected_count") => {
                Some("the command line counts first and expects that many, by itself")
            }
            _ => None,
        }
    }

    fn call(&mut self, place: &Place<'_>, call: &Call) -> Result<Value, String> {
        if call.verb == "watch" {
            return super::feed::cli(place, call);
        }
        let (args, input) = arguments(call, place.namespace);
        let mut command = Command::new(env!("CARGO_BIN_EXE_hindsight"));
        let command = command
            .env("HINDSIGHT_SERVER", place.stage.grpc())
            .env("HINDSIGHT_NAMESPACE", place.namespace)
            .env("HINDSIGHT_TIME_ZONE", "UTC")
            .args(["-o", "json"])
            .args(&args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that refuses its arguments closes its input early.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        if !output.status.success() {
            let sentence = err.strip_prefix("error: ").unwrap_or_else(|| panic!("{args:?}: {err}"));
            let sentence = sentence.split("\nhint: ").next().unwrap_or_default();
            return Err(sentence.trim_end().to_owned());
        }
        let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}: {out}"));
        Ok(match call.verb.as_str() {
            "get" => json!({"memory": answer}),
            "list" => json!({"memories": answer}),
            _ => answer,
        })
    }
}

/// The arguments that a step is, and what goes to standard input.
fn arguments(call: &Call, namespace: &str) -> (Vec<String>, String) {
    let mut args: Vec<String> = match call.verb.as_str() {
        "drop" => ["namespaces", "drop", namespace, "--yes"].map(str::to_owned).to_vec(),
        "job" => ["jobs", "run"].map(str::to_owned).to_vec(),
        "set" => ["namespaces", "set", namespace].map(str::to_owned).to_vec(),
        "turns" => ["sessions", "show"].map(str::to_owned).to_vec(),
        verb @ ("open" | "append" | "close") => ["sessions", verb].map(str::to_owned).to_vec(),
        verb => vec![verb.to_owned()],
    };
    if matches!(call.verb.as_str(), "forget" | "purge") {
        args.push("--yes".to_owned());
    }
    if call.verb == "recall" && !call.learns {
        args.push("--observe".to_owned());
    }
    let mut json = Map::new();
    for (field, value) in &call.fields {
        if AS_JSON.contains(&field.as_str()) {
            json.insert(field.clone(), value.clone());
        } else {
            args.extend(argument(&call.verb, field, value));
        }
    }
    if json.is_empty() {
        return (args, String::new());
    }
    args.extend(["--json", "-"].map(str::to_owned));
    // A text argument and a document are two memories to the program.
    if let Some(content) = call.fields.get("content") {
        args.retain(|arg| Some(arg.as_str()) != content.as_str());
        json.insert("content".to_owned(), content.clone());
    }
    (args, Value::Object(json).to_string())
}

fn argument(verb: &str, field: &str, value: &Value) -> Vec<String> {
    let flag = FLAGS.iter().find(|(name, _)| *name == field).map(|(_, flag)| *flag);
    let flag = match (verb, field) {
        ("update", "content") => "content".to_owned(),
        ("explain", "id") => "memory".to_owned(),
        ("write" | "record" | "recall" | "list", "session_id") => "session".to_owned(),
        ("purge", "ids") => "id".to_owned(),
        ("forget" | "purge" | "drop" | "job" | "consolidate" | "summarize", "validate_only") => {
            "dry-run".to_owned()
        }
        (_, field) => flag.map_or_else(|| field.replace('_', "-"), str::to_owned),
    };
    let name = |flag: &str| (!flag.is_empty()).then(|| format!("--{flag}"));
    let named = |flag: &str, text: String| name(flag).into_iter().chain([text]).collect::<Vec<String>>();
    match (field, value) {
        ("claims", Value::Array(claims)) => claims.iter().flat_map(claim).collect(),
        ("entities", Value::Array(entities)) => {
            entities.iter().flat_map(|entity| named("entity", text(&entity["name"]))).collect()
        }
        ("source", Value::Object(source)) => named("source", text(&source["kind"])),
        ("weights", Value::Object(weights)) => weights
            .iter()
            .flat_map(|(channel, weight)| named("weight", format!("{channel}={weight}")))
            .collect(),
        ("turns", Value::Array(turns)) => turns
            .iter()
            .flat_map(|turn| [text(&turn["content"]), "--role".to_owned(), text(&turn["role"])])
            .collect(),
        ("record", Value::Object(record)) => {
            record.iter().flat_map(|(field, value)| argument("record", field, value)).collect()
        }
        ("life" | "rules" | "likeness", Value::Object(settings)) => {
            let flag = if field == "rules" { "rule" } else { field };
            let number =
                |value: &Value| if value.is_null() { "default".to_owned() } else { value.to_string() };
            settings.iter().flat_map(|(key, value)| named(flag, format!("{key}={}", number(value)))).collect()
        }
        ("fusion", _) => vec!["--rrf".to_owned()],
        ("half_life", value) => named("half-life-days", text(value).trim_end_matches('d').to_owned()),
        (_, Value::Bool(true)) => name(&flag).into_iter().collect(),
        (_, Value::Bool(false)) => Vec::new(),
        (_, Value::Array(items)) => items.iter().flat_map(|item| named(&flag, text(item))).collect(),
        (_, value) => named(&flag, text(value)),
    }
}

fn claim(claim: &Value) -> [String; 2] {
    let flag = if claim["single_valued"] == true { "--single-claim" } else { "--claim" };
    let [subject, attribute, value] = ["subject", "attribute", "value"].map(|part| text(&claim[part]));
    [flag.to_owned(), format!("{subject}/{attribute}/{value}")]
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
