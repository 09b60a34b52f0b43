//! Many clients at once, each call noted with its begin and its end, and what they saw judged as a whole (A9).
//!
//! `witness` holds a long history against the log positions that the answers name, `registers` looks for an order that
//! explains short ones without believing any position. How a history is judged is hindsight-history's.
//! `HINDSIGHT_HISTORY_OPS` is the length of the long one; `cargo xtask soak` sets it to what a release needs.

mod clients;
mod registers;
mod witness;
