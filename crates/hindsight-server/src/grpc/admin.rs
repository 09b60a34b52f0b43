//! `AdminService`: who answers, a copy of everything, what is to go for good, and what is done by itself.

use std::{pin::Pin, sync::Arc};

use futures_util::{Stream, StreamExt, stream};
use hindsight_engine::{ConsolidateRequest, MemoryStats};
use hindsight_proto::v1::{self, admin_service_server::AdminService};
use hindsight_proto::{call, time};
use tonic::{Request, Response, Status};

use super::access;
use super::purge::purged;
use super::rules::consolidated;
use super::status::refuse;
use crate::access::Access;
use crate::app::{App, AppError, BackupPart};

pub(super) struct Admin {
    pub(super) app: Arc<App>,
    pub(super) access: Arc<Access>,
}

/// The messages of a backup.
type Parts = Pin<Box<dyn Stream<Item = Result<v1::BackupResponse, Status>> + Send>>;

#[tonic::async_trait]
impl AdminService for Admin {
    type BackupStream = Parts;

    async fn backup(&self, _request: Request<v1::BackupRequest>) -> Result<Response<Parts>, Status> {
        let parts = self.app.backup().map_err(refuse)?;
        let parts = stream::unfold(parts, |mut parts| async move { Some((parts.recv().await?, parts)) });
        Ok(Response::new(Box::pin(parts.map(message))))
    }

    async fn purge(&self, request: Request<v1::PurgeRequest>) -> Result<Response<v1::PurgeResponse>, Status> {
        let call = call::PurgeCall::from_wire(request.into_inner()).map_err(refuse)?;
        Ok(Response::new(purged(self.app.purge(call).await.map_err(refuse)?)))
    }

    async fn consolidate(
        &self,
        request: Request<v1::ConsolidateRequest>,
    ) -> Result<Response<v1::ConsolidateResponse>, Status> {
        let call = call::ConsolidateCall::from_wire(request.into_inner()).map_err(refuse)?;
        let call::ConsolidateCall { namespace, validate_only, min_episodes, min_confidence, request_id } =
            call;
        let wish = ConsolidateRequest { min_episodes, min_confidence, validate_only, request_id };
        Ok(Response::new(consolidated(self.app.consolidate(namespace, wish).await.map_err(refuse)?)))
    }

    async fn list_jobs(
        &self,
        _request: Request<v1::ListJobsRequest>,
    ) -> Result<Response<v1::ListJobsResponse>, Status> {
        let jobs = self.app.jobs().await.map_err(refuse)?;
        let jobs = jobs.into_iter().map(call::job::status_to_wire).collect();
        Ok(Response::new(v1::ListJobsResponse { jobs }))
    }

    async fn run_job(
        &self,
        request: Request<v1::RunJobRequest>,
    ) -> Result<Response<v1::RunJobResponse>, Status> {
        let call = call::RunJobCall::from_wire(request.get_ref()).map_err(refuse)?;
        let report = self.app.run_job(call).await.map_err(refuse)?;
        Ok(Response::new(v1::RunJobResponse { report: Some(call::job::report_to_wire(report)) }))
    }

    async fn get_server_info(
        &self,
        _request: Request<v1::GetServerInfoRequest>,
    ) -> Result<Response<v1::GetServerInfoResponse>, Status> {
        let info = self.app.info().await.map_err(refuse)?;
        Ok(Response::new(v1::GetServerInfoResponse {
            version: info.version.to_owned(),
            format: info.format,
            started_at: Some(time::to_wire(info.started_at)),
            revision: info.revision.0,
            embedding_model: info.embedding_model,
            dimension: u32::try_from(info.dimension).unwrap_or(u32::MAX),
            namespaces: info.namespaces,
            writes_refused: info.writes_refused.unwrap_or_default().to_owned(),
            memory: info.memory.map(memory_use),
        }))
    }

    async fn create_token(
        &self,
        request: Request<v1::CreateTokenRequest>,
    ) -> Result<Response<v1::CreateTokenResponse>, Status> {
        access::create(&self.access, request.into_inner()).await.map(Response::new).map_err(refuse)
    }

    async fn list_tokens(
        &self,
        request: Request<v1::ListTokensRequest>,
    ) -> Result<Response<v1::ListTokensResponse>, Status> {
        access::list(&self.access, &request.into_inner()).map(Response::new).map_err(refuse)
    }

    async fn revoke_token(
        &self,
        request: Request<v1::RevokeTokenRequest>,
    ) -> Result<Response<v1::RevokeTokenResponse>, Status> {
        access::revoke(&self.access, &request.into_inner()).await.map(Response::new).map_err(refuse)
    }

    async fn list_audit_events(
        &self,
        request: Request<v1::ListAuditEventsRequest>,
    ) -> Result<Response<v1::ListAuditEventsResponse>, Status> {
        access::events(&self.access, request.into_inner()).await.map(Response::new).map_err(refuse)
    }
}

fn message(part: Result<BackupPart, AppError>) -> Result<v1::BackupResponse, Status> {
    let part = match part.map_err(refuse)? {
        BackupPart::Bytes(bytes) => v1::backup_response::Part::Data(bytes.into()),
        BackupPart::Done(report) => v1::backup_response::Part::Summary(v1::BackupSummary {
            revision: report.lsn.0,
            entries: report.entries,
            bytes: report.bytes,
            blake3: report.blake3.to_vec().into(),
        }),
    };
    Ok(v1::BackupResponse { part: Some(part) })
}

fn memory_use(stats: MemoryStats) -> v1::MemoryUse {
    v1::MemoryUse {
        budget_bytes: stats.budget_bytes,
        used_bytes: stats.used_bytes,
        loaded: stats.loaded,
        unloaded: stats.unloaded,
        loads: stats.loads,
        snapshot_loads: stats.snapshot_loads,
        snapshots_doubted: stats.snapshots_doubted,
        evictions: stats.evictions,
    }
}
