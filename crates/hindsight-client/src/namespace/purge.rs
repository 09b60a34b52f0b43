//! Taking away for good.

use hindsight_core::{Filter, MemoryId};
use hindsight_proto::call::{DropCall, PurgeCall, PurgeTarget};

use super::{ForgetMode, NamespaceHandle};
use crate::{Dropped, Error, Purged};

impl NamespaceHandle {
    /// Purges memories, forgotten or not: when this returns, no file of the server's data directory holds a byte of them.
    ///
    /// ```no_run
    /// # async fn example(
    /// #     ops: hindsight_client::NamespaceHandle,
    /// #     id: hindsight_client::MemoryId,
    /// # ) -> Result<(), hindsight_client::Error> {
    /// let purged = ops.purge_ids(&[id]).await?;
    /// println!("{:?}", purged.receipt);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] when one isn't there; [`Error::Conflict`] when they are purged and can't be erased from the disk
    /// just now, which the server then does by itself; what else the server answers, or that it can't be reached.
    pub async fn purge_ids(&self, ids: &[MemoryId]) -> Result<Purged, Error> {
        self.purge(PurgeTarget::Ids(ids.to_vec()), false).await
    }

    /// Purges every memory that matches, forgotten ones too: first count, then purge that many.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another number matches; else as [`NamespaceHandle::purge_ids`].
    pub async fn purge_where(&self, filter: Filter, mode: ForgetMode) -> Result<Purged, Error> {
        let target = PurgeTarget::Matching { filter: Box::new(filter), expected_count: mode.expected() };
        self.purge(target, mode == ForgetMode::DryRun).await
    }

    /// Purges the namespace with everything in it: first count, then purge that many.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it holds another number; else as [`NamespaceHandle::purge_ids`].
    pub async fn purge_all(&self, mode: ForgetMode) -> Result<Purged, Error> {
        let target = PurgeTarget::Namespace { expected_count: mode.expected() };
        self.purge(target, mode == ForgetMode::DryRun).await
    }

    async fn purge(&self, target: PurgeTarget, validate_only: bool) -> Result<Purged, Error> {
        let (how, request_id) = self.how(None, validate_only);
        let (namespace, with_derived) = (self.namespace.clone(), self.with_derived);
        let call = PurgeCall { namespace, target, with_derived, validate_only, request_id };
        let send = |request| {
            let mut service = self.transport.admin();
            async move { service.purge(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Purged::from_wire(answer).map_err(Error::unreadable)
    }

    /// Drops the namespace with everything in it: from then on it does not exist. Its bytes go with the server's next
    /// checkpoints; [`NamespaceHandle::purge_all`] erases them at once.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it isn't there, [`Error::Conflict`] when it holds another number of memories, what else the
    /// server answers, or that it can't be reached.
    pub async fn drop_namespace(&self, mode: ForgetMode) -> Result<Dropped, Error> {
        let validate_only = mode == ForgetMode::DryRun;
        let (how, request_id) = self.how(None, validate_only);
        let (namespace, expected_count) = (self.namespace.clone(), mode.expected());
        let call = DropCall { namespace, expected_count, validate_only, request_id };
        let send = |request| {
            let mut service = self.transport.namespaces();
            async move { service.drop_namespace(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Ok(Dropped::from_wire(&answer))
    }
}
