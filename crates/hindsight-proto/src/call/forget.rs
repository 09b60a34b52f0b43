//! Forgetting, and bringing back.

use hindsight_core::{Filter, Invalid, MemoryId, Namespace};

use crate::gather::Gather;
use crate::{filter, text, v1};

/// Which memories to forget.
#[derive(Debug, Clone, PartialEq)]
pub enum ForgetTarget {
    /// These.
    Ids(Vec<MemoryId>),
    /// All that match.
    Matching {
        /// The condition.
        filter: Box<Filter>,
        /// The number that a dry run gave; another number is refused.
        expected_count: Option<u32>,
    },
}

/// A request to forget.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgetCall {
    /// Where they are.
    pub namespace: Namespace,
    /// Which.
    pub target: ForgetTarget,
    /// Also what was made from them, and from that in turn.
    pub with_derived: bool,
    /// Count, and forget nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl ForgetCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read; ids and a filter together, or neither.
    pub fn from_wire(wire: v1::ForgetRequest) -> Result<ForgetCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let target = gather.keep_some(target(&wire.ids, wire.filter, wire.expected_count));
        let request_id = gather.keep(super::request_id(wire.request_id));
        let (validate_only, with_derived) = (wire.validate_only, wire.with_derived);
        super::finish(gather, namespace.zip(target), |(namespace, target)| ForgetCall {
            namespace,
            target,
            with_derived,
            validate_only,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::ForgetRequest {
        let (ids, filter, expected_count) = match self.target {
            ForgetTarget::Ids(ids) => (super::ids_to_wire(&ids), None, None),
            ForgetTarget::Matching { filter, expected_count } => {
                (Vec::new(), Some((*filter).into()), expected_count)
            }
        };
        v1::ForgetRequest {
            namespace: self.namespace.to_string(),
            ids,
            filter,
            validate_only: self.validate_only,
            with_derived: self.with_derived,
            expected_count,
            request_id: text::or_empty(self.request_id),
        }
    }
}

fn target(
    ids: &[String],
    condition: Option<v1::Filter>,
    expected_count: Option<u32>,
) -> Result<ForgetTarget, Invalid> {
    match (ids.is_empty(), condition) {
        (true, None) => Err(Invalid::one("ids", "is missing: name memories by ids or by a filter")),
        (false, Some(_)) => Err(Invalid::one("filter", "comes with ids: give one of them")),
        (true, condition) => {
            Ok(ForgetTarget::Matching { filter: Box::new(filter::optional(condition)?), expected_count })
        }
        (false, None) if expected_count.is_some() => {
            Err(Invalid::one("expected_count", "belongs to a filter: leave it out with ids"))
        }
        (false, None) => super::ids(ids).map(ForgetTarget::Ids),
    }
}

/// A request to bring forgotten memories back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreCall {
    /// Where they are.
    pub namespace: Namespace,
    /// Which.
    pub ids: Vec<MemoryId>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl RestoreCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read, and an empty list.
    pub fn from_wire(wire: v1::RestoreRequest) -> Result<RestoreCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        gather.unless(!wire.ids.is_empty(), "ids", "is missing: name the memories to bring back");
        let ids = gather.keep(super::ids(&wire.ids));
        let request_id = gather.keep(super::request_id(wire.request_id));
        super::finish(gather, namespace, |namespace| RestoreCall { namespace, ids, request_id })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::RestoreRequest {
        v1::RestoreRequest {
            namespace: self.namespace.to_string(),
            ids: super::ids_to_wire(&self.ids),
            request_id: text::or_empty(self.request_id),
        }
    }
}
