//! Rules out of episodes, and one memory out of many.

use hindsight_core::{Invalid, Kind, Namespace};

use crate::gather::Gather;
use crate::{text, v1, words};

/// A request to make rules of episodes.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidateCall {
    /// Where the episodes are.
    pub namespace: Namespace,
    /// Show what would come, and store nothing.
    pub validate_only: bool,
    /// Least episodes that agree.
    pub min_episodes: Option<u32>,
    /// Least confidence of a new rule, 0–1.
    pub min_confidence: Option<f64>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl ConsolidateCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::ConsolidateRequest) -> Result<ConsolidateCall, Invalid> {
        let v1::ConsolidateRequest { namespace, validate_only, min_episodes, min_confidence, request_id } =
            wire;
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&namespace));
        let request_id = gather.keep(super::request_id(request_id));
        super::finish(gather, namespace, |namespace| ConsolidateCall {
            namespace,
            validate_only,
            min_episodes,
            min_confidence,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::ConsolidateRequest {
        v1::ConsolidateRequest {
            namespace: self.namespace.to_string(),
            validate_only: self.validate_only,
            min_episodes: self.min_episodes,
            min_confidence: self.min_confidence,
            request_id: text::or_empty(self.request_id),
        }
    }
}

/// A request to merge what is known of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizeCall {
    /// Where the memories are.
    pub namespace: Namespace,
    /// Whom or what it is about.
    pub entity: String,
    /// Of these kinds; the server's choice when empty.
    pub kinds: Vec<Kind>,
    /// The agent whose own memories are meant.
    pub agent_id: Option<String>,
    /// Show what would come, and store nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl SummarizeCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::SummarizeRequest) -> Result<SummarizeCall, Invalid> {
        let v1::SummarizeRequest { namespace, entity, kinds, agent_id, validate_only, request_id } = wire;
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&namespace));
        let kinds = gather.keep(words::list("kinds", &kinds));
        let request_id = gather.keep(super::request_id(request_id));
        let agent_id = text::optional(agent_id);
        super::finish(gather, namespace, |namespace| SummarizeCall {
            namespace,
            entity,
            kinds,
            agent_id,
            validate_only,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::SummarizeRequest {
        v1::SummarizeRequest {
            namespace: self.namespace.to_string(),
            entity: self.entity,
            kinds: words::numbers(&self.kinds),
            agent_id: text::or_empty(self.agent_id),
            validate_only: self.validate_only,
            request_id: text::or_empty(self.request_id),
        }
    }
}
