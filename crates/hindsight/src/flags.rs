//! Flags that several commands share, and what becomes of them.

pub(crate) mod fields;
pub(crate) mod filter;
pub(crate) mod send;
pub(crate) mod server;

pub(crate) use fields::FieldFlags;
pub(crate) use filter::FilterFlags;
pub(crate) use send::{SendFlags, print_stored, print_written};
