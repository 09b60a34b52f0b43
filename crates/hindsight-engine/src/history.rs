//! What superseded what, and taking that back (W7).

use std::collections::BTreeSet;

use hindsight_core::change::Standing;
use hindsight_core::likeness::gives_another_value;
use hindsight_core::limits::HISTORY_MAX;
use hindsight_core::summary::is_summary;
use hindsight_core::{Batch, Change, Memory, MemoryId, Namespace, Record, State, Timestamp, learn};
use hindsight_storage::io::Io;

use crate::decide::next_time;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::reply::{History, RolledBack};
use crate::request::RollbackRequest;
use crate::requests::{Seen, key};
use crate::settle::{Wins, settled};
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

impl<I: Io> EngineOver<I> {
    /// All memories that one replaced, was replaced by, and so on: those that `agent` may see, without forgotten ones,
    /// in the order of the times from which they hold. At most [`HISTORY_MAX`].
    ///
    /// # Errors
    /// When there is no such memory.
    pub fn history(
        &self,
        namespace: &Namespace,
        id: MemoryId,
        agent: Option<&str>,
    ) -> Result<Unsynced<History, I>, EngineError> {
        let cell = self.existing(namespace, id)?;
        let state = cell.state.read();
        let start = state.record(id).filter(|record| record.memory.is_visible_to(agent));
        start.ok_or_else(|| EngineError::MemoryNotFound { namespace: namespace.clone(), id })?;
        let linked = linked(&state, id).into_iter().filter_map(|id| state.record(id));
        let mut memories: Vec<Memory> = linked
            .map(|record| &record.memory)
            .filter(|memory| memory.is_visible_to(agent))
            .filter(|memory| memory.id == id || memory.state != State::Forgotten)
            .cloned()
            .collect();
        memories.sort_by_key(|memory| (learn::holds_from(memory), memory.created_at, memory.id));
        let history = History { memories, revision: state.applied };
        Ok(self.answer(&state, history, state.applied))
    }

    /// Takes back that a memory was replaced, or replaced others: the older ones become valid again, the newer one
    /// becomes history.
    ///
    /// # Errors
    /// When there is no such memory, nothing was replaced, what replaced it was replaced itself, or the log fails.
    pub fn rollback(
        &self,
        namespace: &Namespace,
        rollback: RollbackRequest,
    ) -> Result<Unsynced<RolledBack, I>, EngineError> {
        let request = key(rollback.request_id.as_deref(), "rollback", &rollback.id)?;
        let cell = self.existing(namespace, rollback.id)?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            let state = cell.state.read();
            return Ok(self.answer(&state, rolled_back(&state, &seen.ids, Some(&seen)), state.applied));
        }
        let (changes, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            let changes = take_back(&state, namespace, rollback.id, at)?;
            (settled(&state, changes, Wins::Risen, &self.nearness, at), at)
        };
        let ids: Vec<MemoryId> = changes.iter().filter_map(Change::id).collect();
        let revision = self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?;
        let done = rolled_back(&cell.state.read(), &ids, None);
        Ok(self.answer_of(&cell, RolledBack { revision, ..done }, revision))
    }
}

/// A memory and everything that supersession links it to.
pub(crate) fn linked(state: &NamespaceState, id: MemoryId) -> BTreeSet<MemoryId> {
    let (mut linked, mut open) = (BTreeSet::new(), vec![id]);
    while let Some(id) = open.pop() {
        if linked.len() >= HISTORY_MAX || !linked.insert(id) {
            continue;
        }
        open.extend(state.record(id).and_then(|record| record.memory.superseded_by));
        open.extend(state.superseded_by(id));
    }
    linked
}

