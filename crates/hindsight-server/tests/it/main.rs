//! The server, in process, through the client crate, through raw gRPC and through raw HTTP.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first thing that is not as expected"
)]

mod abuse;
mod access;
mod agent_loop;
mod agents;
mod backup;
mod bad_input;
mod calls;
mod health;
mod http;
mod learn;
mod life;
mod limits;
mod mcp;
mod metrics;
mod purge;
mod recall;
mod restart;
mod rules;
mod sessions;
mod settings;
mod support;
mod vectors;
mod watch;
