//! What a caller sends to be stored, before it is checked. Every front (gRPC, HTTP, command line, import)
//! makes a [`Draft`]; [`Draft::check`] is the one door through which it becomes a [`Memory`].

mod check;
mod proposal;
mod record;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use check::{Checked, Moment};
pub use proposal::RuleProposal;
pub use record::{RecordDraft, flat_names};

use crate::{
    Claim, Entity, Kind, Memory, Polarity, RuleState, Scope, SourceKind, Status, Timestamp, memory::Condition,
};

/// A memory as a caller describes it. What is absent gets the default named at the field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Draft {
    /// The id it shall have, `mem_…`; the database chooses one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is; `fact` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its text; required unless `uri` is given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// A short form of the content.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Media type of the content; `text/plain` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Where the image, recording or document lies that the memory is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The kind of task it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// How the task ended; required of an episode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Whom and what it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    /// What it states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// Free labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// A JSON object of the caller's own.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// What an episode carries beside its text; only with kind `episode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<EpisodeDraft>,
    /// What a rule carries beside its text; required of a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleDraft>,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceDraft>,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent that writes it; required with scope `agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Who may see it; `shared` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// How much it matters, 0–1; computed by rule when absent (W4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// How sure it is, 0–1; from its outcome and source when absent (W5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// When it happened; now when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    /// From when on it is true in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it is true in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When it leaves recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The memories it was made from, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<String>,
}

/// The part of a draft that only episodes have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EpisodeDraft {
    /// When the task began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended; also when the episode occurred, unless `occurred_at` says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// What was done, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<crate::Action>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// What helped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// Whether it failed for a reason that passes by itself; judged by the error codes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient: Option<bool>,
}

/// The part of a draft that only rules have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleDraft {
    /// Whether it says what to do or what to leave; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polarity: Option<Polarity>,
    /// What to do, or what to leave; required.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// When it applies.
    pub condition: Condition,
    /// Where it is in its life; `observing` when absent. Only an `active` rule is recalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_state: Option<RuleState>,
    /// How many episodes it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support: Option<u32>,
}

/// Where a draft says it came from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceDraft {
    /// The grade; `agent_verified` for an episode and `agent` for the rest when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<SourceKind>,
    /// Who said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The conversation it was said in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The turns of that conversation it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<String>,
}

impl From<&Memory> for Draft {
    /// The draft that would make this memory again, with its id, apart from what only the database sets.
    fn from(memory: &Memory) -> Draft {
        let source = &memory.source;
        Draft {
            id: Some(memory.id.to_string()),
            kind: Some(memory.kind),
            content: memory.content.clone(),
            summary: memory.summary.clone(),
            keywords: memory.keywords.clone(),
            content_type: Some(memory.content_type.clone()),
            uri: memory.uri.clone(),
            task_type: memory.task_type.clone(),
            status: memory.status,
            entities: memory.entities.clone(),
            claims: memory.claims.clone(),
            tags: memory.tags.clone(),
            metadata: memory.metadata.clone(),
            episode: memory.episode.as_deref().map(EpisodeDraft::from),
            rule: memory.rule.as_deref().map(RuleDraft::from),
            source: Some(SourceDraft {
                kind: Some(source.kind),
                speaker: source.speaker.clone(),
                conversation_id: source.conversation_id.clone(),
                turns: source.turns.clone(),
            }),
            session_id: memory.session_id.clone(),
            agent_id: memory.agent_id.clone(),
            scope: Some(memory.scope),
            importance: Some(memory.importance),
            confidence: Some(memory.confidence),
            occurred_at: Some(memory.occurred_at),
            valid_from: memory.valid_from,
            valid_to: memory.valid_to,
            expires_at: memory.expires_at,
            derived_from: memory.derived_from.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<&crate::Episode> for EpisodeDraft {
    fn from(episode: &crate::Episode) -> EpisodeDraft {
        EpisodeDraft {
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            actions: episode.actions.clone(),
            root_cause: episode.root_cause.clone(),
            resolution: episode.resolution.clone(),
            transient: Some(episode.transient),
        }
    }
}

impl From<&crate::Rule> for RuleDraft {
    fn from(rule: &crate::Rule) -> RuleDraft {
        RuleDraft {
            polarity: Some(rule.polarity),
            advice: rule.advice.clone(),
            condition: rule.condition.clone(),
            rule_state: Some(rule.rule_state),
            support: Some(rule.support),
        }
    }
}
