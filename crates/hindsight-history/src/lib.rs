//! Judges what concurrent clients saw (A9): whether there is an order in which it could have happened.
//!
//! A history is a list of calls, each with the moment it began and the moment its answer was there; any counter that
//! all clients share will do for moments. [`register`] believes nothing but the answers, looks for an order itself, and
//! so takes small histories. [`witness`] believes the log positions that the answers name, holds everything against
//! them, and takes millions of calls.
//!
//! What it does not: it makes no calls, knows no database and reads no clock. Tests of the engine and the tool that
//! kills a server bring their histories here.
#![forbid(unsafe_code)]

pub mod register;
pub mod witness;
