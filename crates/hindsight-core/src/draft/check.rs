//! The door: a draft is checked once, here, and becomes a memory. Nothing inside checks again.

use serde_json::{Map, Value};

use super::{Draft, EpisodeDraft, RuleDraft, SourceDraft};
use crate::invalid::{Invalid, Violations};
use crate::limits::{
    ACTIONS_MAX, CONTENT_CHARS_MAX, ENTITIES_MAX, JSON_DEPTH_MAX, METADATA_BYTES_MAX, REFERENCES_MAX,
    SUMMARY_CHARS_MAX, TAGS_MAX, VALUE_CHARS_MAX, WORD_CHARS_MAX,
};
use crate::memory::{Episode, Memory, Rule, Source, Usage, plain_text};
use crate::scoring::{confidence, importance, transient};
use crate::{Kind, MemoryId, Namespace, Polarity, RuleState, Scope, SourceKind, State, Status, Timestamp};

/// A draft that is right in every field. Only [`Draft::check`] makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    draft: Draft,
    id: Option<MemoryId>,
    derived_from: Vec<MemoryId>,
}

/// What the engine adds to a checked draft: where it lands, and when and as what the database learned it.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The namespace it is stored in.
    pub namespace: Namespace,
    /// The id for a draft that chose none.
    pub id: MemoryId,
    /// Now, by the log's clock.
    pub now: Timestamp,
    /// The model that made its vectors, if it has any.
    pub embedding_model: Option<String>,
}

impl Draft {
    /// Checks every field.
    ///
    /// # Errors
    /// All violations at once, each with the field's path and what would be right.
    pub fn check(self) -> Result<Checked, Invalid> {
        let mut violations = Violations::default();
        let v = &mut violations;
        let id = self.id.as_ref().and_then(|id| v.take("id", id.parse::<MemoryId>()));
        let derived_from = check_references(&self.derived_from, v);
        self.check_texts(v);
        self.check_lists(v);
        self.check_kind(v);
        self.check_numbers(v);
        self.check_times(v);
        check_json(&self.metadata, "metadata", v);
        if let Some(source) = &self.source {
            check_source(source, v);
        }
        if let Some(episode) = &self.episode {
            check_episode(episode, v);
        }
        if let Some(rule) = &self.rule {
            check_rule(rule, v);
        }
        violations.finish()?;
        Ok(Checked { draft: self, id, derived_from })
    }

    fn check_texts(&self, v: &mut Violations) {
        let has_text = !self.content.trim().is_empty();
        v.unless(has_text || self.uri.is_some(), "content", || {
            "is empty: expected text, or a uri of what it is".to_owned()
        });
        text(&self.content, "content", CONTENT_CHARS_MAX, v);
        text(&self.summary, "summary", SUMMARY_CHARS_MAX, v);
        for (field, value) in [
            ("content_type", &self.content_type),
            ("task_type", &self.task_type),
            ("session_id", &self.session_id),
            ("agent_id", &self.agent_id),
        ] {
            word_if(value.as_deref(), field, v);
        }
        if let Some(uri) = &self.uri {
            v.unless(!uri.trim().is_empty(), "uri", || "is empty: leave it out or give a URI".to_owned());
            text(uri, "uri", SUMMARY_CHARS_MAX, v);
        }
        v.unless(self.scope != Some(Scope::Agent) || self.agent_id.is_some(), "agent_id", || {
            "is missing: scope \"agent\" needs the agent that may see the memory".to_owned()
        });
    }

    fn check_lists(&self, v: &mut Violations) {
        words(&self.tags, "tags", v);
        words(&self.keywords, "keywords", v);
        count(self.entities.len(), "entities", ENTITIES_MAX, v);
        for (index, entity) in self.entities.iter().take(ENTITIES_MAX).enumerate() {
            word(&entity.name, &format!("entities[{index}].name"), v);
            text(&entity.kind, &format!("entities[{index}].type"), WORD_CHARS_MAX, v);
        }
        count(self.claims.len(), "claims", ENTITIES_MAX, v);
        for (index, claim) in self.claims.iter().take(ENTITIES_MAX).enumerate() {
            word(&claim.subject, &format!("claims[{index}].subject"), v);
            word(&claim.attribute, &format!("claims[{index}].attribute"), v);
            let field = format!("claims[{index}].value");
            v.unless(!claim.value.trim().is_empty(), &field, || "is empty: expected a value".to_owned());
            text(&claim.value, &field, VALUE_CHARS_MAX, v);
        }
    }

    fn check_kind(&self, v: &mut Violations) {
        let kind = self.kind.unwrap_or(Kind::Fact);
        v.unless(kind != Kind::Episode || self.status.is_some(), "status", || {
            "is missing: an episode says how it ended: success, failure or partial".to_owned()
        });
        v.unless(kind == Kind::Episode || self.episode.is_none(), "episode", || {
            format!("belongs to kind \"episode\", and this is a {kind}")
        });
        v.unless(kind != Kind::Rule || self.rule.is_some(), "rule", || {
            "is missing: a rule has a polarity (do, avoid) and advice".to_owned()
        });
        v.unless(kind == Kind::Rule || self.rule.is_none(), "rule", || {
            format!("belongs to kind \"rule\", and this is a {kind}")
        });
    }

