//! Reading: one memory, a page of them, and counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::limits::PAGE_SIZE_MAX;
use hindsight_core::{Invalid, Lsn, Memory, MemoryId, Namespace, Record, State};
use hindsight_storage::directory::MemoryKey;
use hindsight_storage::io::Io;

use crate::decide::now;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::{Got, NamespaceStats, Page, VectorGraph};
use crate::request::ListRequest;
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

impl<I: Io> EngineOver<I> {
    /// One memory, in whatever state it is; one that another agent keeps to itself is not there.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(
        &self,
        namespace: &Namespace,
        id: MemoryId,
        agent: Option<&str>,
    ) -> Result<Unsynced<Got, I>, EngineError> {
        let not_found = || EngineError::MemoryNotFound { namespace: namespace.clone(), id };
        let cell = self.namespaces.get(namespace).ok_or_else(not_found)?;
        if let Some((memory, revision)) = self.get_cold(&cell, id) {
            let memory = Some(memory).filter(|memory| memory.is_visible_to(agent)).ok_or_else(not_found)?;
            return Ok(self.unsynced(Got { memory, revision }, revision));
        }
        self.namespaces.load(&cell, self.storage.records())?;
        let state = cell.state.read();
        let record = state.record(id).filter(|record| record.memory.is_visible_to(agent));
        let record = record.ok_or_else(not_found)?;
        let got = Got { memory: record.memory.clone(), revision: state.applied };
        Ok(self.answer(&state, got, state.applied))
    }

    /// One memory of a namespace that is not loaded, read from where the directory says that it lies. The directory is no
    /// authority: `None` whenever there is a doubt, and also when it knows of no such memory; then the namespace is loaded.
    fn get_cold(&self, cell: &Cell, id: MemoryId) -> Option<(Memory, Lsn)> {
        let (namespace, applied) = cell.cold_place(id)?;
        let key = MemoryKey { namespace, id };
        let position = self.storage.find(key)?;
        let found = match self.storage.read_at(position) {
            Ok(found) => found?,
            Err(error) => {
                // Loading the namespace tells whether the record is damaged or the directory wrong.
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a record can't be read by its position"
                );
                self.storage.distrust_directory(key, position);
                return None;
            }
        };
        let (found_id, lsn, Record { memory, .. }) = found;
        if found_id != id || memory.namespace != cell.name || lsn > applied {
            self.storage.distrust_directory(key, position);
            return None;
        }
        // IMPORTANT: nobody writes to a namespace before it is loaded. So if it still is not, nothing newer than this
        // was there when it was read, and nothing newer can have been seen by anyone.
        (!cell.is_loaded()).then_some((memory, applied))
    }

    /// A page of memories in the order of their ids. Forgotten ones only where the filter names that state.
    ///
    /// # Errors
    /// When the filter or the page size is wrong.
    pub fn list(&self, namespace: &Namespace, list: &ListRequest) -> Result<Unsynced<Page, I>, EngineError> {
        list.filter.check("filter")?;
        if !(1..=PAGE_SIZE_MAX).contains(&list.page_size) {
            let problem = format!("is {}: expected 1 to {PAGE_SIZE_MAX}", list.page_size);
            return Err(Invalid::one("page_size", problem).into());
        }
        // Asked first: the namespace may begin right after it was not there.
        let revision = self.revision();
        let Some(cell) = self.loaded(namespace)? else {
            return Ok(self.unsynced(Page { memories: Vec::new(), more: false, revision }, revision));
        };
        let state = cell.state.read();
        let page = page(&state, list, now(&*self.io));
        Ok(self.answer(&state, page, state.applied))
    }

    /// Content and summary of a memory as they are now, whoever may see it: for an embedder that makes its vectors anew.
    /// They are no answer to anybody.
    #[must_use]
    pub fn texts(&self, namespace: &Namespace, id: MemoryId) -> Option<(String, String)> {
        let cell = self.loaded(namespace).ok()??;
        let state = cell.state.read();
        let memory = &state.record(id)?.memory;
        Some((memory.content.clone(), memory.summary.clone()))
    }

    /// Counts what a namespace holds.
    ///
    /// # Errors
    /// When nothing was ever written to it.
    pub fn stats(&self, namespace: &Namespace) -> Result<Unsynced<NamespaceStats, I>, EngineError> {
        let cell = self.loaded(namespace)?;
        let cell = cell.ok_or_else(|| EngineError::NamespaceNotFound { namespace: namespace.clone() })?;
        let state = cell.state.read();
        if !state.is_there() {
            return Err(EngineError::NamespaceNotFound { namespace: namespace.clone() });
        }
        Ok(self.answer(&state, count(&state), state.applied))
    }

    /// The namespace of a memory that must be there.
    pub(crate) fn existing(&self, namespace: &Namespace, id: MemoryId) -> Result<Arc<Cell>, EngineError> {
        let cell = self.loaded(namespace)?;
        cell.ok_or_else(|| EngineError::MemoryNotFound { namespace: namespace.clone(), id })
    }
}

