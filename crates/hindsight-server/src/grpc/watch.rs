//! `WatchService`: the change feed.

use std::{pin::Pin, sync::Arc};

use futures_util::{Stream, StreamExt};
use hindsight_proto::v1::{self, watch_service_server::WatchService};
use hindsight_proto::{call, watch};
use tonic::{Request, Response, Status};

use super::status::refuse;
use crate::app::{App, AppError, Told};

pub(super) struct Watches(pub(super) Arc<App>);

/// What a watcher is told.
type Feed = Pin<Box<dyn Stream<Item = Result<v1::WatchResponse, Status>> + Send>>;

#[tonic::async_trait]
impl WatchService for Watches {
    type WatchStream = Feed;

    async fn watch(&self, request: Request<v1::WatchRequest>) -> Result<Response<Feed>, Status> {
        let call = call::WatchCall::from_wire(request.into_inner()).map_err(refuse)?;
        let feed = self.0.watch(call.namespace, call.watch).await.map_err(refuse)?;
        Ok(Response::new(Box::pin(feed.map(message))))
    }
}

fn message(told: Result<Told, AppError>) -> Result<v1::WatchResponse, Status> {
    Ok(match told.map_err(refuse)? {
        Told::Changes(watched) => watched.into(),
        Told::Progress(revision) => watch::progress(revision),
    })
}
