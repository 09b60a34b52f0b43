//! Calls by which the memory learns: what became of what was recalled, and what superseded what.

use hindsight_core::{MemoryId, Namespace};
use hindsight_engine::{FeedbackRequest, History, Judged, RollbackRequest, RolledBack};

use super::{App, AppError};

impl App {
    /// Takes in what became of what a recall returned.
    pub(crate) async fn feedback(
        &self,
        namespace: Namespace,
        request: FeedbackRequest,
    ) -> Result<Judged, AppError> {
        self.run(move |worker| Ok(worker.engine.feedback(&namespace, request)?)).await
    }

    /// What superseded what, around one memory.
    pub(crate) async fn history(
        &self,
        namespace: Namespace,
        id: MemoryId,
        agent: Option<String>,
    ) -> Result<History, AppError> {
        self.run(move |worker| Ok(worker.engine.history(&namespace, id, agent.as_deref())?)).await
    }

    /// Takes back that a memory was superseded.
    pub(crate) async fn rollback(
        &self,
        namespace: Namespace,
        request: RollbackRequest,
    ) -> Result<RolledBack, AppError> {
        self.run(move |worker| Ok(worker.engine.rollback(&namespace, request)?)).await
    }
}
