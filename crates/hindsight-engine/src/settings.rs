//! The settings of a namespace: a batch of their own in the log, and what they mean for acknowledgement.

use hindsight_core::{Batch, Change, Durability, Invalid, Lsn, Namespace};
use hindsight_storage::Pace;
use hindsight_storage::io::Io;

use crate::decide::next_time;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::NamespaceInfo;
use crate::request::SettingsRequest;
use crate::requests::key;
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

impl NamespaceState {
    /// The position up to which the log has to be synced before an answer may be shown that reflects this namespace up to
    /// `lsn`. Where durability is async, that is the batch which said so: whoever reads or writes before that is durable
    /// does not know of it.
    pub(crate) fn shown_after(&self, lsn: Lsn) -> Lsn {
        match self.settings.durability {
            Durability::Sync => lsn,
            Durability::Async => lsn.min(self.settings_at),
        }
    }

    /// How soon a batch of this namespace has to be durable.
    pub(crate) fn pace_of(&self, batch: &Batch) -> Pace {
        let ends_or_sets = |change: &Change| {
            matches!(change, Change::DropNamespace | Change::Purge(_) | Change::Settings(_))
        };
        match self.settings.durability {
            Durability::Async if !batch.changes.iter().any(ends_or_sets) => Pace::Relaxed,
            Durability::Async | Durability::Sync => Pace::Prompt,
        }
    }
}

impl<I: Io> EngineOver<I> {
    /// A namespace with its settings.
    ///
    /// # Errors
    /// When nothing was ever written to it and nothing set.
    pub fn namespace(&self, name: &Namespace) -> Result<Unsynced<NamespaceInfo, I>, EngineError> {
        let not_found = || EngineError::NamespaceNotFound { namespace: name.clone() };
        let cell = self.loaded(name)?.ok_or_else(not_found)?;
        let state = cell.state.read();
        if !state.is_there() {
            return Err(not_found());
        }
        let lsn = state.applied;
        Ok(self.answer(&state, self.info(&state, lsn, false), lsn))
    }

    /// Changes settings of a namespace; one that is not there begins with it. What is answered holds, and is durable.
    ///
    /// # Errors
    /// When nothing is to be changed, there are too many namespaces, or the log fails.
    pub fn update_namespace(
        &self,
        name: &Namespace,
        request: SettingsRequest,
    ) -> Result<Unsynced<NamespaceInfo, I>, EngineError> {
        let SettingsRequest { patch, request_id } = request;
        let request = key(request_id.as_deref(), "update_namespace", &patch)?;
        if patch.is_empty() {
            return Err(Invalid::one(
                "settings",
                "names nothing to change: give durability, life, rules or likeness",
            )
            .into());
        }
        patch.check()?;
        let cell = self.namespaces.get_or_create(name)?;
        self.namespaces.load(&cell, self.storage.records())?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.map(|seen| seen.lsn);
        if let Some(lsn) = seen {
            let state = cell.state.read();
            return Ok(self.unsynced(self.info(&state, lsn, true), state.applied));
        }
        let (settings, at) = {
            let state = cell.state.read();
            (patch.apply(&state.settings), next_time(&*self.io, &state))
        };
        let changes = vec![Change::Settings(Box::new(settings))];
        let lsn = self.commit(&cell, Batch { namespace: name.clone(), at, request, changes })?;
        let info = self.info(&cell.state.read(), lsn, false);
        Ok(self.unsynced(info, lsn))
    }

    fn info(&self, state: &NamespaceState, revision: Lsn, replayed: bool) -> NamespaceInfo {
        NamespaceInfo {
            settings: state.settings.clone(),
            memories: u64::try_from(state.records.len() - state.forgotten).unwrap_or(u64::MAX),
            revision,
            durable: self.revision(),
            replayed,
        }
    }

    /// An answer that reflects a namespace up to `lsn`.
    pub(crate) fn answer<T>(&self, state: &NamespaceState, value: T, lsn: Lsn) -> Unsynced<T, I> {
        Unsynced::new(value, lsn, state.shown_after(lsn), &self.storage)
    }

    /// As [`EngineOver::answer`], for a namespace whose state nobody here holds.
    pub(crate) fn answer_of<T>(&self, cell: &Cell, value: T, lsn: Lsn) -> Unsynced<T, I> {
        self.answer(&cell.state.read(), value, lsn)
    }
}
