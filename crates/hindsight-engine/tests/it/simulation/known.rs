//! A memory as it should be, and what happens to one.

use std::sync::Arc;

use hindsight_core::draft::Moment;
use hindsight_core::{Draft, Memory, MemoryId, State, Status, Timestamp, Verdict};

use super::request::{Item, MODEL, claim, draft, echo, has_vector, namespace};

/// A memory as it should be. Its id is only a stand-in until the database has told which one it chose.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) memory: Memory,
    /// The change that its vector came with, 0 for the write; none when it has no vector.
    pub(super) vector: Option<u32>,
}

/// Whether a memory can be confirmed or contradicted.
pub(super) fn is_true(known: &Known, at: Timestamp) -> bool {
    let memory = &known.memory;
    memory.state == State::Active && memory.is_valid_at(at) && !memory.is_expired_at(at)
}

/// W6: surer by a tenth, verified once more, its time refreshed, what is new added.
pub(super) fn confirmed(known: &Known, new: &Memory, at: Timestamp) -> Known {
    let mut known = known.clone();
    let memory = &mut known.memory;
    memory.confidence = step(memory.confidence, 0.1);
    memory.usage.verified_count += 1;
    memory.occurred_at = memory.occurred_at.max(at);
    memory.updated_at = at;
    memory.version += 1;
    memory.importance = memory.importance.max(new.importance);
    // What is said again without an end has none.
    memory.expires_at = None;
    for tag in &new.tags {
        if !memory.tags.contains(tag) && memory.tags.len() < 64 {
            memory.tags.push(tag.clone());
        }
    }
    known
}

/// L1: what was used counts, and rises or falls with the task; what is wrong falls; what is outdated ends.
pub(super) fn judged(known: &Known, verdict: Verdict, task: Option<Status>, at: Timestamp) -> Option<Known> {
    let mut known = known.clone();
    let memory = &mut known.memory;
    match (verdict, task) {
        (Verdict::Ignored, _) => return None,
        (Verdict::Used, task) => {
            memory.usage.used_count += 1;
            memory.usage.last_used_at = memory.usage.last_used_at.max(Some(at));
            memory.usage.success_after_use += u32::from(task == Some(Status::Success));
            memory.usage.failure_after_use += u32::from(task == Some(Status::Failure));
            // No failure of these runs says what helped.
            let by = match task {
                Some(Status::Success) if memory.status != Some(Status::Failure) => 0.1,
                Some(Status::Success | Status::Failure) => -0.1,
                _ => 0.0,
            };
            memory.confidence = step(memory.confidence, by);
        }
        (Verdict::Wrong, _) if memory.confidence <= 0.0 => return None,
        (Verdict::Wrong, _) => memory.confidence = step(memory.confidence, -0.3),
        (Verdict::Outdated, _) if memory.valid_to.is_some_and(|to| to <= at) => return None,
        (Verdict::Outdated, _) => memory.valid_to = Some(at),
    }
    memory.version += 1;
    memory.updated_at = at;
    Some(known)
}

/// W7: history, less sure by three tenths.
pub(super) fn replaced(known: &Known, by: MemoryId, at: Timestamp) -> Known {
    let mut known = known.clone();
    let memory = &mut known.memory;
    memory.state = State::Superseded;
    memory.superseded_by = Some(by);
    memory.confidence = step(memory.confidence, -0.3);
    memory.valid_to = Some(memory.valid_to.map_or(at, |to| to.min(at)));
    memory.updated_at = at;
    memory.version += 1;
    known
}

/// Confidences are counted in millionths.
#[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is stored")]
pub(super) fn step(confidence: f32, by: f64) -> f32 {
    (((f64::from(confidence) + f64::from(by as f32)) * 1e6).round() / 1e6).clamp(0.0, 1.0) as f32
}

pub(super) fn echoed(space: usize, item: Item, of: Item, at: Timestamp) -> Known {
    Known { memory: memory(space, echo(item, of), None, at), vector: None }
}

pub(super) fn claimed(space: usize, item: Item, slot: u32, at: Timestamp) -> (Item, Arc<Known>) {
    let vector = has_vector(item).then_some(0);
    (item, Arc::new(Known { memory: memory(space, claim(item, slot), vector, at), vector }))
}

pub(super) fn written(space: usize, item: Item, at: Timestamp) -> (Item, Arc<Known>) {
    let vector = has_vector(item).then_some(0);
    (item, Arc::new(Known { memory: memory(space, draft(item), vector, at), vector }))
}

fn memory(space: usize, draft: Draft, vector: Option<u32>, at: Timestamp) -> Memory {
    let moment = Moment {
        namespace: namespace(space),
        id: MemoryId::from_u128(0),
        now: at,
        embedding_model: vector.map(|_| MODEL.to_owned()),
    };
    draft.check().unwrap().into_memory(moment)
}
