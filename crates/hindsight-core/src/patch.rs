//! A change to a stored memory, field by field.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::draft::{Draft, EpisodeDraft, Moment};
use crate::invalid::Invalid;
use crate::{Claim, Entity, Memory, RuleState, Status, Timestamp};

/// The fields to change; what is absent stays. In JSON, `null` takes away a field that may be absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Patch {
    /// The new text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The new short form; empty takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The new keywords, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// The new tags, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The new entities, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<Vec<Entity>>,
    /// The new claims, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Vec<Claim>>,
    /// The new metadata, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The new task type.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<Option<String>>,
    /// The new outcome.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub status: Option<Option<Status>>,
    /// The new importance, 0–1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// The new confidence, 0–1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// When it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    /// From when on it is true.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Option<Timestamp>>,
    /// Until when it is true.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Option<Timestamp>>,
    /// When it leaves recall.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Option<Timestamp>>,
    /// Why the task failed; only of an episode.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<Option<String>>,
    /// What helped; only of an episode.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Option<String>>,
    /// Whether the failure passes by itself; only of an episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<bool>,
    /// Where a rule is in its life; only of a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_state: Option<RuleState>,
}

/// Tells a field that is `null` (`Some(None)`) from one that is absent (`None`).
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

impl Patch {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Patch::default()
    }

    /// Whether the texts that vectors stand for change.
    #[must_use]
    pub fn changes_text(&self) -> bool {
        self.content.is_some() || self.summary.is_some() || self.keywords.is_some()
    }

    /// The memory after the change, checked as if it were written anew, one version on.
    ///
    /// # Errors
    /// Every field that would be wrong.
    pub fn apply(self, memory: &Memory, now: Timestamp) -> Result<Memory, Invalid> {
        if self.is_empty() {
            return Err(Invalid::one("patch", "changes nothing: name at least one field"));
        }
        let mut draft = Draft::from(memory);
        self.overlay(&mut draft)?;
        let moment = Moment {
            namespace: memory.namespace.clone(),
            id: memory.id,
            now,
            embedding_model: memory.embedding_model.clone(),
        };
        let changed = draft.check()?.into_memory(moment);
        Ok(Memory {
            created_at: memory.created_at,
            superseded_by: memory.superseded_by,
            state: memory.state,
            forgotten_from: memory.forgotten_from,
            usage: memory.usage.clone(),
            version: memory.version + 1,
            ..changed
        })
    }

    fn overlay(self, draft: &mut Draft) -> Result<(), Invalid> {
        fn set<T>(field: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *field = value;
            }
        }
        set(&mut draft.content, self.content);
        set(&mut draft.summary, self.summary);
        set(&mut draft.keywords, self.keywords);
        set(&mut draft.tags, self.tags);
        set(&mut draft.entities, self.entities);
        set(&mut draft.claims, self.claims);
        set(&mut draft.metadata, self.metadata);
        set(&mut draft.task_type, self.task_type);
        set(&mut draft.status, self.status);
        set(&mut draft.importance, self.importance.map(Some));
        set(&mut draft.confidence, self.confidence.map(Some));
        set(&mut draft.occurred_at, self.occurred_at.map(Some));
        set(&mut draft.valid_from, self.valid_from);
        set(&mut draft.valid_to, self.valid_to);
        set(&mut draft.expires_at, self.expires_at);
        let episode_changes =
            self.root_cause.is_some() || self.resolution.is_some() || self.transient.is_some();
        if episode_changes {
            let kind = draft.kind.unwrap_or(crate::Kind::Fact);
            if kind != crate::Kind::Episode {
                let fields = "root_cause, resolution, transient";
                return Err(Invalid::one(fields, format!("belong to an episode, and this is a {kind}")));
            }
            let episode = draft.episode.get_or_insert_with(EpisodeDraft::default);
            set(&mut episode.root_cause, self.root_cause);
            set(&mut episode.resolution, self.resolution);
            set(&mut episode.transient, self.transient.map(Some));
        }
        if let Some(state) = self.rule_state {
            match draft.rule.as_mut() {
                Some(rule) => rule.rule_state = Some(state),
                None => return Err(Invalid::one("rule_state", "belongs to a rule, and this memory is none")),
            }
        }
        Ok(())
    }
}
