//! Working memory (M1, L8): open, append to, read, list and close the sessions of a namespace.
//!
//! Sessions are in memory alone: nothing of them is logged, and a restart loses them. Only the episode that a closed one
//! becomes is a memory like any other, written through the same path.
//!
//! Reading order: `store` (all of them, within bounds), `live` (one), `ended` (what a late call is told), `episode` (what a
//! closed one becomes).

mod ended;
mod episode;
mod live;
mod store;

use hindsight_core::draft::{RecordDraft, flat_names};
use hindsight_core::limits::PAGE_SIZE_MAX;
use hindsight_core::{
    Invalid, Lsn, Memory, Namespace, Neighbor, OnDuplicate, Outcome, RawVectors, RequestKey, Session,
    SessionDraft, SessionId, Turn, TurnDraft,
};
use hindsight_storage::io::Io;
use parking_lot::Mutex;
use serde::Serialize;

use crate::decide::now;
use crate::decision::Wish;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::reply::Written;
use crate::request::{Maker, WriteItem};
use crate::requests::key;
use crate::unsynced::Unsynced;
pub(crate) use store::Sessions;

/// The sessions of an engine. Locked for moments, and never while another lock is waited for.
pub(crate) type SharedSessions = Mutex<Sessions>;

/// A session to open.
#[derive(Debug, Clone, Default)]
pub struct OpenSessionRequest {
    /// What the caller says about it.
    pub draft: SessionDraft,
    /// The caller's own id of the request. It is remembered as long as the session is open.
    pub request_id: Option<String>,
}

/// Turns to append.
#[derive(Debug, Clone)]
pub struct AppendTurnsRequest {
    /// The session.
    pub session_id: SessionId,
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// The turns, in order; at most [`hindsight_core::limits::TURNS_MAX`].
    pub turns: Vec<TurnDraft>,
    /// The caller's own id of the request. The session remembers the newest few.
    pub request_id: Option<String>,
}

/// A session to read.
#[derive(Debug, Clone)]
pub struct GetSessionRequest {
    /// The session.
    pub session_id: SessionId,
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// Only the newest so many turns.
    pub last: Option<usize>,
}

/// The sessions of a namespace, page by page.
#[derive(Debug, Clone, Default)]
pub struct ListSessionsRequest {
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// How many at most, 1–[`PAGE_SIZE_MAX`].
    pub page_size: usize,
    /// The last id of the page before.
    pub after: Option<SessionId>,
}

/// The task that a session was for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SessionRecord {
    /// The report; what it leaves open the session completes.
    pub record: RecordDraft,
    /// Vectors of the episode that the caller made.
    pub vectors: Option<RawVectors>,
    /// What happens when the same is known already.
    pub on_duplicate: Option<OnDuplicate>,
}

/// A session to close.
#[derive(Debug, Clone)]
pub struct CloseSessionRequest {
    /// The session.
    pub session_id: SessionId,
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// The task it was for, which becomes an episode; without it the session is gone.
    pub record: Option<SessionRecord>,
    /// The caller's own id of the request. With a record it is remembered as that of a write, across restarts.
    pub request_id: Option<String>,
}

/// An open session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOpened {
    /// How it stands.
    pub session: Session,
    /// It was open before.
    pub resumed: bool,
}

/// A session that was appended to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnsAppended {
    /// How it stands.
    pub session: Session,
    /// The request id was seen before: nothing was appended again.
    pub replayed: bool,
}

/// What a session holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionGot {
    /// How it stands.
    pub session: Session,
    /// Its newest turns, in order.
    pub turns: Vec<Turn>,
}

/// What became of a session that was closed.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionClosed {
    /// As it was; absent when a repeated request comes after a restart.
    pub session: Option<Session>,
    /// The episode it became, if it became one.
    pub episode: Option<SessionEpisode>,
    /// The request id was seen before: nothing was done again.
    pub replayed: bool,
    /// The position of the log that the answer reflects.
    pub revision: Lsn,
}

