//! Calls by which the memory learns: what became of what was recalled, and what superseded what.

use hindsight_core::{MemoryId, Namespace};
use hindsight_engine::{FeedbackRequest, History, Judged, RollbackRequest, RolledBack};

use super::{App, AppError};
use crate::access;

impl App {
    /// Takes in what became of what a recall returned.
    pub(crate) async fn feedback(
        &self,
        namespace: Namespace,
        request: FeedbackRequest,
    ) -> Result<Judged, AppError> {
        let ids: Vec<MemoryId> = request.items.iter().map(|(id, _)| *id).collect();
        self.reaches(&namespace, &ids).await?;
        let verdicts: Vec<_> = request.items.iter().map(|(_, verdict)| *verdict).collect();
        let judged = self.run(move |worker| Ok(worker.engine.feedback(&namespace, request)?)).await?;
        access::note(judged.memories.len());
        verdicts.into_iter().for_each(|verdict| self.metrics.memories.judged(verdict));
        Ok(judged)
    }

    /// What superseded what, around one memory.
    pub(crate) async fn history(
        &self,
        namespace: Namespace,
        id: MemoryId,
        mut agent: Option<String>,
    ) -> Result<History, AppError> {
        access::as_agent(&mut agent)?;
        let history =
            self.run(move |worker| Ok(worker.engine.history(&namespace, id, agent.as_deref())?)).await?;
        access::note(history.memories.len());
        Ok(history)
    }

    /// Takes back that a memory was superseded.
    pub(crate) async fn rollback(
        &self,
        namespace: Namespace,
        request: RollbackRequest,
    ) -> Result<RolledBack, AppError> {
        self.reaches(&namespace, &[request.id]).await?;
        let done = self.run(move |worker| Ok(worker.engine.rollback(&namespace, request)?)).await?;
        access::note(done.restored.len() + usize::from(done.invalidated.is_some()));
        Ok(done)
    }
}
