//! The memory: one stored record, complete. Values of these types that the engine holds are valid: they came
//! through [`crate::Draft::check`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Kind, MemoryId, Namespace, Polarity, RuleState, Scope, SourceKind, State, Status, Timestamp};

/// One stored memory (M3). Times are UTC; `importance` and `confidence` lie in 0–1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Its id; ids sort by creation.
    pub id: MemoryId,
    /// The tenant it belongs to.
    pub namespace: Namespace,
    /// What it is.
    pub kind: Kind,
    /// Its text; empty only where `uri` points at what it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// A short form of the content; empty when there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Media type of the content, `text/plain` by default.
    #[serde(default = "plain_text", skip_serializing_if = "is_plain_text")]
    pub content_type: String,
    /// Where the image, recording or document lies that the memory is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The kind of task it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// How the task ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Whom and what it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    /// What it states, as subject, attribute and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// Free labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// A JSON object of the caller's own.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// What an episode carries beside its text (M4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Box<Episode>>,
    /// What a rule carries beside its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Box<Rule>>,
    /// Where it came from.
    pub source: Source,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Who may see it.
    pub scope: Scope,
    /// How much it matters, 0–1.
    pub importance: f32,
    /// How sure it is, 0–1.
    pub confidence: f32,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// When the database learned it.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From when on it is true in the world; open when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it is true in the world; open when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When it leaves recall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The memory that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// The memories it was made from (M8).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<MemoryId>,
    /// Where it is in its life.
    pub state: State,
    /// Where it was before it was forgotten; a restore brings it back there. Absent where it is not forgotten.
    #[serde(skip)]
    pub forgotten_from: Option<State>,
    /// How it has been used (M5).
    #[serde(default)]
    pub usage: Usage,
    /// Counts its changes, from 1; an update with a stale one is refused (W9).
    pub version: u64,
    /// The model that made its vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_model: Option<String>,
}

pub(crate) fn plain_text() -> String {
    "text/plain".to_owned()
}

fn is_plain_text(media_type: &str) -> bool {
    media_type == "text/plain"
}

/// A person, place, product, tool or code that a memory is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entity {
    /// Its name as written.
    pub name: String,
    /// What it is, such as `person` or `tool`; empty when unknown.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// One statement: "user / allergic to / peanuts".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Whom or what it is about.
    pub subject: String,
    /// Which property it states.
    pub attribute: String,
    /// The value of the property.
    pub value: String,
    /// Whether the subject can have only one value at a time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single_valued: bool,
}

/// Where a memory came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The grade of the source (S4).
    pub kind: SourceKind,
    /// Who said it; keyword search sees the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The conversation it was said in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The turns of that conversation it rests on. A memory that was said again elsewhere also has those of other
    /// conversations, as `conversation/turn`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<String>,
}

/// What an episode carries beside its text (M4).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Episode {
    /// When the task began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// What was done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// What helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// Whether it failed for a reason that passes by itself (timeout, rate limit, outage).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

/// One step of an episode: which tool was called with what, and what came back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Its place in the sequence, from 1; 0 when the caller gave none.
    #[serde(default)]
    pub step: u32,
    /// The tool that was called.
    pub tool: String,
    /// The parameters it was called with.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// What came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The error's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// The error's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// When it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_at: Option<Timestamp>,
}

/// What a rule carries beside its text (M2, L5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Whether it says what to do or what to leave.
    pub polarity: Polarity,
    /// What to do, or what to leave.
    pub advice: String,
    /// When it applies.
    #[serde(default)]
    pub condition: Condition,
    /// Where it is in its life.
    #[serde(default = "observing")]
    pub rule_state: RuleState,
    /// How many episodes it rests on.
    #[serde(default)]
    pub support: u32,
}

const fn observing() -> RuleState {
    RuleState::Observing
}

/// When a rule applies; what is absent does not restrict it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Tasks of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// Failures of this cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// This error code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// This tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// How a memory has been used (M5).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// How often a recall returned it.
    pub access_count: u32,
    /// When a recall last returned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<Timestamp>,
    /// How often an agent said it used it.
    pub used_count: u32,
    /// When an agent last said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// How often a task ended well after it was used.
    pub success_after_use: u32,
    /// How often a task failed after it was used.
    pub failure_after_use: u32,
    /// How often it was confirmed by the same thing said again.
    pub verified_count: u32,
}

impl Memory {
    /// Enters another state. What is forgotten remembers where it was.
    pub fn enter(&mut self, next: State) {
        self.forgotten_from = match (self.state, next) {
            (State::Forgotten, State::Forgotten) => self.forgotten_from,
            (before, State::Forgotten) => Some(before),
            _ => None,
        };
        self.state = next;
    }

    /// Where a forgotten memory was by what else is known of it, if nothing remembers it.
    #[must_use]
    pub fn likely_forgotten_from(&self) -> State {
        if self.superseded_by.is_some() { State::Superseded } else { State::Active }
    }

    /// Whether it is true in the world at `now`: `valid_from ≤ now < valid_to` (M9).
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.valid_from.is_none_or(|from| from <= now) && self.valid_to.is_none_or(|to| now < to)
    }

    /// Whether its time in recall is over at `now`.
    #[must_use]
    pub fn is_expired_at(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Whether `agent` may see it: shared memories are everybody's, the others their writer's (S1).
    #[must_use]
    pub fn is_visible_to(&self, agent: Option<&str>) -> bool {
        self.scope == Scope::Shared || (agent.is_some() && self.agent_id.as_deref() == agent)
    }

    /// The newest time at which it was of use: when it happened, or when an agent last used it (R6).
    #[must_use]
    pub fn useful_at(&self) -> Timestamp {
        self.usage.last_used_at.map_or(self.occurred_at, |used| used.max(self.occurred_at))
    }

    /// Whether it is a failure for a reason that passes by itself (M4).
    #[must_use]
    pub fn is_transient_failure(&self) -> bool {
        self.status == Some(Status::Failure) && self.episode.as_ref().is_some_and(|episode| episode.transient)
    }
}
