//! A server of the generated traits that keeps memories in a list, and fails as often as it is told to.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use hindsight_client::{Client, ClientBuilder};
use hindsight_core::draft::Moment;
use hindsight_core::{
    Breakdown, Draft, Explanation, Filter, Hit, Lsn, Memory, MemoryId, Namespace, Reason, RecallId, Recalled,
    State, Timestamp,
};
use hindsight_proto::call::*;
use hindsight_proto::v1;
use hindsight_proto::v1::admin_service_server::{AdminService, AdminServiceServer};
use hindsight_proto::v1::memory_service_server::{MemoryService, MemoryServiceServer};
use hindsight_proto::v1::namespace_service_server::{NamespaceService, NamespaceServiceServer};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// What arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) rpc: &'static str,
    pub(crate) request_id: String,
    pub(crate) timeout: String,
}

#[derive(Debug, Default)]
pub(crate) struct Mock {
    seen: Mutex<Vec<Seen>>,
    /// Statuses to fail with, before anything is answered.
    failures: Mutex<VecDeque<Status>>,
    /// Whether calls hang instead of being answered.
    hangs: bool,
    memories: Mutex<Vec<Memory>>,
    /// What a backup sends.
    backup: Mutex<Vec<Result<v1::BackupResponse, Status>>>,
}

pub(crate) struct Running {
    pub(crate) mock: Arc<Mock>,
    pub(crate) address: SocketAddr,
    stop: tokio::sync::oneshot::Sender<()>,
    served: tokio::task::JoinHandle<()>,
}

impl Running {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) async fn client(&self) -> Client {
        ClientBuilder::new().connect(&self.url()).await.unwrap()
    }

    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap();
    }
}

impl Mock {
    pub(crate) fn failing(failures: impl IntoIterator<Item = Status>) -> Mock {
        Mock { failures: Mutex::new(failures.into_iter().collect()), ..Mock::default() }
    }

    pub(crate) fn with_backup(parts: impl IntoIterator<Item = Result<v1::BackupResponse, Status>>) -> Mock {
        Mock { backup: Mutex::new(parts.into_iter().collect()), ..Mock::default() }
    }

    pub(crate) fn hanging() -> Mock {
        Mock { hangs: true, ..Mock::default() }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) async fn start(self) -> Running {
        self.start_at("127.0.0.1:0".parse().unwrap()).await
    }

