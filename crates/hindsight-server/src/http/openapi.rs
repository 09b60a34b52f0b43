//! `/openapi.json`: what the HTTP port takes, as OpenAPI 3.1, made from the table of operations and the messages of the wire.

mod operations;
mod schema;
#[cfg(test)]
mod tests;

use axum::extract::{Request, State};
use serde_json::{Map, Value, json};

use super::{Http, Reply, answer};
use operations::{GROUPS, OPERATIONS, Operation};
use schema::{Wire, object, reference, special};

/// Messages in which the type of a field is looked for behind the request's own.
const ALSO: [&str; 7] =
    ["Memory", "RecordRequest", "RecallRequest", "Filter", "Episode", "Rule", "WriteRequest"];

/// Answers that any call may get.
const REFUSALS: [(&str, &str); 9] = [
    ("400", "a field is wrong; `violations` name it"),
    ("401", "a token is needed, or this one does not count"),
    ("403", "the token does not allow it"),
    ("404", "not there"),
    ("409", "there already, or changed meanwhile"),
    ("412", "not possible in this state"),
    ("429", "a limit is reached"),
    ("503", "not now; `retry-after` says when"),
    ("504", "out of time"),
];

/// Shows the document.
pub(super) async fn show(State(_): State<Http>, _: Request) -> Reply {
    answer(&document())
}

/// The whole document.
#[must_use]
pub fn document() -> Value {
    let wire = Wire::read();
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described(&wire, operation);
    }
    let mut schemas = Map::new();
    for (name, fields) in GROUPS {
        let (fields, _) = fields_of(fields);
        schemas.insert((*name).to_owned(), object(properties(&wire, "", &fields), &[]));
    }
    schemas.insert("Problem".to_owned(), problem());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "HindsightDB",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Memory database for LLM agents",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:7421"}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn described(wire: &Wire, operation: &Operation) -> Value {
    let (fields, required) = fields_of(operation.fields);
    let method = operation.call.rsplit('/').next().unwrap_or_default();
    let properties = properties(wire, &format!("{method}Request"), &fields);
    let mut parameters: Vec<Value> = in_path(operation.path)
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    let takes_body = !matches!(operation.method, "get" | "delete");
    if !takes_body {
        parameters.extend(properties.iter().map(|(name, schema)| {
            let required = required.contains(&name.as_str());
            json!({"name": name, "in": "query", "required": required, "schema": schema})
        }));
    }
    let mut responses = Map::new();
    let kind = if operation.id == "watch" { "text/event-stream" } else { "application/json" };
    responses.insert(
        "200".to_owned(),
        json!({"description": "done", "content": {kind: {"schema": {"type": "object"}}}}),
    );
    for (status, description) in REFUSALS {
        let content = json!({"application/problem+json": {"schema": reference("Problem")}});
        responses.insert(status.to_owned(), json!({"description": description, "content": content}));
    }
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "parameters": parameters,
        "responses": responses,
    });
    if !operation.call.is_empty() {
        described["x-hindsight-call"] = json!(operation.call);
    }
    if takes_body {
        let content = json!({"application/json": {"schema": object(properties, &required)}});
        described["requestBody"] = json!({"required": true, "content": content});
    }
    described
}

/// The names of a list of fields, with those of the groups in it, and which of them must be there.
fn fields_of(list: &'static str) -> (Vec<&'static str>, Vec<&'static str>) {
    let (mut fields, mut required) = (Vec::new(), Vec::new());
    let mut left: Vec<&'static str> = list.split_whitespace().collect();
    while let Some(word) = left.pop() {
        if let Some(name) = word.strip_prefix('+') {
            let group = GROUPS.iter().find(|(known, _)| *known == name).map_or("", |(_, fields)| *fields);
            left.extend(group.split_whitespace());
            continue;
        }
        let field = word.trim_end_matches('!');
        fields.push(field);
        required.extend(word.ends_with('!').then_some(field));
    }
    (fields, required)
}

fn properties(wire: &Wire, request: &str, fields: &[&str]) -> Map<String, Value> {
    let messages: Vec<&str> = std::iter::once(request).chain(ALSO).collect();
    let schema =
        |name: &str| special(name).or_else(|| wire.field(&messages, name)).unwrap_or_else(|| json!({}));
    fields.iter().map(|name| ((*name).to_owned(), schema(name))).collect()
}

/// The places of a path.
fn in_path(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// RFC 9457, with what this server adds.
fn problem() -> Value {
    let text = json!({"type": "string"});
    let violation = json!({"type": "object", "properties": {"field": text, "description": text}});
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail", "reason", "request_id"],
        "properties": {
            "type": text, "title": text, "status": {"type": "integer"}, "detail": text,
            "reason": {"type": "string", "description": "the stable word of the error"},
            "violations": {"type": "array", "items": violation},
            "metadata": {"type": "object", "additionalProperties": text},
            "request_id": text,
        },
    })
}
