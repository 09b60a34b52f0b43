//! What feedback and hands make of a rule.

use serde::{Deserialize, Deserializer, Serialize};

use super::RuleTuning;
use super::note::{keep, note};
use crate::change::Standing;
use crate::invalid::Invalid;
use crate::kind::RuleEventKind;
use crate::{Memory, RuleState, Status, Timestamp, Verdict};

/// What becomes of a rule that agents judged; `standing` is how it stands by that as a memory like others
/// ([`crate::learn::judged`]). Where it helped, it is valid for longer. Where it helped often enough, it becomes active; where
/// it has been wrong too often, it is deprecated: then it has a new version of its own, which is returned.
#[must_use]
pub fn after_feedback(
    memory: &Memory,
    mut standing: Standing,
    (verdict, task): (Verdict, Option<Status>),
    at: Timestamp,
    tuning: &RuleTuning,
) -> (Standing, Option<Memory>) {
    let Some(rule) = memory.rule.as_deref() else { return (standing, None) };
    if (verdict, task) == (Verdict::Used, Some(Status::Success)) && memory.is_valid_at(at) {
        standing.valid_to =
            standing.valid_to.map(|to| tuning.valid_to(at).map_or(to, |longer| to.max(longer)));
    }
    let helped = standing.usage.success_after_use;
    let is_confirmed = helped >= tuning.activate_after && helped > standing.usage.failure_after_use;
    let (state, what) = match rule.rule_state {
        RuleState::Observing | RuleState::Active if is_below(standing.confidence, tuning) => {
            (RuleState::Deprecated, RuleEventKind::Falsified)
        }
        RuleState::Observing if is_confirmed && verdict == Verdict::Used => {
            (RuleState::Active, RuleEventKind::Confirmed)
        }
        RuleState::Observing | RuleState::Active | RuleState::Deprecated => return (standing, None),
    };
    let mut after = memory.clone();
    standing.clone().give_to(&mut after);
    enter(&mut after, state, what, at);
    (standing, Some(after))
}

/// Whether a rule is too unsure to be kept.
pub(super) fn is_below(confidence: f32, tuning: &RuleTuning) -> bool {
    f64::from(confidence) + 5e-7 < tuning.deprecate_below
}

/// The rule's next version, in this state.
fn enter(memory: &mut Memory, state: RuleState, what: RuleEventKind, at: Timestamp) {
    if let Some(rule) = memory.rule.as_deref_mut() {
        rule.rule_state = state;
    }
    memory.version += 1;
    memory.updated_at = at;
    note(memory, what, at);
}

/// Notes on a rule that a change of its fields has brought it into another state. What became of it, and what it rests on, is
/// the database's to say: it stays whatever the change puts in the place of its metadata.
pub fn note_state(before: &Memory, after: &mut Memory, at: Timestamp) {
    keep(before, after);
    let state = |memory: &Memory| memory.rule.as_deref().map(|rule| rule.rule_state);
    if state(before) != state(after) {
        note(after, RuleEventKind::ByHand, at);
    }
}

/// What a hand changes of a rule; what is absent stays. In JSON, `null` takes a bound of its validity away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RulePatch {
    /// Where it is in its life from now on.
    #[serde(alias = "status", alias = "state", skip_serializing_if = "Option::is_none")]
    pub rule_state: Option<RuleState>,
    /// From when on it is valid.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Option<Timestamp>>,
    /// Until when it is valid.
    #[serde(alias = "valid_until", deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Option<Timestamp>>,
}

/// Tells a field that is `null` (`Some(None)`) from one that is absent (`None`).
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

impl RulePatch {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == RulePatch::default()
    }

    /// The rule after the change, one version on. `memory` is a rule that is in another state than the patch asks for.
    ///
    /// # Errors
    /// When nothing changes, the bounds don't fit together, or a rule would be active whose time is over.
    pub fn apply(&self, memory: &Memory, at: Timestamp) -> Result<Memory, Invalid> {
        if self.is_empty() {
            let right = "changes nothing: name rule_state, valid_from or valid_to";
            return Err(Invalid::one("rule_state", right));
        }
        let mut after = memory.clone();
        after.valid_from = self.valid_from.unwrap_or(after.valid_from);
        after.valid_to = self.valid_to.unwrap_or(after.valid_to);
        if let (Some(from), Some(to)) = (after.valid_from, after.valid_to)
            && from >= to
        {
            let problem = format!("is {to}: expected a time after valid_from ({from})");
            return Err(Invalid::one("valid_to", problem));
        }
        let before = memory.rule.as_deref().map_or(RuleState::Observing, |rule| rule.rule_state);
        let state = self.rule_state.unwrap_or(before);
        if let Some(to) = after.valid_to.filter(|to| self.rule_state == Some(RuleState::Active) && *to <= at)
        {
            let problem =
                format!("was {to}, so nobody would recall the rule: give a later one with the state");
            return Err(Invalid::one("valid_to", problem));
        }
        enter(&mut after, state, RuleEventKind::ByHand, at);
        Ok(after)
    }
}
