//! Changing the settings of a namespace.

use hindsight_core::{Invalid, Namespace, SettingsPatch};

use crate::gather::Gather;
use crate::{settings, text, v1};

/// A request to change settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateNamespaceCall {
    /// Of which namespace.
    pub namespace: Namespace,
    /// What to change.
    pub patch: SettingsPatch,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl UpdateNamespaceCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::UpdateNamespaceRequest) -> Result<UpdateNamespaceCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let patch = gather.keep(settings::patch_from_wire(wire.settings, wire.update_mask));
        let request_id = gather.keep(super::request_id(wire.request_id));
        super::finish(gather, namespace, |namespace| UpdateNamespaceCall { namespace, patch, request_id })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::UpdateNamespaceRequest {
        let (settings, mask) = settings::patch_to_wire(&self.patch);
        v1::UpdateNamespaceRequest {
            namespace: self.namespace.to_string(),
            settings: Some(settings),
            update_mask: Some(mask),
            request_id: text::or_empty(self.request_id),
        }
    }
}
