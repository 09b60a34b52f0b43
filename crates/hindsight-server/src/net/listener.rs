//! Accepting connections.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

use crate::metrics::Metrics;

use super::{ConnectionLimits, Front, Phase, Places, Tls, connection, places::Place};

/// The wait after an accept that failed for want of descriptors or memory, and its limit.
const BACK_OFF: Duration = Duration::from_millis(10);
const BACK_OFF_MAX: Duration = Duration::from_millis(500);

/// A bound port and what answers on it.
pub(crate) struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) front: Front,
    pub(crate) router: Router,
    pub(crate) limits: Arc<ConnectionLimits>,
    pub(crate) places: Places,
    pub(crate) metrics: Arc<Metrics>,
    /// The certificates; none where the port is not encrypted.
    pub(crate) tls: Option<Arc<Tls>>,
}

/// The place of a connection that is counted as open.
struct Counted {
    open: Gauge,
    _place: Place,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.dec();
    }
}

impl Listener {
    /// Serves until the phase is draining, then waits for the open connections. Dropping the future ends them.
    pub(crate) async fn serve(self, phase: watch::Receiver<Phase>) {
        let mut connections = JoinSet::new();
        let mut stop = phase.clone();
        loop {
            let accepted = tokio::select! {
                biased;
                // An error means that the server itself is gone.
                _ = stop.wait_for(|phase| *phase >= Phase::Draining) => break,
                accepted = self.accept() => accepted,
            };
            let (stream, from, place) = accepted;
            while connections.try_join_next().is_some() {}
            let connection = connection::Connection {
                front: self.front,
                router: self.router.clone(),
                limits: Arc::clone(&self.limits),
                peer: from,
            };
            let life = connection.serve(stream, self.tls.clone(), phase.clone());
            let open = self.metrics.connections.clone();
            open.inc();
            let place = Counted { open, _place: place };
            connections.spawn(async move {
                life.await;
                drop(place);
            });
        }
        // The port is given free before the open connections end: nobody new connects to a server that stops.
        drop(self.socket);
        while connections.join_next().await.is_some() {}
    }

    /// The next connection with its place. One connection of each listener is accepted before it has a place, so that
    /// a listener to which nobody comes holds none.
    async fn accept(&self) -> (TcpStream, IpAddr, Place) {
        let mut back_off = BACK_OFF;
        loop {
            match self.socket.accept().await {
                Ok((stream, from)) => {
                    if let Some(place) = self.places.take(from.ip()).await {
                        return (stream, from.ip(), place);
                    }
                    self.metrics.connections_refused.inc();
                    tracing::debug!(address = %from.ip(), "too many connections of one address: closed");
                    back_off = BACK_OFF;
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    self.metrics.accept_failures.inc();
                    tracing::warn!(%error, "can't accept connections for now");
                    tokio::time::sleep(back_off).await;
                    back_off = (back_off * 2).min(BACK_OFF_MAX);
                }
            }
        }
    }

    /// Where it listens; with port 0 the system chose the port.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

/// Whether accepting failed because the connection was gone again, which says nothing about the next one.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