/// The episode that a session became.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEpisode {
    /// What the write did.
    pub outcome: Outcome,
    /// The memory.
    pub memory: Memory,
    /// The memories that it contradicts.
    pub neighbors: Vec<Neighbor>,
}

/// The episode that a session is to become, on its way to [`EngineOver::write_episode`].
#[derive(Debug, Clone)]
pub struct EpisodeWrite {
    /// The memory; whoever embeds gives it vectors, if it has none.
    pub item: WriteItem,
    on_duplicate: Option<OnDuplicate>,
    request: Option<RequestKey>,
}

impl<I: Io> EngineOver<I> {
    /// Opens a session, or gives the one that is open under the caller's own id.
    ///
    /// # Errors
    /// When a setting is wrong, the id is taken by a session with other settings, or there are too many.
    pub fn open_session(
        &self,
        namespace: &Namespace,
        open: &OpenSessionRequest,
    ) -> Result<SessionOpened, EngineError> {
        let request = key(open.request_id.as_deref(), "open_session", &open.draft)?;
        let now = now(&*self.io);
        let id = match &open.draft.session_id {
            Some(id) => id.clone(),
            None => SessionId::new(now, u128::from(self.io.random()?) << 64 | u128::from(self.io.random()?)),
        };
        let (session, resumed) = self.sessions.lock().open(namespace, id, &open.draft, request, now)?;
        Ok(SessionOpened { session, resumed })
    }

    /// Appends turns to a session; the oldest fall out when it holds more than it may.
    ///
    /// # Errors
    /// When there is no such session, a turn is wrong or larger than the session, or all sessions together hold too much.
    pub fn append_turns(
        &self,
        namespace: &Namespace,
        append: AppendTurnsRequest,
    ) -> Result<TurnsAppended, EngineError> {
        let AppendTurnsRequest { session_id, agent_id, turns, request_id } = append;
        let request = key(request_id.as_deref(), "append_turns", &(&session_id, &agent_id, &turns))?;
        let who = (&session_id, agent_id.as_deref());
        let (session, replayed) =
            self.sessions.lock().append(namespace, who, turns, request, now(&*self.io))?;
        Ok(TurnsAppended { session, replayed })
    }

    /// A session with its turns. Reading keeps it alive.
    ///
    /// # Errors
    /// When there is no such session.
    pub fn get_session(
        &self,
        namespace: &Namespace,
        get: &GetSessionRequest,
    ) -> Result<SessionGot, EngineError> {
        let who = (&get.session_id, get.agent_id.as_deref());
        let (session, turns) = self.sessions.lock().get(namespace, who, get.last, now(&*self.io))?;
        Ok(SessionGot { session, turns })
    }

    /// A page of a namespace's open sessions in the order of their ids, and whether more follow.
    ///
    /// # Errors
    /// When the page size is wrong.
    pub fn list_sessions(
        &self,
        namespace: &Namespace,
        list: &ListSessionsRequest,
    ) -> Result<(Vec<Session>, bool), EngineError> {
        if !(1..=PAGE_SIZE_MAX).contains(&list.page_size) {
            let problem = format!("is {}: expected 1 to {PAGE_SIZE_MAX}", list.page_size);
            return Err(Invalid::one("page_size", problem).into());
        }
        let (agent, after) = (list.agent_id.as_deref(), list.after.as_ref());
        Ok(self.sessions.lock().list(namespace, agent, after, list.page_size, now(&*self.io)))
    }

