//! All open sessions of a server, by namespace. Pure: the time is an argument.
//!
//! Bounds hold at any time: turns and bytes of a session (the oldest turns fall out), sessions and bytes of a namespace
//! and of the server (what would exceed them is refused). What has been idle too long ends before any call looks.

use std::collections::{BTreeMap, BTreeSet};

use hindsight_core::limits::{
    SESSIONS_BYTES_MAX, SESSIONS_BYTES_PER_NAMESPACE_MAX, SESSIONS_MAX, SESSIONS_PER_NAMESPACE_MAX,
};
use hindsight_core::session::check_turns;
use hindsight_core::{
    Invalid, Namespace, RequestKey, Session, SessionDraft, SessionId, Timestamp, Turn, TurnDraft,
};

use super::ended::{End, Ended};
use super::live::Live;
use crate::error::EngineError;

/// Every open session.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    rooms: BTreeMap<Namespace, Room>,
    /// When each ends, the first of them first.
    ends_at: BTreeSet<(Timestamp, Namespace, SessionId)>,
    ended: Ended,
    count: usize,
    bytes: usize,
}

/// The sessions of one namespace.
#[derive(Debug, Default)]
struct Room {
    sessions: BTreeMap<SessionId, Live>,
    bytes: usize,
}

impl Sessions {
    /// Opens a session under `id`, or gives the one that is open under it. Says whether it was there.
    ///
    /// # Errors
    /// When the draft is wrong, another session has the id, or there are too many.
    pub(crate) fn open(
        &mut self,
        namespace: &Namespace,
        id: SessionId,
        draft: &SessionDraft,
        request: Option<RequestKey>,
        now: Timestamp,
    ) -> Result<(Session, bool), EngineError> {
        self.sweep(now);
        let settings = draft.settings()?;
        if let Some(before) = self.opened_before(namespace, request.as_ref())? {
            return Ok((before, true));
        }
        if let Some(live) = self.live_mut(namespace, &id) {
            let agent = draft.agent_id.as_deref();
            if live.is_closing || !live.settings.is_visible_to(agent) || !draft.fits(&live.settings) {
                return Err(EngineError::SessionExists { session_id: id });
            }
            return self.touched(namespace, &id, now).map(|session| (session, true));
        }
        let room = self.rooms.get(namespace);
        if room.is_some_and(|room| room.sessions.len() >= SESSIONS_PER_NAMESPACE_MAX) {
            let what = "the number of open sessions of a namespace";
            return Err(EngineError::LimitReached { what, most: SESSIONS_PER_NAMESPACE_MAX });
        }
        if self.count >= SESSIONS_MAX {
            return Err(EngineError::LimitReached {
                what: "the number of open sessions",
                most: SESSIONS_MAX,
            });
        }
        self.ended.forget(namespace, &id);
        let live = Live::new(settings, request, now);
        let session = live.told(namespace, &id);
        self.ends_at.insert((live.expires_at(), namespace.clone(), id.clone()));
        self.rooms.entry(namespace.clone()).or_default().sessions.insert(id, live);
        self.count += 1;
        Ok((session, false))
    }

    /// Appends turns. Says whether that was done before by the same request.
    ///
    /// # Errors
    /// When there is no such session, a turn is wrong or larger than the session, or too much would be held.
    pub(crate) fn append(
        &mut self,
        namespace: &Namespace,
        (id, agent): (&SessionId, Option<&str>),
        turns: Vec<TurnDraft>,
        request: Option<RequestKey>,
        now: Timestamp,
    ) -> Result<(Session, bool), EngineError> {
        self.sweep(now);
        check_turns(&turns)?;
        let (all_bytes, room_bytes) = (self.bytes, self.rooms.get(namespace).map_or(0, |room| room.bytes));
        let live = self.usable(namespace, id, agent)?;
        if live.has_seen(request.as_ref())? {
            return self.touched(namespace, id, now).map(|session| (session, true));
        }
        let most = live.settings.max_bytes;
        if let Some((index, turn)) = turns.iter().enumerate().find(|(_, turn)| turn.bytes() > most) {
            let problem = format!("makes {} bytes, and this session keeps {most}: cut it", turn.bytes());
            return Err(Invalid::one(format!("turns[{index}].content"), problem).into());
        }
        let before = live.bytes;
        let after = live.bytes_with(&turns);
        if room_bytes - before + after > SESSIONS_BYTES_PER_NAMESPACE_MAX {
            let what = "the bytes of a namespace's open sessions";
            return Err(EngineError::LimitReached { what, most: SESSIONS_BYTES_PER_NAMESPACE_MAX });
        }
        if all_bytes - before + after > SESSIONS_BYTES_MAX {
            let what = "the bytes of all open sessions";
            return Err(EngineError::LimitReached { what, most: SESSIONS_BYTES_MAX });
        }
        live.append(turns, request, now);
        debug_assert_eq!(live.bytes, after);
        if let Some(room) = self.rooms.get_mut(namespace) {
            room.bytes = room_bytes - before + after;
        }
        self.bytes = all_bytes - before + after;
        self.touched(namespace, id, now).map(|session| (session, false))
    }

