//! Asking.

use hindsight_core::{Invalid, Namespace, Recall};

use crate::gather::Gather;
use crate::{recall, v1};

/// A request to recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallCall {
    /// Where to look.
    pub namespace: Namespace,
    /// The question, unchecked.
    pub recall: Recall,
}

impl RecallCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(mut wire: v1::RecallRequest) -> Result<RecallCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&std::mem::take(&mut wire.namespace)));
        let recall = gather.keep(recall::from_wire(wire));
        super::finish(gather, namespace, |namespace| RecallCall { namespace, recall })
    }

    /// The request for the wire.
    ///
    /// # Errors
    /// Zeros that would mean something else there.
    pub fn into_wire(self) -> Result<v1::RecallRequest, Invalid> {
        Ok(v1::RecallRequest { namespace: self.namespace.to_string(), ..recall::to_wire(self.recall)? })
    }
}
