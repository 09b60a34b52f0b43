//! Memory for agents that speak the Model Context Protocol: the bridge from their standard streams to a server, and what
//! to paste into their configuration.

pub(crate) mod config;
pub(crate) mod remote;
