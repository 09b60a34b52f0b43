//! Rules: listing them, changing their state and validity, and what became of them (L5).

use hindsight_core::consolidate::{RuleEvent, events};
use hindsight_core::limits::PAGE_SIZE_MAX;
use hindsight_core::{
    Batch, Change, Filter, Invalid, Kind, Memory, MemoryId, Namespace, Record, RuleState, State, Timestamp,
};
use hindsight_storage::io::Io;

use crate::decide::next_time;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::reply::{Got, Page, RuleHistory, Updated};
use crate::request::{RuleListRequest, RuleUpdateRequest};
use crate::requests::key;
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;
use crate::write::present_state;

impl<I: Io> EngineOver<I> {
    /// A page of the rules that hold or held, in the order of their ids: those that another rule replaced, and what is
    /// forgotten or archived, are not among them.
    ///
    /// # Errors
    /// When the page size is wrong.
    pub fn rules(
        &self,
        namespace: &Namespace,
        list: &RuleListRequest,
    ) -> Result<Unsynced<Page, I>, EngineError> {
        if !(1..=PAGE_SIZE_MAX).contains(&list.page_size) {
            let problem = format!("is {}: expected 1 to {PAGE_SIZE_MAX}", list.page_size);
            return Err(Invalid::one("page_size", problem).into());
        }
        let Some(cell) = self.loaded(namespace)? else {
            let revision = self.revision();
            return Ok(self.unsynced(Page { memories: Vec::new(), more: false, revision }, revision));
        };
        let state = cell.state.read();
        let page = page(&state, list);
        Ok(self.answer(&state, page, state.applied))
    }

    /// One rule, in whatever state it is; one that another agent keeps to itself is not there.
    ///
    /// # Errors
    /// When there is no such memory, or it is no rule.
    pub fn rule(
        &self,
        namespace: &Namespace,
        id: MemoryId,
        agent: Option<&str>,
    ) -> Result<Unsynced<Got, I>, EngineError> {
        let cell = self.existing(namespace, id)?;
        let state = cell.state.read();
        let memory = visible_rule(&state, namespace, id, agent)?.clone();
        Ok(self.answer(&state, Got { memory, revision: state.applied }, state.applied))
    }

    /// Changes where a rule is in its life, or how long it is valid.
    ///
    /// # Errors
    /// When there is no such rule, it was replaced, the version is stale, it is in that state already, a field is wrong, or
    /// the log fails.
    pub fn update_rule(
        &self,
        namespace: &Namespace,
        update: RuleUpdateRequest,
    ) -> Result<Unsynced<Updated, I>, EngineError> {
        let RuleUpdateRequest { id, patch, version, request_id } = update;
        let request = key(request_id.as_deref(), "update_rule", &(id, &patch, version))?;
        let cell = self.existing(namespace, id)?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            let (memory, applied) = present_state(&cell, &seen)?;
            return Ok(self.answer_of(
                &cell,
                Updated { memory, replayed: true, revision: seen.lsn },
                applied,
            ));
        }
        let (record, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            let old = changeable(&state, namespace, id, version, patch.rule_state)?;
            (Record { memory: patch.apply(&old.memory, at)?, vectors: old.vectors.clone() }, at)
        };
        let memory = record.memory.clone();
        let changes = vec![Change::Put(Box::new(record))];
        let revision = self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?;
        Ok(self.answer_of(&cell, Updated { memory, replayed: false, revision }, revision))
    }

    /// What became of a rule, and of the rules that it replaced or that replaced it.
    ///
    /// # Errors
    /// As [`EngineOver::rule`].
    pub fn rule_history(
        &self,
        namespace: &Namespace,
        id: MemoryId,
        agent: Option<&str>,
    ) -> Result<Unsynced<RuleHistory, I>, EngineError> {
        let cell = self.existing(namespace, id)?;
        visible_rule(&cell.state.read(), namespace, id, agent)?;
        self.history(namespace, id, agent).map(|history| {
            history.map(|history| {
                let rules: Vec<Memory> =
                    history.memories.into_iter().filter(|memory| memory.kind == Kind::Rule).collect();
                let of = |rule: &Memory| -> Vec<(MemoryId, RuleEvent)> {
                    events(rule).into_iter().map(|event| (rule.id, event)).collect()
                };
                let mut events: Vec<(MemoryId, RuleEvent)> = rules.iter().flat_map(of).collect();
                events.sort_by_key(|(id, event)| (event.at, *id, event.version));
                RuleHistory { events, rules, revision: history.revision }
            })
        })
    }
}

fn page(state: &NamespaceState, list: &RuleListRequest) -> Page {
    let shelf = state.index.active();
    let rules = shelf.select(&Filter { kinds: vec![Kind::Rule], ..Filter::default() }, Timestamp::MIN);
    let mut ids: Vec<MemoryId> = rules.iter().map(|ordinal| shelf.id(ordinal)).collect();
    ids.retain(|id| list.after.is_none_or(|after| *id > after));
    ids.sort_unstable();
    let wanted = |memory: &&Memory| {
        let is = |rule: &hindsight_core::Rule| {
            let task = rule.condition.task_type.as_ref().or(memory.task_type.as_ref());
            (list.rule_states.is_empty() || list.rule_states.contains(&rule.rule_state))
                && (list.task_types.is_empty() || task.is_some_and(|task| list.task_types.contains(task)))
        };
        memory.is_visible_to(list.agent_id.as_deref()) && memory.rule.as_deref().is_some_and(is)
    };
    let found = ids.iter().filter_map(|id| state.record(*id)).map(|record| &record.memory).filter(wanted);
    let mut memories: Vec<Memory> = found.take(list.page_size + 1).cloned().collect();
    let more = memories.len() > list.page_size;
    memories.truncate(list.page_size);
    Page { memories, more, revision: state.applied }
}

fn visible_rule<'a>(
    state: &'a NamespaceState,
    namespace: &Namespace,
    id: MemoryId,
    agent: Option<&str>,
) -> Result<&'a Memory, EngineError> {
    let record = state.record(id).filter(|record| record.memory.is_visible_to(agent));
    let record = record.ok_or_else(|| EngineError::MemoryNotFound { namespace: namespace.clone(), id })?;
    match record.memory.kind {
        Kind::Rule => Ok(&record.memory),
        kind => Err(EngineError::NotARule { id, kind }),
    }
}

/// The rule that is to change, if it can.
fn changeable<'a>(
    state: &'a NamespaceState,
    namespace: &Namespace,
    id: MemoryId,
    version: Option<u64>,
    to: Option<RuleState>,
) -> Result<&'a Record, EngineError> {
    let record = state.record(id).filter(|record| record.memory.state != State::Forgotten);
    let record = record.ok_or_else(|| EngineError::MemoryNotFound { namespace: namespace.clone(), id })?;
    let memory = &record.memory;
    let Some(rule) = memory.rule.as_deref() else {
        return Err(EngineError::NotARule { id, kind: memory.kind });
    };
    if let Some(given) = version.filter(|given| *given != memory.version) {
        return Err(EngineError::VersionMismatch { id, given, current: memory.version });
    }
    if memory.state != State::Active {
        return Err(EngineError::WrongState { id, state: memory.state, needed: State::Active });
    }
    match to {
        Some(to) if to == rule.rule_state => Err(EngineError::RuleIsSo { id, state: to }),
        _ => Ok(record),
    }
}
