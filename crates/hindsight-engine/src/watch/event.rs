//! From a change of the log to what a watcher is told of it.

use hindsight_core::{Change, ChangeKind, Lsn, Memory, MemoryId, State, Timestamp, WatchEvent, WatchRequest};

use super::change_of;
use crate::state::{Held, NamespaceState};

/// How changes of one batch are seen by one watcher.
pub(super) struct Seer<'a> {
    pub(super) request: &'a WatchRequest,
    /// What the namespace holds now; nothing when it is gone.
    pub(super) state: Option<&'a NamespaceState>,
    /// When the batch was decided.
    pub(super) at: Timestamp,
    /// About how many bytes a change of it has.
    pub(super) each_bytes: usize,
}

/// What becomes of a change.
#[derive(Default)]
pub(super) struct Told {
    /// What is told; nothing when it does not concern the watcher.
    pub(super) event: Option<WatchEvent>,
    /// About how many bytes that is.
    pub(super) bytes: usize,
    /// The newest batch that had a say in this.
    pub(super) rests_on: Lsn,
}

impl Seer<'_> {
    pub(super) fn tell(&self, index: usize, change: &Change) -> Told {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        match change {
            Change::Purge(purge) => self.of_many(index, change_of(&purge.target), Some(purge.memories)),
            Change::DropNamespace => self.of_many(index, ChangeKind::NamespaceDropped, None),
            Change::Put(record) => self.of_put(index, &record.memory),
            // How often a memory was returned is no news; it has no version of its own.
            change => match (change.id(), change.version()) {
                (Some(id), Some(version)) => self.of_one(index, id, version, change),
                _ => Told::default(),
            },
        }
    }

    fn of_many(&self, index: u32, change: ChangeKind, count: Option<u64>) -> Told {
        let event = WatchEvent {
            index,
            change,
            id: None,
            version: None,
            kind: None,
            state: None,
            superseded_by: None,
            count,
            memory: None,
        };
        Told { event: self.request.wants(change).then_some(event), ..Told::default() }
    }

    /// A new image: that of the log.
    fn of_put(&self, index: u32, memory: &Memory) -> Told {
        let held = match self.present(memory.id) {
            // An id may come back with an import: what was under it before is another memory.
            Ok(held) if held.record.memory.created_at == memory.created_at => held,
            Ok(held) => return Told { rests_on: held.lsn, ..Told::default() },
            Err(rests_on) => return Told { rests_on, ..Told::default() },
        };
        let change = if memory.version == 1 { ChangeKind::Created } else { ChangeKind::Changed };
        let is_forgotten = held.record.memory.state == State::Forgotten;
        // A later batch has a say only where it takes the image away.
        let rests_on = if is_forgotten { held.lsn } else { Lsn(0) };
        let image = (!is_forgotten && !self.request.ids_only).then(|| Box::new(memory.clone()));
        self.about(index, change, memory, image, rests_on)
    }

    /// A new state or standing: the image is the present one, if that is of this version.
    fn of_one(&self, index: u32, id: MemoryId, version: u64, change: &Change) -> Told {
        let held = match self.present(id) {
            Ok(held) if held.record.memory.created_at <= self.at => held,
            Ok(held) => return Told { rests_on: held.lsn, ..Told::default() },
            Err(rests_on) => return Told { rests_on, ..Told::default() },
        };
        let present = &held.record.memory;
        let (state, superseded_by) = match change {
            Change::SetState { state, .. } => (Some(*state), None),
            Change::Stand { standing, .. } => (Some(standing.state), standing.superseded_by),
            _ => (None, None),
        };
        let is_forgotten = state == Some(State::Forgotten);
        let what = if is_forgotten { ChangeKind::Forgotten } else { ChangeKind::Changed };
        let is_shown = !is_forgotten && present.version == version && !self.request.ids_only;
        let image = is_shown.then(|| Box::new(present.clone()));
        let rests_on = if is_shown { held.lsn } else { Lsn(0) };
        let mut told = self.about(index, what, present, image, rests_on);
        if let Some(event) = &mut told.event {
            (event.version, event.state, event.superseded_by) = (Some(version), state, superseded_by);
        }
        told
    }

    fn about(
        &self,
        index: u32,
        change: ChangeKind,
        memory: &Memory,
        image: Option<Box<Memory>>,
        rests_on: Lsn,
    ) -> Told {
        if !self.request.wants(change) || !self.request.is_about(memory) {
            return Told::default();
        }
        let bytes =
            image.as_ref().map_or(64, |image| self.each_bytes + image.content.len() + image.summary.len());
        let event = WatchEvent {
            index,
            change,
            id: Some(memory.id),
            version: Some(memory.version),
            kind: Some(memory.kind),
            state: Some(memory.state),
            superseded_by: memory.superseded_by,
            count: None,
            memory: image,
        };
        Told { event: Some(event), bytes, rests_on }
    }

    /// The memory as it is held now. One that is gone was purged, or went with its namespace: nothing is told of it, on
    /// the ground of a batch up to the one that is the error.
    fn present(&self, id: MemoryId) -> Result<&Held, Lsn> {
        let state = self.state.ok_or(Lsn(0))?;
        state.records.get(&id).ok_or(state.applied)
    }
}
