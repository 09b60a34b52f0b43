//! Rules: what episodes taught, and their life; summaries.

use hindsight_core::consolidate::RulePatch;
use hindsight_core::draft::RuleProposal;
use hindsight_core::limits::PAGE_SIZE_DEFAULT;
use hindsight_core::{Kind, MemoryId, RuleState};
use hindsight_proto::call::{
    ConsolidateCall, ListRulesCall, ProposeRuleCall, RuleCall, SummarizeCall, UpdateRuleCall,
};

use super::NamespaceHandle;
use crate::reply::memory;
use crate::rules::{Consolidated, RuleHistory, RulePage, Summarized};
use crate::transport::How;
use crate::{Error, Memory, Updated, Written};

/// Which rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleQuery {
    /// In one of these states; none means in any.
    pub rule_states: Vec<RuleState>,
    /// For one of these types of task; none means for any.
    pub task_types: Vec<String>,
    /// Most rules of a page, 1–1,000; 50 unless said.
    pub page_size: usize,
    /// What the page before gave; empty for the first.
    pub page_token: String,
    /// The agent that asks; it sees its own rules beside the shared ones.
    pub agent_id: Option<String>,
}

impl Default for RuleQuery {
    fn default() -> RuleQuery {
        RuleQuery {
            rule_states: Vec::new(),
            task_types: Vec::new(),
            page_size: PAGE_SIZE_DEFAULT,
            page_token: String::new(),
            agent_id: None,
        }
    }
}

/// How a consolidation is carried out. Numbers that are absent are the server's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConsolidateOptions {
    /// Show what would come, and store nothing.
    pub validate_only: bool,
    /// Least episodes that agree, 2 or more.
    pub min_episodes: Option<u32>,
    /// Least confidence of a new rule, 0–1.
    pub min_confidence: Option<f64>,
    /// The caller's own id of the request; the client makes one when absent.
    pub request_id: Option<String>,
}

/// Of what a summary is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SummarizeOptions {
    /// Memories of these kinds: fact, preference, episode; the first two when empty.
    pub kinds: Vec<Kind>,
    /// The agent whose own memories are meant; the shared ones when absent.
    pub agent_id: Option<String>,
    /// Show what would come, and store nothing.
    pub validate_only: bool,
    /// The caller's own id of the request; the client makes one when absent.
    pub request_id: Option<String>,
}

