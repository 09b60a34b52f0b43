//! `/mcp/{namespace}`: the Model Context Protocol over streamable HTTP. The address names the namespace, so no argument
//! of a tool can. Every request stands by itself: there are no sessions, and answers are plain JSON.

use std::sync::Arc;
use std::time::Instant;

use axum::{
    body::Body,
    extract::{Extension, Path, Query, Request, State},
    response::Response,
};
use hindsight_core::{
    Draft, Invalid, Kind, Memory, MemoryId, Namespace, Patch, Recall, Recalled, RuleState, draft::RecordDraft,
};
use hindsight_engine::{
    AppendTurnsRequest, CloseSessionRequest, EngineError, FeedbackRequest, ForgetRequest, ForgetTarget,
    GetSessionRequest, Maker, OpenSessionRequest, RuleListRequest, SessionRecord, SummarizeRequest,
    UpdateRequest, WriteItem, WriteOptions, Written,
};
use hindsight_mcp::{Judgement, MemoryServer, Profile, SessionCall, SessionSaid, Store, Stored, Trouble};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde::Deserialize;

use super::Http;
use crate::access::{Access, Call, inside};
use crate::app::{App, AppError, Refusal};

/// The one query parameter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chosen {
    profile: Option<String>,
}

/// Answers one message.
pub(super) async fn serve(
    State(http): State<Http>,
    Path(namespace): Path<String>,
    chosen: Result<Query<Chosen>, axum::extract::rejection::QueryRejection>,
    call: Option<Extension<Call>>,
    request: Request,
) -> Result<Response, Refusal> {
    let namespace: Namespace = namespace
        .parse()
        .map_err(|bad: hindsight_core::namespace::BadNamespace| Invalid::one("namespace", bad.to_string()))?;
    let Query(chosen) = chosen.map_err(|bad| Invalid::one("query", bad.body_text()))?;
    let profile = match chosen.profile.as_deref() {
        None | Some("default") => Profile::Default,
        Some("full") => Profile::Full,
        Some(other) => {
            return Err(Invalid::one("profile", format!("is {other:?}: expected default or full")).into());
        }
    };
    let call = call.ok_or_else(Refusal::internal)?.0;
    // The address was decided at the door; each tool is asked for again by its own row.
    let bound = Bound { app: Arc::clone(&http.app), access: Arc::clone(&http.access), call, namespace };
    let server = MemoryServer::new(bound, profile);
    // Hosts and origins were checked before any handler, for every path of this port.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(http.body_max);
    let service = StreamableHttpService::new(
        move || Ok::<_, std::io::Error>(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    Ok(service.handle(request).await.map(Body::new))
}

/// One namespace of this server, behind the application layer like every other front.
#[derive(Clone)]
struct Bound {
    app: Arc<App>,
    access: Arc<Access>,
    call: Call,
    namespace: Namespace,
}

fn trouble(error: impl Into<Refusal>) -> Trouble {
    Trouble(error.into().message)
}

impl Bound {
    /// Runs what a tool asks for as the call of the RPC that it stands for: with its right, and its line in the audit trail.
    async fn run<T>(
        &self,
        rpc: &str,
        work: impl Future<Output = Result<T, AppError>>,
    ) -> Result<T, AppError> {
        let reason = |error: &AppError| error.reason().to_owned();
        let refused = |refusal: Refusal| AppError::Refused(Box::new(refusal));
        let call = self.call.of_tool(rpc).map_err(refused)?;
        let observes = call.only_observes(&self.namespace);
        let entered = call.enter(self.namespace.as_str(), observes).map(drop).map_err(refused);
        let (calls, began) = (&self.app.metrics().calls, Instant::now());
        // In a box, as the work is: a call has many layers, and each would otherwise hold those below it on the stack.
        let result =
            Box::pin(inside(&self.access, &call, async { entered.map(|()| work)?.await }, reason)).await;
        let code = result.as_ref().map_or_else(AppError::word, |_| "ok");
        if let Err(error) = &result {
            calls.refused(error.reason());
        }
        calls.answered("mcp", call.policy().call, code, began.elapsed());
        result
    }
}

impl Store for Bound {
    fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    async fn recall(&self, mut recall: Recall) -> Result<Option<Recalled>, Trouble> {
        // A token that may only look looks.
        recall.observe |= self.call.only_observes(&self.namespace);
        match self
            .run("MemoryService/Recall", Box::pin(self.app.recall(self.namespace.clone(), recall)))
            .await
        {
            Err(AppError::Engine(EngineError::NamespaceNotFound { .. })) => Ok(None),
            result => result.map(Some).map_err(trouble),
        }
    }

    async fn write(&self, draft: Draft) -> Result<Stored, Trouble> {
        let item = WriteItem::new(draft, None);
        let write = Box::pin(self.app.write(self.namespace.clone(), item, WriteOptions::default()));
        self.run("MemoryService/Write", write).await.map(stored).map_err(trouble)
    }

    async fn record(&self, record: RecordDraft) -> Result<Stored, Trouble> {
        let item = WriteItem::new(record.into_draft()?, None);
        let record = Box::pin(self.app.record(self.namespace.clone(), item, WriteOptions::default()));
        self.run("MemoryService/Record", record).await.map(stored).map_err(trouble)
    }

    async fn get(&self, id: MemoryId) -> Result<Memory, Trouble> {
        let got = self.run("MemoryService/Get", self.app.get(self.namespace.clone(), id, None)).await;
        got.map(|got| got.memory).map_err(trouble)
    }

    async fn update(&self, id: MemoryId, patch: Patch, version: Option<u64>) -> Result<Memory, Trouble> {
        let update = UpdateRequest {
            id,
            patch,
            version,
            vectors: None,
            maker: Maker::Caller,
            request_id: None,
            allow_forgotten: false,
        };
        let written = self.run("MemoryService/Update", self.app.update(self.namespace.clone(), update)).await;
        written.map(|written| written.memory).map_err(trouble)
    }

    async fn forget(&self, ids: Vec<MemoryId>) -> Result<u32, Trouble> {
        let target = ForgetTarget::Ids(ids);
        let request = ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
        let affected =
            self.run("MemoryService/Forget", self.app.forget(self.namespace.clone(), request)).await;
        affected.map(|affected| affected.count).map_err(trouble)
    }

    async fn feedback(&self, judgement: Judgement) -> Result<usize, Trouble> {
        let Judgement { recall_id, items, task_status } = judgement;
        let request = FeedbackRequest { recall_id, items, task_status, request_id: None };
        let feedback = self.app.feedback(self.namespace.clone(), request);
        let judged = self.run("MemoryService/Feedback", feedback).await;
        judged.map(|judged| judged.memories.len()).map_err(trouble)
    }

    async fn rules(
        &self,
        state: RuleState,
        task_type: Option<String>,
        limit: usize,
    ) -> Result<Vec<Memory>, Trouble> {
        let list = RuleListRequest {
            rule_states: vec![state],
            task_types: task_type.into_iter().collect(),
            page_size: limit,
            ..RuleListRequest::default()
        };
        let page = self.run("RuleService/ListRules", self.app.rules(self.namespace.clone(), list)).await;
        page.map(|page| page.memories).map_err(trouble)
    }

    async fn summarize(
        &self,
        entity: String,
        kind: Option<Kind>,
        is_dry: bool,
    ) -> Result<(Memory, Vec<MemoryId>), Trouble> {
        let kinds = kind.into_iter().collect();
        let request =
            SummarizeRequest { entity, kinds, validate_only: is_dry, ..SummarizeRequest::default() };
        let summarize = Box::pin(self.app.summarize(self.namespace.clone(), request));
        let done = self.run("MemoryService/Summarize", summarize).await;
        done.map(|done| (done.summary, done.parts)).map_err(trouble)
    }

    async fn session(&self, call: SessionCall) -> Result<SessionSaid, Trouble> {
        let said = |session| SessionSaid { session, turns: Vec::new(), episode: None, is_closed: false };
        let (app, namespace, agent_id) = (&self.app, self.namespace.clone(), None);
        match call {
            SessionCall::Open(draft) => {
                let open = OpenSessionRequest { draft, request_id: None };
                let opened =
                    self.run("SessionService/OpenSession", Box::pin(app.open_session(namespace, open))).await;
                let opened = opened.map_err(trouble)?;
                Ok(said(Some(opened.session)))
            }
            SessionCall::Append(session_id, turns) => {
                let append = AppendTurnsRequest { session_id, agent_id, turns, request_id: None };
                let append = Box::pin(app.append_turns(namespace, append));
                let appended = self.run("SessionService/AppendTurns", append).await.map_err(trouble)?;
                Ok(said(Some(appended.session)))
            }
            SessionCall::Read(session_id, last) => {
                let get = GetSessionRequest { session_id, agent_id, last };
                let got =
                    self.run("SessionService/GetSession", Box::pin(app.get_session(namespace, get))).await;
                let got = got.map_err(trouble)?;
                Ok(SessionSaid { turns: got.turns, ..said(Some(got.session)) })
            }
            SessionCall::Close(session_id, record) => {
                let record =
                    record.map(|record| SessionRecord { record: *record, ..SessionRecord::default() });
                let close = CloseSessionRequest { session_id, agent_id, record, request_id: None };
                let close = Box::pin(app.close_session(namespace, close));
                let closed = self.run("SessionService/CloseSession", close).await.map_err(trouble)?;
                let episode = closed.episode.map(|episode| episode.memory.id);
                Ok(SessionSaid { episode, is_closed: true, ..said(closed.session) })
            }
        }
    }

    async fn kinds(&self) -> Result<Vec<(String, u64)>, Trouble> {
        match self.run("NamespaceService/GetNamespaceStats", self.app.stats(self.namespace.clone())).await {
            Ok(stats) => Ok(stats.by_kind.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()),
            Err(AppError::Engine(EngineError::NamespaceNotFound { .. })) => Ok(Vec::new()),
            Err(error) => Err(trouble(error)),
        }
    }
}

fn stored(written: Written) -> Stored {
    Stored { outcome: written.outcome.to_string(), memory: written.memory, neighbors: written.neighbors }
}