fn take_back(
    state: &NamespaceState,
    namespace: &Namespace,
    id: MemoryId,
    at: Timestamp,
) -> Result<Vec<Change>, EngineError> {
    let not_found = || EngineError::MemoryNotFound { namespace: namespace.clone(), id };
    let memory = &state
        .record(id)
        .filter(|record| record.memory.state != State::Forgotten)
        .ok_or_else(not_found)?
        .memory;
    let newer = match (memory.state, memory.superseded_by) {
        // Of an active one: that it will be replaced.
        (State::Superseded | State::Active, Some(by)) => by,
        _ => id,
    };
    let is_history =
        |record: &&std::sync::Arc<Record>| matches!(record.memory.state, State::Superseded | State::Active);
    let older = state.superseded_by(newer).filter_map(|id| state.record(id)).filter(is_history);
    let older: Vec<&Memory> = older.map(|record| &record.memory).collect();
    let place = |memory: &Memory| (learn::holds_from(memory), memory.id);
    // Values that were learned out of order can all have been replaced by the newest: only the latest comes back.
    let outdone = |memory: &Memory| {
        older.iter().any(|other| place(other) > place(memory) && gives_another_value(memory, other))
    };
    let Some(latest) = older.iter().max_by_key(|memory| place(memory)) else {
        return Err(EngineError::NotSuperseded { id });
    };
    let newer = state.record(newer).map(|record| &record.memory);
    if let Some((newer, by)) = newer.and_then(|newer| Some((newer, newer.superseded_by?))) {
        return Err(EngineError::SupersededSince { id: newer.id, by });
    }
    if let Some(changes) = newer.and_then(|newer| merge_again(state, &older, newer, at)) {
        return Ok(changes);
    }
    let stand = |memory: &Memory, standing| Change::Stand {
        id: memory.id,
        standing: Box::new(standing),
        version: memory.version + 1,
        at,
    };
    // The parts of a summary come back together.
    let returns = |memory: &Memory| newer.is_some_and(is_summary) || !outdone(memory);
    let mut changes: Vec<Change> = older
        .iter()
        .filter(|memory| returns(memory))
        .map(|memory| stand(memory, back(memory, newer)))
        .collect();
    // One that was forgotten meanwhile, or purged, stays so.
    if let Some(newer) = newer.filter(|newer| matches!(newer.state, State::Active | State::Archived)) {
        let will_end = learn::starts(latest, at) > learn::starts(newer, at);
        let ending = || learn::ending(newer, latest, at);
        let over = || learn::invalidated(newer, latest.id, at);
        changes.push(stand(newer, if will_end { ending() } else { over() }));
    }
    Ok(changes)
}

/// How a memory stands that is valid again. The part of a summary was never wrong: it is as it was. One that was only going to
/// be replaced has no end any more.
fn back(memory: &Memory, newer: Option<&Memory>) -> Standing {
    if memory.state == State::Active {
        return learn::unending(memory);
    }
    let is_part = newer.is_some_and(|newer| is_summary(newer) && newer.derived_from.contains(&memory.id));
    if is_part { learn::unmerged(memory) } else { learn::valid_again(memory) }
}

/// Takes back that a summary was taken back, if `newer` is the part in whose favour it was: all its parts that are active
/// are history behind it again.
fn merge_again(
    state: &NamespaceState,
    older: &[&Memory],
    newer: &Memory,
    at: Timestamp,
) -> Option<Vec<Change>> {
    let is_whole = |memory: &&&Memory| is_summary(memory) && memory.derived_from.contains(&newer.id);
    let summary = older.iter().find(is_whole)?;
    let stand = |memory: &Memory, standing| Change::Stand {
        id: memory.id,
        standing: Box::new(standing),
        version: memory.version + 1,
        at,
    };
    let parts = summary.derived_from.iter().filter_map(|id| state.record(*id)).map(|record| &record.memory);
    let parts = parts.filter(|part| part.state == State::Active && part.superseded_by.is_none());
    let parts = parts.map(|part| stand(part, learn::merged(part, summary.id)));
    Some(std::iter::once(stand(summary, learn::valid_again(summary))).chain(parts).collect())
}

fn rolled_back(state: &NamespaceState, ids: &[MemoryId], seen: Option<&Seen>) -> RolledBack {
    let memories = ids.iter().filter_map(|id| state.record(*id)).map(|record| record.memory.clone());
    let (invalidated, restored): (Vec<Memory>, Vec<Memory>) =
        memories.partition(|memory| memory.superseded_by.is_some());
    let revision = seen.map_or(state.applied, |seen| seen.lsn);
    RolledBack { restored, invalidated: invalidated.into_iter().next(), replayed: seen.is_some(), revision }
}
