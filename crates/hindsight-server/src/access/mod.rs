//! The locks: whose call it is, whether it may be made, and in which namespace. Decided here, once, before anything else.
//!
//! Two steps, the same for every front. `Access::admit` looks at what a call brings beside its body: the credential, and
//! whether that may make this call at all. [`Call::enter`] looks at the namespace that the body names. Both ask one table,
//! [`policy`]; a call that has no row in it is made by nobody who needs a credential.
//!
//! What was decided goes with the call as a [`Call`], which the application layer asks for the grade and the agent of what is written
//! ([`bounds`]), and which ends as a line of the audit trail.
//!
//! Reading order: [`policy`], `call`, `admit`, `grpc` and `http` (the two fronts' doors), `bounds`, `lasting` (streams end with their
//! credential), `failures`, `rates`, `keeper`, `trail`, `tokens`, `exposure` (which addresses may be bound).

mod admit;
mod bounds;
mod call;
mod exposure;
mod failures;
pub(crate) mod grpc;
pub(crate) mod http;
mod keeper;
mod lasting;
pub(crate) mod policy;
mod rates;
pub(crate) mod tokens;
mod trail;

pub(crate) use admit::Access;
pub(crate) use bounds::{
    Bounds, as_agent, bound_draft, may_decide_rules, note, rules_missing, sees, sees_all,
};
pub(crate) use call::{Call, CallId, Caller, Peer};
pub use exposure::Exposed;
pub(crate) use keeper::keep;
pub(crate) use trail::inside;
