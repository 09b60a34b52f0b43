//! The memories of one namespace, put together from what is left of its files and of the log.
//!
//! This is the one place besides the engine's `apply` that knows what a change means: `apply` refuses what does not follow
//! from what came before, and here something is missing in between. A complete image is always right for the moment at
//! which it was written; a change of state is carried out only on the image that it was decided on.

use std::collections::BTreeMap;

use hindsight_core::change::WAS_THERE;
use hindsight_core::{
    Batch, Change, Lsn, MemoryId, Namespace, Purge, Purged, Record, Settings, State, Timestamp,
};

use crate::{
    erasure::{hash_of_memory, hash_of_namespace},
    manifest::StoredModel,
    records::{Digest, Loaded, SeenRequest, record_digest},
};

/// A namespace at the newest position that can be proved.
#[derive(Debug, Default)]
pub(super) struct Images {
    pub(super) records: BTreeMap<MemoryId, (Lsn, Record)>,
    /// By their ids.
    requests: BTreeMap<String, SeenRequest>,
    pub(super) applied: Lsn,
    pub(super) last_at: Option<Timestamp>,
    pub(super) model: Option<StoredModel>,
    /// The newest that were set and not lost.
    pub(super) settings: Settings,
    /// The position at which they are known.
    pub(super) settings_at: Lsn,
    /// Memories that a change was for that could not be carried out, with its LSN.
    unfit: BTreeMap<MemoryId, Lsn>,
}

impl Images {
    /// An entry of a record file. Files come in the order of their numbers.
    pub(super) fn stored(&mut self, name: &Namespace, loaded: Loaded) {
        match loaded {
            Loaded::Record { lsn, record, .. } if record.memory.namespace == *name => {
                self.model_of(&record);
                self.applied = self.applied.max(lsn);
                let id = record.memory.id;
                if self.records.get(&id).is_none_or(|(held, _)| *held <= lsn) {
                    self.records.insert(id, (lsn, record));
                }
            }
            Loaded::Record { .. } => {}
            Loaded::Request(request) => self.request(request),
        }
    }

    /// A batch of the log. Batches come in the order of their LSNs, after the files.
    pub(super) fn logged(&mut self, lsn: Lsn, batch: Batch) {
        let ids = batch.changed_ids();
        for change in batch.changes {
            match change {
                Change::DropNamespace => self.drop_up_to(lsn),
                Change::Purge(purge) => self.purge(&batch.namespace, lsn, &purge),
                // Complete; but the manifest may know later ones whose batch is lost.
                Change::Settings(settings) if lsn > self.settings_at => {
                    (self.settings, self.settings_at) = (*settings, lsn);
                }
                change => self.change(lsn, change),
            }
        }
        if let Some(key) = batch.request {
            self.request(SeenRequest { key, ids, lsn });
        }
        self.applied = self.applied.max(lsn);
        self.last_at = self.last_at.max(Some(batch.at));
    }

    /// Takes away what a purge took, of what was written up to it.
    pub(super) fn purge(&mut self, name: &Namespace, lsn: Lsn, purge: &Purge) {
        let hashes = match &purge.target {
            Purged::Namespace(hash) if *hash == hash_of_namespace(&purge.key, name) => {
                return self.drop_up_to(lsn);
            }
            Purged::Namespace(_) => return,
            Purged::Memories(hashes) => hashes,
        };
        let is_purged = |id: &MemoryId| hashes.binary_search(&hash_of_memory(&purge.key, name, *id)).is_ok();
        self.records.retain(|id, (at, _)| *at > lsn || !is_purged(id));
        self.unfit.retain(|id, at| *at > lsn || !is_purged(id));
        self.requests.retain(|_, request| request.lsn > lsn || !request.ids.iter().any(is_purged));
    }

    /// Nothing that was written up to a drop is left.
    fn drop_up_to(&mut self, lsn: Lsn) {
        self.records.retain(|_, (at, _)| *at > lsn);
        self.unfit.retain(|_, at| *at > lsn);
        self.requests.retain(|_, request| request.lsn > lsn);
        if self.settings_at <= lsn {
            (self.settings, self.settings_at) = (Settings::default(), lsn);
        }
        if self.records.is_empty() {
            self.model = None;
        }
    }

