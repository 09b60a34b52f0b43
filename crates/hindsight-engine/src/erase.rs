//! What a purge leaves to do: erasing the bytes, and purging what was forgotten long ago (L3, L4).

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use hindsight_core::{Batch, Change, Lsn, Memory, MemoryId, Purge, Purged, State, Timestamp};
use hindsight_storage::io::Io;
use hindsight_storage::{Erased, Erasure, ErasureReceipt, Loaded, Pace, Storage, Urgency};
use parking_lot::Mutex;

use crate::checkpoint;
use crate::decide::{next_time, now};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::{Cell, Namespaces};
use crate::purge::purge_of;
use crate::state::NamespaceState;
use crate::tombstones::PurgedValues;

/// So many receipts are kept with their lists of files.
const RECEIPTS_KEPT: usize = 16;

/// The purges that are logged and not in the ledger yet, and what a purge needs besides.
#[derive(Debug, Default)]
pub(crate) struct Erasures {
    /// Held while a purge gets its position, so that none is missing here that a checkpoint can know of.
    pub(crate) pending: Mutex<Vec<Erasure>>,
    /// The key of this database's purges, once one was needed.
    pub(crate) key: Mutex<Option<[u8; 32]>>,
    receipts: Mutex<VecDeque<ErasureReceipt>>,
    /// What was purged is known again.
    pub(crate) values: PurgedValues,
}

/// What a step of the purge job did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PurgeStep {
    /// Memories that had been forgotten for too long and are purged now.
    pub expired: u64,
    /// What is erased.
    pub receipts: Vec<ErasureReceipt>,
    /// What the erasure still waits for; the next step goes on.
    pub waits_for: Option<String>,
}

impl Erasures {
    /// Takes those up to a position.
    pub(crate) fn take(&self, lsn: Lsn) -> Vec<Erasure> {
        let mut pending = self.pending.lock();
        let (taken, left) = std::mem::take(&mut *pending).into_iter().partition(|one| one.lsn <= lsn);
        *pending = left;
        taken
    }

    /// A batch of the log, read at the start: if it purges, that is to be carried out, unless the ledger says it was.
    pub(crate) fn replay(&self, lsn: Lsn, batch: &Batch) {
        for change in &batch.changes {
            if let Change::Purge(purge) = change {
                let purge = purge.as_ref().clone();
                self.values.add(&purge, batch.at);
                self.pending.lock().push(Erasure { lsn, at: batch.at, purge, done: None });
            }
        }
    }

    /// The receipt of a purge, as it was made.
    pub(crate) fn receipt(&self, lsn: Lsn) -> Option<ErasureReceipt> {
        self.receipts.lock().iter().find(|receipt| receipt.lsn == lsn).cloned()
    }

    fn keep(&self, receipts: &[ErasureReceipt]) {
        let mut kept = self.receipts.lock();
        kept.extend(receipts.iter().cloned());
        let surplus = kept.len().saturating_sub(RECEIPTS_KEPT);
        kept.drain(..surplus);
    }
}

/// Whether a purge is logged whose bytes may still be on the disk.
pub(crate) fn is_due<I: Io>(storage: &Storage<Arc<I>>, namespaces: &Namespaces) -> bool {
    !namespaces.erasures.pending.lock().is_empty() || storage.is_erasure_due()
}

/// Erases what was purged.
///
/// # Errors
/// As [`Storage::erase`].
pub(crate) fn erase<I: Io>(
    storage: &Storage<Arc<I>>,
    namespaces: &Namespaces,
) -> Result<Erased, EngineError> {
    let erased = checkpoint::erase(storage, namespaces)?;
    namespaces.erasures.keep(&erased.receipts);
    for receipt in &erased.receipts {
        let (lsn, memories, files) = (receipt.lsn, receipt.memories, receipt.done.files_removed);
        tracing::info!(%lsn, memories, files_removed = files, "a purge is erased");
    }
    Ok(erased)
}

/// The memories that were forgotten before `cutoff`.
pub(crate) fn forgotten_before(state: &NamespaceState, cutoff: Timestamp) -> Vec<MemoryId> {
    let is_expired = |memory: &Memory| memory.state == State::Forgotten && memory.updated_at < cutoff;
    let expired = state.records.iter().filter(|(_, held)| is_expired(&held.record.memory));
    expired.map(|(id, _)| *id).collect()
}

/// Logs the purge of what was forgotten before `cutoff` in a namespace that is in memory. Returns how many memories that
/// were.
///
/// # Errors
/// When the log fails.
pub(crate) fn purge_forgotten<I: Io>(
    engine: &EngineOver<I>,
    cell: &Cell,
    cutoff: Timestamp,
) -> Result<u64, EngineError> {
    let EngineOver { io, storage, namespaces, .. } = engine;
    let _writer = cell.lock_writer();
    let state = cell.state.read();
    let (ids, at) = (forgotten_before(&state, cutoff), next_time(&**io, &state));
    if ids.is_empty() {
        return Ok(0);
    }
    let purge = purge_of(namespaces.erasures.key(&**io, storage)?, &cell.name, &state, &ids);
    drop(state);
    commit(storage, namespaces, cell, purge, at)?;
    Ok(ids.len() as u64)
}

/// Whether a namespace that is not in memory has a memory that was forgotten before `cutoff`. It is not loaded for that: a
/// look at every namespace must not bring all of them into memory.
pub(crate) fn may_have_expired<I: Io>(
    storage: &Storage<Arc<I>>,
    cell: &Cell,
    cutoff: Timestamp,
) -> Result<bool, EngineError> {
    if cell.has_tail() {
        return Ok(true);
    }
    let Some(id) = cell.sleeps_on_forgotten() else { return Ok(false) };
    let mut expired = BTreeSet::new();
    storage.records().load(id, &mut |loaded| {
        if let Loaded::Record { record, .. } = loaded {
            let memory = &record.memory;
            if memory.state == State::Forgotten && memory.updated_at < cutoff {
                expired.insert(memory.id);
            } else {
                expired.remove(&memory.id);
            }
        }
        Ok(())
    })?;
    Ok(!expired.is_empty())
}

