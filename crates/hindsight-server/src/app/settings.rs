//! Changing the settings of a namespace.

use hindsight_engine::{NamespaceInfo, SettingsRequest};
use hindsight_proto::call::UpdateNamespaceCall;

use super::{App, AppError};

impl App {
    /// Changes settings, and answers when that is durable.
    pub(crate) async fn update_namespace(
        &self,
        call: UpdateNamespaceCall,
    ) -> Result<NamespaceInfo, AppError> {
        let UpdateNamespaceCall { namespace, patch, request_id } = call;
        let request = SettingsRequest { patch, request_id };
        self.run(move |worker| Ok(worker.engine.update_namespace(&namespace, request)?)).await
    }
}
