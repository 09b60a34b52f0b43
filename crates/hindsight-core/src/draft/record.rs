//! The shape of a record call: a whole episode, its fields side by side (W1).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Draft, EpisodeDraft, SourceDraft};
use crate::invalid::{Invalid, Violations};
use crate::{Action, Claim, Entity, Kind, Scope, Status, Timestamp};

/// A finished task as an agent reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordDraft {
    /// The kind of task; required.
    pub task_type: String,
    /// How it ended; required.
    pub status: Option<Status>,
    /// What it was about, in a sentence.
    pub summary: String,
    /// The whole story; composed from the other fields when absent.
    pub content: String,
    /// What was done, in order.
    pub actions: Vec<Action>,
    /// Why it failed.
    pub root_cause: Option<String>,
    /// What helped.
    pub resolution: Option<String>,
    /// Whether it failed for a reason that passes by itself; judged by the error codes when absent.
    pub transient: Option<bool>,
    /// When the task began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// When it happened; `ended_at` when absent.
    pub occurred_at: Option<Timestamp>,
    /// Whom and what it is about.
    pub entities: Vec<Entity>,
    /// What it states.
    pub claims: Vec<Claim>,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// A JSON object of the caller's own.
    pub metadata: Map<String, Value>,
    /// Where it came from; `agent_verified` when absent.
    pub source: Option<SourceDraft>,
    /// The session it belongs to.
    pub session_id: Option<String>,
    /// The agent that reports it.
    pub agent_id: Option<String>,
    /// Who may see it.
    pub scope: Option<Scope>,
    /// How much it matters, 0–1.
    pub importance: Option<f32>,
    /// How sure it is, 0–1.
    pub confidence: Option<f32>,
    /// When it leaves recall.
    pub expires_at: Option<Timestamp>,
}

impl RecordDraft {
    /// The draft of the episode it reports. Violations of the draft's own check carry flat names again through
    /// [`flat_names`].
    ///
    /// # Errors
    /// When it names no task type, no status, or nothing that could be told.
    pub fn into_draft(self) -> Result<Draft, Invalid> {
        let mut violations = Violations::default();
        violations.unless(!self.task_type.trim().is_empty(), "task_type", || {
            "is missing: name the kind of task, such as order_processing".to_owned()
        });
        violations.unless(self.status.is_some(), "status", || {
            "is missing: expected success, failure or partial".to_owned()
        });
        let content = if self.content.trim().is_empty() { self.composed() } else { self.content.clone() };
        violations.unless(!content.trim().is_empty(), "summary", || {
            "is missing: say in a sentence what the task was".to_owned()
        });
        violations.finish()?;
        Ok(Draft {
            kind: Some(Kind::Episode),
            content,
            summary: self.summary,
            keywords: self.keywords,
            task_type: Some(self.task_type),
            status: self.status,
            entities: self.entities,
            claims: self.claims,
            tags: self.tags,
            metadata: self.metadata,
            episode: Some(EpisodeDraft {
                started_at: self.started_at,
                ended_at: self.ended_at,
                actions: self.actions,
                root_cause: self.root_cause,
                resolution: self.resolution,
                transient: self.transient,
            }),
            source: self.source,
            session_id: self.session_id,
            agent_id: self.agent_id,
            scope: self.scope,
            importance: self.importance,
            confidence: self.confidence,
            occurred_at: self.occurred_at,
            expires_at: self.expires_at,
            ..Draft::default()
        })
    }

    /// A text that loses no error code: summary, steps, cause, resolution.
    fn composed(&self) -> String {
        let mut lines = Vec::new();
        if !self.summary.trim().is_empty() {
            lines.push(self.summary.trim().to_owned());
        }
        if !self.actions.is_empty() {
            let steps: Vec<String> = self.actions.iter().map(step_text).collect();
            lines.push(format!("Steps: {}", steps.join("; ")));
        }
        lines.extend(self.root_cause.as_ref().map(|cause| format!("Root cause: {cause}")));
        lines.extend(self.resolution.as_ref().map(|resolution| format!("Resolution: {resolution}")));
        lines.join("\n")
    }
}

fn step_text(action: &Action) -> String {
    let outcome = match (&action.error_code, &action.error_message, &action.result) {
        (Some(code), Some(message), _) => format!(" failed with {code} ({message})"),
        (Some(error), None, _) | (None, Some(error), _) => format!(" failed with {error}"),
        (None, None, Some(result)) => format!(": {result}"),
        (None, None, None) => String::new(),
    };
    format!("{}{outcome}", action.tool)
}

/// Gives violations of an episode's draft the names that the flat record call uses.
#[must_use]
pub fn flat_names(mut invalid: Invalid) -> Invalid {
    for violation in &mut invalid.violations {
        if let Some(field) = violation.field.strip_prefix("episode.") {
            violation.field = field.to_owned();
        }
    }
    invalid
}
