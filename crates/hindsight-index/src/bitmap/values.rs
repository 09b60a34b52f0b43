//! The values of a memory that filters ask for letter by letter, each with its field.

use compact_str::CompactString;
use hindsight_core::{Memory, filter::entity_key};

/// A field that has a set per value. The letter keeps equal words of different fields apart in one dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Field {
    Kind = b'k',
    Status = b's',
    State = b't',
    Scope = b'p',
    SourceKind = b'o',
    Transient = b'r',
    TaskType = b'y',
    Tag = b'g',
    Entity = b'e',
    Tool = b'l',
    ErrorCode = b'c',
    RootCause = b'u',
    Session = b'n',
    Agent = b'a',
}

/// The dictionary's word for a value of a field.
pub(crate) fn key(field: Field, value: &str) -> CompactString {
    let mut key = CompactString::with_capacity(value.len() + 1);
    key.push(char::from(field as u8));
    key.push_str(value);
    key
}

/// Hands over every value of a memory; the same one may come more than once.
pub(crate) fn each_value(memory: &Memory, take: &mut dyn FnMut(Field, &str)) {
    take(Field::Kind, memory.kind.as_str());
    take(Field::State, memory.state.as_str());
    take(Field::Scope, memory.scope.as_str());
    take(Field::SourceKind, memory.source.kind.as_str());
    if let Some(status) = memory.status {
        take(Field::Status, status.as_str());
    }
    if memory.is_transient_failure() {
        take(Field::Transient, "");
    }
    let words = [
        (Field::TaskType, &memory.task_type),
        (Field::Session, &memory.session_id),
        (Field::Agent, &memory.agent_id),
    ];
    for (field, word) in words {
        if let Some(word) = word {
            take(field, word);
        }
    }
    memory.tags.iter().for_each(|tag| take(Field::Tag, tag));
    memory.entities.iter().for_each(|entity| take(Field::Entity, &entity_key(&entity.name)));
    if let Some(episode) = &memory.episode {
        for action in &episode.actions {
            take(Field::Tool, &action.tool);
            if let Some(code) = &action.error_code {
                take(Field::ErrorCode, code);
            }
        }
        if let Some(cause) = &episode.root_cause {
            take(Field::RootCause, cause);
        }
    }
}