    pub(crate) async fn start_at(self, address: SocketAddr) -> Running {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mock = Arc::new(self);
        let server = Server::builder()
            .add_service(MemoryServiceServer::from_arc(Arc::clone(&mock)))
            .add_service(NamespaceServiceServer::from_arc(Arc::clone(&mock)))
            .add_service(AdminServiceServer::from_arc(Arc::clone(&mock)));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let served = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            server.serve_with_incoming_shutdown(TcpIncoming::from(listener), stopped).await.unwrap();
        });
        Running { mock, address, stop, served }
    }

    /// Notes a call; then fails, hangs, or lets it through.
    async fn enter<T>(
        &self,
        rpc: &'static str,
        request: &Request<T>,
        request_id: &str,
    ) -> Result<(), Status> {
        let timeout = request.metadata().get("grpc-timeout").map(|value| value.to_str().unwrap().to_owned());
        let seen = Seen { rpc, request_id: request_id.to_owned(), timeout: timeout.unwrap_or_default() };
        self.seen.lock().unwrap().push(seen);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        self.failures.lock().unwrap().pop_front().map_or(Ok(()), Err)
    }

    fn store(&self, draft: Draft, namespace: Namespace) -> Memory {
        let mut memories = self.memories.lock().unwrap();
        let id = MemoryId::from_u128(memories.len() as u128 + 1);
        let moment =
            Moment { namespace, id, now: Timestamp::from_ms(1_700_000_000_000), embedding_model: None };
        let memory = draft.check().unwrap().into_memory(moment);
        memories.push(memory.clone());
        memory
    }

    fn matching(&self, filter: &Filter) -> Vec<Memory> {
        let memories = self.memories.lock().unwrap();
        memories.iter().filter(|memory| filter.matches(memory, Timestamp::MAX)).cloned().collect()
    }

    fn set_state(&self, ids: &[MemoryId], state: State) -> u32 {
        let mut memories = self.memories.lock().unwrap();
        let mut count = 0;
        for memory in memories.iter_mut().filter(|memory| ids.contains(&memory.id)) {
            memory.state = state;
            count += 1;
        }
        count
    }
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl MemoryService for Mock {
    async fn write(&self, request: Request<v1::WriteRequest>) -> Answer<v1::WriteResponse> {
        self.enter("Write", &request, &request.get_ref().request_id).await?;
        let call = WriteCall::from_wire(request.into_inner()).unwrap();
        let memory = self.store(call.entry.draft, call.namespace);
        let outcome = v1::Outcome::Created.into();
        Ok(Response::new(v1::WriteResponse {
            outcome,
            memory: Some(memory.into()),
            replayed: false,
            revision: 7,
            neighbors: Vec::new(),
        }))
    }

    async fn batch_write(&self, request: Request<v1::BatchWriteRequest>) -> Answer<v1::BatchWriteResponse> {
        self.enter("BatchWrite", &request, &request.get_ref().request_id).await?;
        let call = BatchWriteCall::from_wire(request.into_inner()).unwrap();
        let results = call.items.into_iter().map(|item| match item.map(|entry| entry.draft) {
            Ok(draft) if !draft.content.is_empty() => {
                v1::batch_result::Result::Id(self.store(draft, call.namespace.clone()).id.to_string())
            }
            _ => v1::batch_result::Result::Error(v1::ItemError {
                reason: "FIELD_INVALID".to_owned(),
                message: "content: is empty".to_owned(),
                violations: vec![v1::FieldViolation {
                    field: "content".to_owned(),
                    description: "is empty".to_owned(),
                }],
            }),
        });
        let created = v1::Outcome::Created.into();
        let results =
            results.map(|result| v1::BatchResult { result: Some(result), outcome: created }).collect();
        Ok(Response::new(v1::BatchWriteResponse { results, replayed: true, revision: 8 }))
    }

    async fn record(&self, request: Request<v1::RecordRequest>) -> Answer<v1::RecordResponse> {
        self.enter("Record", &request, &request.get_ref().request_id).await?;
        let call = RecordCall::from_wire(request.into_inner()).unwrap();
        let memory = self.store(call.record.into_draft().unwrap(), call.namespace);
        let outcome = v1::Outcome::Created.into();
        Ok(Response::new(v1::RecordResponse {
            outcome,
            memory: Some(memory.into()),
            replayed: false,
            revision: 9,
            neighbors: Vec::new(),
        }))
    }

    async fn get(&self, request: Request<v1::GetRequest>) -> Answer<v1::GetResponse> {
        self.enter("Get", &request, "").await?;
        let call = GetCall::from_wire(request.get_ref()).unwrap();
        let memory = self.matching(&Filter::default()).into_iter().find(|memory| memory.id == call.id);
        let memory = memory.ok_or_else(|| Status::not_found(format!("no memory {}", call.id)))?;
        Ok(Response::new(v1::GetResponse { memory: Some(memory.into()), revision: 1 }))
    }

    async fn list(&self, request: Request<v1::ListRequest>) -> Answer<v1::ListResponse> {
        self.enter("List", &request, "").await?;
        let call = ListCall::from_wire(request.into_inner()).unwrap();
        let first: usize = call.page_token.parse().unwrap_or(0);
        let found = self.matching(&call.filter);
        let next = first + call.page_size;
        let next_page_token = if next < found.len() { next.to_string() } else { String::new() };
        let memories = found.into_iter().skip(first).take(call.page_size).map(Into::into).collect();
        Ok(Response::new(v1::ListResponse { memories, next_page_token, revision: 2 }))
    }

    async fn recall(&self, request: Request<v1::RecallRequest>) -> Answer<v1::RecallResponse> {
        self.enter("Recall", &request, "").await?;
        let recall = RecallCall::from_wire(request.into_inner()).unwrap().recall;
        let found = self.matching(&recall.filter);
        let hit = |memory| Hit {
            memory,
            score: 0.5,
            similarity: 0.75,
            age_days: 1.5,
            breakdown: Breakdown {
                parts: Vec::new(),
                confidence: 1.0,
                source_weight: 1.0,
                transient: 1.0,
                unused: 1.0,
                score: 0.5,
                matched_terms: vec![recall.query.clone()],
                path: Vec::new(),
            },
            verified_count: 0,
            collapsed: Vec::new(),
            changed_since: false,
        };
        let recalled = Recalled {
            allowed: found.len() as u64,
            hits: found.into_iter().take(recall.top_k).map(hit).collect(),
            recall_id: (!recall.observe).then(|| RecallId::new(Timestamp::from_ms(1_700_000_000_000), 5)),
            revision: Lsn(3),
            omitted: 0,
            held_back: std::collections::BTreeMap::new(),
            text: recall.as_text.then(|| format!("{:?}", recall.policy)),
            text_tokens: recall.as_text.then_some(7),
            window: None,
            plan: recall
                .vector
                .map(|vector| format!("{:?} by {:?}", &vector.components()[..], recall.embedding_model)),
        };
        Ok(Response::new(recalled.into()))
    }

    async fn explain(&self, request: Request<v1::ExplainRequest>) -> Answer<v1::ExplainResponse> {
        self.enter("Explain", &request, "").await?;
        let call = ExplainCall::from_wire(request.into_inner()).unwrap();
        let returned = self.matching(&Filter::default()).iter().any(|memory| memory.id == call.id);
        let explanation = Explanation {
            id: call.id,
            reason: if returned { Reason::Returned } else { Reason::NoSuchMemory },
            detail: call.recall.recall.query,
            other: None,
            rank: returned.then_some(1),
            similarity: None,
            breakdown: None,
            allowed: 1,
            revision: Lsn(3),
            plan: String::new(),
        };
        Ok(Response::new(explanation.into()))
    }

    async fn update(&self, request: Request<v1::UpdateRequest>) -> Answer<v1::UpdateResponse> {
        self.enter("Update", &request, &request.get_ref().request_id).await?;
        let call = UpdateCall::from_wire(request.into_inner()).unwrap();
        let mut memories = self.memories.lock().unwrap();
        let memory = memories.iter_mut().find(|memory| memory.id == call.id).unwrap();
        *memory = call.patch.apply(memory, Timestamp::from_ms(1_700_000_001_000)).unwrap();
        let memory = Some(memory.clone().into());
        Ok(Response::new(v1::UpdateResponse { memory, replayed: false, revision: 4 }))
    }

    async fn forget(&self, request: Request<v1::ForgetRequest>) -> Answer<v1::ForgetResponse> {
        self.enter("Forget", &request, &request.get_ref().request_id).await?;
        let call = ForgetCall::from_wire(request.into_inner()).unwrap();
        let ids: Vec<MemoryId> = match call.target {
            ForgetTarget::Ids(ids) => ids,
            ForgetTarget::Matching { filter, .. } => {
                self.matching(&filter).iter().map(|memory| memory.id).collect()
            }
        };
        let count =
            if call.validate_only { ids.len() as u32 } else { self.set_state(&ids, State::Forgotten) };
        let ids = ids.iter().map(ToString::to_string).collect();
        Ok(Response::new(v1::ForgetResponse {
            count,
            ids,
            replayed: false,
            revision: 5,
            derived: Vec::new(),
        }))
    }

    async fn restore(&self, request: Request<v1::RestoreRequest>) -> Answer<v1::RestoreResponse> {
        self.enter("Restore", &request, &request.get_ref().request_id).await?;
        let call = RestoreCall::from_wire(request.into_inner()).unwrap();
        let count = self.set_state(&call.ids, State::Active);
        Ok(Response::new(v1::RestoreResponse { count, replayed: false, revision: 6 }))
    }

    async fn feedback(&self, request: Request<v1::FeedbackRequest>) -> Answer<v1::FeedbackResponse> {
        self.enter("Feedback", &request, &request.get_ref().request_id).await?;
        let call = FeedbackCall::from_wire(request.into_inner()).unwrap();
        let judged = |memory: &Memory| {
            let (_, verdict) = call.items.iter().find(|(id, _)| *id == memory.id)?;
            let standing = hindsight_core::learn::judged(memory, *verdict, call.task_status, Timestamp::MAX)?;
            let mut memory = memory.clone();
            standing.give_to(&mut memory);
            Some(memory.into())
        };
        let memories = self.memories.lock().unwrap().iter().filter_map(judged).collect();
        Ok(Response::new(v1::FeedbackResponse { memories, replayed: false, revision: 10 }))
    }

    /// Everything is one chain.
    async fn get_history(&self, request: Request<v1::GetHistoryRequest>) -> Answer<v1::GetHistoryResponse> {
        self.enter("GetHistory", &request, "").await?;
        GetHistoryCall::from_wire(request.into_inner()).unwrap();
        let memories = self.matching(&Filter::default()).into_iter().map(Into::into).collect();
        Ok(Response::new(v1::GetHistoryResponse { memories, revision: 11 }))
    }

    async fn rollback(&self, request: Request<v1::RollbackRequest>) -> Answer<v1::RollbackResponse> {
        self.enter("Rollback", &request, &request.get_ref().request_id).await?;
        let call = RollbackCall::from_wire(request.into_inner()).unwrap();
        let all = self.matching(&Filter::default());
        let (restored, others): (Vec<Memory>, Vec<Memory>) =
            all.into_iter().partition(|memory| memory.id == call.id);
        let restored = restored.into_iter().map(Into::into).collect();
        let invalidated = others.into_iter().next().map(Into::into);
        Ok(Response::new(v1::RollbackResponse { restored, invalidated, replayed: false, revision: 12 }))
    }

    async fn summarize(&self, request: Request<v1::SummarizeRequest>) -> Answer<v1::SummarizeResponse> {
        self.enter("Summarize", &request, &request.get_ref().request_id).await?;
        Err(Status::not_found("this mock merges nothing"))
    }
}