    fn check_numbers(&self, v: &mut Violations) {
        for (field, value) in [("importance", self.importance), ("confidence", self.confidence)] {
            let right = value.is_none_or(|value| (0.0..=1.0).contains(&value));
            v.unless(right, field, || {
                format!("is {}: expected a number from 0 to 1", value.unwrap_or_default())
            });
        }
    }

    fn check_times(&self, v: &mut Violations) {
        if let (Some(from), Some(to)) = (self.valid_from, self.valid_to) {
            v.unless(from < to, "valid_to", || format!("is {to}: expected a time after valid_from ({from})"));
        }
    }

    /// Every text that tells what the memory is about, for the rules of importance.
    fn texts(&self) -> Vec<&str> {
        let mut texts = vec![self.content.as_str(), self.summary.as_str()];
        texts.extend(self.keywords.iter().chain(&self.tags).map(String::as_str));
        texts.extend(self.task_type.as_deref());
        if let Some(episode) = &self.episode {
            texts.extend(episode.root_cause.as_deref());
            texts.extend(episode.actions.iter().filter_map(|action| action.error_code.as_deref()));
            texts.extend(episode.actions.iter().filter_map(|action| action.error_message.as_deref()));
        }
        texts
    }
}

impl Checked {
    /// The draft that was checked.
    #[must_use]
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The id that the caller chose.
    #[must_use]
    pub fn id(&self) -> Option<MemoryId> {
        self.id
    }

    /// The memory it becomes, at version 1 and active.
    #[must_use]
    pub fn into_memory(self, moment: Moment) -> Memory {
        let Moment { namespace, id, now, embedding_model } = moment;
        let kind = self.draft.kind.unwrap_or(Kind::Fact);
        let status = self.draft.status;
        let source = source_of(&self.draft, kind);
        let importance = self.draft.importance.unwrap_or_else(|| {
            importance::importance(&importance::ImportanceSignals::of(status, &source, &self.draft.texts()))
        });
        let confidence = self.draft.confidence.unwrap_or_else(|| confidence::at_birth(status, source.kind));
        let draft = self.draft;
        let ended_at = draft.episode.as_ref().and_then(|episode| episode.ended_at);
        Memory {
            id: self.id.unwrap_or(id),
            namespace,
            kind,
            content: draft.content,
            summary: draft.summary,
            keywords: draft.keywords,
            content_type: draft.content_type.unwrap_or_else(plain_text),
            uri: draft.uri,
            task_type: draft.task_type,
            status,
            entities: draft.entities,
            claims: draft.claims,
            tags: draft.tags,
            metadata: draft.metadata,
            episode: (kind == Kind::Episode)
                .then(|| Box::new(episode_of(draft.episode.unwrap_or_default(), status))),
            rule: draft.rule.map(|rule| Box::new(rule_of(rule))),
            source,
            session_id: draft.session_id,
            agent_id: draft.agent_id,
            scope: draft.scope.unwrap_or(Scope::Shared),
            importance,
            confidence,
            occurred_at: draft.occurred_at.or(ended_at).unwrap_or(now),
            created_at: now,
            updated_at: now,
            valid_from: draft.valid_from,
            valid_to: draft.valid_to,
            expires_at: draft.expires_at,
            superseded_by: None,
            derived_from: self.derived_from,
            state: State::Active,
            forgotten_from: None,
            usage: Usage::default(),
            version: 1,
            embedding_model,
        }
    }
}

fn source_of(draft: &Draft, kind: Kind) -> Source {
    let source = draft.source.clone().unwrap_or_default();
    // An agent has seen the outcome of its own task; what it merely concludes is less.
    let default = if kind == Kind::Episode { SourceKind::AgentVerified } else { SourceKind::Agent };
    Source {
        kind: source.kind.unwrap_or(default),
        speaker: source.speaker,
        conversation_id: source.conversation_id,
        turns: source.turns,
    }
}

fn episode_of(episode: EpisodeDraft, status: Option<Status>) -> Episode {
    let transient = episode
        .transient
        .unwrap_or_else(|| status == Some(Status::Failure) && transient::is_transient(&episode.actions));
    Episode {
        started_at: episode.started_at,
        ended_at: episode.ended_at,
        actions: episode.actions,
        root_cause: episode.root_cause,
        resolution: episode.resolution,
        transient,
    }
}

fn rule_of(rule: RuleDraft) -> Rule {
    Rule {
        polarity: rule.polarity.unwrap_or(Polarity::Do),
        advice: rule.advice,
        condition: rule.condition,
        rule_state: rule.rule_state.unwrap_or(RuleState::Observing),
        support: rule.support.unwrap_or(0),
    }
}

