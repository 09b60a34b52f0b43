//! One connection's life.

use std::{convert::Infallible, future::Future, net::IpAddr, pin::Pin, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use http::{Request, Response};
use hyper::{body::Incoming, server::conn, service::Service};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::graceful::GracefulConnection,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::{Semaphore, watch},
    time::{Instant, sleep, timeout},
};
use tower::ServiceExt;

use super::{ConnectionLimits, Front, Phase, Tls, guard::Slots, preface};
use crate::access::Peer;

/// A connection and what answers on it.
pub(super) struct Connection {
    pub(super) front: Front,
    pub(super) router: Router,
    pub(super) limits: Arc<ConnectionLimits>,
    /// Where it comes from.
    pub(super) peer: IpAddr,
}

impl Connection {
    /// Serves it to its end.
    pub(super) async fn serve(self, stream: TcpStream, tls: Option<Arc<Tls>>, phase: watch::Receiver<Phase>) {
        // Small replies must not wait for more; a connection where this fails is slower, not wrong.
        let _ = stream.set_nodelay(true);
        let Some(tls) = tls else { return self.speak(stream, phase).await };
        match timeout(self.limits.first_frame, tls.accept(self.front, stream)).await {
            Ok(Ok(stream)) => self.speak(stream, phase).await,
            Ok(Err(error)) => tracing::debug!(peer = %self.peer, %error, "no TLS with this client"),
            Err(_) => {}
        }
    }

    async fn speak<S>(self, stream: S, phase: watch::Receiver<Phase>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limits = self.limits;
        let slots = Slots(Arc::new(Semaphore::new(limits.requests)));
        let calls = Calls { router: self.router, slots, peer: Peer(self.peer) };
        match self.front {
            Front::Grpc => {
                // A client that says nothing, or hangs up, is nobody to tell.
                let Ok(Ok(Some(stream))) = timeout(limits.first_frame, preface::read(stream)).await else {
                    return;
                };
                let connection = http2(&limits).serve_connection(TokioIo::new(stream), calls);
                drive(connection, &limits, phase).await;
            }
            Front::Http => {
                let connection = http1(&limits).serve_connection(TokioIo::new(stream), calls);
                drive(connection, &limits, phase).await;
            }
        }
    }
}

fn http2(limits: &ConnectionLimits) -> conn::http2::Builder<TokioExecutor> {
    let mut builder = conn::http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(limits.header_bytes)
        .max_pending_accept_reset_streams(limits.reset_streams)
        .max_local_error_reset_streams(limits.error_streams)
        .keep_alive_interval(limits.keepalive)
        .keep_alive_timeout(limits.keepalive_reply);
    builder
}

fn http1(limits: &ConnectionLimits) -> conn::http1::Builder {
    let mut builder = conn::http1::Builder::new();
    let header_bytes = usize::try_from(limits.header_bytes).unwrap_or(usize::MAX);
    builder.timer(TokioTimer::new()).header_read_timeout(limits.first_frame).max_header_size(header_bytes);
    builder
}

/// Runs a connection; at its age, or when the server stops, it is asked to end and then ended.
async fn drive<C>(connection: C, limits: &ConnectionLimits, mut phase: watch::Receiver<Phase>)
where
    C: GracefulConnection<Error = hyper::Error> + Future<Output = Result<(), hyper::Error>>,
{
    let mut connection = pin!(connection);
    let mut end = pin!(sleep(limits.age));
    let mut asked = false;
    loop {
        tokio::select! {
            result = connection.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(error = &error as &dyn std::error::Error, "connection ended");
                }
                return;
            }
            () = end.as_mut() => {
                if asked {
                    return;
                }
                asked = true;
                connection.as_mut().graceful_shutdown();
                end.as_mut().reset(Instant::now() + limits.grace);
            }
            // At a stop it is the server that ends what does not end by itself.
            _ = phase.wait_for(|phase| *phase >= Phase::Draining), if !asked => {
                asked = true;
                connection.as_mut().graceful_shutdown();
                end.as_mut().reset(Instant::now() + Duration::from_secs(86_400));
            }
        }
    }
}

/// The calls of one connection, handed to the router.
struct Calls {
    router: Router,
    slots: Slots,
    peer: Peer,
}

impl Service<Request<Incoming>> for Calls {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.slots.clone());
        request.extensions_mut().insert(self.peer);
        Box::pin(self.router.clone().oneshot(request))
    }
}
