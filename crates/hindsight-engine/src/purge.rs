//! Purging: memories are gone for good, by id, by filter or with their namespace (L3, L4).

use hindsight_core::likeness::values;
use hindsight_core::limits::FORGET_IDS_MAX;
use hindsight_core::{
    Filter, Invalid, Lsn, MemoryId, Namespace, Purge, PurgeRequestHash, Purged, RequestKey,
};
use hindsight_storage::erasure::{hash_of_memory, hash_of_namespace, hash_of_request, hash_of_value};
use hindsight_storage::io::Io;
use hindsight_storage::{Erasure, ErasureReceipt, Storage};

use crate::decide::{next_time, now};
use crate::engine::EngineOver;
use crate::erase::{Erasures, commit};
use crate::error::EngineError;
use crate::forget::{check_ids, known};
use crate::namespaces::Cell;
use crate::reply::PurgeDone;
use crate::request::{PurgeRequest, PurgeTarget};
use crate::requests::key;
use crate::state::NamespaceState;

impl<I: Io> EngineOver<I> {
    /// Purges memories, forgotten ones too, and waits until no byte of them is left in the data directory. Nobody finds them
    /// from the moment on at which this is logged; whatever happens then, they are erased.
    ///
    /// # Errors
    /// When an id or the namespace is unknown, the filter is empty, the count is not the expected one, or the log fails: then
    /// nothing is purged. [`EngineError::ErasurePending`] when it is purged and its bytes can't be erased now.
    pub fn purge(&self, namespace: &Namespace, purge: PurgeRequest) -> Result<PurgeDone, EngineError> {
        let begun = self.begin_purge(namespace, purge)?;
        let Some(lsn) = begun.purged else { return Ok(begun.answer) };
        let receipt = self.finish_purge(lsn)?;
        Ok(PurgeDone { receipt: Some(receipt), ..begun.answer })
    }

    /// The first half of [`EngineOver::purge`]: decides and logs it, and takes the memories out of every answer. It is not
    /// durable when this returns, and nothing is erased: [`EngineOver::erase_step`] does both.
    ///
    /// # Errors
    /// As [`EngineOver::purge`], but for [`EngineError::ErasurePending`].
    pub fn begin_purge(&self, namespace: &Namespace, purge: PurgeRequest) -> Result<PurgeBegun, EngineError> {
        let asked = match &purge.target {
            PurgeTarget::Ids(ids) => ("ids", ids.as_slice(), None, None, purge.validate_only),
            PurgeTarget::Matching { filter, expected_count } => {
                ("matching", &[][..], Some(filter), *expected_count, purge.validate_only)
            }
            PurgeTarget::Namespace { expected_count } => {
                ("namespace", &[][..], None, *expected_count, purge.validate_only)
            }
        };
        let call = if purge.with_derived { "purge, with derived" } else { "purge" };
        let request = key(purge.request_id.as_deref(), call, &asked)?;
        check_target(&purge.target)?;
        let cell = self.loaded(namespace)?;
        let _writer = cell.as_ref().map(|cell| cell.lock_writer());
        if let Some(seen) = self.purged_before(namespace, request.as_ref())? {
            return Ok(PurgeBegun::again(&seen));
        }
        let Some(cell) = &cell else { return nowhere(namespace, &purge.target, self.revision()) };
        let is_whole = matches!(purge.target, PurgeTarget::Namespace { .. });
        let (ids, derived, at) = {
            let state = cell.state.read();
            let ids = targets(cell, &state, &purge, now(&*self.io))?;
            let derived = if is_whole { Vec::new() } else { state.lineage(&ids, true, FORGET_IDS_MAX) };
            (ids, derived, next_time(&*self.io, &state))
        };
        if purge.validate_only || (ids.is_empty() && !is_whole) {
            return Ok(PurgeBegun::nothing(&ids, derived, cell.state.read().applied));
        }
        let key = self.namespaces.erasures.key(&*self.io, &self.storage)?;
        let mut purge = if is_whole {
            let target = Purged::Namespace(hash_of_namespace(&key, namespace));
            Purge { key, target, memories: ids.len() as u64, request: None, values: Vec::new() }
        } else {
            purge_of(key, namespace, &cell.state.read(), &ids)
        };
        purge.request = request.map(|RequestKey { id, digest }| PurgeRequestHash {
            id: hash_of_request(&key, namespace, &id, None),
            digest: hash_of_request(&key, namespace, &id, Some(digest)),
        });
        let lsn = commit(&self.storage, &self.namespaces, cell, purge, at)?;
        // Who takes one of these ids anew was not returned by these recalls.
        cell.accesses.lock().retain(|id, _| !is_whole && !ids.contains(id));
        if is_whole {
            self.sessions.lock().drop_namespace(namespace);
        }
        Ok(PurgeBegun { purged: Some(lsn), ..PurgeBegun::nothing(&ids, derived, lsn) })
    }

