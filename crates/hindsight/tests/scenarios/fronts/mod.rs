//! The ways in. Each takes a call with the fields of the JSON front and gives an answer of that form, or the sentence
//! with which it was refused.

pub(crate) mod cli;
pub(crate) mod feed;
pub(crate) mod grpc;
pub(crate) mod http;
pub(crate) mod mcp;

use serde_json::Value;

use crate::call::Call;
use crate::stage::Stage;

/// Where a call goes.
pub(crate) struct Place<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) namespace: &'a str,
}

/// A way in.
pub(crate) trait Front {
    /// Why this front can't do a step, if it can't.
    fn cannot(&self, call: &Call) -> Option<&'static str>;

    /// Does it.
    fn call(&mut self, place: &Place<'_>, call: &Call) -> Result<Value, String>;

    /// The server was stopped and started again, at other ports.
    fn restarted(&mut self) {}
}
