//! What mem0 lists or exports: items with `memory` and whom it is about.
//!
//! | key | becomes |
//! |---|---|
//! | `memory` (or `data`, `text`) | the content |
//! | `id` | `metadata.external_id`; the memory's id is derived from it |
//! | `created_at` | `occurred_at`; `updated_at` goes to the metadata |
//! | `user_id` | `source.speaker` |
//! | `agent_id`, `run_id` | `agent_id`, `session_id` |
//! | `categories` | tags |
//! | `expiration_date` | `expires_at` |
//! | the fields of `metadata`, and any other key | fields of the metadata |
//! | `hash`, `score` | nothing: they are mem0's own |

use hindsight_core::draft::SourceDraft;
use hindsight_core::{Draft, Invalid, Kind, SourceKind, Timestamp};
use serde_json::{Map, Value};

use super::entry::{Defaults, Entry, take_namespace};
use super::generic::{derived_id, label, take};

/// Whether a line is one of mem0's.
pub(super) fn is_one(line: &Map<String, Value>) -> bool {
    let has = |key| line.contains_key(key);
    has("memory") && ["user_id", "agent_id", "run_id", "created_at", "hash"].into_iter().any(has)
}

/// The memory that a line stands for.
///
/// # Errors
/// The key whose value has the wrong shape.
pub(super) fn entry(mut line: Map<String, Value>, defaults: &Defaults) -> Result<Entry, Invalid> {
    let namespace = take_namespace(&mut line, defaults)?;
    let mut content = None;
    for key in ["memory", "data", "text"] {
        content = content.or(take::<String>(&mut line, key, "a text")?);
    }
    let Some(content) = content else {
        return Err(Invalid::one("memory", "is missing: expected the text of a memory"));
    };
    let external_id = label(&mut line, "id")?;
    let occurred_at = time(&mut line, "created_at")?;
    let expires_at = time(&mut line, "expiration_date")?;
    let speaker = label(&mut line, "user_id")?;
    let agent_id = label(&mut line, "agent_id")?;
    let session_id = label(&mut line, "run_id")?;
    let tags: Vec<String> = take(&mut line, "categories", "a list of words")?.unwrap_or_default();
    let mut metadata: Map<String, Value> = take(&mut line, "metadata", "an object")?.unwrap_or_default();
    for own in ["hash", "score"] {
        line.remove(own);
    }
    metadata.extend(line.into_iter().filter(|(_, value)| !value.is_null()));
    if let Some(id) = &external_id {
        metadata.insert("external_id".to_owned(), Value::String(id.clone()));
    }
    let draft = Draft {
        id: external_id
            .map(|id| derived_id(namespace.as_str(), &format!("mem0 {id}"), occurred_at).to_string()),
        // What a model drew from a conversation, of whatever kind the caller says.
        kind: Some(if defaults.kind == Kind::Episode { Kind::Fact } else { defaults.kind }),
        content,
        tags,
        metadata,
        source: Some(SourceDraft { kind: Some(SourceKind::Agent), speaker, ..SourceDraft::default() }),
        session_id,
        agent_id,
        occurred_at,
        expires_at,
        ..Draft::default()
    };
    Ok(Entry { namespace, draft, vectors: None })
}

/// A time of mem0: RFC 3339, also without a zone, which then is UTC.
fn time(line: &mut Map<String, Value>, key: &str) -> Result<Option<Timestamp>, Invalid> {
    let Some(text) = take::<String>(line, key, "a time")? else { return Ok(None) };
    let zoned = format!("{}Z", text.trim().replacen(' ', "T", 1));
    let parsed = zoned.parse::<Timestamp>().or_else(|_| text.parse());
    parsed.map(Some).map_err(|error| Invalid::one(key, error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(line: Value) -> Result<Entry, Invalid> {
        let Value::Object(line) = line else { panic!("a line is an object") };
        entry(line, &Defaults { namespace: Some("a".parse().unwrap()), ..Defaults::default() })
    }

    #[test]
    fn what_mem0_lists_keeps_whom_it_is_about_and_when() {
        let line = json!({"id": "f1-02", "memory": "Loves sci-fi", "user_id": "alex", "run_id": "r9", "hash": "x",
            "metadata": {"genre": "film"}, "categories": ["movies"], "created_at": "2024-07-01T12:00:00.123456-07:00",
            "updated_at": null, "expiration_date": "2030-01-01"});
        let draft = read(line).unwrap().draft;
        assert_eq!(draft.content, "Loves sci-fi");
        assert_eq!(draft.occurred_at.unwrap().to_string(), "2024-07-01T19:00:00.123Z");
        assert_eq!(draft.source.clone().unwrap().speaker.as_deref(), Some("alex"));
        assert_eq!(
            (draft.session_id.as_deref(), draft.tags.clone()),
            (Some("r9"), vec!["movies".to_owned()])
        );
        assert_eq!(Value::Object(draft.metadata.clone()), json!({"genre": "film", "external_id": "f1-02"}));
        assert!(draft.expires_at.is_some());
        assert!(draft.check().is_ok());
        let zoneless = read(json!({"memory": "a", "created_at": "2024-07-01 12:00:00"})).unwrap().draft;
        assert_eq!(zoneless.occurred_at.unwrap().to_string(), "2024-07-01T12:00:00Z");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(read(json!({"user_id": "a"})).unwrap_err().to_string().starts_with("memory: is missing"));
        let refused = read(json!({"memory": "a", "created_at": "soon"})).unwrap_err().to_string();
        assert!(refused.starts_with("created_at: "), "{refused}");
    }
}
