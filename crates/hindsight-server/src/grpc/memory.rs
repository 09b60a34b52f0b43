//! `MemoryService`: what agents call.

use std::sync::Arc;

use hindsight_engine::{
    Affected, EngineError, FeedbackRequest, ForgetRequest, ForgetTarget, ItemWritten, Judged, ListRequest,
    Maker, RestoreRequest, RollbackRequest, SummarizeRequest, UpdateRequest, WriteItem, WriteOptions,
};
use hindsight_proto::call;
use hindsight_proto::v1::{self, memory_service_server::MemoryService};
use hindsight_proto::words::Word as _;
use tonic::{Request, Response, Status};

use super::rules::summarized;
use super::status::refuse;
use crate::app::{App, Batch, Refusal, page::Listing};

pub(super) struct Memories(pub(super) Arc<App>);

fn item(entry: call::WriteEntry) -> WriteItem {
    WriteItem::new(entry.draft, entry.vectors)
}

#[tonic::async_trait]
impl MemoryService for Memories {
    async fn write(&self, request: Request<v1::WriteRequest>) -> Result<Response<v1::WriteResponse>, Status> {
        let call = call::WriteCall::from_wire(request.into_inner()).map_err(refuse)?;
        let options = WriteOptions {
            validate_only: call.validate_only,
            on_duplicate: call.on_duplicate,
            request_id: call.request_id,
            allow_forgotten: call.allow_forgotten,
        };
        let written = self.0.write(call.namespace, item(call.entry), options).await.map_err(refuse)?;
        Ok(Response::new(v1::WriteResponse {
            outcome: written.outcome.number(),
            memory: Some(written.memory.into()),
            replayed: written.replayed,
            revision: written.revision.0,
            neighbors: written.neighbors.into_iter().map(Into::into).collect(),
        }))
    }

    async fn batch_write(
        &self,
        request: Request<v1::BatchWriteRequest>,
    ) -> Result<Response<v1::BatchWriteResponse>, Status> {
        let call = call::BatchWriteCall::from_wire(request.into_inner()).map_err(refuse)?;
        let batch = Batch {
            items: call.items.into_iter().map(|entry| entry.map(item)).collect(),
            all_or_nothing: call.all_or_nothing,
            on_duplicate: call.on_duplicate,
            allow_forgotten: call.allow_forgotten,
            request_id: call.request_id,
        };
        let written = self.0.write_batch(call.namespace, batch).await.map_err(refuse)?;
        let results = written.results.into_iter().map(batch_result).collect();
        Ok(Response::new(v1::BatchWriteResponse {
            results,
            replayed: written.replayed,
            revision: written.revision.0,
        }))
    }

