//! What a namespace weighs in memory, estimated: what the memory budget goes by.

use hindsight_core::{Memory, Record};

use crate::state::NamespaceState;

/// Bytes of a memory beside its texts and vectors: its struct, its place in the map, and its lists.
const RECORD_BYTES: usize = 1_200;
/// Bytes of a small thing in a list, with its allocation.
const ITEM_BYTES: usize = 64;
/// Bytes of a namespace with nothing in it.
const EMPTY_BYTES: usize = 4_096;

impl NamespaceState {
    /// Estimated bytes in memory. Goes through every memory.
    pub(crate) fn bytes(&self) -> u64 {
        let records: usize = self.records.values().map(|held| record_bytes(&held.record)).sum();
        let requests = self.requests.len() * ITEM_BYTES * 2;
        (EMPTY_BYTES + records + requests + self.index.stats().bytes()) as u64
    }
}

fn record_bytes(record: &Record) -> usize {
    let vectors: usize = record
        .vectors
        .iter()
        .map(|vector| vector.embedding.dimension() * size_of::<f32>() + ITEM_BYTES)
        .sum();
    RECORD_BYTES + vectors + memory_bytes(&record.memory)
}

fn memory_bytes(memory: &Memory) -> usize {
    let words = memory.keywords.iter().chain(&memory.tags).map(|word| word.len() + ITEM_BYTES).sum::<usize>();
    let items = memory.entities.len() * 2 + memory.claims.len() * 4 + memory.derived_from.len();
    let actions = memory.episode.as_ref().map_or(0, |episode| episode.actions.len());
    memory.content.len()
        + memory.summary.len()
        + words
        + (items + actions * 8 + memory.metadata.len() * 4) * ITEM_BYTES
}
