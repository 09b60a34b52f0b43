//! One open session: its turns, within its bounds.

use std::collections::VecDeque;

use hindsight_core::limits::SESSION_REQUEST_IDS_MAX;
use hindsight_core::{
    Namespace, RequestKey, Session, SessionId, SessionSettings, Timestamp, Turn, TurnDraft,
};

use crate::error::EngineError;

/// A session while it runs.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) settings: SessionSettings,
    pub(super) opened_at: Timestamp,
    pub(super) last_used_at: Timestamp,
    /// The newest turns, in order; their numbers have no gap.
    pub(super) turns: VecDeque<Turn>,
    /// How many turns were appended.
    pub(super) total: u64,
    /// What the turns cost.
    pub(super) bytes: usize,
    /// The request that opened it, where it had an id.
    pub(super) opened_by: Option<RequestKey>,
    /// The newest appends that had a request id.
    appended_by: VecDeque<RequestKey>,
    /// A call is closing it: nothing is appended any more, and it does not expire.
    pub(super) is_closing: bool,
}

impl Live {
    pub(super) fn new(settings: SessionSettings, opened_by: Option<RequestKey>, now: Timestamp) -> Live {
        Live {
            settings,
            opened_at: now,
            last_used_at: now,
            turns: VecDeque::new(),
            total: 0,
            bytes: 0,
            opened_by,
            appended_by: VecDeque::new(),
            is_closing: false,
        }
    }

    /// When it ends, if nobody uses it until then.
    pub(super) fn expires_at(&self) -> Timestamp {
        self.last_used_at.plus_ms(self.settings.idle_ttl.as_ms())
    }

    /// Whether these turns were appended before by the same request.
    ///
    /// # Errors
    /// When the id was used for other turns.
    pub(super) fn has_seen(&self, request: Option<&RequestKey>) -> Result<bool, EngineError> {
        let Some(request) = request else { return Ok(false) };
        match self.appended_by.iter().find(|seen| seen.id == request.id) {
            Some(seen) if seen.digest != request.digest => {
                Err(EngineError::RequestIdReused { request_id: request.id.clone() })
            }
            seen => Ok(seen.is_some()),
        }
    }

    /// What its turns would cost after these were appended and the oldest had fallen out.
    pub(super) fn bytes_with(&self, drafts: &[TurnDraft]) -> usize {
        let newest_first =
            drafts.iter().rev().map(TurnDraft::bytes).chain(self.turns.iter().rev().map(Turn::bytes));
        let mut bytes = 0;
        for turn in newest_first.take(self.settings.max_turns) {
            if bytes + turn > self.settings.max_bytes {
                break;
            }
            bytes += turn;
        }
        bytes
    }

    /// Appends turns, each of which fits by itself; the oldest fall out until both bounds hold.
    pub(super) fn append(&mut self, drafts: Vec<TurnDraft>, request: Option<RequestKey>, now: Timestamp) {
        for draft in drafts {
            self.total += 1;
            self.bytes += draft.bytes();
            let TurnDraft { role, content, tool, at } = draft;
            self.turns.push_back(Turn { number: self.total, role, content, tool, at: at.unwrap_or(now) });
            while self.turns.len() > self.settings.max_turns || self.bytes > self.settings.max_bytes {
                let Some(oldest) = self.turns.pop_front() else { break };
                self.bytes -= oldest.bytes();
            }
        }
        if let Some(request) = request {
            if self.appended_by.len() >= SESSION_REQUEST_IDS_MAX {
                self.appended_by.pop_front();
            }
            self.appended_by.push_back(request);
        }
    }

    /// The newest `last` turns, in order; all there are without a number.
    pub(super) fn newest(&self, last: Option<usize>) -> Vec<Turn> {
        let skipped = last.map_or(0, |last| self.turns.len().saturating_sub(last));
        self.turns.iter().skip(skipped).cloned().collect()
    }

    /// How it stands, without its turns.
    pub(super) fn told(&self, namespace: &Namespace, id: &SessionId) -> Session {
        Session {
            session_id: id.clone(),
            namespace: namespace.clone(),
            settings: self.settings.clone(),
            opened_at: self.opened_at,
            last_used_at: self.last_used_at,
            expires_at: self.expires_at(),
            turns_held: self.turns.len(),
            turns_total: self.total,
            bytes: self.bytes,
        }
    }
}