fn page(state: &NamespaceState, list: &ListRequest, now: hindsight_core::Timestamp) -> Page {
    use std::ops::Bound;

    let from = list.after.map_or(Bound::Unbounded, Bound::Excluded);
    let asks_for_a_state = list.filter.names_a_state();
    let wanted = |memory: &Memory| {
        (asks_for_a_state || memory.state != State::Forgotten)
            && memory.is_visible_to(list.agent_id.as_deref())
            && list.filter.matches(memory, now)
    };
    let mut found = state.records.range((from, Bound::Unbounded)).map(|(_, held)| &held.record.memory);
    let mut memories: Vec<Memory> = Vec::new();
    let more = loop {
        match found.next() {
            None => break false,
            Some(memory) if !wanted(memory) => {}
            Some(_) if memories.len() == list.page_size => break true,
            Some(memory) => memories.push(memory.clone()),
        }
    };
    Page { memories, more, revision: state.applied }
}

pub(crate) fn graph_of(state: &NamespaceState) -> Option<VectorGraph> {
    let graph = state.index.active().vectors().graph_stats()?;
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let measured = VectorGraph {
        covered: wide(graph.covered),
        dead: wide(graph.dead),
        newer: wide(graph.newer),
        bytes: wide(graph.bytes),
        ..state.gauge.measured()
    };
    Some(measured)
}

fn count(state: &NamespaceState) -> NamespaceStats {
    let mut by_state: BTreeMap<State, u64> = BTreeMap::new();
    for held in state.records.values() {
        *by_state.entry(held.record.memory.state).or_default() += 1;
    }
    let (mut by_kind, mut by_status) = (BTreeMap::new(), BTreeMap::new());
    let mut stats =
        NamespaceStats { model: state.model.clone(), revision: state.applied, ..NamespaceStats::default() };
    for record in state.present() {
        let memory = &record.memory;
        *by_kind.entry(memory.kind).or_default() += 1;
        if let Some(status) = memory.status {
            *by_status.entry(status).or_default() += 1;
        }
        stats.embedded += u64::from(!record.vectors.is_empty());
        stats.oldest_at =
            Some(stats.oldest_at.map_or(memory.occurred_at, |oldest| oldest.min(memory.occurred_at)));
        stats.newest_at = stats.newest_at.max(Some(memory.occurred_at));
    }
    stats.by_kind = by_kind.into_iter().map(|(kind, count)| (kind.as_str(), count)).collect();
    stats.by_status = by_status.into_iter().map(|(status, count)| (status.as_str(), count)).collect();
    stats.by_state = by_state.into_iter().map(|(state, count)| (state.as_str(), count)).collect();
    stats.vector_graph = graph_of(state);
    stats.terms = u64::try_from(state.index.stats().active.lexical.terms).unwrap_or(u64::MAX);
    stats
}
