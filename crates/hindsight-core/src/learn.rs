//! What a memory becomes when it is confirmed, contradicted, used or proven wrong (W6–W8, L1). Pure: the memory, what
//! happened, and when. Confidence stays in 0–1 whatever happens, in any order.

use serde_json::Value;

use crate::change::Standing;
pub use crate::kind::Verdict;
use crate::likeness::is_bound_to_its_time;
use crate::limits::{METADATA_BYTES_MAX, REFERENCES_MAX, TAGS_MAX};
use crate::scoring::confidence::trust;
use crate::{Memory, MemoryId, State, Status, Timestamp};

/// How much surer a memory is when the same is said again (W6).
pub const CONFIRMED: f32 = 0.1;
/// How much less sure a memory is that was replaced by a newer one (W7).
pub const SUPERSEDED: f32 = 0.3;
/// How much less sure a failure is when the same is done with success later (W8).
pub const OUTLIVED: f32 = 0.1;
/// The confidence below which a failure does not fall by that.
pub const OUTLIVED_LEAST: f32 = 0.1;
/// How much a memory gains when a task that used it succeeds, and loses when it fails (L1).
pub const USED: f32 = 0.1;
/// How much less sure a memory is that was found wrong (L1).
pub const WRONG: f32 = 0.3;

/// A confidence moved by a step, in 0–1, to six decimals: steps of a tenth stay tenths.
fn moved(confidence: f32, by: f32) -> f32 {
    let moved = (f64::from(confidence) + f64::from(by)).clamp(0.0, 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "a number of 0–1 fits an f32")]
    let moved = ((moved * 1e6).round() / 1e6) as f32;
    moved
}

/// The next version of `old`, which `new` says again: surer, verified once more, its times refreshed and the new source
/// added. Nothing that only `new` brings is lost: tags, keywords, references, own fields.
///
/// When it happened moves to the newer time, unless its text means another time when it is said at another time.
#[must_use]
pub fn reinforced(old: &Memory, new: &Memory, at: Timestamp) -> Memory {
    let mut memory = old.clone();
    memory.confidence = moved(old.confidence, CONFIRMED);
    memory.usage.verified_count = old.usage.verified_count.saturating_add(1);
    if !is_bound_to_its_time(old) {
        memory.occurred_at = old.occurred_at.max(new.occurred_at);
    }
    memory.updated_at = at;
    memory.version = old.version + 1;
    memory.importance = old.importance.max(new.importance);
    memory.expires_at = old.expires_at.zip(new.expires_at).map(|(old, new)| old.max(new));
    add_words(&mut memory.tags, &new.tags);
    add_words(&mut memory.keywords, &new.keywords);
    if memory.summary.is_empty() {
        memory.summary.clone_from(&new.summary);
    }
    add_metadata(&mut memory, new);
    add_source(&mut memory, new);
    for id in &new.derived_from {
        if !memory.derived_from.contains(id) && memory.derived_from.len() < REFERENCES_MAX {
            memory.derived_from.push(*id);
        }
    }
    memory
}

fn add_words(words: &mut Vec<String>, more: &[String]) {
    for word in more {
        if !words.contains(word) && words.len() < TAGS_MAX {
            words.push(word.clone());
        }
    }
}

/// Own fields that the old memory lacks; all or none of them, within the limit.
fn add_metadata(memory: &mut Memory, new: &Memory) {
    let mut metadata = memory.metadata.clone();
    for (key, value) in &new.metadata {
        metadata.entry(key).or_insert_with(|| value.clone());
    }
    if Value::Object(metadata.clone()).to_string().len() <= METADATA_BYTES_MAX {
        memory.metadata = metadata;
    }
}

