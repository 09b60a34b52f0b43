//! Which memories: structured conditions that narrow a set exactly (R1).
//!
//! [`Filter::matches`] is the meaning. Every index must select precisely the memories it says yes to.

use serde::{Deserialize, Serialize};

use crate::invalid::{Invalid, Violations};
use crate::limits::{FILTER_DEPTH_MAX, FILTER_NODES_MAX, FILTER_WORDS_MAX};
use crate::time::Span;
use crate::{Kind, Layer, Memory, SourceKind, State, Status, Timestamp, words::one_or_many};

/// Conditions on memories. Within a list any word may match; the fields, `all`, `any` and `not` must hold together.
/// An empty filter matches every memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// One of these kinds.
    #[serde(alias = "kind", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// One of these layers.
    #[serde(alias = "layer", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// One of these task types, letter for letter.
    #[serde(alias = "task_type", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub task_types: Vec<String>,
    /// One of these outcomes.
    #[serde(alias = "status", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<Status>,
    /// One of these states.
    #[serde(alias = "state", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<State>,
    /// One of these tags, letter for letter.
    #[serde(alias = "tag", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// One of these entities, compared by [`entity_key`].
    #[serde(alias = "entity", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
    /// An action that called one of these tools.
    #[serde(alias = "tool", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// An action that ended with one of these error codes.
    #[serde(alias = "error_code", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub error_codes: Vec<String>,
    /// One of these root causes, letter for letter.
    #[serde(alias = "root_cause", deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub root_causes: Vec<String>,
    /// One of these sessions.
    #[serde(
        alias = "session",
        alias = "session_id",
        alias = "session_ids",
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub sessions: Vec<String>,
    /// Written by one of these agents.
    #[serde(
        alias = "agent",
        alias = "agent_id",
        alias = "agent_ids",
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub agents: Vec<String>,
    /// From a source of one of these grades.
    #[serde(
        alias = "source_kind",
        alias = "source",
        alias = "sources",
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub source_kinds: Vec<SourceKind>,
    /// Happened at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Happened before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// Happened within this span before now, such as `7d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Span>,
    /// At least this important, 0–1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_importance: Option<f32>,
    /// At least this sure, 0–1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f32>,
    /// Only failures that pass by themselves, or only the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<bool>,
    /// Each of these filters matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<Filter>,
    /// At least one of these filters matches; an empty list asks for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<Filter>,
    /// None of these filters matches.
    #[serde(deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<Filter>,
}

/// The form in which entity names are compared: trimmed, in lower case.
#[must_use]
pub fn entity_key(name: &str) -> String {
    name.trim().to_lowercase()
}

fn holds<T: PartialEq>(wanted: &[T], found: &T) -> bool {
    wanted.is_empty() || wanted.contains(found)
}

fn holds_some<T: PartialEq>(wanted: &[T], found: Option<&T>) -> bool {
    wanted.is_empty() || found.is_some_and(|value| wanted.contains(value))
}

impl Filter {
    /// Whether `memory` fulfils every condition, at the time `now`.
    #[must_use]
    pub fn matches(&self, memory: &Memory, now: Timestamp) -> bool {
        self.words_match(memory)
            && self.actions_match(memory)
            && self.numbers_match(memory, now)
            && self.all.iter().all(|part| part.matches(memory, now))
            && (self.any.is_empty() || self.any.iter().any(|part| part.matches(memory, now)))
            && !self.not.iter().any(|part| part.matches(memory, now))
    }

