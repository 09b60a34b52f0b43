//! JSON over HTTP.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Map, Value, json};

use super::{Front, Place};
use crate::call::Call;

pub(crate) struct Http;

impl Front for Http {
    fn cannot(&self, _call: &Call) -> Option<&'static str> {
        None
    }

    fn call(&mut self, place: &Place<'_>, call: &Call) -> Result<Value, String> {
        if call.verb == "watch" {
            return super::feed::http(place, call);
        }
        let mut fields = call.fields.clone();
        fields.insert("namespace".to_owned(), json!(place.namespace));
        if call.verb == "recall" && !call.learns {
            fields.insert("observe".to_owned(), json!(true));
        }
        let address = place.stage.http();
        let (status, body) = match call.verb.as_str() {
            "get" => request(address, "GET", &format!("/memory/get?{}", parameters(&fields)), None),
            "recall" => post(address, "/memory/search", fields),
            "set" => {
                fields.remove("namespace");
                let path = format!("/namespaces/{}", place.namespace);
                request(address, "PATCH", &path, Some(&Value::Object(fields)))
            }
            verb @ ("consolidate" | "summarize") => post(address, &format!("/memory/{verb}"), fields),
            "turns" => post(address, "/sessions/get", fields),
            verb @ ("open" | "append" | "close") => post(address, &format!("/sessions/{verb}"), fields),
            "job" => post(address, "/jobs/run", fields),
            "drop" => post(address, "/namespaces/drop", fields),
            verb => post(address, &format!("/memory/{verb}"), fields),
        };
        if status == 200 { Ok(body) } else { Err(body["detail"].as_str().unwrap_or_default().to_owned()) }
    }
}

fn post(address: SocketAddr, path: &str, fields: Map<String, Value>) -> (u16, Value) {
    request(address, "POST", path, Some(&Value::Object(fields)))
}

/// Ids, names of namespaces and agents: nothing in them needs to be escaped.
fn parameters(fields: &Map<String, Value>) -> String {
    let pairs = fields.iter().map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()));
    pairs.collect::<Vec<_>>().join("&")
}

/// One request on a connection of its own.
pub(crate) fn request(address: SocketAddr, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let body = serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {text}"));
    (status.unwrap_or_else(|| panic!("no status: {head}")), body)
}