    fn change(&mut self, lsn: Lsn, change: Change) {
        let (Some(id), version) = (change.id(), change.version()) else { return };
        let held = self.records.get_mut(&id);
        // The files have it, or what came after it. A count of accesses has no version; it comes in a batch of its own.
        let is_held = |(at, record): &&mut (Lsn, Record)| {
            *at > lsn || *at == lsn && version.is_none_or(|version| record.memory.version >= version)
        };
        if held.as_ref().is_some_and(is_held) {
            return;
        }
        match (change, held) {
            (Change::Put(record), _) => {
                self.model_of(&record);
                self.unfit.remove(&id);
                self.records.insert(id, (lsn, *record));
            }
            (Change::SetState { state, version, at, .. }, Some((held_lsn, record))) => {
                let follows = record.memory.version + 1 == version;
                if !follows {
                    self.unfit.insert(id, lsn);
                }
                // What was forgotten is not shown again, whatever else of it is lost.
                if follows || state == State::Forgotten {
                    record.memory.enter(state);
                    record.memory.version = version;
                    record.memory.updated_at = at;
                    *held_lsn = lsn;
                }
            }
            (Change::Stand { standing, version, at, .. }, Some((held_lsn, record))) => {
                let follows = record.memory.version + 1 == version;
                if !follows {
                    self.unfit.insert(id, lsn);
                }
                // A standing is complete, and right whatever is lost of the words.
                standing.give_to(&mut record.memory);
                record.memory.version = version;
                record.memory.updated_at = at;
                *held_lsn = lsn;
            }
            (Change::Access { count, at, .. }, Some((held_lsn, record))) => {
                let usage = &mut record.memory.usage;
                usage.access_count = usage.access_count.saturating_add(count);
                usage.last_accessed_at = usage.last_accessed_at.max(Some(at));
                *held_lsn = lsn;
            }
            (Change::SetState { .. } | Change::Stand { .. } | Change::Access { .. }, None) => {
                self.unfit.insert(id, lsn);
            }
            (Change::DropNamespace | Change::Purge(_) | Change::Settings(_), _) => {}
        }
    }

    fn request(&mut self, request: SeenRequest) {
        self.applied = self.applied.max(request.lsn);
        let id = request.key.id.clone();
        if self.requests.get(&id).is_none_or(|held| held.lsn <= request.lsn) {
            self.requests.insert(id, request);
        }
    }

    fn model_of(&mut self, record: &Record) {
        if let (None, Some(name), Some(first)) =
            (&self.model, &record.memory.embedding_model, record.vectors.first())
        {
            let dimension = u32::try_from(first.embedding.dimension()).unwrap_or(u32::MAX);
            self.model = Some(StoredModel { name: name.clone(), dimension });
        }
    }

    /// The requests of which every memory is there, in order: one whose memories are lost may be carried out again.
    pub(super) fn requests(&self) -> Vec<&SeenRequest> {
        let is_whole = |request: &&SeenRequest| {
            request.ids.iter().all(|id| *id == WAS_THERE || self.records.contains_key(id))
        };
        let mut requests: Vec<_> = self.requests.values().filter(is_whole).collect();
        requests.sort_by_key(|request| request.lsn);
        requests
    }

    /// Memories that are not as they were last, as far as the log tells.
    pub(super) fn incomplete(&self) -> Vec<String> {
        self.unfit.keys().map(ToString::to_string).collect()
    }

    pub(super) fn live(&self) -> u64 {
        self.records.len() as u64
    }

    pub(super) fn forgotten(&self) -> u64 {
        let records = self.records.values();
        records.filter(|(_, record)| record.memory.state == State::Forgotten).count() as u64
    }

    pub(super) fn digest(&self) -> Digest {
        let mut digest = Digest::default();
        for (id, (lsn, record)) in &self.records {
            digest.add(record_digest(*id, record.memory.version, *lsn));
        }
        digest
    }
}