/// The turns it also rests on. Those of another conversation stand as `conversation/turn`, and a conversation without
/// turns as itself. Of two grades of source the more trusted one counts.
fn add_source(memory: &mut Memory, new: &Memory) {
    let source = &mut memory.source;
    if trust(new.source.kind) > trust(source.kind) {
        source.kind = new.source.kind;
    }
    if source.speaker.is_none() {
        source.speaker.clone_from(&new.source.speaker);
    }
    let added: Vec<String> = match (&source.conversation_id, &new.source.conversation_id) {
        (old, Some(new_id))
            if old.as_ref() != Some(new_id) && (old.is_some() || !source.turns.is_empty()) =>
        {
            let turns = new.source.turns.iter().map(|turn| format!("{new_id}/{turn}"));
            if new.source.turns.is_empty() { vec![new_id.clone()] } else { turns.collect() }
        }
        (old, new_id) => {
            if old.is_none() {
                source.conversation_id.clone_from(new_id);
            }
            new.source.turns.clone()
        }
    };
    for turn in added {
        if !source.turns.contains(&turn) && source.turns.len() < REFERENCES_MAX {
            source.turns.push(turn);
        }
    }
}

/// The time from which on a memory says what it says: where its validity begins, or when it happened.
#[must_use]
pub fn holds_from(memory: &Memory) -> Timestamp {
    memory.valid_from.unwrap_or(memory.occurred_at)
}

/// Whether a memory is not true any more at `at`, and will not be again.
#[must_use]
pub fn is_over(memory: &Memory, at: Timestamp) -> bool {
    memory.valid_to.is_some_and(|to| to <= at) || memory.is_expired_at(at)
}

/// From when on a memory is true, counted from `at`: what is true already is so from `at` on. Of two values of a property
/// that has one value at a time the one that starts later ends the other; which of two that start together stays, goes by
/// [`holds_from`].
#[must_use]
pub fn starts(memory: &Memory, at: Timestamp) -> Timestamp {
    memory.valid_from.map_or(at, |from| from.max(at))
}

/// How a memory stands that `newer` will replace at a time to come: as it is, and true until then (W7).
#[must_use]
pub fn ending(memory: &Memory, newer: &Memory, at: Timestamp) -> Standing {
    let ends = starts(newer, at);
    Standing {
        valid_to: Some(memory.valid_to.map_or(ends, |to| to.min(ends))),
        superseded_by: Some(newer.id),
        ..Standing::of(memory)
    }
}

/// How a memory stands that `newer` replaces, which starts with it or later.
#[must_use]
pub fn replaced(memory: &Memory, newer: &Memory, at: Timestamp) -> Standing {
    if starts(newer, at) > starts(memory, at) {
        ending(memory, newer, at)
    } else {
        superseded(memory, newer, at)
    }
}

/// How a memory stands whose replacement at a time to come is taken back: true with an open end.
#[must_use]
pub fn unending(memory: &Memory) -> Standing {
    Standing { valid_to: None, superseded_by: None, ..Standing::of(memory) }
}

/// Until when a memory is true at the latest that `newer` replaces at `at`, whatever end it had before.
#[must_use]
pub fn end_by(memory: &Memory, newer: &Memory, at: Timestamp) -> Timestamp {
    let begins = newer.valid_from.filter(|from| *from <= at).unwrap_or(at);
    memory.valid_from.map_or(begins, |from| from.max(begins))
}

/// How a memory stands that `newer` replaces: history, true until the newer one begins, at the latest until `at`.
#[must_use]
pub fn superseded(memory: &Memory, newer: &Memory, at: Timestamp) -> Standing {
    let ends = end_by(memory, newer, at);
    Standing {
        state: State::Superseded,
        confidence: moved(memory.confidence, -SUPERSEDED),
        valid_to: Some(memory.valid_to.map_or(ends, |to| to.min(ends))),
        superseded_by: Some(newer.id),
        ..Standing::of(memory)
    }
}

/// How a memory stands whose replacement is taken back: valid again with an open end, and as sure as before (a
/// confidence that had been below 0.3 comes back as 0.3).
#[must_use]
pub fn valid_again(memory: &Memory) -> Standing {
    Standing {
        state: State::Active,
        confidence: moved(memory.confidence, SUPERSEDED),
        valid_to: None,
        superseded_by: None,
        ..Standing::of(memory)
    }
}

