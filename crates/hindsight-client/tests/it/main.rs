//! The client against servers made by hand, on loopback: what a real server can't be asked to do (fail twice and then
//! answer, hang up, speak HTTP/1). The tests against the real server are those of hindsight-server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "the helpers of tests fail by panicking, like tests"
)]

mod agent_loop;
mod backup;
mod blocking;
mod calls;
mod connecting;
mod errors;
mod mock;
mod readme;
mod retries;
