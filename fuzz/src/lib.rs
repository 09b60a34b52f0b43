//! What must hold for any bytes at all: one function per fuzz target.
//!
//! Each takes arbitrary bytes and panics when its promise is broken. `fuzz_targets/` hands them libFuzzer's inputs,
//! `tests/replay.rs` the committed corpus, so that an input found once is tested for ever.

#![forbid(unsafe_code)]

mod disk;
mod json;
mod log;
mod memory;
mod seal;
mod snapshot;
mod text;
mod token;

pub use disk::{backup_restore, manifest, record_codec, wal_recover};
pub use json::{draft_json, filter_expr, record_json};
pub use log::{batch_decode, log_decode};
pub use snapshot::snapshot_load;
pub use text::tokenizer;
pub use token::token_parse;
