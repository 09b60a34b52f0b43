//! What became of what a recall returned.

use hindsight_core::limits::FEEDBACK_ITEMS_MAX;
use hindsight_core::{Invalid, MemoryId, Namespace, RecallId, Status, Verdict};

use crate::gather::Gather;
use crate::{text, v1, words};

/// A request to take in what became of recalled memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackCall {
    /// The namespace of the memories.
    pub namespace: Namespace,
    /// The recall that returned them.
    pub recall_id: Option<RecallId>,
    /// The memories, each with what is said of it.
    pub items: Vec<(MemoryId, Verdict)>,
    /// How the task ended.
    pub task_status: Option<Status>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl FeedbackCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::FeedbackRequest) -> Result<FeedbackCall, Invalid> {
        let mut gather = Gather::default();
        let recall_id = gather.keep(text::parsed_optional("recall_id", &wire.recall_id));
        let items = gather.keep(items(&wire.items));
        let task_status = gather.keep(words::optional("task_status", wire.task_status));
        let request_id = gather.keep(super::request_id(wire.request_id));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        super::finish(gather, namespace, |namespace| FeedbackCall {
            namespace,
            recall_id,
            items,
            task_status,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::FeedbackRequest {
        let items = self.items.iter();
        v1::FeedbackRequest {
            namespace: self.namespace.to_string(),
            recall_id: self.recall_id.map(|id| id.to_string()).unwrap_or_default(),
            items: items
                .map(|(id, verdict)| v1::FeedbackItem {
                    memory_id: id.to_string(),
                    verdict: words::Word::number(*verdict),
                })
                .collect(),
            task_status: words::number(self.task_status),
            request_id: text::or_empty(self.request_id),
        }
    }
}

/// The items; of several bad ones the first is named.
fn items(wire: &[v1::FeedbackItem]) -> Result<Vec<(MemoryId, Verdict)>, Invalid> {
    if wire.len() > FEEDBACK_ITEMS_MAX {
        return Err(Invalid::one("items", format!("has {} items: at most {FEEDBACK_ITEMS_MAX}", wire.len())));
    }
    let items = wire.iter().enumerate();
    items
        .map(|(at, item)| {
            let id = text::parsed(&format!("items[{at}].memory_id"), &item.memory_id)?;
            Ok((id, words::required(&format!("items[{at}].verdict"), item.verdict)?))
        })
        .collect()
}