    /// Ends a session. With a record it becomes an episode: `write` is handed that, gives it vectors if it likes, and calls
    /// [`EngineOver::write_episode`]. Until then the session takes no turns; when the write fails it goes on.
    ///
    /// # Errors
    /// When there is no such session, another call is closing it, the record is wrong, or the write fails.
    pub fn close_session<E: From<EngineError>>(
        &self,
        namespace: &Namespace,
        close: CloseSessionRequest,
        write: impl FnOnce(EpisodeWrite) -> Result<Unsynced<Written, I>, E>,
    ) -> Result<Unsynced<SessionClosed, I>, E> {
        let CloseSessionRequest { session_id, agent_id, record, request_id } = close;
        let asked = (&session_id, &agent_id, &record);
        let request = key(request_id.as_deref(), "close_session", &asked).map_err(EngineError::from)?;
        if let Some(closed) =
            self.closed_before(namespace, &session_id, request.as_ref(), record.is_some())?
        {
            return Ok(closed);
        }
        let at = now(&*self.io);
        let who = (&session_id, agent_id.as_deref());
        let (session, turns) = self.sessions.lock().begin_close(namespace, who, at)?;
        let closing = Closing { sessions: &self.sessions, namespace, id: &session_id };
        let closed = match record {
            None => {
                let revision = self.revision();
                let closed =
                    SessionClosed { session: Some(session), episode: None, replayed: false, revision };
                self.unsynced(closed, revision)
            }
            Some(SessionRecord { record, vectors, on_duplicate }) => {
                let under = |invalid: Invalid| EngineError::from(flat_names(invalid).under("record."));
                let record = episode::of_session(record, &session, &turns, at).map_err(under)?;
                let maker = Maker::Caller;
                let item = WriteItem { draft: record.into_draft().map_err(under)?, vectors, maker };
                let written = write(EpisodeWrite { item, on_duplicate, request: request.clone() })?;
                written.map(|written| SessionClosed {
                    session: Some(session),
                    replayed: written.replayed,
                    revision: written.revision,
                    episode: Some(written.into()),
                })
            }
        };
        self.sessions.lock().end_close(namespace, &session_id, request, at);
        drop(closing);
        Ok(closed)
    }

    /// Writes the episode that a session becomes.
    ///
    /// # Errors
    /// As [`EngineOver::write`]; what is wrong is named as the record names it.
    pub fn write_episode(
        &self,
        namespace: &Namespace,
        episode: EpisodeWrite,
    ) -> Result<Unsynced<Written, I>, EngineError> {
        let EpisodeWrite { item, on_duplicate, request } = episode;
        let wish = Wish { on_duplicate, allow_forgotten: false };
        self.write_as(namespace, item, (false, wish), request).map_err(|error| match error {
            EngineError::Invalid(invalid) => flat_names(invalid).under("record.").into(),
            error => error,
        })
    }

    /// Ends what has been idle too long; every call on sessions does this by itself. Returns how many that were.
    pub fn sweep_sessions(&self) -> usize {
        self.sessions.lock().sweep(now(&*self.io))
    }

    /// What the same request did when it came first.
    fn closed_before(
        &self,
        namespace: &Namespace,
        id: &SessionId,
        request: Option<&RequestKey>,
        has_record: bool,
    ) -> Result<Option<Unsynced<SessionClosed, I>>, EngineError> {
        let session = self.sessions.lock().closed_before(namespace, id, request)?;
        if has_record {
            // The episode is in the log, and with it the request: also after a restart.
            let Some(cell) = self.namespaces.get(namespace) else { return Ok(None) };
            self.namespaces.load(&cell, self.storage.records())?;
            let seen = cell.state.read().requests.seen(request)?.cloned();
            return seen.map_or(Ok(None), |seen| {
                let written = self.written_before(&cell, &seen)?;
                Ok(Some(written.map(|written| SessionClosed {
                    session,
                    replayed: true,
                    revision: written.revision,
                    episode: Some(written.into()),
                })))
            });
        }
        Ok(session.map(|session| {
            let revision = self.revision();
            let closed = SessionClosed { session: Some(session), episode: None, replayed: true, revision };
            self.unsynced(closed, revision)
        }))
    }
}

impl From<Written> for SessionEpisode {
    fn from(written: Written) -> Self {
        let Written { outcome, memory, neighbors, .. } = written;
        SessionEpisode { outcome, memory, neighbors }
    }
}

/// A session that is being closed. Whatever ends the call, the session does not stay between open and closed.
struct Closing<'a> {
    sessions: &'a SharedSessions,
    namespace: &'a Namespace,
    id: &'a SessionId,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.sessions.lock().abandon_close(self.namespace, self.id);
    }
}
