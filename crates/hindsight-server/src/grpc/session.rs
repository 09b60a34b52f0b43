//! `SessionService`: working memory.

use std::sync::Arc;

use hindsight_engine::{
    AppendTurnsRequest, CloseSessionRequest, GetSessionRequest, ListSessionsRequest, OpenSessionRequest,
    SessionRecord,
};
use hindsight_proto::v1::{self, session_service_server::SessionService};
use hindsight_proto::{call, words::Word};
use tonic::{Request, Response, Status};

use super::status::refuse;
use crate::app::App;

pub(super) struct Sessions(pub(super) Arc<App>);

#[tonic::async_trait]
impl SessionService for Sessions {
    async fn open_session(
        &self,
        request: Request<v1::OpenSessionRequest>,
    ) -> Result<Response<v1::OpenSessionResponse>, Status> {
        let call = call::OpenSessionCall::from_wire(request.into_inner()).map_err(refuse)?;
        let open = OpenSessionRequest { draft: call.draft, request_id: call.request_id };
        let opened = self.0.open_session(call.namespace, open).await.map_err(refuse)?;
        let (session, resumed) = (Some(opened.session.into()), opened.resumed);
        Ok(Response::new(v1::OpenSessionResponse { session, resumed }))
    }

    async fn append_turns(
        &self,
        request: Request<v1::AppendTurnsRequest>,
    ) -> Result<Response<v1::AppendTurnsResponse>, Status> {
        let call = call::AppendTurnsCall::from_wire(request.into_inner()).map_err(refuse)?;
        let append = AppendTurnsRequest {
            session_id: call.session_id,
            agent_id: call.agent_id,
            turns: call.turns,
            request_id: call.request_id,
        };
        let appended = self.0.append_turns(call.namespace, append).await.map_err(refuse)?;
        let (session, replayed) = (Some(appended.session.into()), appended.replayed);
        Ok(Response::new(v1::AppendTurnsResponse { session, replayed }))
    }

    async fn get_session(
        &self,
        request: Request<v1::GetSessionRequest>,
    ) -> Result<Response<v1::GetSessionResponse>, Status> {
        let call = call::GetSessionCall::from_wire(request.into_inner()).map_err(refuse)?;
        let get = GetSessionRequest { session_id: call.session_id, agent_id: call.agent_id, last: call.last };
        let got = self.0.get_session(call.namespace, get).await.map_err(refuse)?;
        let turns = got.turns.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::GetSessionResponse { session: Some(got.session.into()), turns }))
    }

    async fn close_session(
        &self,
        request: Request<v1::CloseSessionRequest>,
    ) -> Result<Response<v1::CloseSessionResponse>, Status> {
        let call = call::CloseSessionCall::from_wire(request.into_inner()).map_err(refuse)?;
        let record = call.record.map(|record| SessionRecord {
            record: record.record,
            vectors: record.vectors,
            on_duplicate: record.on_duplicate,
        });
        let close = CloseSessionRequest {
            session_id: call.session_id,
            agent_id: call.agent_id,
            record,
            request_id: call.request_id,
        };
        let closed = self.0.close_session(call.namespace, close).await.map_err(refuse)?;
        let mut answer = v1::CloseSessionResponse {
            session: closed.session.map(Into::into),
            replayed: closed.replayed,
            revision: closed.revision.0,
            ..v1::CloseSessionResponse::default()
        };
        if let Some(episode) = closed.episode {
            answer.memory = Some(episode.memory.into());
            answer.outcome = episode.outcome.number();
            answer.neighbors = episode.neighbors.into_iter().map(Into::into).collect();
        }
        Ok(Response::new(answer))
    }

    async fn list_sessions(
        &self,
        request: Request<v1::ListSessionsRequest>,
    ) -> Result<Response<v1::ListSessionsResponse>, Status> {
        let call = call::ListSessionsCall::from_wire(request.into_inner()).map_err(refuse)?;
        let list =
            ListSessionsRequest { agent_id: call.agent_id, page_size: call.page_size, after: call.after };
        let (sessions, more) = self.0.list_sessions(call.namespace, list).await.map_err(refuse)?;
        let last = sessions.last().filter(|_| more);
        let next_page_token = last.map(|last| last.session_id.to_string()).unwrap_or_default();
        let sessions = sessions.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::ListSessionsResponse { sessions, next_page_token }))
    }
}
