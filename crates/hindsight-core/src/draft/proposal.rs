//! The shape of a proposal: a rule as an agent thinks of it (L5).

use serde::{Deserialize, Serialize};

use super::{Draft, RuleDraft, SourceDraft};
use crate::consolidate::proposed;
use crate::invalid::{Invalid, Violations};
use crate::memory::Condition;
use crate::{Kind, Polarity, RuleState, Scope, Timestamp};

/// A rule that somebody proposes. It is observed first, unless the namespace trusts its agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleProposal {
    /// When it applies; at least one of its fields is required.
    pub condition: Condition,
    /// What to do, or what to leave; required.
    pub advice: String,
    /// Whether it says what to do or what to leave; `do` when absent.
    pub polarity: Option<Polarity>,
    /// The whole rule in a sentence; composed from condition and advice when absent.
    pub content: String,
    /// Free labels.
    pub tags: Vec<String>,
    /// The memories it was made from, by id.
    pub derived_from: Vec<String>,
    /// From when on it is valid.
    pub valid_from: Option<Timestamp>,
    /// Until when it is valid.
    pub valid_to: Option<Timestamp>,
    /// Where it came from.
    pub source: Option<SourceDraft>,
    /// The agent that proposes it.
    pub agent_id: Option<String>,
    /// Who may see it.
    pub scope: Option<Scope>,
    /// How sure it is, 0–1; from its source when absent.
    pub confidence: Option<f32>,
}

impl RuleProposal {
    /// The draft of the rule, in this state. Violations of the draft's own check carry flat names again through
    /// [`RuleProposal::flat_names`].
    ///
    /// # Errors
    /// When it names no condition and would hold always, or advises nothing.
    pub fn into_draft(self, rule_state: RuleState) -> Result<Draft, Invalid> {
        let Condition { task_type, root_cause, error_code, tool } = &self.condition;
        let is_named = |field: &Option<String>| field.as_ref().is_some_and(|field| !field.trim().is_empty());
        let mut violations = Violations::default();
        violations.unless([task_type, root_cause, error_code, tool].into_iter().any(is_named), "condition", || {
            "is empty, so the rule would hold always: name at least one of task_type, root_cause, error_code, tool".to_owned()
        });
        violations.unless(!self.advice.trim().is_empty(), "advice", || {
            "is missing: say what to do, or what to leave".to_owned()
        });
        violations.finish()?;
        let polarity = self.polarity.unwrap_or(Polarity::Do);
        let content = if self.content.trim().is_empty() {
            proposed(&self.condition, &self.advice, polarity)
        } else {
            self.content
        };
        Ok(Draft {
            kind: Some(Kind::Rule),
            content,
            task_type: self.condition.task_type.clone(),
            tags: self.tags,
            rule: Some(RuleDraft {
                polarity: Some(polarity),
                advice: self.advice,
                condition: self.condition,
                rule_state: Some(rule_state),
                support: None,
            }),
            source: self.source,
            agent_id: self.agent_id,
            scope: self.scope,
            confidence: self.confidence,
            valid_from: self.valid_from,
            valid_to: self.valid_to,
            derived_from: self.derived_from,
            ..Draft::default()
        })
    }

    /// Gives violations of a rule's draft the names that a proposal uses.
    #[must_use]
    pub fn flat_names(mut invalid: Invalid) -> Invalid {
        for violation in &mut invalid.violations {
            if let Some(field) = violation.field.strip_prefix("rule.") {
                violation.field = field.to_owned();
            }
        }
        invalid
    }
}
