//! What became of what was recalled; what superseded what, and taking that back.

use hindsight_core::{MemoryId, RecallId, Status, Verdict};
use hindsight_proto::call::{FeedbackCall, GetHistoryCall, RollbackCall};

use super::NamespaceHandle;
use crate::transport::How;
use crate::{Error, History, Judged, RolledBack};

/// What became of the memories that a recall returned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feedback {
    /// The recall; without it any memories may be named.
    pub recall_id: Option<RecallId>,
    /// The memories, each with what is said of it.
    pub items: Vec<(MemoryId, Verdict)>,
    /// How the task ended that they were recalled for.
    pub task_status: Option<Status>,
    /// The caller's own id of the request; the client makes one when absent.
    pub request_id: Option<String>,
}

impl NamespaceHandle {
    /// Says which of the recalled memories were used, and how the task ended.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{Feedback, Status, Verdict};
    ///
    /// let recalled = ops.recall("deploy fails with permission denied").await?;
    /// let used = recalled.hits.iter().take(1).map(|hit| (hit.memory.id, Verdict::Used));
    /// ops.feedback(Feedback {
    ///     recall_id: recalled.recall_id,
    ///     items: used.collect(),
    ///     task_status: Some(Status::Success),
    ///     ..Feedback::default()
    /// })
    /// .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] when the recall is not remembered any more, [`Error::Invalid`] when it returned no such
    /// memory, what else the server answers, or that it can't be reached.
    pub async fn feedback(&self, feedback: Feedback) -> Result<Judged, Error> {
        let (how, request_id) = self.how(feedback.request_id, false);
        let call = FeedbackCall {
            namespace: self.namespace.clone(),
            recall_id: feedback.recall_id,
            items: feedback.items,
            task_status: feedback.task_status,
            request_id,
        };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.feedback(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Judged::from_wire(answer).map_err(Error::unreadable)
    }

    /// What superseded what, around one memory of the chain; `agent` sees its own memories beside the shared ones.
    ///
    /// # Errors
    /// [`Error::NotFound`], what else the server answers, or that it can't be reached.
    pub async fn history(&self, id: MemoryId, agent: Option<&str>) -> Result<History, Error> {
        let agent_id = agent.map(str::to_owned);
        let call = GetHistoryCall { namespace: self.namespace.clone(), id, agent_id };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.get_history(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_wire(), send).await?;
        History::from_wire(answer).map_err(Error::unreadable)
    }

    /// Takes back that a memory was superseded: the older one becomes valid again, the newer one becomes history. `id`
    /// is that of either.
    ///
    /// # Errors
    /// [`Error::Conflict`] when nothing superseded it, or what did was superseded itself; [`Error::NotFound`], what else
    /// the server answers, or that it can't be reached.
    pub async fn rollback(&self, id: MemoryId) -> Result<RolledBack, Error> {
        let (how, request_id) = self.how(None, false);
        let call = RollbackCall { namespace: self.namespace.clone(), id, request_id };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.rollback(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        RolledBack::from_wire(answer).map_err(Error::unreadable)
    }
}
