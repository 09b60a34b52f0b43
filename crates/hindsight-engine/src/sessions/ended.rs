//! Sessions that have ended lately: so that a late call learns what became of its session.

use std::collections::{HashMap, VecDeque};

use hindsight_core::limits::SESSIONS_ENDED_MAX;
use hindsight_core::{Namespace, RequestKey, Session, SessionId, Timestamp};

use crate::error::EngineError;

type Key = (Namespace, SessionId);

/// How a session ended.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// As it was, without its turns.
    pub(super) session: Session,
    /// When.
    pub(super) at: Timestamp,
    /// It was closed by this call, if that had an id; without a call it expired.
    pub(super) closed: Option<Option<RequestKey>>,
}

impl End {
    /// What a call is told that comes too late.
    pub(super) fn told(&self) -> EngineError {
        let (session_id, at) = (self.session.session_id.clone(), self.at);
        if self.closed.is_some() {
            EngineError::SessionClosed { session_id, at }
        } else {
            EngineError::SessionExpired { session_id, at, idle_ttl: self.session.settings.idle_ttl }
        }
    }
}

/// The newest [`SESSIONS_ENDED_MAX`] ends.
#[derive(Debug, Default)]
pub(super) struct Ended {
    ends: HashMap<Key, End>,
    /// By when they came; one that was opened again since has no end.
    order: VecDeque<(Key, Timestamp)>,
}

impl Ended {
    pub(super) fn remember(&mut self, end: End) {
        let key = (end.session.namespace.clone(), end.session.session_id.clone());
        self.order.push_back((key.clone(), end.at));
        self.ends.insert(key, end);
        while self.order.len() > SESSIONS_ENDED_MAX {
            let Some((oldest, at)) = self.order.pop_front() else { break };
            // A later end under the same name stays.
            if self.ends.get(&oldest).is_some_and(|end| end.at == at) {
                self.ends.remove(&oldest);
            }
        }
    }

    pub(super) fn get(&self, namespace: &Namespace, id: &SessionId) -> Option<&End> {
        self.ends.get(&(namespace.clone(), id.clone()))
    }

    /// The name is in use again.
    pub(super) fn forget(&mut self, namespace: &Namespace, id: &SessionId) {
        self.ends.remove(&(namespace.clone(), id.clone()));
    }

    /// Nothing of the namespace is left.
    pub(super) fn forget_all_of(&mut self, namespace: &Namespace) {
        self.ends.retain(|(name, _), _| name != namespace);
        self.order.retain(|((name, _), _)| name != namespace);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.order.len().max(self.ends.len())
    }
}
