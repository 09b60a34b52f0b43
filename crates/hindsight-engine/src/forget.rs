//! Forgetting (soft) and bringing back (L3).

use hindsight_core::limits::FORGET_IDS_MAX;
use hindsight_core::{Batch, Change, Filter, Invalid, MemoryId, Namespace, State, Timestamp};
use hindsight_storage::io::Io;

use crate::decide::{next_time, now};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::Affected;
use crate::request::{ForgetRequest, ForgetTarget, RestoreRequest};
use crate::requests::{Seen, key};
use crate::settle::{Wins, settled};
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

impl<I: Io> EngineOver<I> {
    /// Takes memories out of recall. Those that are forgotten already do not count.
    ///
    /// # Errors
    /// When an id is unknown, the filter is empty, the count is not the expected one, or the log fails.
    pub fn forget(
        &self,
        namespace: &Namespace,
        forget: ForgetRequest,
    ) -> Result<Unsynced<Affected, I>, EngineError> {
        self.forget_as(namespace, forget, None)
    }

    /// As [`EngineOver::forget`], by an agent: what others keep to themselves is not there for it, whether it is named, matched
    /// or derived.
    ///
    /// # Errors
    /// As [`EngineOver::forget`].
    pub fn forget_as(
        &self,
        namespace: &Namespace,
        forget: ForgetRequest,
        agent: Option<&str>,
    ) -> Result<Unsynced<Affected, I>, EngineError> {
        let asked = match &forget.target {
            ForgetTarget::Ids(ids) => (ids.as_slice(), None, None, forget.validate_only),
            ForgetTarget::Matching { filter, expected_count } => {
                (&[][..], Some(filter), *expected_count, forget.validate_only)
            }
        };
        let call = if forget.with_derived { "forget, with derived" } else { "forget" };
        let request = match agent {
            None => key(forget.request_id.as_deref(), call, &asked)?,
            Some(agent) => key(forget.request_id.as_deref(), call, &(asked, agent))?,
        };
        check_target(&forget.target)?;
        let Some(cell) = self.loaded(namespace)? else {
            return self.forget_nowhere(namespace, &forget.target);
        };
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            return Ok(self.affected_before(&cell, &seen));
        }
        let (changes, derived, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            let ids = targets(&cell, &state, &forget, agent, now(&*self.io))?;
            let mut derived = state.lineage(&ids, false, FORGET_IDS_MAX);
            derived.retain(|id| is_there_for(&state, *id, agent));
            (set_states(&state, &ids, State::Forgotten, at), derived, at)
        };
        if forget.validate_only || changes.is_empty() {
            let revision = cell.state.read().applied;
            return Ok(self.answer_of(&cell, affected(&changes, derived, revision), revision));
        }
        let mut done = affected(&changes, derived, hindsight_core::Lsn(0));
        done.revision = self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?;
        let revision = done.revision;
        Ok(self.answer_of(&cell, done, revision))
    }

    /// Brings forgotten and archived memories back into recall. Their time begins anew.
    ///
    /// # Errors
    /// When an id is unknown or its memory not forgotten, or the log fails.
    pub fn restore(
        &self,
        namespace: &Namespace,
        restore: RestoreRequest,
    ) -> Result<Unsynced<Affected, I>, EngineError> {
        let request = key(restore.request_id.as_deref(), "restore", &restore.ids)?;
        check_ids(&restore.ids)?;
        let first = restore.ids.first().copied().unwrap_or(MemoryId::from_u128(0));
        let cell = self.existing(namespace, first)?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(mut seen) = seen {
            seen.ids.retain(|id| restore.ids.contains(id));
            return Ok(self.affected_before(&cell, &seen));
        }
        let (changes, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            let ids = known(&cell, &state, &restore.ids)?;
            for id in &ids {
                let found = state.record(*id).map_or(State::Active, |record| record.memory.state);
                if !matches!(found, State::Forgotten | State::Archived) {
                    return Err(EngineError::WrongState { id: *id, state: found, needed: State::Forgotten });
                }
            }
            let changes = restored(&state, &ids, at);
            (settled(&state, changes, Wins::Later, &self.nearness, at), at)
        };
        // What gave way to them was not restored.
        let mut done = affected(&changes, Vec::new(), hindsight_core::Lsn(0));
        done.ids.retain(|id| restore.ids.contains(id));
        done.count = u32::try_from(done.ids.len()).unwrap_or(u32::MAX);
        done.revision = self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?;
        let revision = done.revision;
        Ok(self.answer_of(&cell, done, revision))
    }

    fn affected_before(&self, cell: &Cell, seen: &Seen) -> Unsynced<Affected, I> {
        let count = u32::try_from(seen.ids.len()).unwrap_or(u32::MAX);
        let ids = seen.ids.iter().copied().take(FORGET_IDS_MAX).collect();
        let derived = Vec::new();
        let before = Affected { count, ids, derived, replayed: true, revision: seen.lsn };
        self.answer_of(cell, before, seen.lsn)
    }

    /// A namespace that was never written to holds no memory: an id is unknown there, and a filter matches none.
    fn forget_nowhere(
        &self,
        namespace: &Namespace,
        target: &ForgetTarget,
    ) -> Result<Unsynced<Affected, I>, EngineError> {
        match target {
            ForgetTarget::Ids(ids) => {
                let id = ids.first().copied().unwrap_or(MemoryId::from_u128(0));
                Err(EngineError::MemoryNotFound { namespace: namespace.clone(), id })
            }
            ForgetTarget::Matching { expected_count: Some(expected), .. } if *expected != 0 => {
                Err(EngineError::CountMismatch { expected: *expected, found: 0 })
            }
            ForgetTarget::Matching { .. } => {
                let revision = self.revision();
                Ok(self.unsynced(affected(&[], Vec::new(), revision), revision))
            }
        }
    }
}

