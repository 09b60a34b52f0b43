//! Connections: how many, how they begin and end, and what holds for every call on them, whatever its protocol.
//!
//! Reading order: `listener` (accepting, with limits), `places` (how many connections), `preface` (what a gRPC
//! client says first), `tls`, `connection` (one connection's life), `guard` (one call's life).

mod connection;
pub(crate) mod guard;
mod listener;
mod places;
mod preface;
pub(crate) mod tls;

use std::{sync::Arc, time::Duration};

pub(crate) use guard::{Front, Guard};
pub(crate) use listener::Listener;
pub(crate) use places::{Places, open_files_max};
pub(crate) use tls::Tls;

use crate::config::Config;

/// How far the server's stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// New connections are taken.
    Serving,
    /// Open calls are finished, new ones are refused.
    Draining,
}

/// What holds for each connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionLimits {
    pub(crate) streams: u32,
    pub(crate) requests: usize,
    pub(crate) header_bytes: u32,
    pub(crate) reset_streams: usize,
    pub(crate) error_streams: usize,
    pub(crate) first_frame: Duration,
    pub(crate) keepalive: Duration,
    pub(crate) keepalive_reply: Duration,
    pub(crate) age: Duration,
    pub(crate) grace: Duration,
}

impl ConnectionLimits {
    pub(crate) fn of(config: &Config) -> Arc<ConnectionLimits> {
        let (limits, timeouts) = (&config.limits, &config.timeouts);
        Arc::new(ConnectionLimits {
            streams: limits.streams_per_connection,
            requests: limits.requests_per_connection,
            header_bytes: limits.header_bytes,
            reset_streams: limits.reset_streams,
            error_streams: limits.error_streams,
            first_frame: Duration::from_millis(timeouts.first_frame_ms),
            keepalive: Duration::from_millis(timeouts.keepalive_ms),
            keepalive_reply: Duration::from_millis(timeouts.keepalive_reply_ms),
            age: Duration::from_millis(timeouts.connection_age_ms),
            grace: Duration::from_millis(timeouts.connection_grace_ms),
        })
    }
}
