//! Working memory: open a session, append to it, read it, close it.

use hindsight_core::draft::RecordDraft;
use hindsight_core::limits::{PAGE_SIZE_MAX, SESSIONS_PER_NAMESPACE_MAX};
use hindsight_core::{OnDuplicate, RawVectors, Session, SessionDraft, SessionId, TurnDraft};
use hindsight_proto::call::{
    AppendTurnsCall, CloseSessionCall, GetSessionCall, ListSessionsCall, OpenSessionCall, RecordCall,
};

use super::NamespaceHandle;
use crate::session::{ClosedSession, OpenedSession, SessionTurns, session, sessions};
use crate::transport::How;
use crate::{AppendedTurns, Error};

/// An open session of a namespace, for one agent or for nobody in particular.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    namespace: NamespaceHandle,
    id: SessionId,
    agent_id: Option<String>,
}

/// The episode that a session becomes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionEpisode {
    /// The task. Session, agent, times, source turns and actions come from the session where they are absent here.
    pub record: RecordDraft,
    /// Vectors that the caller made.
    pub vectors: Option<RawVectors>,
    /// What happens when the same is known already.
    pub on_duplicate: Option<OnDuplicate>,
}

impl NamespaceHandle {
    /// Opens a session, or goes on with the one that is open under the same id. It is in the server's memory alone: it ends
    /// when it is closed, when nobody uses it for its `idle_ttl`, and with a restart of the server.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{RecordDraft, SessionDraft, Status, TurnDraft};
    ///
    /// let opened = ops.open_session(SessionDraft { max_turns: Some(50), ..SessionDraft::default() }).await?;
    /// let chat = ops.session(opened.session.session_id);
    /// let turn = TurnDraft { role: "user".to_owned(), content: "deploy billing".to_owned(), ..TurnDraft::default() };
    /// chat.append(vec![turn]).await?;
    /// let record = RecordDraft {
    ///     task_type: "deploy".to_owned(),
    ///     status: Some(Status::Success),
    ///     summary: "Deployed billing".to_owned(),
    ///     ..RecordDraft::default()
    /// };
    /// chat.close_as(record).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] with every wrong field, [`Error::AlreadyExists`] when the id is that of a session with other
    /// settings, what else the server answers, or that it can't be reached.
    pub async fn open_session(&self, draft: SessionDraft) -> Result<OpenedSession, Error> {
        let (how, request_id) = self.how(None, false);
        let call = OpenSessionCall { namespace: self.namespace.clone(), draft, request_id };
        let send = |request| {
            let mut service = self.transport.sessions();
            async move { service.open_session(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        OpenedSession::from_wire(answer).map_err(Error::unreadable)
    }

    /// A handle on a session that is open.
    #[must_use]
    pub fn session(&self, id: SessionId) -> SessionHandle {
        SessionHandle { namespace: self.clone(), id, agent_id: None }
    }

    /// Every open session of the namespace that the agent may see, without its turns.
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn sessions(&self, agent: Option<&str>) -> Result<Vec<Session>, Error> {
        let mut found: Vec<Session> = Vec::new();
        let mut after = None;
        while found.len() <= SESSIONS_PER_NAMESPACE_MAX {
            let call = ListSessionsCall {
                namespace: self.namespace.clone(),
                agent_id: agent.map(str::to_owned),
                page_size: PAGE_SIZE_MAX,
                after,
            };
            let send = |request| {
                let mut service = self.transport.sessions();
                async move { service.list_sessions(request).await }
            };
            let page = self.transport.call(How::read(self.timeout), call.into_wire(), send).await?;
            found.extend(sessions(page.sessions).map_err(Error::unreadable)?);
            if page.next_page_token.is_empty() {
                break;
            }
            after = found.last().map(|last| last.session_id.clone());
        }
        Ok(found)
    }
}

impl SessionHandle {
    /// The same session, used by this agent: needed where the session is that agent's alone.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<String>) -> SessionHandle {
        self.agent_id = Some(agent.into());
        self
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Appends turns; the oldest fall out when the session holds more than it may.
    ///
    /// # Errors
    /// [`Error::NotFound`] with the reason `SESSION_EXPIRED`, `SESSION_CLOSED` or `SESSION_NOT_FOUND`,
    /// [`Error::Invalid`] with every wrong field, what else the server answers, or that it can't be reached.
    pub async fn append(&self, turns: Vec<TurnDraft>) -> Result<AppendedTurns, Error> {
        let (how, request_id) = self.namespace.how(None, false);
        let call = AppendTurnsCall {
            namespace: self.namespace.namespace.clone(),
            session_id: self.id.clone(),
            agent_id: self.agent_id.clone(),
            turns,
            request_id,
        };
        let send = |request| {
            let mut service = self.namespace.transport.sessions();
            async move { service.append_turns(request).await }
        };
        let answer = self.namespace.transport.call(how, call.into_wire(), send).await?;
        let session = session(answer.session).map_err(Error::unreadable)?;
        Ok(AppendedTurns { session, replayed: answer.replayed })
    }

    /// The session with its newest `last` turns, all that it holds without a number. Reading keeps it alive.
    ///
    /// # Errors
    /// As [`SessionHandle::append`].
    pub async fn read(&self, last: Option<usize>) -> Result<SessionTurns, Error> {
        let call = GetSessionCall {
            namespace: self.namespace.namespace.clone(),
            session_id: self.id.clone(),
            agent_id: self.agent_id.clone(),
            last,
        };
        let send = |request| {
            let mut service = self.namespace.transport.sessions();
            async move { service.get_session(request).await }
        };
        let how = How::read(self.namespace.timeout);
        let answer = self.namespace.transport.call(how, call.into_wire(), send).await?;
        SessionTurns::from_wire(answer).map_err(Error::unreadable)
    }

    /// Ends the session; what it held is gone.
    ///
    /// # Errors
    /// As [`SessionHandle::append`].
    pub async fn close(&self) -> Result<ClosedSession, Error> {
        self.close_with(None, None).await
    }

    /// Ends the session and stores the task that it was for as an episode.
    ///
    /// # Errors
    /// As [`SessionHandle::append`]; when the record is wrong the session goes on.
    pub async fn close_as(&self, record: RecordDraft) -> Result<ClosedSession, Error> {
        let episode = SessionEpisode { record, ..SessionEpisode::default() };
        self.close_with(Some(episode), None).await
    }

    /// As [`SessionHandle::close`] and [`SessionHandle::close_as`], with the caller's own id of the request.
    ///
    /// # Errors
    /// As [`SessionHandle::close_as`].
    pub async fn close_with(
        &self,
        episode: Option<SessionEpisode>,
        request_id: Option<String>,
    ) -> Result<ClosedSession, Error> {
        let (how, request_id) = self.namespace.how(request_id, false);
        let namespace = &self.namespace.namespace;
        let record = episode.map(|SessionEpisode { record, vectors, on_duplicate }| RecordCall {
            allow_forgotten: false,
            namespace: namespace.clone(),
            record,
            vectors,
            validate_only: false,
            on_duplicate,
            request_id: None,
        });
        let call = CloseSessionCall {
            namespace: namespace.clone(),
            session_id: self.id.clone(),
            agent_id: self.agent_id.clone(),
            record,
            request_id,
        };
        let send = |request| {
            let mut service = self.namespace.transport.sessions();
            async move { service.close_session(request).await }
        };
        let answer = self.namespace.transport.call(how, call.into_wire()?, send).await?;
        ClosedSession::from_wire(answer).map_err(Error::unreadable)
    }
}
