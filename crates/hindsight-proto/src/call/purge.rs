//! Purging, and dropping a namespace.

use hindsight_core::{Filter, Invalid, MemoryId, Namespace};

use crate::gather::Gather;
use crate::{filter, text, v1};

/// What to purge.
#[derive(Debug, Clone, PartialEq)]
pub enum PurgeTarget {
    /// These.
    Ids(Vec<MemoryId>),
    /// All that match, forgotten ones too.
    Matching {
        /// The condition.
        filter: Box<Filter>,
        /// The number that a dry run gave; another number is refused.
        expected_count: Option<u32>,
    },
    /// The namespace with everything in it.
    Namespace {
        /// The number of memories that a dry run gave; another number is refused.
        expected_count: Option<u32>,
    },
}

/// A request to purge.
#[derive(Debug, Clone, PartialEq)]
pub struct PurgeCall {
    /// Where.
    pub namespace: Namespace,
    /// What.
    pub target: PurgeTarget,
    /// Also what was made from them, and from that in turn.
    pub with_derived: bool,
    /// Count, and purge nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl PurgeTarget {
    /// What a request that has these three means.
    ///
    /// # Errors
    /// When it has none of ids, filter and whole namespace, or more than one; an `expected_count` with ids.
    pub fn new(
        ids: Option<Vec<MemoryId>>,
        condition: Option<Filter>,
        whole_namespace: bool,
        expected_count: Option<u32>,
    ) -> Result<PurgeTarget, Invalid> {
        match (ids, condition, whole_namespace) {
            (Some(_), None, false) if expected_count.is_some() => Err(Invalid::one(
                "expected_count",
                "belongs to a filter or a whole namespace: leave it out with ids",
            )),
            (Some(ids), None, false) => Ok(PurgeTarget::Ids(ids)),
            (None, Some(filter), false) => {
                Ok(PurgeTarget::Matching { filter: Box::new(filter), expected_count })
            }
            (None, None, true) => Ok(PurgeTarget::Namespace { expected_count }),
            (None, None, false) => Err(Invalid::one(
                "ids",
                "is missing: name memories by ids or by a filter, or whole_namespace",
            )),
            (_, _, true) => {
                Err(Invalid::one("whole_namespace", "comes with ids or a filter: give one of them"))
            }
            (Some(_), Some(_), false) => Err(Invalid::one("filter", "comes with ids: give one of them")),
        }
    }
}

impl PurgeCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read, and as [`PurgeTarget::new`].
    pub fn from_wire(wire: v1::PurgeRequest) -> Result<PurgeCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let ids = (!wire.ids.is_empty()).then(|| super::ids(&wire.ids)).transpose();
        let condition = wire.filter.map(|condition| filter::optional(Some(condition))).transpose();
        let parts = ids.and_then(|ids| Ok((ids, condition?)));
        let target = parts.and_then(|(ids, condition)| {
            PurgeTarget::new(ids, condition, wire.whole_namespace, wire.expected_count)
        });
        let target = gather.keep_some(target);
        let request_id = gather.keep(super::request_id(wire.request_id));
        let (validate_only, with_derived) = (wire.validate_only, wire.with_derived);
        super::finish(gather, namespace.zip(target), |(namespace, target)| PurgeCall {
            namespace,
            target,
            with_derived,
            validate_only,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::PurgeRequest {
        let mut wire = v1::PurgeRequest {
            namespace: self.namespace.to_string(),
            validate_only: self.validate_only,
            with_derived: self.with_derived,
            request_id: text::or_empty(self.request_id),
            ..v1::PurgeRequest::default()
        };
        match self.target {
            PurgeTarget::Ids(ids) => wire.ids = super::ids_to_wire(&ids),
            PurgeTarget::Matching { filter, expected_count } => {
                (wire.filter, wire.expected_count) = (Some((*filter).into()), expected_count);
            }
            PurgeTarget::Namespace { expected_count } => {
                (wire.whole_namespace, wire.expected_count) = (true, expected_count);
            }
        }
        wire
    }
}

/// A request to drop a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DropCall {
    /// Which.
    pub namespace: Namespace,
    /// The number of memories that a dry run gave; another number is refused.
    pub expected_count: Option<u32>,
    /// Count, and drop nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl DropCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::DropNamespaceRequest) -> Result<DropCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let request_id = gather.keep(super::request_id(wire.request_id));
        let (expected_count, validate_only) = (wire.expected_count, wire.validate_only);
        super::finish(gather, namespace, |namespace| DropCall {
            namespace,
            expected_count,
            validate_only,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::DropNamespaceRequest {
        v1::DropNamespaceRequest {
            namespace: self.namespace.to_string(),
            expected_count: self.expected_count,
            validate_only: self.validate_only,
            request_id: text::or_empty(self.request_id),
        }
    }
}