    /// Erases, and hands over the receipt of the purge at this position.
    fn finish_purge(&self, lsn: Lsn) -> Result<ErasureReceipt, EngineError> {
        let erased = self.erase_step()?;
        let with_lists = self.namespaces.erasures.receipt(lsn);
        let in_ledger =
            || self.storage.erasures().iter().find(|one| one.lsn == lsn).and_then(Erasure::receipt);
        with_lists.or_else(in_ledger).ok_or_else(|| EngineError::ErasurePending {
            lsn,
            waits_for: erased.waits_for.unwrap_or_else(|| "the next step of the job".to_owned()),
        })
    }

    /// The purge that a request with this id made.
    fn purged_before(
        &self,
        namespace: &Namespace,
        request: Option<&RequestKey>,
    ) -> Result<Option<Erasure>, EngineError> {
        let Some(RequestKey { id, digest }) = request else { return Ok(None) };
        let pending = self.namespaces.erasures.pending.lock().clone();
        for erasure in pending.into_iter().chain(self.storage.erasures()) {
            let key = &erasure.purge.key;
            let Some(before) = erasure.purge.request else { continue };
            if before.id == hash_of_request(key, namespace, id, None) {
                let is_same = before.digest == hash_of_request(key, namespace, id, Some(*digest));
                let reused = EngineError::RequestIdReused { request_id: id.clone() };
                return if is_same { Ok(Some(erasure)) } else { Err(reused) };
            }
        }
        Ok(None)
    }
}

/// A purge that is logged, or was not necessary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeBegun {
    /// The position of the purge; `None` when nothing is purged.
    pub purged: Option<Lsn>,
    /// The answer, without a receipt.
    pub answer: PurgeDone,
}

impl PurgeBegun {
    fn nothing(ids: &[MemoryId], derived: Vec<MemoryId>, revision: Lsn) -> PurgeBegun {
        let count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        let ids = ids.iter().copied().take(FORGET_IDS_MAX).collect();
        let answer = PurgeDone { count, ids, derived, replayed: false, revision, receipt: None };
        PurgeBegun { purged: None, answer }
    }

    fn again(seen: &Erasure) -> PurgeBegun {
        let count = u32::try_from(seen.purge.memories).unwrap_or(u32::MAX);
        let (ids, revision) = (Vec::new(), seen.lsn);
        let derived = Vec::new();
        let answer = PurgeDone { count, ids, derived, replayed: true, revision, receipt: None };
        PurgeBegun { purged: Some(seen.lsn), answer }
    }
}

