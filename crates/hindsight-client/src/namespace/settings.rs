//! What is set about the namespace.

use hindsight_core::SettingsPatch;
use hindsight_proto::{call::UpdateNamespaceCall, v1};

use super::NamespaceHandle;
use crate::transport::How;
use crate::{Error, NamespaceInfo};

impl NamespaceHandle {
    /// The namespace with its settings.
    ///
    /// # Errors
    /// [`Error::NotFound`] when nothing was ever written to it and nothing set, what else the server answers, or that it
    /// can't be reached.
    pub async fn info(&self) -> Result<NamespaceInfo, Error> {
        let request = v1::GetNamespaceRequest { namespace: self.namespace.to_string() };
        let send = |request| {
            let mut service = self.transport.namespaces();
            async move { service.get_namespace(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), request, send).await?;
        NamespaceInfo::from_wire(answer.namespace).map_err(Error::unreadable)
    }

    /// Changes settings. A namespace that is not there begins with it.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{Durability, SettingsPatch};
    /// // Writes are acknowledged before they are synced: a crash takes back what the last moment wrote.
    /// let settings = SettingsPatch { durability: Some(Some(Durability::Async)), ..SettingsPatch::default() };
    /// ops.set(settings).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] when nothing is to be changed, what else the server answers, or that it can't be reached.
    pub async fn set(&self, patch: SettingsPatch) -> Result<NamespaceInfo, Error> {
        let (how, request_id) = self.how(None, false);
        let call = UpdateNamespaceCall { namespace: self.namespace.clone(), patch, request_id };
        let send = |request| {
            let mut service = self.transport.namespaces();
            async move { service.update_namespace(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        NamespaceInfo::from_wire(answer.namespace).map_err(Error::unreadable)
    }
}
