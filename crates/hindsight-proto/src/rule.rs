//! Rules and their conditions, stored and as drafts.

use hindsight_core::draft::RuleDraft;
use hindsight_core::memory::Condition;
use hindsight_core::{Invalid, Rule, RuleState};

use crate::gather::Gather;
use crate::words::{self, Word};
use crate::{text, v1};

impl From<Rule> for v1::Rule {
    fn from(rule: Rule) -> v1::Rule {
        v1::Rule {
            condition: Some(rule.condition.into()),
            advice: rule.advice,
            polarity: rule.polarity.number(),
            rule_state: rule.rule_state.number(),
            support: rule.support,
        }
    }
}

impl TryFrom<v1::Rule> for Rule {
    type Error = Invalid;

    fn try_from(wire: v1::Rule) -> Result<Rule, Invalid> {
        Ok(Rule {
            polarity: words::required("polarity", wire.polarity)?,
            advice: wire.advice,
            condition: wire.condition.map(Into::into).unwrap_or_default(),
            rule_state: words::optional("rule_state", wire.rule_state)?.unwrap_or(RuleState::Observing),
            support: wire.support,
        })
    }
}

impl From<RuleDraft> for v1::Rule {
    fn from(draft: RuleDraft) -> v1::Rule {
        v1::Rule {
            condition: Some(draft.condition.into()),
            advice: draft.advice,
            polarity: words::number(draft.polarity),
            rule_state: words::number(draft.rule_state),
            support: draft.support.unwrap_or(0),
        }
    }
}

impl TryFrom<v1::Rule> for RuleDraft {
    type Error = Invalid;

    fn try_from(wire: v1::Rule) -> Result<RuleDraft, Invalid> {
        let mut gather = Gather::default();
        let draft = RuleDraft {
            polarity: gather.keep(words::optional("polarity", wire.polarity)),
            advice: wire.advice,
            condition: wire.condition.map(Into::into).unwrap_or_default(),
            rule_state: gather.keep(words::optional("rule_state", wire.rule_state)),
            support: (wire.support != 0).then_some(wire.support),
        };
        gather.finish().map(|()| draft)
    }
}

impl From<Condition> for v1::Condition {
    fn from(condition: Condition) -> v1::Condition {
        v1::Condition {
            task_type: text::or_empty(condition.task_type),
            root_cause: text::or_empty(condition.root_cause),
            error_code: text::or_empty(condition.error_code),
            tool: text::or_empty(condition.tool),
        }
    }
}

impl From<v1::Condition> for Condition {
    fn from(wire: v1::Condition) -> Condition {
        Condition {
            task_type: text::optional(wire.task_type),
            root_cause: text::optional(wire.root_cause),
            error_code: text::optional(wire.error_code),
            tool: text::optional(wire.tool),
        }
    }
}
