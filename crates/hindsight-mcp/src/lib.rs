//! HindsightDB for agents that speak the Model Context Protocol (MCP).
//!
//! What it does: offers memory as a few tools with flat schemas, resources and prompts, reads what models really send
//! (numbers as text, lists as JSON in a string, `"null"`), and answers inside a token budget, with recalled text fenced
//! as data. What it does not: it opens no port and knows no engine. Whoever serves it hands it a [`Store`] that is bound
//! to one namespace, so that no argument can name another; the namespace comes from the address or the command line.
//!
//! Both generations of the protocol are spoken (with `initialize`, and 2026-07-28 with `server/discover`); that is
//! rmcp's work, and so are framing and transport.
//!
//! Reading order: [`store`] (what it needs), [`server`] (the protocol's calls), `tools` (one file each), `arguments`
//! and `schema` (what goes in), `render` (what comes out), `resources`, `prompts`.
#![forbid(unsafe_code)]

mod arguments;
mod prompts;
mod render;
mod resources;
mod schema;
pub mod server;
pub mod store;
mod tools;

pub use server::{MemoryServer, Profile};
pub use store::{Judgement, SessionCall, SessionSaid, Store, Stored, Trouble};
