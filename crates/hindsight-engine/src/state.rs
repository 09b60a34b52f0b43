//! What a namespace holds in memory at one log position.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hindsight_core::{Lsn, Memory, MemoryId, Record, Settings, State, Timestamp};
use hindsight_index::NamespaceIndex;
use hindsight_storage::Digest;

use crate::gauge::Gauge;
use crate::reply::Model;
use crate::requests::Requests;
use crate::tombstones::ForgottenValues;

/// A namespace's memories and everything derived of them. It changes through `apply` only.
#[derive(Debug, Default)]
pub(crate) struct NamespaceState {
    /// Every memory in whatever state, with its vectors, in the order of ids.
    pub(crate) records: BTreeMap<MemoryId, Held>,
    /// How many of them are forgotten.
    pub(crate) forgotten: usize,
    /// What these say.
    pub(crate) forgotten_values: ForgottenValues,
    /// What came of what: a memory and one that was made from it.
    pub(crate) derived: BTreeSet<(MemoryId, MemoryId)>,
    /// What superseded what: the newer memory and the older one.
    pub(crate) superseded: BTreeSet<(MemoryId, MemoryId)>,
    /// What is derived of the records: rebuilt by replay.
    pub(crate) index: NamespaceIndex,
    /// How good answers through the graph of the index are.
    pub(crate) gauge: Gauge,
    /// The request ids that were seen lately.
    pub(crate) requests: Requests,
    /// The model of the vectors, fixed by the first of them (W12).
    pub(crate) model: Option<Model>,
    /// What is set about the namespace.
    pub(crate) settings: Settings,
    /// The batch that said so last, or a later one that is durable; 0 when none did.
    pub(crate) settings_at: Lsn,
    /// The newest batch that is in here.
    pub(crate) applied: Lsn,
    /// When that batch was decided; the next one is later, whatever the clock says.
    pub(crate) last_at: Option<Timestamp>,
    /// The newest batch that record files hold; what is newer is in the log alone.
    pub(crate) stored: Lsn,
    /// The memories that changed since.
    pub(crate) dirty: BTreeSet<MemoryId>,
    /// The newest batch that took something away which its record files may still have; 0 when there is none. They are
    /// rewritten at the next checkpoint.
    pub(crate) gone: Lsn,
    /// The newest batch that dropped the namespace; 0 when none did.
    pub(crate) dropped: Lsn,
    /// Whether what the manifest has under this name may be from before that.
    pub(crate) has_old_files: bool,
    /// An order-independent digest over id, version and batch of every memory, held against the manifest at load.
    pub(crate) digest: Digest,
}

/// A memory with its vectors, and the batch of its newest change.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) record: Arc<Record>,
    pub(crate) lsn: Lsn,
}

impl NamespaceState {
    /// Whether anything was written here since the namespace was dropped, if it was.
    pub(crate) fn is_there(&self) -> bool {
        self.applied > self.dropped
    }

    /// The record of a memory, in whatever state.
    pub(crate) fn record(&self, id: MemoryId) -> Option<&Arc<Record>> {
        self.records.get(&id).map(|held| &held.record)
    }

    /// The memory that superseded one, if it is still there.
    pub(crate) fn successor(&self, memory: &Memory) -> Option<&Memory> {
        let record = self.record(memory.superseded_by?)?;
        Some(&record.memory).filter(|memory| memory.state != State::Forgotten)
    }

    /// The memories that one superseded.
    pub(crate) fn superseded_by(&self, id: MemoryId) -> impl Iterator<Item = MemoryId> {
        let all = (id, MemoryId::from_u128(0))..=(id, MemoryId::from_u128(u128::MAX));
        self.superseded.range(all).map(|(_, older)| *older)
    }

    /// The memories that were made from one.
    pub(crate) fn derived_of(&self, id: MemoryId) -> impl Iterator<Item = MemoryId> {
        let all = (id, MemoryId::from_u128(0))..=(id, MemoryId::from_u128(u128::MAX));
        self.derived.range(all).map(|(_, derived)| *derived)
    }

    /// What was made from these (in the order of ids), and from that in turn, without them, in the order of ids; at most `most`. Those that are
    /// forgotten count only if they are wanted.
    pub(crate) fn lineage(&self, ids: &[MemoryId], with_forgotten: bool, most: usize) -> Vec<MemoryId> {
        let mut found: BTreeSet<MemoryId> = BTreeSet::new();
        let mut next: Vec<MemoryId> = ids.to_vec();
        while let Some(id) = next.pop() {
            for derived in self.derived_of(id) {
                if found.len() >= most {
                    break;
                }
                if ids.binary_search(&derived).is_err() && found.insert(derived) {
                    next.push(derived);
                }
            }
        }
        let is_wanted = |id: &MemoryId| {
            self.record(*id).is_some_and(|one| with_forgotten || one.memory.state != State::Forgotten)
        };
        found.into_iter().filter(is_wanted).collect()
    }

    /// Memories that are not forgotten.
    pub(crate) fn present(&self) -> impl Iterator<Item = &Arc<Record>> {
        let records = self.records.values().map(|held| &held.record);
        records.filter(|record| record.memory.state != State::Forgotten)
    }
}
