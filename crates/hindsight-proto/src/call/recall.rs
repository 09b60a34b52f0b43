//! Asking.

use hindsight_core::{Invalid, MemoryId, Namespace, Recall};

use crate::gather::Gather;
use crate::{recall, text, v1};

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

/// A request to say what becomes of one memory in a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainCall {
    /// The recall.
    pub recall: RecallCall,
    /// The memory.
    pub id: MemoryId,
}

impl ExplainCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::ExplainRequest) -> Result<ExplainCall, Invalid> {
        let mut gather = Gather::default();
        let id = gather.keep_some(text::parsed("memory_id", &wire.memory_id));
        let recall = gather.keep_some(RecallCall::from_wire(wire.recall.unwrap_or_default()));
        super::finish(gather, recall.zip(id), |(recall, id)| ExplainCall { recall, id })
    }

    /// The request for the wire.
    ///
    /// # Errors
    /// As [`RecallCall::into_wire`].
    pub fn into_wire(self) -> Result<v1::ExplainRequest, Invalid> {
        let recall = Some(self.recall.into_wire()?);
        Ok(v1::ExplainRequest { recall, memory_id: self.id.to_string() })
    }
}
