//! Working memory: what every front calls. An episode that a session becomes is embedded like any other write.

use std::{sync::Arc, time::Duration};

use hindsight_core::{Namespace, Session};
use hindsight_engine::{
    AppendTurnsRequest, CloseSessionRequest, EngineError, EpisodeWrite, GetSessionRequest,
    ListSessionsRequest, OpenSessionRequest, SessionClosed, SessionGot, SessionOpened, TurnsAppended,
    Unsynced, Written,
};
use tokio::sync::watch;

use super::{App, AppError, Worker};
use crate::access;
use crate::net::Phase;

/// How often sessions are looked for that nobody asks for any more; a call on any session ends them, too.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

impl App {
    /// Opens a session.
    pub(crate) async fn open_session(
        &self,
        namespace: Namespace,
        mut request: OpenSessionRequest,
    ) -> Result<SessionOpened, AppError> {
        access::as_agent(&mut request.draft.agent_id)?;
        self.on_worker(move |worker| Ok(worker.engine.open_session(&namespace, &request)?)).await
    }

    /// Appends turns to a session.
    pub(crate) async fn append_turns(
        &self,
        namespace: Namespace,
        mut request: AppendTurnsRequest,
    ) -> Result<TurnsAppended, AppError> {
        access::as_agent(&mut request.agent_id)?;
        self.on_worker(move |worker| Ok(worker.engine.append_turns(&namespace, request)?)).await
    }

    /// A session with its turns.
    pub(crate) async fn get_session(
        &self,
        namespace: Namespace,
        mut request: GetSessionRequest,
    ) -> Result<SessionGot, AppError> {
        access::as_agent(&mut request.agent_id)?;
        self.on_worker(move |worker| Ok(worker.engine.get_session(&namespace, &request)?)).await
    }

    /// A page of open sessions.
    pub(crate) async fn list_sessions(
        &self,
        namespace: Namespace,
        mut request: ListSessionsRequest,
    ) -> Result<(Vec<Session>, bool), AppError> {
        access::as_agent(&mut request.agent_id)?;
        self.on_worker(move |worker| Ok(worker.engine.list_sessions(&namespace, &request)?)).await
    }

    /// Ends a session; with a record it becomes an episode.
    pub(crate) async fn close_session(
        &self,
        namespace: Namespace,
        mut request: CloseSessionRequest,
    ) -> Result<SessionClosed, AppError> {
        access::as_agent(&mut request.agent_id)?;
        let bounds = access::Bounds::current()?;
        let closed = self
            .run(move |worker| {
                let write = |mut episode: EpisodeWrite| {
                    bounds.bind(&mut episode.item.draft)?;
                    worker.write_episode(&namespace, episode)
                };
                worker.engine.close_session(&namespace, request, write)
            })
            .await?;
        access::note(usize::from(closed.episode.is_some()));
        Ok(closed)
    }
}

impl Worker {
    fn write_episode(
        &self,
        namespace: &Namespace,
        mut episode: EpisodeWrite,
    ) -> Result<Unsynced<Written>, AppError> {
        let model_is_fixed = self.engine.model(namespace).is_some();
        let ours = !self.embed_items(namespace, std::slice::from_mut(&mut episode.item))?.is_empty();
        if model_is_fixed || !ours {
            return Ok(self.engine.write_episode(namespace, episode)?);
        }
        match self.engine.write_episode(namespace, episode.clone()) {
            // Somebody else's vectors came first and fixed another model: the caller sent none, so it is not told.
            Err(EngineError::ModelMismatch { .. } | EngineError::DimensionMismatch { .. }) => {
                episode.item.vectors = None;
                Ok(self.engine.write_episode(namespace, episode)?)
            }
            result => Ok(result?),
        }
    }
}

/// Ends idle sessions until the server stops.
pub(crate) async fn sweep(app: Arc<App>, mut phase: watch::Receiver<Phase>) {
    loop {
        let stopping = phase.wait_for(|phase| *phase >= Phase::Draining);
        if tokio::time::timeout(SWEEP_EVERY, stopping).await.is_ok() {
            return;
        }
        // Locked for moments: no thread of its own is needed.
        let swept = app.worker.engine.sweep_sessions();
        if swept > 0 {
            tracing::debug!(swept, "idle sessions ended");
        }
    }
}
