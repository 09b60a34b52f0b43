//! `RuleService`, and the answers to consolidations and summaries.

use std::sync::Arc;

use hindsight_engine::{
    Consolidated, ConsolidatedRule, RuleListRequest, RuleUpdateRequest, Summarized, WriteOptions,
};
use hindsight_proto::call;
use hindsight_proto::v1::{self, rule_service_server::RuleService};
use hindsight_proto::words::Word as _;
use tonic::{Request, Response, Status};

use super::status::refuse;
use crate::app::{App, page::RuleListing};

pub(super) struct Rules(pub(super) Arc<App>);

#[tonic::async_trait]
impl RuleService for Rules {
    async fn list_rules(
        &self,
        request: Request<v1::ListRulesRequest>,
    ) -> Result<Response<v1::ListRulesResponse>, Status> {
        let call = call::ListRulesCall::from_wire(request.into_inner()).map_err(refuse)?;
        let call::ListRulesCall { namespace, rule_states, task_types, page_size, page_token, agent_id } =
            call;
        let mut wish = RuleListRequest { rule_states, task_types, page_size, after: None, agent_id };
        let listing = RuleListing::of(&namespace, &wish);
        wish.after = listing.after(&page_token).map_err(refuse)?;
        let page = self.0.rules(namespace, wish).await.map_err(refuse)?;
        Ok(Response::new(v1::ListRulesResponse {
            next_page_token: listing.next(&page).unwrap_or_default(),
            rules: page.memories.into_iter().map(Into::into).collect(),
            revision: page.revision.0,
        }))
    }

    async fn get_rule(
        &self,
        request: Request<v1::GetRuleRequest>,
    ) -> Result<Response<v1::GetRuleResponse>, Status> {
        let call = call::RuleCall::from_get(request.into_inner()).map_err(refuse)?;
        let got = self.0.rule(call.namespace, call.id, call.agent_id).await.map_err(refuse)?;
        Ok(Response::new(v1::GetRuleResponse { rule: Some(got.memory.into()), revision: got.revision.0 }))
    }

    async fn propose_rule(
        &self,
        request: Request<v1::ProposeRuleRequest>,
    ) -> Result<Response<v1::ProposeRuleResponse>, Status> {
        let call = call::ProposeRuleCall::from_wire(request.into_inner()).map_err(refuse)?;
        let call::ProposeRuleCall { namespace, proposal, validate_only, request_id } = call;
        let options = WriteOptions { validate_only, request_id, ..WriteOptions::default() };
        let written = self.0.propose_rule(namespace, proposal, options).await.map_err(refuse)?;
        Ok(Response::new(v1::ProposeRuleResponse {
            outcome: written.outcome.number(),
            rule: Some(written.memory.into()),
            neighbors: written.neighbors.into_iter().map(Into::into).collect(),
            replayed: written.replayed,
            revision: written.revision.0,
        }))
    }

    async fn update_rule(
        &self,
        request: Request<v1::UpdateRuleRequest>,
    ) -> Result<Response<v1::UpdateRuleResponse>, Status> {
        let call = call::UpdateRuleCall::from_wire(request.into_inner()).map_err(refuse)?;
        let call::UpdateRuleCall { namespace, id, patch, version, request_id } = call;
        let update = RuleUpdateRequest { id, patch, version, request_id };
        let updated = self.0.update_rule(namespace, update).await.map_err(refuse)?;
        Ok(Response::new(v1::UpdateRuleResponse {
            rule: Some(updated.memory.into()),
            replayed: updated.replayed,
            revision: updated.revision.0,
        }))
    }

    async fn get_rule_history(
        &self,
        request: Request<v1::GetRuleHistoryRequest>,
    ) -> Result<Response<v1::GetRuleHistoryResponse>, Status> {
        let call = call::RuleCall::from_history(request.into_inner()).map_err(refuse)?;
        let history = self.0.rule_history(call.namespace, call.id, call.agent_id).await.map_err(refuse)?;
        Ok(Response::new(v1::GetRuleHistoryResponse {
            events: history.events.iter().map(|(rule, event)| call::event_to_wire(*rule, event)).collect(),
            rules: history.rules.into_iter().map(Into::into).collect(),
            revision: history.revision.0,
        }))
    }
}

pub(super) fn consolidated(done: Consolidated) -> v1::ConsolidateResponse {
    let Consolidated { rules, created, revised, replaced, episodes, cases, replayed, revision } = done;
    let rules = rules.into_iter().map(|rule| {
        let ConsolidatedRule { change, rule, agreeing, episodes, replaces } = rule;
        v1::ConsolidatedRule {
            change: change.number(),
            rule: Some(rule.into()),
            agreeing,
            episodes,
            replaces: replaces.iter().map(ToString::to_string).collect(),
        }
    });
    v1::ConsolidateResponse {
        rules: rules.collect(),
        created,
        revised,
        replaced,
        episodes,
        cases,
        replayed,
        revision: revision.0,
    }
}

pub(super) fn summarized(done: Summarized) -> v1::SummarizeResponse {
    let Summarized { summary, parts, left_out, replayed, revision } = done;
    let left_out = left_out.iter();
    v1::SummarizeResponse {
        summary: Some(summary.into()),
        parts: parts.iter().map(ToString::to_string).collect(),
        left_out: left_out
            .map(|(id, reason)| v1::LeftOutMemory { id: id.to_string(), reason: reason.number() })
            .collect(),
        replayed,
        revision: revision.0,
    }
}
