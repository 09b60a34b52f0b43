//! The program as a user runs it: the real binary against a real server on loopback.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first thing that is not as expected"
)]

mod abuse;
mod access;
mod backup;
mod bad_input;
mod commands;
mod crash;
mod demo;
mod export;
mod import;
mod learn;
mod life;
mod logs;
mod mcp;
mod program;
mod purge;
mod recall;
mod rules;
mod serve;
mod sessions;
mod settings;
