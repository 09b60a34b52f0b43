//! The indexes together, through their public face only.

mod contract;
mod golden;
mod support;
mod time;
