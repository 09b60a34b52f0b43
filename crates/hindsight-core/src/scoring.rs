//! Every formula of recall, as functions from numbers to numbers. `now` never enters: ages in days do.
//!
//! [`score`] joins the others: [`decay`] (recency), [`confidence`], [`importance`], [`bm25`], [`fusion`].

pub mod bm25;
pub mod confidence;
pub mod decay;
pub mod fusion;
pub mod importance;
pub mod score;
pub mod tokens;
pub mod transient;