    /// A session and its newest turns. Reading keeps it alive.
    ///
    /// # Errors
    /// When there is no such session.
    pub(crate) fn get(
        &mut self,
        namespace: &Namespace,
        (id, agent): (&SessionId, Option<&str>),
        last: Option<usize>,
        now: Timestamp,
    ) -> Result<(Session, Vec<Turn>), EngineError> {
        self.sweep(now);
        let turns = self.usable(namespace, id, agent)?.newest(last);
        Ok((self.touched(namespace, id, now)?, turns))
    }

    /// The sessions of a namespace that the agent may see, in the order of their ids after `after`; and whether more follow.
    pub(crate) fn list(
        &mut self,
        namespace: &Namespace,
        agent: Option<&str>,
        after: Option<&SessionId>,
        most: usize,
        now: Timestamp,
    ) -> (Vec<Session>, bool) {
        self.sweep(now);
        let Some(room) = self.rooms.get(namespace) else { return (Vec::new(), false) };
        let later = room
            .sessions
            .iter()
            .filter(|(id, live)| after.is_none_or(|after| *id > after) && live.settings.is_visible_to(agent));
        let mut found: Vec<Session> =
            later.take(most + 1).map(|(id, live)| live.told(namespace, id)).collect();
        let more = found.len() > most;
        found.truncate(most);
        (found, more)
    }

    /// Begins to close a session: nothing is appended to it until [`Sessions::end_close`] or [`Sessions::abandon_close`].
    ///
    /// # Errors
    /// When there is no such session, or another call is closing it.
    pub(crate) fn begin_close(
        &mut self,
        namespace: &Namespace,
        (id, agent): (&SessionId, Option<&str>),
        now: Timestamp,
    ) -> Result<(Session, Vec<Turn>), EngineError> {
        self.sweep(now);
        let live = self.usable(namespace, id, agent)?;
        live.is_closing = true;
        let turns = live.newest(None);
        Ok((live.told(namespace, id), turns))
    }

    /// The session is closed.
    pub(crate) fn end_close(
        &mut self,
        namespace: &Namespace,
        id: &SessionId,
        request: Option<RequestKey>,
        now: Timestamp,
    ) {
        if let Some(session) = self.remove(namespace, id) {
            self.ended.remember(End { session, at: now, closed: Some(request) });
        }
    }

    /// The session goes on: it could not be closed.
    pub(crate) fn abandon_close(&mut self, namespace: &Namespace, id: &SessionId) {
        if let Some(live) = self.live_mut(namespace, id) {
            live.is_closing = false;
        }
    }

    /// The session that the same request has closed.
    ///
    /// # Errors
    /// When the id was used for another request.
    pub(crate) fn closed_before(
        &self,
        namespace: &Namespace,
        id: &SessionId,
        request: Option<&RequestKey>,
    ) -> Result<Option<Session>, EngineError> {
        let (Some(request), Some(end)) = (request, self.ended.get(namespace, id)) else { return Ok(None) };
        match &end.closed {
            Some(Some(seen)) if seen.id == request.id && seen.digest != request.digest => {
                Err(EngineError::RequestIdReused { request_id: request.id.clone() })
            }
            Some(Some(seen)) if seen.id == request.id => Ok(Some(end.session.clone())),
            _ => Ok(None),
        }
    }

    /// Every session of a namespace is gone, as if there had been none.
    pub(crate) fn drop_namespace(&mut self, namespace: &Namespace) {
        self.ended.forget_all_of(namespace);
        if let Some(room) = self.rooms.remove(namespace) {
            self.count -= room.sessions.len();
            self.bytes -= room.bytes;
            self.ends_at.retain(|(_, name, _)| name != namespace);
        }
    }