fn check_target(target: &ForgetTarget) -> Result<(), Invalid> {
    match target {
        ForgetTarget::Ids(ids) => check_ids(ids),
        ForgetTarget::Matching { filter, .. } if *filter == Filter::default() => {
            Err(Invalid::one("filter", "is empty and would match every memory: name ids, or a condition"))
        }
        ForgetTarget::Matching { filter, .. } => filter.check("filter"),
    }
}

pub(crate) fn check_ids(ids: &[MemoryId]) -> Result<(), Invalid> {
    if ids.is_empty() || ids.len() > FORGET_IDS_MAX {
        return Err(Invalid::one("ids", format!("has {} ids: expected 1 to {FORGET_IDS_MAX}", ids.len())));
    }
    Ok(())
}

/// The distinct ids, each of a memory that is there.
pub(crate) fn known(
    cell: &Cell,
    state: &NamespaceState,
    ids: &[MemoryId],
) -> Result<Vec<MemoryId>, EngineError> {
    let mut distinct = ids.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    match distinct.iter().find(|id| state.record(**id).is_none()) {
        Some(id) => Err(EngineError::MemoryNotFound { namespace: cell.name.clone(), id: *id }),
        None => Ok(distinct),
    }
}

fn targets(
    cell: &Cell,
    state: &NamespaceState,
    forget: &ForgetRequest,
    agent: Option<&str>,
    now: Timestamp,
) -> Result<Vec<MemoryId>, EngineError> {
    let (mut ids, expected_count) = match &forget.target {
        ForgetTarget::Ids(ids) => match ids.iter().find(|id| !is_there_for(state, **id, agent)) {
            Some(id) => return Err(EngineError::MemoryNotFound { namespace: cell.name.clone(), id: *id }),
            None => (known(cell, state, ids)?, None),
        },
        ForgetTarget::Matching { filter, expected_count } => {
            let matching = state.present().filter(|record| filter.matches(&record.memory, now));
            (matching.map(|record| record.memory.id).collect::<Vec<MemoryId>>(), *expected_count)
        }
    };
    if forget.with_derived {
        ids.extend(state.lineage(&ids, false, usize::MAX));
        ids.sort_unstable();
    }
    ids.retain(|id| state.record(*id).is_some_and(|record| record.memory.state != State::Forgotten));
    ids.retain(|id| is_there_for(state, *id, agent));
    let found = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    match expected_count {
        Some(expected) if expected != found => Err(EngineError::CountMismatch { expected, found }),
        _ => Ok(ids),
    }
}

/// Whether an agent may know of a memory; who is no agent in particular may.
fn is_there_for(state: &NamespaceState, id: MemoryId, agent: Option<&str>) -> bool {
    let sees = |agent| state.record(id).is_some_and(|record| record.memory.is_visible_to(Some(agent)));
    agent.is_none_or(sees)
}

fn set_states(state: &NamespaceState, ids: &[MemoryId], next: State, at: Timestamp) -> Vec<Change> {
    let records = ids.iter().filter_map(|id| state.record(*id));
    let change = |id, version| Change::SetState { id, state: next, version, at };
    records.map(|record| change(record.memory.id, record.memory.version + 1)).collect()
}

/// What was forgotten is again what it was: history stays behind what replaced it, and what waits for a review waits on.
/// What is archived becomes active.
fn restored(state: &NamespaceState, ids: &[MemoryId], at: Timestamp) -> Vec<Change> {
    let next = |id: &MemoryId| {
        let memory = &state.record(*id)?.memory;
        let before = || memory.forgotten_from.unwrap_or_else(|| memory.likely_forgotten_from());
        Some(if memory.state == State::Forgotten { before() } else { State::Active })
    };
    let each = ids.iter().filter_map(|id| Some((id, next(id)?)));
    each.flat_map(|(id, next)| set_states(state, &[*id], next, at)).collect()
}

fn affected(changes: &[Change], derived: Vec<MemoryId>, revision: hindsight_core::Lsn) -> Affected {
    let count = u32::try_from(changes.len()).unwrap_or(u32::MAX);
    let ids = changes.iter().filter_map(Change::id).take(FORGET_IDS_MAX).collect();
    Affected { count, ids, derived, replayed: false, revision }
}
