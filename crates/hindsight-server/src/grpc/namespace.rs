//! `NamespaceService`: which namespaces there are, and what they hold.

use std::sync::Arc;

use hindsight_core::Timestamp;
use hindsight_engine::{Affected, DropRequest, NamespaceInfo, NamespaceStats};
use hindsight_proto::v1::{self, namespace_service_server::NamespaceService};
use hindsight_proto::{call, settings, time};
use tonic::{Request, Response, Status};

use super::status::refuse;
use crate::app::{App, page};

pub(super) struct Namespaces(pub(super) Arc<App>);

#[tonic::async_trait]
impl NamespaceService for Namespaces {
    async fn list_namespaces(
        &self,
        request: Request<v1::ListNamespacesRequest>,
    ) -> Result<Response<v1::ListNamespacesResponse>, Status> {
        let v1::ListNamespacesRequest { page_size, page_token } = request.into_inner();
        let limit = page::size(page_size.into()).map_err(refuse)?;
        let after = page::after_name(page_token).map_err(refuse)?;
        let (named, more) = self.0.namespaces(after, limit).await.map_err(refuse)?;
        let next_page_token =
            named.last().filter(|_| more).map(|last| last.name.to_string()).unwrap_or_default();
        let namespaces = named
            .into_iter()
            .map(|summary| v1::NamespaceSummary {
                name: summary.name.to_string(),
                memories: summary.memories,
            })
            .collect();
        Ok(Response::new(v1::ListNamespacesResponse { namespaces, next_page_token }))
    }

    async fn get_namespace(
        &self,
        request: Request<v1::GetNamespaceRequest>,
    ) -> Result<Response<v1::GetNamespaceResponse>, Status> {
        let namespace = call::namespace(&request.into_inner().namespace).map_err(refuse)?;
        let info = self.0.namespace(namespace.clone()).await.map_err(refuse)?;
        let namespace = Some(info_to_wire(namespace.to_string(), &info));
        Ok(Response::new(v1::GetNamespaceResponse { namespace }))
    }

    async fn update_namespace(
        &self,
        request: Request<v1::UpdateNamespaceRequest>,
    ) -> Result<Response<v1::UpdateNamespaceResponse>, Status> {
        let call = call::UpdateNamespaceCall::from_wire(request.into_inner()).map_err(refuse)?;
        let name = call.namespace.to_string();
        let info = self.0.update_namespace(call).await.map_err(refuse)?;
        let (namespace, replayed) = (Some(info_to_wire(name, &info)), info.replayed);
        Ok(Response::new(v1::UpdateNamespaceResponse { namespace, replayed }))
    }

    async fn drop_namespace(
        &self,
        request: Request<v1::DropNamespaceRequest>,
    ) -> Result<Response<v1::DropNamespaceResponse>, Status> {
        let call = call::DropCall::from_wire(request.into_inner()).map_err(refuse)?;
        let call::DropCall { namespace, expected_count, validate_only, request_id } = call;
        let drop = DropRequest { expected_count, validate_only, request_id };
        let Affected { count, replayed, revision, .. } =
            self.0.drop_namespace(namespace, drop).await.map_err(refuse)?;
        Ok(Response::new(v1::DropNamespaceResponse { count, replayed, revision: revision.0 }))
    }

    async fn get_namespace_stats(
        &self,
        request: Request<v1::GetNamespaceStatsRequest>,
    ) -> Result<Response<v1::GetNamespaceStatsResponse>, Status> {
        let namespace = call::namespace(&request.into_inner().namespace).map_err(refuse)?;
        let stats = self.0.stats(namespace.clone()).await.map_err(refuse)?;
        let stats = stats_to_wire(namespace.to_string(), stats);
        Ok(Response::new(v1::GetNamespaceStatsResponse { stats: Some(stats) }))
    }
}

fn info_to_wire(name: String, info: &NamespaceInfo) -> v1::NamespaceInfo {
    v1::NamespaceInfo {
        name,
        memories: info.memories,
        settings: Some(settings::to_wire(&info.settings)),
        revision: info.revision.0,
        durable_revision: info.durable.0,
    }
}

fn stats_to_wire(namespace: String, stats: NamespaceStats) -> v1::NamespaceStats {
    let counts = |counts: Vec<(&'static str, u64)>| {
        counts.into_iter().map(|(name, count)| v1::Count { name: name.to_owned(), count }).collect()
    };
    let at = |at: Option<Timestamp>| at.map(time::to_wire);
    let (embedding_model, dimension) =
        stats.model.map(|model| (model.name, model.dimension)).unwrap_or_default();
    v1::NamespaceStats {
        namespace,
        by_kind: counts(stats.by_kind),
        by_status: counts(stats.by_status),
        by_state: counts(stats.by_state),
        embedded: stats.embedded,
        embedding_model,
        dimension: u32::try_from(dimension).unwrap_or(u32::MAX),
        terms: stats.terms,
        oldest_at: at(stats.oldest_at),
        newest_at: at(stats.newest_at),
        revision: stats.revision.0,
        vector_graph: stats.vector_graph.map(|graph| v1::VectorGraph {
            covered: graph.covered,
            dead: graph.dead,
            newer: graph.newer,
            bytes: graph.bytes,
            sampled: graph.sampled,
            recall: graph.recall(),
        }),
    }
}