impl Erasures {
    /// The key of this database's purges: that of earlier ones, or a new one.
    pub(crate) fn key<I: Io>(
        &self,
        io: &I,
        storage: &Storage<std::sync::Arc<I>>,
    ) -> Result<[u8; 32], EngineError> {
        let before = || storage.erasures().last().map(|erasure| erasure.purge.key);
        let mut kept = self.key.lock();
        if let Some(key) = kept.or_else(before) {
            *kept = Some(key);
            return Ok(key);
        }
        let mut key = [0; 32];
        for part in key.chunks_exact_mut(8) {
            part.copy_from_slice(&io.random()?.to_le_bytes());
        }
        *kept = Some(key);
        Ok(key)
    }
}

/// The purge of these memories. What they say is not to come back unasked.
pub(crate) fn purge_of(
    key: [u8; 32],
    namespace: &Namespace,
    state: &NamespaceState,
    ids: &[MemoryId],
) -> Purge {
    let mut hashes: Vec<u128> = ids.iter().map(|id| hash_of_memory(&key, namespace, *id)).collect();
    hashes.sort_unstable();
    let said = ids.iter().filter_map(|id| state.record(*id)).flat_map(|record| values(&record.memory));
    let mut values: Vec<u128> = said.map(|value| hash_of_value(&key, namespace, &value.key)).collect();
    values.sort_unstable();
    values.dedup();
    Purge { key, target: Purged::Memories(hashes), memories: ids.len() as u64, request: None, values }
}

fn check_target(target: &PurgeTarget) -> Result<(), Invalid> {
    match target {
        PurgeTarget::Ids(ids) => check_ids(ids),
        PurgeTarget::Matching { filter, .. } if *filter == Filter::default() => Err(Invalid::one(
            "filter",
            "is empty and would match every memory: name ids, a condition, or the whole namespace",
        )),
        PurgeTarget::Matching { filter, .. } => filter.check("filter"),
        PurgeTarget::Namespace { .. } => Ok(()),
    }
}

/// The memories that are to go, whatever their state.
fn targets(
    cell: &Cell,
    state: &NamespaceState,
    purge: &PurgeRequest,
    now: hindsight_core::Timestamp,
) -> Result<Vec<MemoryId>, EngineError> {
    let (mut ids, expected_count) = match &purge.target {
        PurgeTarget::Ids(ids) => (known(cell, state, ids)?, None),
        PurgeTarget::Matching { filter, expected_count } => {
            let matching = state.records.iter().filter(|(_, held)| filter.matches(&held.record.memory, now));
            (matching.map(|(id, _)| *id).collect(), *expected_count)
        }
        PurgeTarget::Namespace { .. } if !state.is_there() => {
            return Err(EngineError::NamespaceNotFound { namespace: cell.name.clone() });
        }
        PurgeTarget::Namespace { expected_count } => {
            (state.records.keys().copied().collect::<Vec<MemoryId>>(), *expected_count)
        }
    };
    if purge.with_derived {
        ids.extend(state.lineage(&ids, true, usize::MAX));
        ids.sort_unstable();
    }
    let found = u32::try_from(ids.len()).unwrap_or(u32::MAX);
    match expected_count {
        Some(expected) if expected != found => Err(EngineError::CountMismatch { expected, found }),
        _ => Ok(ids),
    }
}

/// In a namespace that is not there an id is unknown, and a filter matches nothing.
fn nowhere(namespace: &Namespace, target: &PurgeTarget, revision: Lsn) -> Result<PurgeBegun, EngineError> {
    match target {
        PurgeTarget::Ids(ids) => {
            let id = ids.first().copied().unwrap_or(MemoryId::from_u128(0));
            Err(EngineError::MemoryNotFound { namespace: namespace.clone(), id })
        }
        PurgeTarget::Matching { expected_count: Some(expected), .. } if *expected != 0 => {
            Err(EngineError::CountMismatch { expected: *expected, found: 0 })
        }
        PurgeTarget::Matching { .. } => Ok(PurgeBegun::nothing(&[], Vec::new(), revision)),
        PurgeTarget::Namespace { .. } => Err(EngineError::NamespaceNotFound { namespace: namespace.clone() }),
    }
}
