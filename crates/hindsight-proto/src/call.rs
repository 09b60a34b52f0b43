//! Requests: one struct per RPC that carries more than a name. A server reads one with `from_wire`, a client writes
//! one with `into_wire`; both sides speak of the same fields.

mod consolidate;
mod feedback;
mod forget;
mod history;
pub mod job;
mod purge;
mod read;
mod recall;
mod record;
mod rule;
mod session;
mod settings;
mod update;
mod watch;
mod write;

use hindsight_core::limits::{FORGET_IDS_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, REQUEST_ID_CHARS_MAX};
use hindsight_core::{Invalid, MemoryId, Namespace, SessionId};

pub use consolidate::{ConsolidateCall, SummarizeCall};
pub use feedback::FeedbackCall;
pub use forget::{ForgetCall, ForgetTarget, RestoreCall};
pub use history::{GetHistoryCall, RollbackCall};
pub use job::RunJobCall;
pub use purge::{DropCall, PurgeCall, PurgeTarget};
pub use read::{GetCall, ListCall};
pub use recall::{ExplainCall, RecallCall};
pub use record::RecordCall;
pub use rule::{ListRulesCall, ProposeRuleCall, RuleCall, UpdateRuleCall, event_from_wire, event_to_wire};
pub use session::{AppendTurnsCall, CloseSessionCall, GetSessionCall, ListSessionsCall, OpenSessionCall};
pub use settings::UpdateNamespaceCall;
pub use update::UpdateCall;
pub use watch::WatchCall;
pub use write::{BatchWriteCall, WriteCall, WriteEntry, batch_to_wire};

use crate::gather::Gather;
use crate::text;

/// Reads the namespace of a request.
///
/// # Errors
/// When it is missing or can't name a namespace.
pub fn namespace(name: &str) -> Result<Namespace, Invalid> {
    if name.is_empty() {
        return Err(Invalid::one("namespace", "is missing: name the namespace that the request is for"));
    }
    text::parsed("namespace", name)
}

/// Reads the id of a memory.
///
/// # Errors
/// When it is missing or not the id of a memory.
pub fn memory_id(id: &str) -> Result<MemoryId, Invalid> {
    text::parsed("id", id)
}

/// Reads the id of a session.
///
/// # Errors
/// When it is missing or can't be one.
pub fn session_id(id: &str) -> Result<SessionId, Invalid> {
    text::parsed("session_id", id)
}

/// Reads how many items a page shall hold: zero means [`PAGE_SIZE_DEFAULT`], and more than [`PAGE_SIZE_MAX`] is
/// brought down to it.
///
/// # Errors
/// When it is negative.
pub fn page_size(size: i32) -> Result<usize, Invalid> {
    match usize::try_from(size) {
        Ok(0) => Ok(PAGE_SIZE_DEFAULT),
        Ok(size) => Ok(size.min(PAGE_SIZE_MAX)),
        Err(_) => {
            Err(Invalid::one("page_size", format!("is {size}: expected 0 (for {PAGE_SIZE_DEFAULT}) or more")))
        }
    }
}

/// Reads the caller's own id of a request, if there is one.
///
/// # Errors
/// When it is too long or not ASCII.
pub fn request_id(id: String) -> Result<Option<String>, Invalid> {
    if id.len() > REQUEST_ID_CHARS_MAX || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Invalid::one(
            "request_id",
            format!(
                "has {} bytes: expected at most {REQUEST_ID_CHARS_MAX} ASCII characters without spaces, such as a UUID",
                id.len()
            ),
        ));
    }
    Ok(text::optional(id))
}

/// Reads a list of ids; of several bad ones the first is named.
fn ids(ids: &[String]) -> Result<Vec<MemoryId>, Invalid> {
    if ids.len() > FORGET_IDS_MAX {
        return Err(Invalid::one("ids", format!("has {} items: at most {FORGET_IDS_MAX}", ids.len())));
    }
    ids.iter().enumerate().map(|(index, id)| text::parsed(&format!("ids[{index}]"), id)).collect()
}

/// The call, unless something was noted. What a call can't be without is there when nothing was noted.
fn finish<P, C>(gather: Gather, parts: Option<P>, call: impl FnOnce(P) -> C) -> Result<C, Invalid> {
    gather.finish()?;
    parts.map(call).ok_or_else(|| text::missing("request"))
}

fn ids_to_wire(ids: &[MemoryId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests;
