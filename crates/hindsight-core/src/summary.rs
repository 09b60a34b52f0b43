//! Many memories of one entity as one (L6). Pure: the memories go in, the draft of their summary comes out. It is a
//! template, not a retelling: each part stands in it word for word, with its time, so no error code, number, parameter or date
//! is lost. The summary names its parts; they become history behind it, and a rollback brings them back.
//!
//! Left out is what can change by itself ([`LeftOut`]): a summary can't be corrected in one line.

mod line;

use serde_json::{Map, Value, json};

use crate::consolidate::has_mostly_han;
use crate::draft::SourceDraft;
use crate::filter::entity_key;
use crate::limits::{CONTENT_CHARS_MAX, ENTITIES_MAX, REFERENCES_MAX, TAGS_MAX};
use crate::scoring::confidence::trust;
use crate::{Draft, Entity, Invalid, Kind, LeftOut, Memory, MemoryId, SourceKind, Timestamp};

/// Where in the metadata stands what a summary is of.
const SUMMARY: &str = "summary";
/// Fewer memories than that need no summary.
pub const PARTS_MIN: usize = 2;

/// A summary that could be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The memory that it would be.
    pub draft: Draft,
    /// Its parts, the oldest first.
    pub parts: Vec<MemoryId>,
    /// What is about the entity too, and no part of it, with the reason.
    pub left_out: Vec<(MemoryId, LeftOut)>,
}

/// Whether a memory is a summary of others.
#[must_use]
pub fn is_summary(memory: &Memory) -> bool {
    !memory.derived_from.is_empty() && matches!(memory.metadata.get(SUMMARY), Some(Value::Object(_)))
}

/// The summary of what is known of an entity. `memories` are active and true, all shared or all of one agent; their order
/// makes no difference. What does not name the entity is passed over.
///
/// # Errors
/// When fewer than [`PARTS_MIN`] of them can be parts, with what stands in the way.
pub fn summarize(entity: &str, memories: &[&Memory]) -> Result<Summary, Invalid> {
    let wanted = entity_key(entity);
    let names_it = |memory: &&&Memory| memory.entities.iter().any(|one| entity_key(&one.name) == wanted);
    let mut about: Vec<&Memory> = memories.iter().filter(names_it).copied().collect();
    about.sort_by_key(|memory| (memory.occurred_at, memory.id));
    let mut left_out = Vec::new();
    let (mut parts, mut lines): (Vec<&Memory>, Vec<String>) = (Vec::new(), Vec::new());
    // What the first line takes at most, with room for its numbers.
    let mut chars = entity.chars().count() + 200;
    for memory in about {
        let line = line::of(memory);
        let longer = chars + line.chars().count() + 1;
        let reason = if memory.claims.iter().any(|claim| claim.single_valued) {
            Some(LeftOut::SingleValued)
        } else if memory.valid_to.is_some() || memory.expires_at.is_some() {
            Some(LeftOut::Ends)
        } else if longer > CONTENT_CHARS_MAX || parts.len() >= REFERENCES_MAX {
            Some(LeftOut::Full)
        } else {
            None
        };
        if let Some(reason) = reason {
            left_out.push((memory.id, reason));
            continue;
        }
        chars = longer;
        parts.push(memory);
        lines.push(line);
    }
    if parts.len() < PARTS_MIN {
        return Err(too_few(entity, parts.len(), &left_out));
    }
    let ids = parts.iter().map(|memory| memory.id).collect();
    Ok(Summary { draft: draft(entity, &parts, &lines), parts: ids, left_out })
}

fn too_few(entity: &str, found: usize, left_out: &[(MemoryId, LeftOut)]) -> Invalid {
    let mut problem =
        format!("has {found} memories here that can be parts of a summary: expected at least {PARTS_MIN}");
    let count = |reason| left_out.iter().filter(|(_, why)| *why == reason).count();
    let (single, ends) = (count(LeftOut::SingleValued), count(LeftOut::Ends));
    if single + ends > 0 {
        problem.push_str(&format!(
            "; left out are {single} that state a property with one value at a time, and {ends} that end by themselves"
        ));
    }
    Invalid::one("entity", format!("{entity:?} {problem}"))
}