fn check_references(ids: &[String], v: &mut Violations) -> Vec<MemoryId> {
    count(ids.len(), "derived_from", REFERENCES_MAX, v);
    let ids = ids.iter().take(REFERENCES_MAX).enumerate();
    ids.filter_map(|(index, id)| v.take(&format!("derived_from[{index}]"), id.parse())).collect()
}

fn check_source(source: &SourceDraft, v: &mut Violations) {
    word_if(source.speaker.as_deref(), "source.speaker", v);
    word_if(source.conversation_id.as_deref(), "source.conversation_id", v);
    count(source.turns.len(), "source.turns", REFERENCES_MAX, v);
    for (index, turn) in source.turns.iter().take(REFERENCES_MAX).enumerate() {
        word(turn, &format!("source.turns[{index}]"), v);
    }
}

fn check_episode(episode: &EpisodeDraft, v: &mut Violations) {
    for (field, value) in [("root_cause", &episode.root_cause), ("resolution", &episode.resolution)] {
        text(value.as_deref().unwrap_or_default(), &format!("episode.{field}"), SUMMARY_CHARS_MAX, v);
    }
    if let (Some(start), Some(end)) = (episode.started_at, episode.ended_at) {
        v.unless(start <= end, "episode.ended_at", || {
            format!("is {end}: expected a time not before started_at ({start})")
        });
    }
    count(episode.actions.len(), "episode.actions", ACTIONS_MAX, v);
    for (index, action) in episode.actions.iter().take(ACTIONS_MAX).enumerate() {
        let path = format!("episode.actions[{index}]");
        word(&action.tool, &format!("{path}.tool"), v);
        word_if(action.error_code.as_deref(), &format!("{path}.error_code"), v);
        for (field, value) in [("result", &action.result), ("error_message", &action.error_message)] {
            text(value.as_deref().unwrap_or_default(), &format!("{path}.{field}"), VALUE_CHARS_MAX, v);
        }
        check_json(&action.params, &format!("{path}.params"), v);
    }
}

fn check_rule(rule: &RuleDraft, v: &mut Violations) {
    v.unless(rule.polarity.is_some(), "rule.polarity", || "is missing: expected do or avoid".to_owned());
    v.unless(!rule.advice.trim().is_empty(), "rule.advice", || {
        "is empty: expected what to do, or what to leave".to_owned()
    });
    text(&rule.advice, "rule.advice", SUMMARY_CHARS_MAX, v);
    let condition = &rule.condition;
    for (field, value) in [
        ("task_type", &condition.task_type),
        ("root_cause", &condition.root_cause),
        ("error_code", &condition.error_code),
        ("tool", &condition.tool),
    ] {
        word_if(value.as_deref(), &format!("rule.condition.{field}"), v);
    }
}

fn check_json(object: &Map<String, Value>, field: &str, v: &mut Violations) {
    if object.is_empty() {
        return;
    }
    let deep = object.values().any(|value| depth_exceeds(value, JSON_DEPTH_MAX - 1));
    v.unless(!deep, field, || format!("is nested deeper than {JSON_DEPTH_MAX} levels"));
    if !deep {
        let size = serde_json::to_vec(object).map_or(usize::MAX, |json| json.len());
        v.unless(size <= METADATA_BYTES_MAX, field, || {
            format!("has {size} bytes of JSON: at most {METADATA_BYTES_MAX}")
        });
    }
}

fn depth_exceeds(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|item| depth_exceeds(item, limit - 1)),
        Value::Object(fields) => limit == 0 || fields.values().any(|item| depth_exceeds(item, limit - 1)),
        _ => false,
    }
}

fn count(found: usize, field: &str, most: usize, v: &mut Violations) {
    v.unless(found <= most, field, || format!("has {found} items: at most {most}"));
}

fn text(value: &str, field: &str, most: usize, v: &mut Violations) {
    // A char has at most four bytes, so short texts need no counting.
    if value.len() > most {
        let chars = value.chars().count();
        v.unless(chars <= most, field, || {
            format!("has {chars} characters: at most {most}; split it or store a summary")
        });
    }
    v.unless(!value.contains('\0'), field, || "holds a NUL character".to_owned());
}

fn word(value: &str, field: &str, v: &mut Violations) {
    v.unless(!value.trim().is_empty(), field, || "is empty: leave it out or give a value".to_owned());
    text(value, field, WORD_CHARS_MAX, v);
}

fn word_if(value: Option<&str>, field: &str, v: &mut Violations) {
    if let Some(value) = value {
        word(value, field, v);
    }
}

fn words(values: &[String], field: &str, v: &mut Violations) {
    count(values.len(), field, TAGS_MAX, v);
    for (index, value) in values.iter().take(TAGS_MAX).enumerate() {
        word(value, &format!("{field}[{index}]"), v);
    }
}

#[cfg(test)]
mod tests;
