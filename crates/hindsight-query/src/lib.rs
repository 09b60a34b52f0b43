//! From a question to ranked hits: plan, collect candidates, score each on every channel, rank, cut.
//!
//! What it does: everything of recall between "which memories are allowed" and "which of them come back, in which
//! order, and why". What it does not: it holds no memory and no index. It reads through [`ReadView`], a trait it
//! owns; the engine implements it over the indexes of one namespace at one log position. No clock: `now` comes in.
//!
//! Reading order: [`view`] (what a namespace must answer), [`plan`] (what will be done, and the tree that
//! `explain` prints), [`candidates`] (the channels), [`rank`] (one scale, one score, one order), `cut` and `hits` (who of
//! them is returned), `explain` (why one is not), [`run`] (the whole, step by step),
//! [`timing`] (how long each step took, by a timer that is lent).
#![forbid(unsafe_code)]

pub mod candidates;
mod cut;
mod explain;
mod hits;
pub mod plan;
pub mod rank;
pub mod run;
pub mod timing;
pub mod view;

pub use cut::COLLAPSE_SIMILARITY;
pub use plan::Plan;
pub use run::{explain, recall};
pub use timing::When;
pub use view::{Allowed, Facts, ReadView, VectorWay};

#[cfg(test)]
mod testing;