    /// Ends what has been idle too long. Returns how many sessions that were.
    pub(crate) fn sweep(&mut self, now: Timestamp) -> usize {
        let mut busy = Vec::new();
        let mut swept = 0;
        while self.ends_at.first().is_some_and(|(at, ..)| *at <= now) {
            let Some((at, namespace, id)) = self.ends_at.pop_first() else { break };
            if self.live_mut(&namespace, &id).is_some_and(|live| live.is_closing) {
                busy.push((at, namespace, id));
            } else if let Some(session) = self.remove(&namespace, &id) {
                self.ended.remember(End { session, at, closed: None });
                swept += 1;
            }
        }
        self.ends_at.extend(busy);
        swept
    }

    /// The session that a request with this id opened, if it is still open.
    fn opened_before(
        &self,
        namespace: &Namespace,
        request: Option<&RequestKey>,
    ) -> Result<Option<Session>, EngineError> {
        let (Some(request), Some(room)) = (request, self.rooms.get(namespace)) else { return Ok(None) };
        let opened_by = |live: &Live| live.opened_by.as_ref().filter(|seen| seen.id == request.id).cloned();
        let found = room.sessions.iter().find_map(|(id, live)| Some((id, live, opened_by(live)?)));
        match found {
            Some((_, _, seen)) if seen.digest != request.digest => {
                Err(EngineError::RequestIdReused { request_id: request.id.clone() })
            }
            found => Ok(found.map(|(id, live, _)| live.told(namespace, id))),
        }
    }

    fn live_mut(&mut self, namespace: &Namespace, id: &SessionId) -> Option<&mut Live> {
        self.rooms.get_mut(namespace)?.sessions.get_mut(id)
    }

    /// A session that the agent may see, and that nobody is closing.
    fn usable(
        &mut self,
        namespace: &Namespace,
        id: &SessionId,
        agent: Option<&str>,
    ) -> Result<&mut Live, EngineError> {
        let not_found =
            || EngineError::SessionNotFound { namespace: namespace.clone(), session_id: id.clone() };
        let Some(live) = self.rooms.get_mut(namespace).and_then(|room| room.sessions.get_mut(id)) else {
            let end = self.ended.get(namespace, id);
            let end = end.filter(|end| end.session.settings.is_visible_to(agent));
            return Err(end.map_or_else(not_found, End::told));
        };
        if !live.settings.is_visible_to(agent) {
            return Err(not_found());
        }
        if live.is_closing {
            return Err(EngineError::SessionClosing { session_id: id.clone() });
        }
        Ok(live)
    }

    /// Notes that a session was used.
    fn touched(
        &mut self,
        namespace: &Namespace,
        id: &SessionId,
        now: Timestamp,
    ) -> Result<Session, EngineError> {
        let live = self.open_one(namespace, id)?;
        let before = live.expires_at();
        // A clock that steps back does not shorten a session's life.
        live.last_used_at = live.last_used_at.max(now);
        let (after, session) = (live.expires_at(), live.told(namespace, id));
        self.ends_at.remove(&(before, namespace.clone(), id.clone()));
        self.ends_at.insert((after, namespace.clone(), id.clone()));
        Ok(session)
    }

    fn open_one(&mut self, namespace: &Namespace, id: &SessionId) -> Result<&mut Live, EngineError> {
        let not_found =
            || EngineError::SessionNotFound { namespace: namespace.clone(), session_id: id.clone() };
        self.rooms.get_mut(namespace).and_then(|room| room.sessions.get_mut(id)).ok_or_else(not_found)
    }

    /// Takes a session out of everything.
    fn remove(&mut self, namespace: &Namespace, id: &SessionId) -> Option<Session> {
        let room = self.rooms.get_mut(namespace)?;
        let live = room.sessions.remove(id)?;
        room.bytes -= live.bytes;
        if room.sessions.is_empty() {
            self.rooms.remove(namespace);
        }
        self.count -= 1;
        self.bytes -= live.bytes;
        self.ends_at.remove(&(live.expires_at(), namespace.clone(), id.clone()));
        Some(live.told(namespace, id))
    }
}

#[cfg(test)]
mod tests;
