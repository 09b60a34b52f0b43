//! Calls on rules and summaries.

use hindsight_core::draft::RuleProposal;
use hindsight_core::{MemoryId, Namespace, RuleState};
use hindsight_engine::{
    ConsolidateRequest, Consolidated, EngineError, Got, Page, RuleHistory, RuleListRequest,
    RuleUpdateRequest, SummarizeRequest, Summarized, Updated, WriteItem, WriteOptions, Written,
};

use super::read::{ending_early, fitting};
use super::{App, AppError};
use crate::access;

impl App {
    /// A page of rules by id. A page that would be too large an answer ends early.
    pub(crate) async fn rules(
        &self,
        namespace: Namespace,
        mut list: RuleListRequest,
    ) -> Result<Page, AppError> {
        access::as_agent(&mut list.agent_id)?;
        let page = self.run(move |worker| Ok(worker.engine.rules(&namespace, &list)?)).await?;
        Ok(ending_early(page))
    }

    /// One rule by id.
    pub(crate) async fn rule(
        &self,
        namespace: Namespace,
        id: MemoryId,
        mut agent: Option<String>,
    ) -> Result<Got, AppError> {
        access::as_agent(&mut agent)?;
        self.run(move |worker| Ok(worker.engine.rule(&namespace, id, agent.as_deref())?)).await
    }

    /// Stores a proposed rule: to be observed, or active at once where agents are trusted.
    pub(crate) async fn propose_rule(
        &self,
        namespace: Namespace,
        proposal: RuleProposal,
        options: WriteOptions,
    ) -> Result<Written, AppError> {
        let (bounds, stores) = (access::Bounds::current()?, !options.validate_only);
        let write = self.run(move |worker| {
            let trusted = worker.engine.rule_tuning(&namespace).trust_agents;
            let state = if trusted { RuleState::Active } else { RuleState::Observing };
            let mut item = WriteItem::new(proposal.into_draft(state)?, None);
            bounds.bind(&mut item.draft)?;
            worker.write(&namespace, item, options)
        });
        let written = write.await.map_err(|error| match error {
            AppError::Engine(EngineError::Invalid(invalid)) => RuleProposal::flat_names(invalid).into(),
            error => error,
        })?;
        access::note(usize::from(stores));
        Ok(written)
    }

    /// Changes a rule's state or validity.
    pub(crate) async fn update_rule(
        &self,
        namespace: Namespace,
        request: RuleUpdateRequest,
    ) -> Result<Updated, AppError> {
        self.run(move |worker| Ok(worker.engine.update_rule(&namespace, request)?)).await
    }

    /// What became of a rule.
    pub(crate) async fn rule_history(
        &self,
        namespace: Namespace,
        id: MemoryId,
        mut agent: Option<String>,
    ) -> Result<RuleHistory, AppError> {
        access::as_agent(&mut agent)?;
        self.run(move |worker| Ok(worker.engine.rule_history(&namespace, id, agent.as_deref())?)).await
    }

    /// Makes rules of what episodes agree on.
    pub(crate) async fn consolidate(
        &self,
        namespace: Namespace,
        request: ConsolidateRequest,
    ) -> Result<Consolidated, AppError> {
        let mut done = self.run(move |worker| Ok(worker.engine.consolidate(&namespace, request)?)).await?;
        let fitting = fitting(done.rules.iter().map(|rule| &rule.rule));
        done.rules.truncate(fitting);
        Ok(done)
    }

    /// Merges what is known of an entity into one memory.
    pub(crate) async fn summarize(
        &self,
        namespace: Namespace,
        request: SummarizeRequest,
    ) -> Result<Summarized, AppError> {
        self.run(move |worker| Ok(worker.engine.summarize(&namespace, request)?)).await
    }
}
