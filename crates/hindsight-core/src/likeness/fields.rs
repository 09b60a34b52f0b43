//! The fields beside the text that a duplicate must not contradict.

use super::reason::{Aspect, Difference};
use super::text::Text;
use super::text::token::Sort;
use crate::{Entity, Memory, Scope};

/// Names of the one who speaks; they tell nobody apart.
const SPEAKER_NAMES: &[&str] = &["user", "i", "me", "self", "用户", "我"];

/// Words by which a speaker speaks of himself or herself.
const FIRST_PERSON: &[&str] = &["i", "me", "my", "mine", "myself", "we", "our", "ours", "我", "咱", "俺"];

/// The first field in which they can't be one memory, apart from text, claims and what only one kind has.
pub(super) fn difference(old: &Memory, new: &Memory, texts: (&Text, &Text)) -> Option<Difference> {
    place(old, new)
        .or_else(|| task(old, new))
        .or_else(|| speaker(old, new, texts))
        .or_else(|| validity(old, new))
        .or_else(|| optional(Aspect::Uri, old.uri.as_deref(), new.uri.as_deref()))
        .or_else(|| metadata(old, new))
        .or_else(|| entities(old, new, texts))
}

fn place(old: &Memory, new: &Memory) -> Option<Difference> {
    if old.namespace != new.namespace {
        return Some(Difference::new(Aspect::Scope, old.namespace.as_str(), new.namespace.as_str()));
    }
    if old.kind != new.kind {
        return Some(Difference::new(Aspect::Kind, old.kind.as_str(), new.kind.as_str()));
    }
    let agent = |memory: &Memory| match memory.scope {
        Scope::Agent => format!("agent {}", memory.agent_id.as_deref().unwrap_or_default()),
        Scope::Shared => "shared".to_owned(),
    };
    let (old, new) = (agent(old), agent(new));
    (old != new).then(|| Difference::new(Aspect::Scope, old, new))
}

fn task(old: &Memory, new: &Memory) -> Option<Difference> {
    let status = |memory: &Memory| memory.status.map(|status| status.as_str());
    optional(Aspect::Status, status(old), status(new))
        .or_else(|| optional(Aspect::TaskType, old.task_type.as_deref(), new.task_type.as_deref()))
}

/// Two values differ; so does a value that only the new memory has, since it would be lost.
pub(super) fn optional(aspect: Aspect, old: Option<&str>, new: Option<&str>) -> Option<Difference> {
    let key = |value: Option<&str>| value.map(Text::key).unwrap_or_default();
    let same = new.is_none() || key(old) == key(new);
    (!same).then(|| Difference::new(aspect, old.unwrap_or_default(), new.unwrap_or_default()))
}

/// "I like tea" is another memory when somebody else says it; "Anna likes tea" is not.
fn speaker(old: &Memory, new: &Memory, (text, _): (&Text, &Text)) -> Option<Difference> {
    let name = |memory: &Memory| memory.source.speaker.as_deref().map(Text::key).unwrap_or_default();
    let (one, other) = (name(old), name(new));
    let both = !one.is_empty() && !other.is_empty();
    if one == other || !(both || text.tokens.iter().any(|token| token.is_one_of(FIRST_PERSON))) {
        return None;
    }
    let shown = |memory: &Memory| memory.source.speaker.clone().unwrap_or_default();
    Some(Difference::new(Aspect::Speaker, shown(old), shown(new)))
}

/// The new memory's bounds are those of the old one; a beginning that is not named is the old one's.
fn validity(old: &Memory, new: &Memory) -> Option<Difference> {
    let begins_alike = new.valid_from.is_none() || old.valid_from == new.valid_from;
    if begins_alike && old.valid_to == new.valid_to {
        return None;
    }
    let shown = |memory: &Memory| {
        let time = |time: Option<crate::Timestamp>| time.map(|time| time.to_string()).unwrap_or_default();
        format!("{}..{}", time(memory.valid_from), time(memory.valid_to))
    };
    Some(Difference::new(Aspect::Validity, shown(old), shown(new)))
}

/// The caller's own fields: what both have must be the same. What only one has may be a trace of its making.
fn metadata(old: &Memory, new: &Memory) -> Option<Difference> {
    new.metadata.iter().find_map(|(key, value)| {
        let other = old.metadata.get(key).filter(|other| *other != value)?;
        Some(Difference::new(Aspect::Metadata, format!("{key}: {other}"), format!("{key}: {value}")))
    })
}

/// Entities that the texts name are compared with the texts. The others must be the same: "she likes tea" is about
/// whomever the entities say. One name is one thing, unless both say that it is of another type.
fn entities(old: &Memory, new: &Memory, (old_text, new_text): (&Text, &Text)) -> Option<Difference> {
    let keyed = |memory: &'_ Memory, text: &Text| -> Vec<(String, String)> {
        let read = text.tokens.iter().map(|token| token.key.as_str()).collect::<Vec<_>>().join(" ");
        let unnamed = |entity: &&Entity| {
            let name = Text::key(&entity.name);
            !SPEAKER_NAMES.contains(&name.as_str()) && !format!(" {read} ").contains(&format!(" {name} "))
        };
        memory
            .entities
            .iter()
            .filter(unnamed)
            .map(|entity| (Text::key(&entity.name), entity.name.clone()))
            .collect()
    };
    let (one, other) = (keyed(old, old_text), keyed(new, new_text));
    let only = |from: &[(String, String)], to: &[(String, String)]| {
        from.iter().find(|(key, _)| !to.iter().any(|(other, _)| other == key)).map(|(_, name)| name.clone())
    };
    let (gone, come) = (only(&one, &other), only(&other, &one));
    if gone.is_some() || come.is_some() {
        return Some(Difference::new(Aspect::Entity, gone.unwrap_or_default(), come.unwrap_or_default()));
    }
    let types = new.entities.iter().filter(|entity| !entity.kind.trim().is_empty());
    types.into_iter().find_map(|entity| {
        let same_name = |other: &&Entity| Text::key(&other.name) == Text::key(&entity.name);
        let mut others = old.entities.iter().filter(same_name).filter(|other| !other.kind.trim().is_empty());
        let first = others.clone().next()?;
        let same_type = others.any(|other| Text::key(&other.kind) == Text::key(&entity.kind));
        let shown = |entity: &Entity| format!("{} ({})", entity.name, entity.kind);
        (!same_type).then(|| Difference::new(Aspect::Entity, shown(first), shown(entity)))
    })
}

/// Whether a text has a day with its year, so that "today" beside it is no guess.
pub(super) fn is_dated(text: &Text) -> bool {
    text.tokens.iter().any(|token| token.sort == Sort::Date && !token.key.starts_with("--"))
}