#[tonic::async_trait]
impl NamespaceService for Mock {
    /// Three namespaces, two a page whatever is asked for.
    async fn list_namespaces(
        &self,
        request: Request<v1::ListNamespacesRequest>,
    ) -> Answer<v1::ListNamespacesResponse> {
        let summary = |name: &str| v1::NamespaceSummary { name: name.to_owned(), memories: 1 };
        let (namespaces, next) = match request.into_inner().page_token.as_str() {
            "" => (vec![summary("a"), summary("b")], "more"),
            _ => (vec![summary("c")], ""),
        };
        Ok(Response::new(v1::ListNamespacesResponse { namespaces, next_page_token: next.to_owned() }))
    }

    async fn get_namespace(
        &self,
        request: Request<v1::GetNamespaceRequest>,
    ) -> Answer<v1::GetNamespaceResponse> {
        self.enter("GetNamespace", &request, "").await?;
        Err(Status::not_found("this mock has no settings"))
    }

    async fn update_namespace(
        &self,
        request: Request<v1::UpdateNamespaceRequest>,
    ) -> Answer<v1::UpdateNamespaceResponse> {
        self.enter("UpdateNamespace", &request, &request.get_ref().request_id).await?;
        Err(Status::not_found("this mock has no settings"))
    }

    async fn get_namespace_stats(
        &self,
        request: Request<v1::GetNamespaceStatsRequest>,
    ) -> Answer<v1::GetNamespaceStatsResponse> {
        let stats = v1::NamespaceStats {
            namespace: request.into_inner().namespace,
            by_kind: vec![v1::Count { name: "fact".to_owned(), count: 2 }],
            embedding_model: "m".to_owned(),
            dimension: 3,
            revision: 9,
            ..Default::default()
        };
        Ok(Response::new(v1::GetNamespaceStatsResponse { stats: Some(stats) }))
    }