/// How a memory stands that was taken up into a summary: history, and as sure and as long valid as before, since nothing
/// refutes it (L6).
#[must_use]
pub fn merged(memory: &Memory, summary: MemoryId) -> Standing {
    Standing { state: State::Superseded, superseded_by: Some(summary), ..Standing::of(memory) }
}

/// How a part of a summary stands when that is taken back: as it was.
#[must_use]
pub fn unmerged(memory: &Memory) -> Standing {
    Standing { state: State::Active, superseded_by: None, ..Standing::of(memory) }
}

/// How a memory stands that was taken back in favour of `older`: not valid any more, kept as history.
#[must_use]
pub fn invalidated(memory: &Memory, older: MemoryId, at: Timestamp) -> Standing {
    let ends = memory.valid_from.map_or(at, |from| from.max(at));
    Standing {
        state: State::Superseded,
        confidence: moved(memory.confidence, -SUPERSEDED),
        valid_to: Some(memory.valid_to.map_or(ends, |to| to.min(ends))),
        superseded_by: Some(older),
        ..Standing::of(memory)
    }
}

/// How a failure stands after the later `success`, if that is about the same: the same task type, and a tool that failed
/// was used. A failure whose actions don't say which of them failed is about all its tools.
#[must_use]
pub fn outlived(failure: &Memory, success: &Memory) -> Option<Standing> {
    let same_task = failure.task_type.is_some() && failure.task_type == success.task_type;
    let later = success.occurred_at > failure.occurred_at;
    let outcomes = (failure.status, success.status) == (Some(Status::Failure), Some(Status::Success));
    let lower = moved(failure.confidence, -OUTLIVED).max(OUTLIVED_LEAST);
    if !same_task || !later || !outcomes || lower >= failure.confidence {
        return None;
    }
    let failed = failing_tools(failure);
    let episode = success.episode.as_deref()?;
    let shared = episode.actions.iter().any(|action| failed.contains(&action.tool.as_str()));
    shared.then(|| Standing { confidence: lower, ..Standing::of(failure) })
}

fn failing_tools(failure: &Memory) -> Vec<&str> {
    let actions = failure.episode.as_deref().map(|episode| episode.actions.as_slice()).unwrap_or_default();
    let failed =
        actions.iter().filter(|action| action.error_code.is_some() || action.error_message.is_some());
    let failed: Vec<&str> = failed.map(|action| action.tool.as_str()).collect();
    if failed.is_empty() { actions.iter().map(|action| action.tool.as_str()).collect() } else { failed }
}

/// How a memory stands after what an agent said of it, and how the task ended that it was recalled for; none where
/// nothing changes.
#[must_use]
pub fn judged(memory: &Memory, verdict: Verdict, task: Option<Status>, at: Timestamp) -> Option<Standing> {
    let mut standing = Standing::of(memory);
    match verdict {
        Verdict::Ignored => return None,
        Verdict::Used => {
            let usage = &mut standing.usage;
            usage.used_count = usage.used_count.saturating_add(1);
            usage.last_used_at = usage.last_used_at.max(Some(at));
            let step = match task {
                Some(Status::Success) => {
                    usage.success_after_use = usage.success_after_use.saturating_add(1);
                    if is_failure_without_remedy(memory) { -USED } else { USED }
                }
                Some(Status::Failure) => {
                    usage.failure_after_use = usage.failure_after_use.saturating_add(1);
                    -USED
                }
                Some(Status::Partial) | None => 0.0,
            };
            standing.confidence = moved(memory.confidence, step);
        }
        Verdict::Wrong => standing.confidence = moved(memory.confidence, -WRONG),
        Verdict::Outdated => {
            if memory.valid_to.is_none_or(|to| to > at) {
                standing.valid_to = Some(memory.valid_from.map_or(at, |from| from.max(at)));
            }
        }
    }
    (standing != Standing::of(memory)).then_some(standing)
}

/// It says only that something fails: when that succeeds, it has become less true.
fn is_failure_without_remedy(memory: &Memory) -> bool {
    let remedy = memory.episode.as_deref().and_then(|episode| episode.resolution.as_deref());
    memory.status == Some(Status::Failure) && remedy.is_none()
}

#[cfg(test)]
mod tests;