/// Logs and applies a purge. The caller holds the writer's lock of `cell`.
pub(crate) fn commit<I: Io>(
    storage: &Storage<Arc<I>>,
    namespaces: &Namespaces,
    cell: &Cell,
    purge: Purge,
    at: Timestamp,
) -> Result<Lsn, EngineError> {
    let is_whole = matches!(purge.target, Purged::Namespace(_));
    let changes = vec![Change::Purge(Box::new(purge.clone()))];
    let batch = Batch { namespace: cell.name.clone(), at, request: None, changes };
    let mut pending = namespaces.erasures.pending.lock();
    // A purge makes less of what is stored: on a full disk it may have the reserve.
    let lsn = storage.append_as(&batch, Urgency::Urgent, Pace::Prompt)?;
    namespaces.erasures.values.add(&purge, at);
    pending.push(Erasure { lsn, at, purge, done: None });
    drop(pending);
    crate::apply::apply(&mut cell.state.write(), lsn, batch)?;
    if is_whole {
        namespaces.note_drop(lsn);
    }
    Ok(lsn)
}

impl<I: Io> EngineOver<I> {
    /// Purges what was forgotten longer ago than the settings allow, and erases whatever is purged and not erased: what the
    /// purge job and the engine's thread do on the machine's own disk, and a simulator drives.
    ///
    /// # Errors
    /// When the log fails, or files can't be written or removed; a later step goes on.
    pub fn purge_step(&self) -> Result<PurgeStep, EngineError> {
        let (mut expired, now) = (0, now(&*self.io));
        for cell in self.namespaces.after(None) {
            let Some(cutoff) = self.life_of(&cell).forgotten_before(now) else { continue };
            if cell.is_loaded() || may_have_expired(&self.storage, &cell, cutoff)? {
                self.namespaces.load_untouched(&cell, self.storage.records())?;
                expired += purge_forgotten(self, &cell, cutoff)?;
            }
        }
        let Erased { receipts, waits_for } = self.erase_step()?;
        Ok(PurgeStep { expired, receipts, waits_for })
    }

    /// Erases whatever is purged and not erased.
    ///
    /// # Errors
    /// As [`EngineOver::purge_step`].
    pub fn erase_step(&self) -> Result<Erased, EngineError> {
        if is_due(&self.storage, &self.namespaces) {
            erase(&self.storage, &self.namespaces)
        } else {
            Ok(Erased::default())
        }
    }

    /// Every purge that the ledger knows, done and begun.
    #[must_use]
    pub fn erasures(&self) -> Vec<Erasure> {
        self.storage.erasures()
    }

    /// What another history of this database has purged after `lsn`, the newest batch that was found, is purged from this
    /// one: a backup was restored, and the ledger put beside it. Nobody has read anything yet.
    ///
    /// # Errors
    /// When a namespace can't be loaded, or the log or the ledger can't be written.
    pub(crate) fn purge_again(&self, lsn: Lsn) -> Result<(), EngineError> {
        let missed = self.storage.erasures_after(lsn);
        if missed.is_empty() {
            return Ok(());
        }
        tracing::warn!(purges = missed.len(), %lsn, "the erasure ledger is ahead of the log: a backup was restored; purging again what it names");
        for cell in self.namespaces.after(None) {
            self.namespaces.load_untouched(&cell, self.storage.records())?;
            let _writer = cell.lock_writer();
            for key in missed.iter().map(|erasure| erasure.purge.key).collect::<BTreeSet<_>>() {
                let purges = missed.iter().filter(|erasure| erasure.purge.key == key);
                let state = cell.state.read();
                let (purge, at) = (missed_in(&cell, &state, key, purges), next_time(&*self.io, &state));
                drop(state);
                if let Some(purge) = purge {
                    commit(&self.storage, &self.namespaces, &cell, purge, at)?;
                }
            }
        }
        self.storage.log().wait_synced_or_commit(self.storage.log().newest_lsn())?;
        Ok(self.storage.settle_erasures_after(lsn, now(&*self.io))?)
    }
}

/// What purges under one key take out of a namespace; `None` when that is nothing.
fn missed_in<'a>(
    cell: &Cell,
    state: &NamespaceState,
    key: [u8; 32],
    purges: impl Iterator<Item = &'a Erasure>,
) -> Option<Purge> {
    use hindsight_storage::erasure::{hash_of_memory, hash_of_namespace};

    let mut hashes = BTreeSet::new();
    for erasure in purges {
        match &erasure.purge.target {
            Purged::Memories(found) => hashes.extend(found.iter().copied()),
            Purged::Namespace(hash) if *hash == hash_of_namespace(&key, &cell.name) && state.is_there() => {
                let memories = state.records.len() as u64;
                return Some(Purge {
                    key,
                    target: Purged::Namespace(*hash),
                    memories,
                    request: None,
                    values: Vec::new(),
                });
            }
            Purged::Namespace(_) => {}
        }
    }
    let ids = state.records.keys();
    let mut found: Vec<u128> =
        ids.map(|id| hash_of_memory(&key, &cell.name, *id)).filter(|hash| hashes.contains(hash)).collect();
    found.sort_unstable();
    let memories = found.len() as u64;
    (memories > 0).then_some(Purge {
        key,
        target: Purged::Memories(found),
        memories,
        request: None,
        values: Vec::new(),
    })
}
