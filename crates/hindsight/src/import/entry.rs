//! One line: which form it has, and the drafts that it stands for.
//!
//! | form | known by | becomes |
//! |---|---|---|
//! | a line of `export` | `id`, `version` and `created_at` | the memory's draft, under its id |
//! | a draft | `content` or `uri` | itself |
//! | a generic line | `text`, or any line with `--map` | see [`generic`](super::generic) |
//! | of the reference MCP memory server | `type` with an entity's or a relation's fields | see `mcp_memory` |
//! | of mem0 | `memory` and whom it is about | see `mem0` |

use hindsight_core::{Draft, Invalid, Kind, Memory, Namespace, RawVectors, State};
use serde_json::{Map, Value};

use super::form::Form;
use super::mapping::Mapping;
use super::{generic, mcp_memory, mem0};
use crate::document;

/// What the command line says about lines that don't say it themselves.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    /// The namespace of every line, whatever it says itself.
    pub(crate) namespace: Option<Namespace>,
    /// The kind of generic lines that name none.
    pub(crate) kind: Kind,
    /// Who wrote the file.
    pub(crate) form: Form,
    /// Which keys hold what; without it generic lines have their own words.
    pub(crate) mapping: Option<Mapping>,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults { namespace: None, kind: Kind::Fact, form: Form::Auto, mapping: None }
    }
}

/// A line that can be sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// Where it goes.
    pub(crate) namespace: Namespace,
    /// What is stored.
    pub(crate) draft: Draft,
    /// Its vectors, if the line has them.
    pub(crate) vectors: Option<RawVectors>,
}

/// Reads one line.
///
/// # Errors
/// The fields that are wrong, as far as that can be said without the server.
pub(crate) fn parse(line: &[u8], defaults: &Defaults) -> Result<Vec<Entry>, Invalid> {
    let object = document::object(line)?;
    if let Some(mapping) = &defaults.mapping {
        return Ok(vec![generic::entry(mapping.apply(object)?, defaults)?]);
    }
    match defaults.form {
        Form::McpMemory => return mcp_memory::entries(object, defaults),
        Form::Mem0 => return Ok(vec![mem0::entry(object, defaults)?]),
        Form::Auto if mcp_memory::is_one(&object) => return mcp_memory::entries(object, defaults),
        Form::Auto if mem0::is_one(&object) => return Ok(vec![mem0::entry(object, defaults)?]),
        Form::Auto | Form::Jsonl => {}
    }
    one(object, defaults).map(|entry| vec![entry])
}

fn one(object: Map<String, Value>, defaults: &Defaults) -> Result<Entry, Invalid> {
    let has = |key| object.contains_key(key);
    if has("id") && has("version") && has("created_at") {
        exported(object, defaults)
    } else if has("content") || has("uri") {
        drafted(object, defaults)
    } else if has("text") {
        generic::entry(object, defaults)
    } else {
        Err(Invalid::one(
            "content",
            "is missing: expected `content` (a memory) or `text` (a generic line) beside the other fields",
        ))
    }
}

fn exported(object: Map<String, Value>, defaults: &Defaults) -> Result<Entry, Invalid> {
    let memory: Memory = document::typed(object)?;
    // A memory that was set aside must not come back as a recallable one by way of a file.
    if memory.state != State::Active {
        return Err(Invalid::one("state", format!("is {}: only active memories are imported", memory.state)));
    }
    let namespace = defaults.namespace.clone().unwrap_or_else(|| memory.namespace.clone());
    Ok(Entry { namespace, draft: Draft::from(&memory), vectors: None })
}

fn drafted(mut object: Map<String, Value>, defaults: &Defaults) -> Result<Entry, Invalid> {
    let namespace = take_namespace(&mut object, defaults)?;
    let vectors = document::take_vectors(&mut object)?;
    Ok(Entry { namespace, draft: document::typed(object)?, vectors })
}

/// Takes the namespace out of a line; the one of the command line wins.
pub(super) fn take_namespace(
    object: &mut Map<String, Value>,
    defaults: &Defaults,
) -> Result<Namespace, Invalid> {
    let named = match object.remove("namespace") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Null) | None => None,
        Some(_) => return Err(Invalid::one("namespace", "is no text: expected the name of a namespace")),
    };
    if let Some(namespace) = &defaults.namespace {
        return Ok(namespace.clone());
    }
    let missing = || Invalid::one("namespace", "is missing: name it in the line or with --namespace");
    let name = named.ok_or_else(missing)?;
    name.parse().map_err(|error: hindsight_core::namespace::BadNamespace| {
        Invalid::one("namespace", error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaults() -> Defaults {
        Defaults::default()
    }

    fn refused(line: &str) -> String {
        parse(line.as_bytes(), &defaults()).unwrap_err().to_string()
    }

    #[test]
    fn a_draft_may_name_its_namespace_and_the_command_line_wins() {
        let line = br#"{"namespace":"a","content":"the sky is blue","kind":"preference"}"#;
        let entry = parse(line, &defaults()).unwrap().remove(0);
        assert_eq!((entry.namespace.as_str(), entry.draft.kind), ("a", Some(Kind::Preference)));
        let other = Defaults { namespace: Some("b".parse().unwrap()), ..defaults() };
        assert_eq!(parse(line, &other).unwrap()[0].namespace.as_str(), "b");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(refused(r#"{"content":"a"}"#).starts_with("namespace: is missing"));
        assert!(refused(r#"{"content":"a","namespace":"../x"}"#).contains("can't name a namespace"));
        assert!(refused(r#"{"namespace":"a","words":"b"}"#).starts_with("content: is missing"));
        assert!(refused(r#"{"namespace":"a","content":"b","mood":1}"#).starts_with("mood: unknown field"));
        assert!(refused("{").starts_with("json: can't be read"));
    }

    #[test]
    fn an_exported_line_keeps_its_id_and_only_the_living_are_taken() {
        let moment = hindsight_core::draft::Moment {
            namespace: "a".parse().unwrap(),
            id: hindsight_core::MemoryId::from_u128(7),
            now: hindsight_core::Timestamp::from_ms(1_000),
            embedding_model: Some("m".to_owned()),
        };
        let draft = Draft { content: "我对花生过敏".to_owned(), ..Draft::default() };
        let mut memory = draft.check().unwrap().into_memory(moment);
        let entry = parse(&serde_json::to_vec(&memory).unwrap(), &defaults()).unwrap().remove(0);
        assert_eq!(entry.draft.id, Some(memory.id.to_string()));
        assert_eq!(entry.draft.content, "我对花生过敏");
        memory.state = State::Quarantined;
        assert!(refused(&serde_json::to_string(&memory).unwrap()).starts_with("state: is quarantined"));
    }
}
