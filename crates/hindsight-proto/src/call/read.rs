//! Reading: one memory by id, and pages of them.

use hindsight_core::{Filter, Invalid, MemoryId, Namespace};

use crate::gather::Gather;
use crate::{filter, text, v1};

/// A request for one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetCall {
    /// Where it is.
    pub namespace: Namespace,
    /// Which.
    pub id: MemoryId,
    /// The agent that asks.
    pub agent_id: Option<String>,
}

impl GetCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: &v1::GetRequest) -> Result<GetCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let id = gather.keep_some(super::memory_id(&wire.id));
        super::finish(gather, namespace.zip(id), |(namespace, id)| GetCall {
            namespace,
            id,
            agent_id: Some(wire.agent_id.clone()).filter(|agent| !agent.is_empty()),
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::GetRequest {
        v1::GetRequest {
            namespace: self.namespace.to_string(),
            id: self.id.to_string(),
            agent_id: self.agent_id.unwrap_or_default(),
        }
    }
}

/// A request for a page of memories.
#[derive(Debug, Clone, PartialEq)]
pub struct ListCall {
    /// Where they are.
    pub namespace: Namespace,
    /// Which.
    pub filter: Filter,
    /// Most memories of the page, 1–[`hindsight_core::limits::PAGE_SIZE_MAX`].
    pub page_size: usize,
    /// What the page before gave; empty for the first. Only the server knows what is in it.
    pub page_token: String,
    /// The agent that asks.
    pub agent_id: Option<String>,
}

impl ListCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::ListRequest) -> Result<ListCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let filter = gather.keep(filter::optional(wire.filter));
        let page_size = gather.keep(super::page_size(wire.page_size));
        let (page_token, agent_id) = (wire.page_token, text::optional(wire.agent_id));
        super::finish(gather, namespace, |namespace| ListCall {
            namespace,
            filter,
            page_size,
            page_token,
            agent_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::ListRequest {
        v1::ListRequest {
            namespace: self.namespace.to_string(),
            filter: (self.filter != Filter::default()).then(|| self.filter.into()),
            page_size: i32::try_from(self.page_size).unwrap_or(i32::MAX),
            page_token: self.page_token,
            agent_id: text::or_empty(self.agent_id),
        }
    }
}
