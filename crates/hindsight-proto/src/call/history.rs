//! What superseded what, and taking that back.

use hindsight_core::{Invalid, MemoryId, Namespace};

use crate::gather::Gather;
use crate::{text, v1};

/// A request for what superseded what, around one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetHistoryCall {
    /// Where the memory is.
    pub namespace: Namespace,
    /// Any memory of the chain.
    pub id: MemoryId,
    /// The agent that asks.
    pub agent_id: Option<String>,
}

impl GetHistoryCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::GetHistoryRequest) -> Result<GetHistoryCall, Invalid> {
        let mut gather = Gather::default();
        let id = gather.keep_some(super::memory_id(&wire.id));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let agent_id = text::optional(wire.agent_id);
        super::finish(gather, namespace.zip(id), |(namespace, id)| GetHistoryCall { namespace, id, agent_id })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::GetHistoryRequest {
        v1::GetHistoryRequest {
            namespace: self.namespace.to_string(),
            id: self.id.to_string(),
            agent_id: text::or_empty(self.agent_id),
        }
    }
}

/// A request to take back that a memory was superseded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollbackCall {
    /// Where the memory is.
    pub namespace: Namespace,
    /// The memory that was superseded, or the one that superseded it.
    pub id: MemoryId,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl RollbackCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::RollbackRequest) -> Result<RollbackCall, Invalid> {
        let mut gather = Gather::default();
        let id = gather.keep_some(super::memory_id(&wire.id));
        let request_id = gather.keep(super::request_id(wire.request_id));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        super::finish(gather, namespace.zip(id), |(namespace, id)| RollbackCall { namespace, id, request_id })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::RollbackRequest {
        v1::RollbackRequest {
            namespace: self.namespace.to_string(),
            id: self.id.to_string(),
            request_id: text::or_empty(self.request_id),
        }
    }
}
