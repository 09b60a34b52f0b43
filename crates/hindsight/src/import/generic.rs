//! Lines that were made for something else: `{"text": …}` with whatever stands beside it.
//!
//! | key | becomes |
//! |---|---|
//! | `text` | the content |
//! | `id` | `metadata.external_id`; the memory's id is derived from it |
//! | `timestamp` | `occurred_at`: RFC 3339, a date, or seconds or milliseconds since 1970 |
//! | `speaker` | `source.speaker`; what a person says has the source kind `user_input` |
//! | `session` | `session_id`, as `namespace/session`, since files count sessions anew for each conversation |
//! | `entities` | entities, by name |
//! | `outcome` | the status; the memory is an episode then |
//! | `kind`, `summary`, `tags`, `keywords`, `task_type` | themselves |
//! | any other | a field of the metadata |

use hindsight_core::draft::SourceDraft;
use hindsight_core::{Draft, Entity, Invalid, Kind, MemoryId, SourceKind, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::entry::{Defaults, Entry, take_namespace};

/// Numbers below this count seconds, others milliseconds: it is the year 5138 in seconds and 1973 in milliseconds.
const SECONDS_MAX: u64 = 100_000_000_000;

/// The draft that a generic line stands for.
///
/// # Errors
/// The key whose value has the wrong shape.
pub(super) fn entry(mut object: Map<String, Value>, defaults: &Defaults) -> Result<Entry, Invalid> {
    let home = object.get("namespace").and_then(Value::as_str).map(str::to_owned);
    let namespace = take_namespace(&mut object, defaults)?;
    let home = home.unwrap_or_else(|| namespace.to_string());
    let content: String = take(&mut object, "text", "a text")?.unwrap_or_default();
    let external_id = label(&mut object, "id")?;
    let occurred_at = timestamp(&mut object)?;
    let status = take(&mut object, "outcome", "success, failure or partial")?;
    let kind = take(&mut object, "kind", "a kind such as fact")?;
    let kind: Kind = kind.unwrap_or(if status.is_some() { Kind::Episode } else { defaults.kind });
    let speaker: Option<String> = take(&mut object, "speaker", "a name")?;
    let entities: Vec<String> = take(&mut object, "entities", "a list of names")?.unwrap_or_default();
    let mut draft = Draft {
        id: external_id.as_deref().map(|id| derived_id(&home, id, occurred_at).to_string()),
        kind: Some(kind),
        content,
        summary: take(&mut object, "summary", "a text")?.unwrap_or_default(),
        keywords: take(&mut object, "keywords", "a list of words")?.unwrap_or_default(),
        tags: take(&mut object, "tags", "a list of words")?.unwrap_or_default(),
        task_type: take(&mut object, "task_type", "a word")?,
        status,
        entities: entities.into_iter().map(|name| Entity { name, kind: String::new() }).collect(),
        source: Some(source(kind, speaker)),
        session_id: label(&mut object, "session")?.map(|session| format!("{home}/{session}")),
        occurred_at,
        ..Draft::default()
    };
    draft.metadata = object;
    if let Some(id) = external_id {
        draft.metadata.insert("external_id".to_owned(), Value::String(id));
    }
    Ok(Entry { namespace, draft, vectors: None })
}

/// A speaker is a person unless it says that it is none. An episode is what an agent saw with its own eyes, whoever
/// is named as telling it; a text that nobody is named for came from outside.
fn source(kind: Kind, speaker: Option<String>) -> SourceDraft {
    let grade = match speaker.as_deref() {
        _ if kind == Kind::Episode => None,
        Some("agent" | "assistant" | "ai" | "bot") => Some(SourceKind::Agent),
        Some("tool" | "function" | "system") => Some(SourceKind::Tool),
        Some(_) => Some(SourceKind::UserInput),
        None => Some(SourceKind::External),
    };
    SourceDraft { kind: grade, speaker, ..SourceDraft::default() }
}

/// The same line gets the same id each time, so that a repeated import finds it taken. Its time is the line's own, so
/// that a list, which goes by id, is in the order of what happened.
pub(super) fn derived_id(home: &str, external_id: &str, at: Option<Timestamp>) -> MemoryId {
    let mut hasher = blake3::Hasher::new_derive_key("hindsight import 1: id of a generic line");
    hasher.update(home.as_bytes()).update(b"\0").update(external_id.as_bytes());
    let mut random = [0_u8; 16];
    hasher.finalize_xof().fill(&mut random);
    MemoryId::new(at.unwrap_or(Timestamp::from_ms(0)), u128::from_le_bytes(random))
}

/// Takes a key whose value must have one type; `null` counts as absent.
pub(super) fn take<T: DeserializeOwned>(
    object: &mut Map<String, Value>,
    key: &str,
    expected: &str,
) -> Result<Option<T>, Invalid> {
    match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let found = short(&value);
            serde_json::from_value(value)
                .map(Some)
                .map_err(|_| Invalid::one(key, format!("is {found}: expected {expected}")))
        }
    }
}

/// Takes a key whose value names something: a text, or a number that is used as one.
pub(super) fn label(object: &mut Map<String, Value>, key: &str) -> Result<Option<String>, Invalid> {
    match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(Invalid::one(key, format!("is {}: expected a text or a number", short(&other)))),
    }
}

fn timestamp(object: &mut Map<String, Value>) -> Result<Option<Timestamp>, Invalid> {
    let expected =
        "expected RFC 3339 such as 2026-11-30T09:00:00Z, a date, or seconds or milliseconds since 1970";
    match object.remove("timestamp") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => text
            .parse()
            .map(Some)
            .map_err(|error: hindsight_core::time::BadTime| Invalid::one("timestamp", error.to_string())),
        Some(Value::Number(number)) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a cast from float saturates, and the range is checked"
            )]
            let whole = number.as_i64().or_else(|| number.as_f64().map(|float| float as i64));
            let time = match whole {
                Some(seconds) if seconds.unsigned_abs() < SECONDS_MAX => {
                    Timestamp::checked_from_ms(seconds * 1000)
                }
                Some(ms) => Timestamp::checked_from_ms(ms),
                None => None,
            };
            match time {
                Some(time) => Ok(Some(time)),
                None => Err(Invalid::one("timestamp", format!("is {number}: {expected}"))),
            }
        }
        Some(other) => Err(Invalid::one("timestamp", format!("is {}: {expected}", short(&other)))),
    }
}

/// A value as an error shows it: the beginning of its JSON.
fn short(value: &Value) -> String {
    let json = value.to_string();
    let mut start: String = json.chars().take(40).collect();
    if start.len() < json.len() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests;
