//! The indexes together, through their public face only.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests may stop at the first thing that is not as expected"
)]

mod contract;
mod entities;
mod golden;
mod snapshot;
mod support;
mod time;
