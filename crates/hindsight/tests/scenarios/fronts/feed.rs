//! The change feed over each front that has it: what came of a namespace since a revision, up to now. A feed has no end, so
//! it is read until a notice says that everything up to now was told.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use hindsight_client::{ChangeKind, Client, Error, Told};
use hindsight_core::{Kind, Lsn};
use serde_json::{Value, json};

use super::Place;
use crate::call::Call;

/// The newest revision of a namespace.
fn now(place: &Place<'_>) -> u64 {
    let url = place.stage.grpc();
    let asked = async {
        let client = Client::connect(&url).await?;
        Ok::<u64, Error>(client.namespace(place.namespace)?.info().await?.revision.0)
    };
    place.stage.runtime.block_on(asked).unwrap()
}

fn words(call: &Call, field: &str) -> Vec<String> {
    let words = call.fields.get(field).and_then(Value::as_array).into_iter().flatten();
    words.map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
}

fn after(call: &Call) -> u64 {
    call.fields["after_revision"].as_u64().unwrap()
}

fn agent(call: &Call) -> Option<&str> {
    call.fields.get("agent_id").and_then(Value::as_str)
}

/// Over gRPC, by the client.
pub(crate) fn grpc(place: &Place<'_>, call: &Call) -> Result<Value, String> {
    let (url, end) = (place.stage.grpc(), now(place));
    let told = async {
        let client = Client::connect(&url).await?;
        let mut watch = client.namespace(place.namespace)?.watch(Lsn(after(call)));
        for word in words(call, "changes") {
            watch = watch.change(word.parse::<ChangeKind>().unwrap());
        }
        for word in words(call, "kinds") {
            watch = watch.kind(word.parse::<Kind>().unwrap());
        }
        if let Some(agent) = agent(call) {
            watch = watch.agent(agent);
        }
        let (mut watch, mut events) = (watch.start().await?, Vec::new());
        loop {
            match watch.next().await? {
                Told::Change(change) => events.push(serde_json::to_value(change.event).unwrap()),
                Told::Progress(revision) if revision.0 >= end => break,
                _ => {}
            }
        }
        Ok(json!({"events": events, "revision": end}))
    };
    place.stage.runtime.block_on(told).map_err(|error: Error| error.to_string())
}

/// Over HTTP, as server-sent events.
pub(crate) fn http(place: &Place<'_>, call: &Call) -> Result<Value, String> {
    let end = now(place);
    let mut path = format!("/v1/namespaces/{}/watch?after_revision={}", place.namespace, after(call));
    for field in ["changes", "kinds"] {
        words(call, field).iter().for_each(|word| path.push_str(&format!("&{field}={word}")));
    }
    agent(call).iter().for_each(|agent| path.push_str(&format!("&agent_id={agent}")));
    let mut stream = TcpStream::connect(place.stage.http()).unwrap();
    // Of that version the body comes as it is, and not in chunks.
    write!(stream, "GET {path} HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let status = lines.next().unwrap();
    let mut events = Vec::new();
    for line in lines {
        if !status.contains(" 200 ") {
            match serde_json::from_str::<Value>(&line) {
                Ok(problem) => return Err(problem["detail"].as_str().unwrap_or_default().to_owned()),
                Err(_) => continue,
            }
        }
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let data: Value = serde_json::from_str(data).unwrap();
        match data["events"].as_array() {
            Some(told) => events.extend(told.iter().cloned()),
            None if data["revision"].as_u64().unwrap() >= end => break,
            None => {}
        }
    }
    Ok(json!({"events": events, "revision": end}))
}

/// By the program, a line an event.
pub(crate) fn cli(place: &Place<'_>, call: &Call) -> Result<Value, String> {
    let end = now(place);
    let mut args = vec!["--from".to_owned(), after(call).to_string()];
    args.extend(words(call, "changes").into_iter().flat_map(|word| ["--change".to_owned(), word]));
    args.extend(words(call, "kinds").into_iter().flat_map(|word| ["--kind".to_owned(), word]));
    args.extend(agent(call).into_iter().flat_map(|agent| ["--agent".to_owned(), agent.to_owned()]));
    let mut child = Command::new(env!("CARGO_BIN_EXE_hindsight"))
        .env("HINDSIGHT_SERVER", place.stage.grpc())
        .env("HINDSIGHT_NAMESPACE", place.namespace)
        .args(["watch", "--json", "--progress"])
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut events = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let told: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match told["progress"].as_u64() {
            Some(revision) if revision >= end => break,
            Some(_) => {}
            None => events.push(told.get("event").cloned().unwrap_or(told)),
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    Ok(json!({"events": events, "revision": end}))
}
