//! What a namespace holds in memory at one log position.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::{Lsn, MemoryId, Record, State, Timestamp};
use hindsight_index::NamespaceIndex;

use crate::reply::Model;
use crate::requests::Requests;

/// A namespace's memories and everything derived of them. It changes through `apply` only.
#[derive(Debug, Default)]
pub(crate) struct NamespaceState {
    /// Every memory in whatever state, with its vectors, in the order of ids.
    pub(crate) records: BTreeMap<MemoryId, Arc<Record>>,
    /// How many of them are forgotten.
    pub(crate) forgotten: usize,
    /// What is derived of the records: rebuilt by replay.
    pub(crate) index: NamespaceIndex,
    /// The request ids that were seen lately.
    pub(crate) requests: Requests,
    /// The model of the vectors, fixed by the first of them (W12).
    pub(crate) model: Option<Model>,
    /// The newest batch that is in here.
    pub(crate) applied: Lsn,
    /// When that batch was decided; the next one is later, whatever the clock says.
    pub(crate) last_at: Option<Timestamp>,
}

impl NamespaceState {
    /// The record of a memory, in whatever state.
    pub(crate) fn record(&self, id: MemoryId) -> Option<&Arc<Record>> {
        self.records.get(&id)
    }

    /// Memories that are not forgotten.
    pub(crate) fn present(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.records.values().filter(|record| record.memory.state != State::Forgotten)
    }
}