fn draft(entity: &str, parts: &[&Memory], lines: &[String]) -> Draft {
    let chinese = parts.iter().filter(|memory| has_mostly_han(&memory.content)).count();
    let header = header(entity, parts, chinese * 2 > parts.len());
    let mut metadata = Map::new();
    metadata.insert(SUMMARY.to_owned(), json!({"entity": entity, "memories": parts.len(), "header": header}));
    let all_preferences = parts.iter().all(|memory| memory.kind == Kind::Preference);
    let kinds = parts.iter().map(|memory| memory.source.kind);
    let kind = kinds.min_by(|one, other| trust(*one).total_cmp(&trust(*other)).then(other.cmp(one)));
    let least = |values: &mut dyn Iterator<Item = f32>| values.min_by(f32::total_cmp);
    let mut draft = Draft {
        kind: Some(if all_preferences { Kind::Preference } else { Kind::Fact }),
        content: std::iter::once(&header).chain(lines).map(String::as_str).collect::<Vec<_>>().join("\n"),
        task_type: common(parts),
        metadata,
        source: Some(SourceDraft { kind: Some(kind.unwrap_or(SourceKind::Agent)), ..SourceDraft::default() }),
        scope: parts.first().map(|memory| memory.scope),
        agent_id: parts
            .first()
            .filter(|memory| memory.scope == crate::Scope::Agent)
            .and_then(|m| m.agent_id.clone()),
        importance: parts.iter().map(|memory| memory.importance).max_by(f32::total_cmp),
        // It is no surer than the least sure of its parts.
        confidence: least(&mut parts.iter().map(|memory| memory.confidence)),
        occurred_at: parts.last().map(|memory| memory.occurred_at),
        derived_from: parts.iter().map(|memory| memory.id.to_string()).collect(),
        ..Draft::default()
    };
    for memory in parts {
        add(&mut draft.tags, &memory.tags, TAGS_MAX);
        add(&mut draft.keywords, &memory.keywords, TAGS_MAX);
        add(&mut draft.claims, &memory.claims, ENTITIES_MAX);
    }
    draft.entities = entities(entity, parts);
    draft
}

fn add<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T], most: usize) {
    for one in more {
        if all.len() < most && !all.contains(one) {
            all.push(one.clone());
        }
    }
}

/// The entity itself first: it must not fall victim to the limit.
fn entities(entity: &str, parts: &[&Memory]) -> Vec<Entity> {
    let wanted = entity_key(entity);
    let all = || parts.iter().flat_map(|memory| &memory.entities);
    let mut entities: Vec<Entity> =
        all().find(|one| entity_key(&one.name) == wanted).cloned().into_iter().collect();
    for one in all() {
        let known = entities.iter().any(|other| entity_key(&other.name) == entity_key(&one.name));
        if !known && entities.len() < ENTITIES_MAX {
            entities.push(one.clone());
        }
    }
    entities
}

/// The type of task that all parts have.
fn common(parts: &[&Memory]) -> Option<String> {
    let first = parts.first()?.task_type.clone();
    first.filter(|first| parts.iter().all(|memory| memory.task_type.as_ref() == Some(first)))
}

fn header(entity: &str, parts: &[&Memory], is_chinese: bool) -> String {
    let day = |memory: Option<&&Memory>| {
        let time = memory.map_or(Timestamp::MIN, |memory| memory.occurred_at);
        time.to_string().chars().take(10).collect::<String>()
    };
    let (first, last, count) = (day(parts.first()), day(parts.last()), parts.len());
    if is_chinese {
        format!("{entity} 的摘要：共 {count} 条记忆，{first} 至 {last}。")
    } else {
        format!("Summary of {entity}: {count} memories, {first} to {last}.")
    }
}

#[cfg(test)]
mod tests;
