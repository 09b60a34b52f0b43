//! What a rule remembers of itself, in its metadata: what it rests on, and what became of it so far.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use crate::kind::RuleEventKind;
use crate::limits::{METADATA_BYTES_MAX, RULE_EVENTS_MAX};
use crate::{Memory, RuleState, Timestamp};

/// Where in the metadata stands what it rests on.
const BASIS: &str = "consolidation";
/// Where in the metadata stands what became of it.
const EVENTS: &str = "rule_history";

/// Something that happened to a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleEvent {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: RuleEventKind,
    /// The version of the rule that it made.
    pub version: u64,
    /// Where the rule was in its life afterwards.
    pub rule_state: RuleState,
    /// How sure it was afterwards, 0–1.
    pub confidence: f32,
    /// How many episodes it rested on afterwards.
    pub support: u32,
}

/// What a rule that was found in episodes rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Basis {
    /// k.
    pub(super) agreeing: u32,
    /// n.
    pub(super) episodes: u32,
    /// [`super::wording::mark`] of the texts that were made for it, in hex; another one now means that somebody has
    /// reworded the rule.
    pub(super) wording: String,
}

/// What a rule rests on; none of a rule that nobody found in episodes.
pub(super) fn basis(memory: &Memory) -> Option<Basis> {
    serde_json::from_value(memory.metadata.get(BASIS)?.clone()).ok()
}

pub(super) fn set_basis(metadata: &mut Map<String, Value>, basis: &Basis) {
    // Numbers and a text: they are always JSON.
    if let Ok(value) = serde_json::to_value(basis) {
        metadata.insert(BASIS.to_owned(), value);
    }
}

/// The first event of a rule.
pub(super) fn begin(metadata: &mut Map<String, Value>, event: &RuleEvent) {
    if let Ok(value) = serde_json::to_value([event]) {
        metadata.insert(EVENTS.to_owned(), value);
    }
}

/// What became of a rule, the oldest first; at most [`RULE_EVENTS_MAX`].
#[must_use]
pub fn events(memory: &Memory) -> Vec<RuleEvent> {
    let Some(Value::Array(events)) = memory.metadata.get(EVENTS) else { return Vec::new() };
    events.iter().filter_map(|event| serde_json::from_value(event.clone()).ok()).collect()
}

/// Keeps what a rule remembers of itself when a change brings other metadata. Where that leaves no room for all of it, the
/// oldest events give way.
pub(super) fn keep(before: &Memory, after: &mut Memory) {
    if before.rule.is_none() {
        return;
    }
    for key in [BASIS, EVENTS] {
        after.metadata.remove(key);
        let kept = before.metadata.get(key).cloned();
        after.metadata.extend(kept.map(|value| (key.to_owned(), value)));
    }
    let is_too_long =
        |memory: &Memory| Value::Object(memory.metadata.clone()).to_string().len() > METADATA_BYTES_MAX;
    while is_too_long(after) {
        match after.metadata.get_mut(EVENTS) {
            Some(Value::Array(events)) if !events.is_empty() => drop(events.remove(0)),
            _ => return drop((after.metadata.remove(EVENTS), after.metadata.remove(BASIS))),
        }
    }
}

/// Notes what happened to a rule, as it now stands. The oldest events give way, and where the caller's own metadata fills
/// all the room, nothing is noted.
pub(super) fn note(memory: &mut Memory, what: RuleEventKind, at: Timestamp) {
    let Some(rule) = memory.rule.as_deref() else { return };
    let mut noted = events(memory);
    noted.push(RuleEvent {
        at,
        what,
        version: memory.version,
        rule_state: rule.rule_state,
        confidence: memory.confidence,
        support: rule.support,
    });
    while noted.len() > RULE_EVENTS_MAX {
        noted.remove(0);
    }
    let before = memory.metadata.remove(EVENTS);
    if let Ok(value) = serde_json::to_value(&noted) {
        memory.metadata.insert(EVENTS.to_owned(), value);
        if Value::Object(memory.metadata.clone()).to_string().len() > METADATA_BYTES_MAX {
            memory.metadata.remove(EVENTS);
            memory.metadata.extend(before.map(|before| (EVENTS.to_owned(), before)));
        }
    }
}
