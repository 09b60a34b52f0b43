//! `AdminService`: who answers.

use std::sync::Arc;

use hindsight_proto::time;
use hindsight_proto::v1::{self, admin_service_server::AdminService};
use tonic::{Request, Response, Status};

use super::status::refuse;
use crate::app::App;

pub(super) struct Admin(pub(super) Arc<App>);

#[tonic::async_trait]
impl AdminService for Admin {
    async fn get_server_info(
        &self,
        _request: Request<v1::GetServerInfoRequest>,
    ) -> Result<Response<v1::GetServerInfoResponse>, Status> {
        let info = self.0.info().await.map_err(refuse)?;
        Ok(Response::new(v1::GetServerInfoResponse {
            version: info.version.to_owned(),
            format: info.format,
            started_at: Some(time::to_wire(info.started_at)),
            revision: info.revision.0,
            embedding_model: info.embedding_model,
            dimension: u32::try_from(info.dimension).unwrap_or(u32::MAX),
            namespaces: info.namespaces,
        }))
    }
}