    async fn record(
        &self,
        request: Request<v1::RecordRequest>,
    ) -> Result<Response<v1::RecordResponse>, Status> {
        let call = call::RecordCall::from_wire(request.into_inner()).map_err(refuse)?;
        let draft = call.record.into_draft().map_err(refuse)?;
        let item = WriteItem::new(draft, call.vectors);
        let options = WriteOptions {
            validate_only: call.validate_only,
            on_duplicate: call.on_duplicate,
            request_id: call.request_id,
            allow_forgotten: call.allow_forgotten,
        };
        let written = self.0.record(call.namespace, item, options).await.map_err(refuse)?;
        Ok(Response::new(v1::RecordResponse {
            outcome: written.outcome.number(),
            memory: Some(written.memory.into()),
            replayed: written.replayed,
            revision: written.revision.0,
            neighbors: written.neighbors.into_iter().map(Into::into).collect(),
        }))
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Result<Response<v1::GetResponse>, Status> {
        let call = call::GetCall::from_wire(&request.into_inner()).map_err(refuse)?;
        let got = self.0.get(call.namespace, call.id, call.agent_id).await.map_err(refuse)?;
        Ok(Response::new(v1::GetResponse { memory: Some(got.memory.into()), revision: got.revision.0 }))
    }

    async fn list(&self, request: Request<v1::ListRequest>) -> Result<Response<v1::ListResponse>, Status> {
        let call = call::ListCall::from_wire(request.into_inner()).map_err(refuse)?;
        let (namespace, filter, agent_id) = (call.namespace, call.filter, call.agent_id);
        let listing = Listing { namespace: &namespace, filter: &filter, agent_id: agent_id.as_deref() };
        let after = listing.after(&call.page_token).map_err(refuse)?;
        let wish = ListRequest {
            filter: filter.clone(),
            page_size: call.page_size,
            after,
            agent_id: agent_id.clone(),
        };
        let page = self.0.list(namespace.clone(), wish).await.map_err(refuse)?;
        Ok(Response::new(v1::ListResponse {
            next_page_token: listing.next(&page).unwrap_or_default(),
            memories: page.memories.into_iter().map(Into::into).collect(),
            revision: page.revision.0,
        }))
    }

    async fn recall(
        &self,
        request: Request<v1::RecallRequest>,
    ) -> Result<Response<v1::RecallResponse>, Status> {
        let call = call::RecallCall::from_wire(request.into_inner()).map_err(refuse)?;
        let recalled = self.0.recall(call.namespace, call.recall).await.map_err(refuse)?;
        Ok(Response::new(recalled.into()))
    }

    async fn explain(
        &self,
        request: Request<v1::ExplainRequest>,
    ) -> Result<Response<v1::ExplainResponse>, Status> {
        let call::ExplainCall { recall, id } =
            call::ExplainCall::from_wire(request.into_inner()).map_err(refuse)?;
        let explanation = self.0.explain(recall.namespace, recall.recall, id).await.map_err(refuse)?;
        Ok(Response::new(explanation.into()))
    }

    async fn update(
        &self,
        request: Request<v1::UpdateRequest>,
    ) -> Result<Response<v1::UpdateResponse>, Status> {
        let call = call::UpdateCall::from_wire(request.into_inner()).map_err(refuse)?;
        let update = UpdateRequest {
            id: call.id,
            patch: call.patch,
            version: call.version,
            vectors: call.vectors,
            maker: Maker::Caller,
            request_id: call.request_id,
            allow_forgotten: call.allow_forgotten,
        };
        let written = self.0.update(call.namespace, update).await.map_err(refuse)?;
        Ok(Response::new(v1::UpdateResponse {
            memory: Some(written.memory.into()),
            replayed: written.replayed,
            revision: written.revision.0,
        }))
    }

    async fn forget(
        &self,
        request: Request<v1::ForgetRequest>,
    ) -> Result<Response<v1::ForgetResponse>, Status> {
        let call = call::ForgetCall::from_wire(request.into_inner()).map_err(refuse)?;
        let forget = ForgetRequest {
            target: match call.target {
                call::ForgetTarget::Ids(ids) => ForgetTarget::Ids(ids),
                call::ForgetTarget::Matching { filter, expected_count } => {
                    ForgetTarget::Matching { filter: *filter, expected_count }
                }
            },
            validate_only: call.validate_only,
            request_id: call.request_id,
            with_derived: call.with_derived,
        };
        let Affected { count, ids, derived, replayed, revision } =
            self.0.forget(call.namespace, forget).await.map_err(refuse)?;
        let ids = ids.iter().map(ToString::to_string).collect();
        let derived = derived.iter().map(ToString::to_string).collect();
        Ok(Response::new(v1::ForgetResponse { count, ids, derived, replayed, revision: revision.0 }))
    }

    async fn restore(
        &self,
        request: Request<v1::RestoreRequest>,
    ) -> Result<Response<v1::RestoreResponse>, Status> {
        let call = call::RestoreCall::from_wire(request.into_inner()).map_err(refuse)?;
        let restore = RestoreRequest { ids: call.ids, request_id: call.request_id };
        let Affected { count, replayed, revision, .. } =
            self.0.restore(call.namespace, restore).await.map_err(refuse)?;
        Ok(Response::new(v1::RestoreResponse { count, replayed, revision: revision.0 }))
    }

    async fn feedback(
        &self,
        request: Request<v1::FeedbackRequest>,
    ) -> Result<Response<v1::FeedbackResponse>, Status> {
        let call = call::FeedbackCall::from_wire(request.into_inner()).map_err(refuse)?;
        let feedback = FeedbackRequest {
            recall_id: call.recall_id,
            items: call.items,
            task_status: call.task_status,
            request_id: call.request_id,
        };
        let Judged { memories, replayed, revision } =
            self.0.feedback(call.namespace, feedback).await.map_err(refuse)?;
        let memories = memories.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::FeedbackResponse { memories, replayed, revision: revision.0 }))
    }

    async fn get_history(
        &self,
        request: Request<v1::GetHistoryRequest>,
    ) -> Result<Response<v1::GetHistoryResponse>, Status> {
        let call = call::GetHistoryCall::from_wire(request.into_inner()).map_err(refuse)?;
        let history = self.0.history(call.namespace, call.id, call.agent_id).await.map_err(refuse)?;
        let memories = history.memories.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::GetHistoryResponse { memories, revision: history.revision.0 }))
    }

    async fn rollback(
        &self,
        request: Request<v1::RollbackRequest>,
    ) -> Result<Response<v1::RollbackResponse>, Status> {
        let call = call::RollbackCall::from_wire(request.into_inner()).map_err(refuse)?;
        let rollback = RollbackRequest { id: call.id, request_id: call.request_id };
        let done = self.0.rollback(call.namespace, rollback).await.map_err(refuse)?;
        Ok(Response::new(v1::RollbackResponse {
            restored: done.restored.into_iter().map(Into::into).collect(),
            invalidated: done.invalidated.map(Into::into),
            replayed: done.replayed,
            revision: done.revision.0,
        }))
    }

    async fn summarize(
        &self,
        request: Request<v1::SummarizeRequest>,
    ) -> Result<Response<v1::SummarizeResponse>, Status> {
        let call = call::SummarizeCall::from_wire(request.into_inner()).map_err(refuse)?;
        let call::SummarizeCall { namespace, entity, kinds, agent_id, validate_only, request_id } = call;
        let wish = SummarizeRequest { entity, kinds, agent_id, validate_only, request_id };
        Ok(Response::new(summarized(self.0.summarize(namespace, wish).await.map_err(refuse)?)))
    }
}

fn batch_result(result: Result<ItemWritten, EngineError>) -> v1::BatchResult {
    use v1::batch_result::Result as Wire;

    let outcome = result.as_ref().map_or(0, |item| item.outcome.number());
    let result = match result {
        Ok(item) => Wire::Id(item.id.to_string()),
        Err(error) => {
            let refusal = Refusal::from(crate::app::AppError::from(error));
            let violations = refusal.violations.into_iter();
            Wire::Error(v1::ItemError {
                reason: refusal.reason.to_owned(),
                message: refusal.message,
                violations: violations
                    .map(|v| v1::FieldViolation { field: v.field, description: v.description })
                    .collect(),
            })
        }
    };
    v1::BatchResult { result: Some(result), outcome }
}
