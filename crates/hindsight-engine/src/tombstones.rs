//! Values that were forgotten or purged do not come back unasked: by an extraction that is run again, or an import (L4).
//!
//! A memory that is forgotten is there itself, and says what it said. Of one that is purged the log and the ledger keep keyed
//! hashes of its text and of each of its claims: whoever has them can test whether a value that it knows was purged, and
//! reads none out of them. What the lifecycle archives or supersedes is not forgotten. A restored memory is not either.

use std::collections::{BTreeSet, HashMap};

use hindsight_core::likeness::{Value, values, values_sought};
use hindsight_core::{Memory, MemoryId, Namespace, Purge, State, Timestamp};
use hindsight_storage::erasure::hash_of_value;
use hindsight_storage::io::Io;
use parking_lot::RwLock;

use crate::encounter::Overlay;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::state::NamespaceState;

/// What the forgotten memories of a namespace say, as hashes that are in memory alone.
#[derive(Debug, Default)]
pub(crate) struct ForgottenValues(BTreeSet<(u128, MemoryId)>);

impl ForgottenValues {
    /// A memory was forgotten.
    pub(crate) fn add(&mut self, memory: &Memory) {
        self.0.extend(values(memory).iter().map(|value| (hash(value), memory.id)));
    }

    /// A memory was forgotten and is not any more, or not there any more.
    pub(crate) fn remove(&mut self, memory: &Memory) {
        for value in values(memory) {
            self.0.remove(&(hash(&value), memory.id));
        }
    }

    /// A forgotten memory that says this.
    fn holder(&self, value: &Value) -> Option<MemoryId> {
        let hash = hash(value);
        let all = (hash, MemoryId::from_u128(0))..=(hash, MemoryId::from_u128(u128::MAX));
        self.0.range(all).next().map(|(_, id)| *id)
    }
}

fn hash(value: &Value) -> u128 {
    let mut first = [0; 16];
    first.copy_from_slice(&blake3::hash(value.key.as_bytes()).as_bytes()[..16]);
    u128::from_le_bytes(first)
}

/// Hashes of what was purged, in all namespaces, by their key: one for a database, unless ledgers were put together.
#[derive(Debug, Default)]
pub(crate) struct PurgedValues(RwLock<HashMap<[u8; 32], HashMap<u128, Timestamp>>>);

impl PurgedValues {
    /// A purge was logged, or read.
    pub(crate) fn add(&self, purge: &Purge, at: Timestamp) {
        if !purge.values.is_empty() {
            let mut known = self.0.write();
            let of_key = known.entry(purge.key).or_default();
            of_key.extend(purge.values.iter().map(|hash| (*hash, at)));
        }
    }

    fn is_empty(&self) -> bool {
        self.0.read().is_empty()
    }

    /// When this was purged.
    fn purged_at(&self, namespace: &Namespace, value: &Value) -> Option<Timestamp> {
        let known = self.0.read();
        let mut found =
            known.iter().filter_map(|(key, hashes)| hashes.get(&hash_of_value(key, namespace, &value.key)));
        found.next().copied()
    }
}

impl<I: Io> EngineOver<I> {
    /// Refuses a new memory that says what was forgotten, or a new text of one that did not say it `before`. What an active
    /// memory says as well is no secret any more.
    pub(crate) fn refuse_forgotten(
        &self,
        namespace: &Namespace,
        overlay: &Overlay<'_>,
        new: &Memory,
        before: Option<&Memory>,
        at: Timestamp,
    ) -> Result<(), EngineError> {
        let (state, purged) = (overlay.state(), &self.namespaces.erasures.values);
        if state.forgotten == 0 && purged.is_empty() {
            return Ok(());
        }
        let before = before.map(values_sought).unwrap_or_default();
        for value in values_sought(new).iter().filter(|value| !before.contains(value)) {
            let forgotten = forgotten_at(state, value);
            let Some((id, forgotten_at)) =
                forgotten.or_else(|| Some((None, purged.purged_at(namespace, value)?)))
            else {
                continue;
            };
            if !overlay.says(new, value, at) {
                let what = if value.is_claim { "a claim of it" } else { "its text" };
                return Err(EngineError::TombstonedValue { what, id, forgotten_at });
            }
        }
        Ok(())
    }
}

fn forgotten_at(state: &NamespaceState, value: &Value) -> Option<(Option<MemoryId>, Timestamp)> {
    let id = state.forgotten_values.holder(value)?;
    let memory = &state.record(id)?.memory;
    debug_assert_eq!(memory.state, State::Forgotten);
    Some((Some(id), memory.updated_at))
}
