//! The program as a user runs it: the real binary against a real server on loopback.
#![forbid(unsafe_code)]

mod bad_input;
mod commands;
mod crash;
mod demo;
mod export;
mod import;
mod program;
mod serve;