    fn words_match(&self, memory: &Memory) -> bool {
        let entity_matches = || {
            let wanted: Vec<String> = self.entities.iter().map(|name| entity_key(name)).collect();
            memory.entities.iter().any(|entity| wanted.contains(&entity_key(&entity.name)))
        };
        holds(&self.kinds, &memory.kind)
            && holds(&self.layers, &memory.kind.layer())
            && holds(&self.states, &memory.state)
            && holds(&self.source_kinds, &memory.source.kind)
            && holds_some(&self.statuses, memory.status.as_ref())
            && holds_some(&self.task_types, memory.task_type.as_ref())
            && holds_some(&self.sessions, memory.session_id.as_ref())
            && holds_some(&self.agents, memory.agent_id.as_ref())
            && (self.tags.is_empty() || memory.tags.iter().any(|tag| self.tags.contains(tag)))
            && (self.entities.is_empty() || entity_matches())
    }

    fn actions_match(&self, memory: &Memory) -> bool {
        let episode = memory.episode.as_deref();
        let actions = episode.map_or(&[][..], |episode| &episode.actions);
        (self.tools.is_empty() || actions.iter().any(|action| self.tools.contains(&action.tool)))
            && (self.error_codes.is_empty()
                || actions
                    .iter()
                    .filter_map(|action| action.error_code.as_ref())
                    .any(|code| self.error_codes.contains(code)))
            && holds_some(&self.root_causes, episode.and_then(|episode| episode.root_cause.as_ref()))
    }

    fn numbers_match(&self, memory: &Memory, now: Timestamp) -> bool {
        let from = self.time_from(now);
        from.is_none_or(|from| from <= memory.occurred_at)
            && self.to.is_none_or(|to| memory.occurred_at < to)
            && self.min_importance.is_none_or(|least| least <= memory.importance)
            && self.min_confidence.is_none_or(|least| least <= memory.confidence)
            && self.transient.is_none_or(|wanted| wanted == memory.is_transient_failure())
    }