impl NamespaceHandle {
    /// Makes rules of what the episodes agree on, or newer versions of the rules that say so already.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{ConsolidateOptions, RulePatch, RuleState};
    ///
    /// for found in ops.consolidate(ConsolidateOptions::default()).await?.rules {
    ///     println!("{} ({} of {} episodes)", found.rule.content, found.agreeing, found.episodes);
    ///     let active = RulePatch { rule_state: Some(RuleState::Active), ..RulePatch::default() };
    ///     ops.update_rule(found.rule.id, active, Some(found.rule.version)).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] when nothing was ever written here, [`Error::Invalid`] with every number that is out of range,
    /// what else the server answers, or that it can't be reached.
    pub async fn consolidate(&self, options: ConsolidateOptions) -> Result<Consolidated, Error> {
        let ConsolidateOptions { validate_only, min_episodes, min_confidence, request_id } = options;
        let (how, request_id) = self.how(request_id, validate_only);
        let namespace = self.namespace.clone();
        let call = ConsolidateCall { namespace, validate_only, min_episodes, min_confidence, request_id };
        let send = |request| {
            let mut service = self.transport.admin();
            async move { service.consolidate(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Consolidated::from_wire(answer).map_err(Error::unreadable)
    }

    /// A page of rules, in the order of their ids.
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn rules(&self, query: RuleQuery) -> Result<RulePage, Error> {
        let RuleQuery { rule_states, task_types, page_size, page_token, agent_id } = query;
        let namespace = self.namespace.clone();
        let call = ListRulesCall { namespace, rule_states, task_types, page_size, page_token, agent_id };
        let send = |request| {
            let mut service = self.transport.rules();
            async move { service.list_rules(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_wire(), send).await?;
        RulePage::from_wire(answer).map_err(Error::unreadable)
    }

    /// One rule by id; `agent` sees its own rules beside the shared ones.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Invalid`] when the memory is no rule, what else the server answers, or that it can't be
    /// reached.
    pub async fn rule(&self, id: MemoryId, agent: Option<&str>) -> Result<Memory, Error> {
        let agent_id = agent.map(str::to_owned);
        let call = RuleCall { namespace: self.namespace.clone(), id, agent_id };
        let send = |request| {
            let mut service = self.transport.rules();
            async move { service.get_rule(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_get(), send).await?;
        memory(answer.rule).map_err(Error::unreadable)
    }

    /// Stores a rule to be observed. It is active at once only where the namespace trusts its agents.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every wrong field, what else the server answers, or that it can't be reached.
    pub async fn propose_rule(&self, proposal: RuleProposal) -> Result<Written, Error> {
        self.propose(proposal, None, false).await
    }

    /// Checks a proposal as [`NamespaceHandle::propose_rule`] would, and stores nothing.
    ///
    /// # Errors
    /// As [`NamespaceHandle::propose_rule`].
    pub async fn check_rule(&self, proposal: RuleProposal) -> Result<Written, Error> {
        self.propose(proposal, None, true).await
    }

    async fn propose(
        &self,
        proposal: RuleProposal,
        request_id: Option<String>,
        validate_only: bool,
    ) -> Result<Written, Error> {
        let (how, request_id) = self.how(request_id, validate_only);
        let call = ProposeRuleCall { namespace: self.namespace.clone(), proposal, validate_only, request_id };
        let send = |request| {
            let mut service = self.transport.rules();
            async move { service.propose_rule(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Written::of_proposal(answer).map_err(Error::unreadable)
    }

    /// Changes where a rule is in its life, or how long it is valid; with a `version`, only if it still is that one.
    ///
    /// # Errors
    /// [`Error::VersionMismatch`], [`Error::Conflict`] when it is in that state already, [`Error::NotFound`],
    /// [`Error::Invalid`] with every wrong field, what else the server answers, or that it can't be reached.
    pub async fn update_rule(
        &self,
        id: MemoryId,
        patch: RulePatch,
        version: Option<u64>,
    ) -> Result<Updated, Error> {
        let (how, request_id) = self.how(None, false);
        let call = UpdateRuleCall { namespace: self.namespace.clone(), id, patch, version, request_id };
        let send = |request| {
            let mut service = self.transport.rules();
            async move { service.update_rule(request).await }
        };
        let answer = self.transport.call(how, call.into_wire()?, send).await?;
        Updated::of_rule(answer).map_err(Error::unreadable)
    }

    /// What became of a rule, and of those that it replaced or that replaced it.
    ///
    /// # Errors
    /// As [`NamespaceHandle::rule`].
    pub async fn rule_history(&self, id: MemoryId, agent: Option<&str>) -> Result<RuleHistory, Error> {
        let agent_id = agent.map(str::to_owned);
        let call = RuleCall { namespace: self.namespace.clone(), id, agent_id };
        let send = |request| {
            let mut service = self.transport.rules();
            async move { service.get_rule_history(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_history(), send).await?;
        RuleHistory::from_wire(answer).map_err(Error::unreadable)
    }

    /// Merges what is known of an entity into one memory that keeps its sources. [`NamespaceHandle::rollback`] of the
    /// summary brings the parts back.
    ///
    /// # Errors
    /// [`Error::Invalid`] when too few memories can be parts, [`Error::NotFound`], what else the server answers, or that it
    /// can't be reached.
    pub async fn summarize(&self, entity: &str, options: SummarizeOptions) -> Result<Summarized, Error> {
        let SummarizeOptions { kinds, agent_id, validate_only, request_id } = options;
        let (how, request_id) = self.how(request_id, validate_only);
        let (namespace, entity) = (self.namespace.clone(), entity.to_owned());
        let call = SummarizeCall { namespace, entity, kinds, agent_id, validate_only, request_id };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.summarize(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Summarized::from_wire(answer).map_err(Error::unreadable)
    }
}