    async fn drop_namespace(
        &self,
        request: Request<v1::DropNamespaceRequest>,
    ) -> Answer<v1::DropNamespaceResponse> {
        self.enter("DropNamespace", &request, &request.get_ref().request_id).await?;
        Err(Status::not_found("this mock holds no namespace to drop"))
    }
}

#[tonic::async_trait]
impl AdminService for Mock {
    type BackupStream =
        std::pin::Pin<Box<dyn futures_util::Stream<Item = Result<v1::BackupResponse, Status>> + Send>>;

    async fn backup(&self, request: Request<v1::BackupRequest>) -> Answer<Self::BackupStream> {
        self.enter("Backup", &request, "").await?;
        let parts = std::mem::take(&mut *self.backup.lock().unwrap());
        Ok(Response::new(Box::pin(futures_util::stream::iter(parts))))
    }

    async fn list_jobs(&self, _: Request<v1::ListJobsRequest>) -> Answer<v1::ListJobsResponse> {
        Ok(Response::new(v1::ListJobsResponse::default()))
    }

    async fn run_job(&self, request: Request<v1::RunJobRequest>) -> Answer<v1::RunJobResponse> {
        self.enter("RunJob", &request, "").await?;
        Err(Status::not_found("this mock has no jobs"))
    }

    async fn purge(&self, request: Request<v1::PurgeRequest>) -> Answer<v1::PurgeResponse> {
        self.enter("Purge", &request, &request.get_ref().request_id).await?;
        Err(Status::not_found("this mock holds nothing to purge"))
    }

    async fn create_token(&self, _: Request<v1::CreateTokenRequest>) -> Answer<v1::CreateTokenResponse> {
        Err(Status::not_found("this mock has no credentials"))
    }

    async fn list_tokens(&self, _: Request<v1::ListTokensRequest>) -> Answer<v1::ListTokensResponse> {
        Err(Status::not_found("this mock has no credentials"))
    }

    async fn revoke_token(&self, _: Request<v1::RevokeTokenRequest>) -> Answer<v1::RevokeTokenResponse> {
        Err(Status::not_found("this mock has no credentials"))
    }

    async fn list_audit_events(
        &self,
        _: Request<v1::ListAuditEventsRequest>,
    ) -> Answer<v1::ListAuditEventsResponse> {
        Err(Status::not_found("this mock has no credentials"))
    }

    async fn consolidate(&self, request: Request<v1::ConsolidateRequest>) -> Answer<v1::ConsolidateResponse> {
        self.enter("Consolidate", &request, &request.get_ref().request_id).await?;
        Err(Status::not_found("this mock finds no rules"))
    }

    async fn get_server_info(
        &self,
        _: Request<v1::GetServerInfoRequest>,
    ) -> Answer<v1::GetServerInfoResponse> {
        Ok(Response::new(v1::GetServerInfoResponse {
            version: "0.1.0".to_owned(),
            format: 1,
            started_at: Some(hindsight_proto::time::to_wire(Timestamp::from_ms(1_700_000_000_000))),
            revision: 1,
            namespaces: 3,
            ..Default::default()
        }))
    }
}