    /// The first condition that refuses a memory, by its path below `path` and with what it asks for; none when the
    /// whole is fulfilled. `fulfils` says whether the memory fulfils a filter: so the answer is that of whoever selects.
    #[must_use]
    pub fn refusing(&self, path: &str, fulfils: &dyn Fn(&Filter) -> bool) -> Option<String> {
        if fulfils(self) {
            return None;
        }
        let serde_json::Value::Object(conditions) = serde_json::to_value(self).ok()? else { return None };
        for (name, value) in conditions {
            let found = match name.as_str() {
                "all" => {
                    let mut parts = self.all.iter().enumerate();
                    parts.find_map(|(at, part)| part.refusing(&format!("{path}.all[{at}]"), fulfils))
                }
                "any" => {
                    let any = Filter { any: self.any.clone(), ..Filter::default() };
                    (!fulfils(&any)).then(|| format!("{path}.any: none of its {} parts", self.any.len()))
                }
                "not" => {
                    let at = self.not.iter().position(|part| fulfils(part));
                    at.map(|at| format!("{path}.not[{at}]: it is what must not be"))
                }
                _ => {
                    let alone = serde_json::Map::from_iter([(name.clone(), value.clone())]);
                    let alone: Option<Filter> = serde_json::from_value(alone.into()).ok();
                    let refuses = alone.is_some_and(|alone| !fulfils(&alone));
                    refuses.then(|| format!("{path}.{name}: {value}"))
                }
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The earliest time that `from` and `last` allow, at the time `now`.
    #[must_use]
    pub fn time_from(&self, now: Timestamp) -> Option<Timestamp> {
        let last = self.last.map(|span| now.plus_ms(-span.as_ms()));
        self.from.max(last)
    }

    /// Whether any part of the tree names a state; if so the caller decides which states it sees.
    #[must_use]
    pub fn names_a_state(&self) -> bool {
        let parts = || self.all.iter().chain(&self.any).chain(&self.not);
        !self.states.is_empty() || parts().any(Filter::names_a_state)
    }

    /// Checks the limits of the tree and the ranges of its numbers. `path` is how the caller calls it, such as `filter`.
    ///
    /// # Errors
    /// Every field that is wrong, by its path.
    pub fn check(&self, path: &str) -> Result<(), Invalid> {
        let mut violations = Violations::default();
        let mut nodes = 0;
        self.check_node(path, 1, &mut nodes, &mut violations);
        violations.finish()
    }

    fn check_node(&self, path: &str, depth: usize, nodes: &mut usize, violations: &mut Violations) {
        *nodes += 1;
        if depth > FILTER_DEPTH_MAX {
            violations.add(path, format!("is nested deeper than {FILTER_DEPTH_MAX} levels"));
            return;
        }
        if *nodes > FILTER_NODES_MAX {
            if *nodes == FILTER_NODES_MAX + 1 {
                violations.add(path, format!("the filter has more than {FILTER_NODES_MAX} parts"));
            }
            return;
        }
        for (field, share) in
            [("min_importance", self.min_importance), ("min_confidence", self.min_confidence)]
        {
            let right = share.is_none_or(|value| (0.0..=1.0).contains(&value));
            violations
                .unless(right, &format!("{path}.{field}"), || "expected a number from 0 to 1".to_owned());
        }
        for (field, list) in self.word_lists() {
            let right = list.len() <= FILTER_WORDS_MAX;
            violations.unless(right, &format!("{path}.{field}"), || {
                format!("has {} words: at most {FILTER_WORDS_MAX}", list.len())
            });
        }
        if let (Some(from), Some(to)) = (self.from, self.to) {
            violations
                .unless(from < to, &format!("{path}.to"), || format!("expected a time after from ({from})"));
        }
        for (name, parts) in [("all", &self.all), ("any", &self.any), ("not", &self.not)] {
            for (index, part) in parts.iter().enumerate() {
                part.check_node(&format!("{path}.{name}[{index}]"), depth + 1, nodes, violations);
            }
        }
    }

    fn word_lists(&self) -> [(&'static str, &[String]); 8] {
        [
            ("task_types", &self.task_types),
            ("tags", &self.tags),
            ("entities", &self.entities),
            ("tools", &self.tools),
            ("error_codes", &self.error_codes),
            ("root_causes", &self.root_causes),
            ("sessions", &self.sessions),
            ("agents", &self.agents),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryId;
    use crate::draft::{Draft, Moment};

    #[test]
    fn r11_the_condition_that_refuses_is_named() {
        let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let namespace = "test".parse().unwrap();
        let moment = Moment { namespace, id: MemoryId::from_u128(1), now, embedding_model: None };
        let draft = Draft {
            content: "x".to_owned(),
            importance: Some(0.5),
            tags: vec!["a".to_owned()],
            ..Draft::default()
        };
        let memory = draft.check().unwrap().into_memory(moment);
        for (filter, refusing) in [
            (r#"{"tags":["a"],"kinds":["fact"]}"#, None),
            (r#"{"kinds":["fact"],"tags":["b","c"]}"#, Some(r#"filter.tags: ["b","c"]"#)),
            (r#"{"min_importance":0.6}"#, Some("filter.min_importance: 0.6")),
            (r#"{"to":"2026-11-01"}"#, Some(r#"filter.to: "2026-11-01T00:00:00Z""#)),
            (r#"{"all":[{"tag":"a"},{"status":"failure"}]}"#, Some(r#"filter.all[1].statuses: ["failure"]"#)),
            (r#"{"any":[{"tag":"b"},{"tag":"c"}]}"#, Some("filter.any: none of its 2 parts")),
            (r#"{"not":[{"tag":"b"},{"tag":"a"}]}"#, Some("filter.not[1]: it is what must not be")),
        ] {
            let filter: Filter = serde_json::from_str(filter).unwrap();
            let found = filter.refusing("filter", &|part| part.matches(&memory, now));
            assert_eq!(
                found.as_deref().map(|text| text.replace("0.6000000238418579", "0.6")),
                refusing.map(str::to_owned)
            );
            assert_eq!(found.is_none(), filter.matches(&memory, now));
        }
    }
}
