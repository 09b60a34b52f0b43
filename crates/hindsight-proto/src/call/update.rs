//! Changing a stored memory.

use hindsight_core::{Invalid, MemoryId, Namespace, Patch, RawVectors};

use crate::gather::Gather;
use crate::{patch, struct_json, text, v1, vectors};

/// A request to change a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateCall {
    /// Where it is.
    pub namespace: Namespace,
    /// Which.
    pub id: MemoryId,
    /// What changes.
    pub patch: Patch,
    /// The version that the caller has seen; none takes whatever is there.
    pub version: Option<u64>,
    /// New vectors, unchecked.
    pub vectors: Option<RawVectors>,
    /// Let it say what was forgotten or purged.
    pub allow_forgotten: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl UpdateCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::UpdateRequest) -> Result<UpdateCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let id = gather.keep_some(super::memory_id(&wire.id));
        let patch = gather.keep(patch::from_wire(wire.patch, wire.update_mask));
        let vectors = gather.keep(vectors::from_wire(wire.vectors, wire.embedding_model));
        let request_id = gather.keep(super::request_id(wire.request_id));
        let version = (wire.version != 0).then_some(wire.version);
        let allow_forgotten = wire.allow_forgotten;
        super::finish(gather, namespace.zip(id), |(namespace, id)| UpdateCall {
            namespace,
            id,
            patch,
            version,
            vectors,
            allow_forgotten,
            request_id,
        })
    }

    /// The request for the wire.
    ///
    /// # Errors
    /// When nothing changes, a number would lose digits there, or version 0 is asked for: no memory has it.
    pub fn into_wire(self) -> Result<v1::UpdateRequest, Invalid> {
        if self.patch.is_empty() {
            // An empty mask would mean "every field that is present" and hide the mistake.
            return Err(Invalid::one("patch", "changes nothing: name at least one field"));
        }
        if self.version == Some(0) {
            return Err(Invalid::one("version", "is 0: versions begin at 1"));
        }
        self.patch
            .metadata
            .as_ref()
            .map_or(Ok(()), |metadata| struct_json::check_exact("metadata", metadata))?;
        let (vectors, embedding_model) = vectors::to_wire(self.vectors);
        let (patch, mask) = patch::to_wire(self.patch);
        Ok(v1::UpdateRequest {
            namespace: self.namespace.to_string(),
            id: self.id.to_string(),
            patch: Some(patch),
            update_mask: Some(mask),
            version: self.version.unwrap_or(0),
            allow_forgotten: self.allow_forgotten,
            vectors,
            embedding_model,
            request_id: text::or_empty(self.request_id),
        })
    }
}
