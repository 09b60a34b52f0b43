//! A JSONL file becomes memories, line by line.
//!
//! The file is read as a stream ([`lines`]); each line becomes drafts or a complaint ([`entry`], [`generic`], `mcp_memory`,
//! `mem0`; [`form`] says which, [`mapping`] in which words); drafts gather in one chunk a namespace ([`chunks`]); what is wrong is reported by line and the import goes on ([`report`]).
//! The command that drives it is `commands/import.rs`.
//!
//! Invariant: importing the same file twice stores nothing twice. A line with an id keeps it or gets one derived
//! from it, so the server finds it taken; the lines without one travel under a request id derived from their
//! content and place, so the server finds it used.

pub(crate) mod chunks;
pub(crate) mod entry;
pub(crate) mod form;
pub(crate) mod generic;
pub(crate) mod lines;
pub(crate) mod mapping;
mod mcp_memory;
mod mem0;
pub(crate) mod report;
