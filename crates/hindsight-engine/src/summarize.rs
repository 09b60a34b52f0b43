//! Many memories of one entity as one (L6).

use hindsight_core::limits::ENTITIES_MAX;
use hindsight_core::summary::{Summary, summarize};
use hindsight_core::{
    Batch, Change, Filter, Invalid, Kind, Memory, MemoryId, Namespace, Record, Scope, Timestamp, learn,
};
use hindsight_storage::io::Io;

use crate::consolidate::{born, fitting};
use crate::decide::{CheckedVectors, fresh_id, next_time, now};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::reply::Summarized;
use crate::request::SummarizeRequest;
use crate::requests::{Seen, key};
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

/// Most memories of an entity that are looked at, the oldest.
const CANDIDATES_MAX: usize = 1_000;

impl<I: Io> EngineOver<I> {
    /// Merges what is known of an entity into one memory that names its parts; they become history behind it, and a
    /// rollback of it brings them back.
    ///
    /// # Errors
    /// When a field is wrong, the namespace is unknown, too few memories can be parts, or the log fails.
    pub fn summarize(
        &self,
        namespace: &Namespace,
        summarize: SummarizeRequest,
    ) -> Result<Unsynced<Summarized, I>, EngineError> {
        let SummarizeRequest { entity, kinds, agent_id, validate_only, request_id } = &summarize;
        let request = key(request_id.as_deref(), "summarize", &(entity, kinds, agent_id, validate_only))?;
        check(&summarize)?;
        let unknown = || EngineError::NamespaceNotFound { namespace: namespace.clone() };
        let cell = self.loaded(namespace)?.ok_or_else(unknown)?;
        let first = {
            let state = cell.state.read();
            if let Some(seen) = state.requests.seen(request.as_ref())? {
                return Ok(self.answer(&state, done_before(&state, seen)?, state.applied));
            }
            plan(&state, &summarize, now(&*self.io))?
        };
        if *validate_only {
            let revision = cell.state.read().applied;
            let id = MemoryId::new(now(&*self.io), 0);
            let Summary { draft, parts, left_out } = first;
            let mut memory = born(draft, id, namespace, CheckedVectors::default(), now(&*self.io))?.memory;
            memory.version = 0;
            let done = Summarized { summary: memory, parts, left_out, replayed: false, revision };
            return Ok(self.answer_of(&cell, done, revision));
        }
        // Vectors are made before anybody waits; they are used if the text is still the same by then.
        let vectors = self.embed.vectors_of(&first.draft.content);
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            let state = cell.state.read();
            return Ok(self.answer(&state, done_before(&state, &seen)?, state.applied));
        }
        let (record, changes, done, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            let Summary { draft, parts, left_out } = plan(&state, &summarize, at)?;
            let vectors = vectors.filter(|_| draft.content == first.draft.content);
            let vectors = fitting(&cell, &state, vectors.as_ref());
            let record = born(draft, fresh_id(&*self.io, &state, None, at)?, namespace, vectors, at)?;
            let changes = behind(&state, &record, &parts, at);
            (record, changes, (parts, left_out), at)
        };
        let (summary, (parts, left_out)) = (record.memory.clone(), done);
        let changes = std::iter::once(Change::Put(Box::new(record))).chain(changes).collect();
        let revision = self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?;
        let done = Summarized { summary, parts, left_out, replayed: false, revision };
        Ok(self.answer_of(&cell, done, revision))
    }
}

fn check(summarize: &SummarizeRequest) -> Result<(), Invalid> {
    if summarize.entity.trim().is_empty() {
        return Err(Invalid::one("entity", "is missing: name whom or what the summary is about"));
    }
    if summarize.kinds.len() > ENTITIES_MAX {
        return Err(Invalid::one("kinds", format!("has {} kinds", summarize.kinds.len())));
    }
    match summarize.kinds.iter().find(|kind| matches!(kind, Kind::Rule | Kind::Procedure)) {
        Some(kind) => {
            let problem = format!(
                "names {kind}: expected fact, preference or episode, since a {kind} stands for itself"
            );
            Err(Invalid::one("kinds", problem))
        }
        None => Ok(()),
    }
}

fn plan(state: &NamespaceState, wanted: &SummarizeRequest, at: Timestamp) -> Result<Summary, EngineError> {
    let kinds =
        if wanted.kinds.is_empty() { vec![Kind::Fact, Kind::Preference] } else { wanted.kinds.clone() };
    let filter = Filter { kinds, entities: vec![wanted.entity.clone()], ..Filter::default() };
    let shelf = state.index.active();
    let found = shelf.select(&filter, at).and(&shelf.current_at(at));
    let records = found.iter().filter_map(|ordinal| state.record(shelf.id(ordinal)));
    let of_scope = |memory: &&Memory| match &wanted.agent_id {
        Some(agent) => memory.scope == Scope::Agent && memory.agent_id.as_ref() == Some(agent),
        None => memory.scope == Scope::Shared,
    };
    let mut memories: Vec<&Memory> = records.map(|record| &record.memory).filter(of_scope).collect();
    memories.sort_by_key(|memory| (memory.occurred_at, memory.id));
    memories.truncate(CANDIDATES_MAX);
    Ok(summarize(&wanted.entity, &memories)?)
}

/// The parts become history behind their summary.
fn behind(state: &NamespaceState, summary: &Record, parts: &[MemoryId], at: Timestamp) -> Vec<Change> {
    let parts = parts.iter().filter_map(|id| state.record(*id)).map(|record| &record.memory);
    parts
        .map(|part| Change::Stand {
            id: part.id,
            standing: Box::new(learn::merged(part, summary.memory.id)),
            version: part.version + 1,
            at,
        })
        .collect()
}

/// The summary of a request that came before, as it is now.
fn done_before(state: &NamespaceState, seen: &Seen) -> Result<Summarized, EngineError> {
    let missing = EngineError::Unapplicable { lsn: seen.lsn.0, what: "a request's memory is missing" };
    let record = seen.ids.first().and_then(|id| state.record(*id)).ok_or(missing)?;
    let parts = seen.ids.iter().skip(1).copied().collect();
    let (summary, left_out) = (record.memory.clone(), Vec::new());
    Ok(Summarized { summary, parts, left_out, replayed: true, revision: seen.lsn })
}
