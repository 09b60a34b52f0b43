//! Changing a memory, field by field, under optimistic locking (W9).

use std::sync::Arc;

use hindsight_core::consolidate::note_state;
use hindsight_core::{Batch, Change, Namespace, Record, Timestamp};
use hindsight_storage::io::Io;

use crate::decide::{CheckedVectors, check_vectors, next_time};
use crate::decision::Wish;
use crate::encounter::Overlay;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::Updated;
use crate::request::UpdateRequest;
use crate::requests::key;
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;
use crate::write::{call, present_state};

impl<I: Io> EngineOver<I> {
    /// Changes fields of a memory.
    ///
    /// # Errors
    /// When the memory is unknown or forgotten, the version stale, a field wrong, or the log fails.
    pub fn update(
        &self,
        namespace: &Namespace,
        update: UpdateRequest,
    ) -> Result<Unsynced<Updated, I>, EngineError> {
        let asked = (update.id, &update.patch, update.version, update.maker.chosen(update.vectors.as_ref()));
        let allow_forgotten = update.allow_forgotten;
        let wish = Wish { allow_forgotten, ..Wish::default() };
        let request = key(update.request_id.as_deref(), call("update", wish), &asked)?;
        let vectors = check_vectors(update.vectors.as_ref())?;
        let cell = self.existing(namespace, update.id)?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            let (memory, applied) = present_state(&cell, &seen)?;
            let updated = Updated { memory, replayed: true, revision: seen.lsn };
            return Ok(self.answer_of(&cell, updated, applied));
        }
        let (record, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            let (record, before) = changed(&cell, &state, update, vectors, at)?;
            if !allow_forgotten {
                let overlay = Overlay::new(&state);
                self.refuse_forgotten(namespace, &overlay, &record.memory, Some(&before.memory), at)?;
            }
            (record, at)
        };
        let memory = record.memory.clone();
        let changes = vec![Change::Put(Box::new(record))];
        let revision = self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?;
        Ok(self.answer_of(&cell, Updated { memory, replayed: false, revision }, revision))
    }
}

fn changed(
    cell: &Cell,
    state: &NamespaceState,
    update: UpdateRequest,
    vectors: CheckedVectors,
    at: Timestamp,
) -> Result<(Record, Arc<Record>), EngineError> {
    let id = update.id;
    let not_found = || EngineError::MemoryNotFound { namespace: cell.name.clone(), id };
    let old = state.record(id).ok_or_else(not_found)?;
    let current = old.memory.version;
    if old.memory.state == hindsight_core::State::Forgotten {
        return Err(not_found());
    }
    if let Some(given) = update.version
        && given != current
    {
        return Err(EngineError::VersionMismatch { id, given, current });
    }
    vectors.fit(&cell.name, state, None)?;
    let text_changes = update.patch.changes_text();
    let mut memory = update.patch.apply(&old.memory, at)?;
    note_state(&old.memory, &mut memory, at);
    let vectors = if vectors.model.is_some() {
        memory.embedding_model = vectors.model;
        vectors.vectors
    } else if text_changes {
        // The old vectors depict the old text: keyword search finds the memory until it is embedded again.
        memory.embedding_model = None;
        Vec::new()
    } else {
        old.vectors.clone()
    };
    Ok((Record { memory, vectors }, Arc::clone(old)))
}
