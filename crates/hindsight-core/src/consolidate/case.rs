//! Where a lesson may lie, and which episodes speak of it.

use std::collections::HashMap;

use super::RuleTuning;
use crate::likeness::Gist;
use crate::limits::WORD_CHARS_MAX;
use crate::scoring::confidence::trust;
use crate::{Kind, Memory, Scope, State, Status};

/// One type of task that goes wrong for one cause, as one agent or all of them see it. Its parts are in the form in which
/// they are compared, so "API token expired" and `api_token_expired` are one cause.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    /// Whose private case it is: an agent's own episodes teach that agent alone.
    pub agent: Option<String>,
    /// The type of task.
    pub task_type: String,
    /// The cause.
    pub root_cause: String,
}

/// Most texts whose compared form is remembered.
const KEYS_MAX: usize = 10_000;

/// The compared forms of types of task and causes: few texts come again and again, and reading one costs more than finding it.
#[derive(Debug, Default)]
pub struct Keys(HashMap<String, String>);

impl Keys {
    fn of(&mut self, text: &str) -> String {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let key = Gist::of(text).key().to_owned();
        if self.0.len() < KEYS_MAX {
            self.0.insert(text.to_owned(), key.clone());
        }
        key
    }
}

impl Case {
    /// The case that an episode tells of or a rule is for; none where it names no type of task, no cause, or is a memory of
    /// another kind.
    #[must_use]
    pub fn of(memory: &Memory) -> Option<Case> {
        Case::read(memory, &mut Keys::default())
    }

    /// As [`Case::of`], for one memory after the other.
    #[must_use]
    pub fn read(memory: &Memory, keys: &mut Keys) -> Option<Case> {
        let (task_type, root_cause) = match memory.kind {
            Kind::Episode => {
                (memory.task_type.as_deref()?, memory.episode.as_deref()?.root_cause.as_deref()?)
            }
            Kind::Rule => {
                let condition = &memory.rule.as_deref()?.condition;
                (condition.task_type.as_deref()?, condition.root_cause.as_deref()?)
            }
            Kind::Fact | Kind::Preference | Kind::Procedure => return None,
        };
        // A longer cause is a story: two of them are never one, and no condition could hold it.
        if root_cause.trim().is_empty() || root_cause.chars().nth(WORD_CHARS_MAX).is_some() {
            return None;
        }
        let (task_type, root_cause) = (keys.of(task_type), keys.of(root_cause));
        Some(Case { agent: agent(memory), task_type, root_cause })
    }

    /// The agent and type of task that a success without a cause belongs to.
    #[must_use]
    pub fn task_of(memory: &Memory, keys: &mut Keys) -> Option<(Option<String>, String)> {
        Some((agent(memory), keys.of(memory.task_type.as_deref()?)))
    }
}

fn agent(memory: &Memory) -> Option<String> {
    match memory.scope {
        Scope::Shared => None,
        Scope::Agent => Some(memory.agent_id.clone().unwrap_or_default()),
    }
}

/// Whether an episode is evidence for its case. What happened stays true when the episode is archived or was taken up
/// into a summary; what is held back or forgotten teaches nothing, and neither does a source that is not trusted.
///
/// A success that names no remedy says nothing of the cause. A failure that passes by itself counts where it names a remedy
/// ("wait, then retry"), and never as proof that something does not work.
#[must_use]
pub fn is_evidence(memory: &Memory, tuning: &RuleTuning) -> bool {
    let Some(episode) = memory.episode.as_deref() else { return false };
    let names_remedy = remedy(memory).is_some();
    let is_failure = memory.status == Some(Status::Failure);
    counts(memory, tuning)
        && episode.root_cause.as_ref().is_some_and(|cause| !cause.trim().is_empty())
        && (names_remedy || (is_failure && !episode.transient))
}

/// Whether an episode is a success that tells of no cause: it can show that a tool works after all, or that a remedy does.
#[must_use]
pub fn is_success_without_cause(memory: &Memory, tuning: &RuleTuning) -> bool {
    let Some(episode) = memory.episode.as_deref() else { return false };
    counts(memory, tuning)
        && memory.status == Some(Status::Success)
        && memory.task_type.is_some()
        && episode.root_cause.as_ref().is_none_or(|cause| cause.trim().is_empty())
        && (!episode.actions.is_empty() || remedy(memory).is_some())
}

fn counts(memory: &Memory, tuning: &RuleTuning) -> bool {
    memory.kind == Kind::Episode
        && !matches!(memory.state, State::Quarantined | State::Forgotten)
        && trust(memory.source.kind) >= tuning.min_trust
}

/// What helped, if the episode says so.
pub(super) fn remedy(memory: &Memory) -> Option<&str> {
    let resolution = memory.episode.as_deref()?.resolution.as_deref()?;
    (!resolution.trim().is_empty()).then_some(resolution)
}

/// How many times an episode happened: the same told again is not stored again, but counted.
pub(super) fn weight(memory: &Memory) -> u32 {
    memory.usage.verified_count.saturating_add(1)
}
