//! The server: one data directory, spoken to over gRPC and over JSON.
//!
//! What it does: reads the configuration, opens the engine, embeds texts that come without vectors, and answers on two
//! ports with limits on everything a client can cost. What it does not: it decides nothing about memories. A method of
//! either front is convert, call, convert; fields are checked by `hindsight-core`, writes and recalls are the engine's.
//!
//! The life of a call: `net::listener` (a connection's place) → `net::connection` → `net::guard` (id, place, time limit,
//! an answer even after a panic) → `access` (whose call, may it be made, where) → `grpc` or `http` (convert) → `app` (embed, run beside the network's threads, wait for
//! the sync) → the engine.
//!
//! Without credentials it binds loopback only; and since any web page can reach loopback, the HTTP port then refuses what a
//! browser sends for another site. `access` has the locks: who may make which call, and in which namespace.
//!
//! Reading order: [`config`] (what can be set), [`server`] (start and stop), `access`, `app`, `net`, `grpc`, `http`, `metrics`, [`logging`],
//! [`error`] (why it does not start, and the exit code).
#![forbid(unsafe_code)]

mod access;
mod app;
pub mod config;
pub mod error;
mod grpc;
mod http;
pub mod logging;
mod metrics;
mod net;
pub mod server;
mod signals;
mod words;

pub use access::Exposed;
pub use config::{Config, ConfigError, Overrides};
pub use error::ServeError;
pub use hindsight_engine::Clock;
pub use http::openapi::document as openapi;
pub use net::tls::TlsError;
pub use server::{Running, Server};
