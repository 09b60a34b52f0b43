//! What only episodes and rules have: steps, causes, advice, conditions.

use serde_json::Value;

use super::reason::{Aspect, Difference};
use super::text::{Text, difference as text_difference};
use crate::{Action, Episode, Memory, Rule};

/// The first difference in what was done, or in what is advised.
pub(super) fn difference(old: &Memory, new: &Memory) -> Option<Difference> {
    episodes(old.episode.as_deref(), new.episode.as_deref())
        .or_else(|| rules(old.rule.as_deref(), new.rule.as_deref()))
}

fn episodes(old: Option<&Episode>, new: Option<&Episode>) -> Option<Difference> {
    let new = new?;
    let nothing = Episode::default();
    let old = old.unwrap_or(&nothing);
    if !new.actions.is_empty() {
        let tools = |episode: &Episode| {
            episode.actions.iter().map(|action| Text::key(&action.tool)).collect::<Vec<_>>().join(" -> ")
        };
        let (one, other) = (tools(old), tools(new));
        if one != other {
            return Some(Difference::new(Aspect::Tool, one, other));
        }
    }
    let steps = old.actions.iter().zip(&new.actions);
    steps.into_iter().find_map(|(one, other)| step(one, other)).or_else(|| {
        said(Aspect::Cause, old.root_cause.as_deref(), new.root_cause.as_deref())
            .or_else(|| said(Aspect::Cause, old.resolution.as_deref(), new.resolution.as_deref()))
    })
}

fn step(old: &Action, new: &Action) -> Option<Difference> {
    let shown = |value: Option<&Value>| value.map(Value::to_string).unwrap_or_default();
    let names = old.params.keys().chain(new.params.keys());
    let param = names.into_iter().find(|name| old.params.get(*name) != new.params.get(*name));
    if let Some(name) = param {
        let (one, other) = (shown(old.params.get(name)), shown(new.params.get(name)));
        return Some(Difference::new(
            Aspect::Parameter,
            format!("{name}: {one}"),
            format!("{name}: {other}"),
        ));
    }
    let code = |action: &Action| action.error_code.clone().unwrap_or_default();
    if Text::key(&code(old)) != Text::key(&code(new)) {
        return Some(Difference::new(Aspect::ErrorCode, code(old), code(new)));
    }
    said(Aspect::ErrorCode, old.error_message.as_deref(), new.error_message.as_deref())
        .or_else(|| said(Aspect::Outcome, old.result.as_deref(), new.result.as_deref()))
}

/// Two texts that say different things, or one that only the new memory has.
fn said(aspect: Aspect, old: Option<&str>, new: Option<&str>) -> Option<Difference> {
    let new = new?;
    let old = old.unwrap_or_default();
    text_difference(&Text::of(old), &Text::of(new), &[]).map(|_| Difference::new(aspect, old, new))
}

fn rules(old: Option<&Rule>, new: Option<&Rule>) -> Option<Difference> {
    let (old, new) = (old?, new?);
    if old.polarity != new.polarity {
        return Some(Difference::new(Aspect::Polarity, old.polarity.as_str(), new.polarity.as_str()));
    }
    said(Aspect::Rule, Some(&old.advice), Some(&new.advice)).or_else(|| {
        let (one, other) = (&old.condition, &new.condition);
        [
            (&one.task_type, &other.task_type),
            (&one.root_cause, &other.root_cause),
            (&one.error_code, &other.error_code),
            (&one.tool, &other.tool),
        ]
        .into_iter()
        // A condition that one of them lacks makes it hold more often: absence counts in both directions.
        .find_map(|(one, other)| {
            let (one, other) = (one.as_deref().unwrap_or_default(), other.as_deref().unwrap_or_default());
            (Text::key(one) != Text::key(other)).then(|| Difference::new(Aspect::Rule, one, other))
        })
    })
}
