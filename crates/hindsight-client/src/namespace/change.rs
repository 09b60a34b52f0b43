//! Changing, forgetting and bringing back.

use hindsight_core::{Filter, MemoryId, Patch, RawVectors};
use hindsight_proto::call::{ForgetCall, ForgetTarget, RestoreCall, UpdateCall};

use super::NamespaceHandle;
use crate::{Error, Forgotten, Restored, Updated};

/// How an update is carried out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpdateOptions {
    /// The version that the caller has seen; a memory that changed meanwhile is not touched. None takes whatever is
    /// there.
    pub version: Option<u64>,
    /// New vectors; without them the server embeds a text that changes.
    pub vectors: Option<RawVectors>,
    /// Let it say what was forgotten or purged.
    pub allow_forgotten: bool,
    /// The caller's own id of the request; the client makes one when absent.
    pub request_id: Option<String>,
}

/// How careful a forget by filter is, or a purge or drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetMode {
    /// Count, and take nothing away.
    DryRun,
    /// Take away when exactly so many match, the number that a dry run gave.
    Expect(u32),
    /// Take away however many match.
    Unchecked,
}

impl ForgetMode {
    pub(super) fn expected(self) -> Option<u32> {
        if let ForgetMode::Expect(count) = self { Some(count) } else { None }
    }
}

impl NamespaceHandle {
    /// Changes fields of a memory, whatever version it has.
    ///
    /// # Errors
    /// As [`NamespaceHandle::update_with`].
    pub async fn update(&self, id: MemoryId, patch: Patch) -> Result<Updated, Error> {
        self.update_with(id, patch, UpdateOptions::default()).await
    }

    /// As [`NamespaceHandle::update`], with options.
    ///
    /// ```no_run
    /// # async fn example(
    /// #     ops: hindsight_client::NamespaceHandle,
    /// #     memory: hindsight_client::Memory,
    /// # ) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{Error, Patch, UpdateOptions};
    ///
    /// let patch = Patch { importance: Some(0.9), valid_to: Some(None), ..Patch::default() };
    /// let options = UpdateOptions { version: Some(memory.version), ..UpdateOptions::default() };
    /// match ops.update_with(memory.id, patch, options).await {
    ///     Err(Error::VersionMismatch { current, .. }) => println!("somebody was faster: {current:?}"),
    ///     other => println!("{}", other?.memory.version),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::VersionMismatch`] when the memory changed since that version, [`Error::NotFound`],
    /// [`Error::Invalid`] with every wrong field, what else the server answers, or that it can't be reached.
    pub async fn update_with(
        &self,
        id: MemoryId,
        patch: Patch,
        options: UpdateOptions,
    ) -> Result<Updated, Error> {
        let (how, request_id) = self.how(options.request_id, false);
        let call = UpdateCall {
            namespace: self.namespace.clone(),
            id,
            patch,
            version: options.version,
            vectors: options.vectors,
            allow_forgotten: options.allow_forgotten,
            request_id,
        };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.update(request).await }
        };
        let answer = self.transport.call(how, call.into_wire()?, send).await?;
        Updated::from_wire(answer).map_err(Error::unreadable)
    }

    /// Takes memories out of recall; they can be brought back.
    ///
    /// # Errors
    /// [`Error::NotFound`] when one isn't there, what else the server answers, or that it can't be reached.
    pub async fn forget_ids(&self, ids: &[MemoryId]) -> Result<Forgotten, Error> {
        self.forget(ForgetTarget::Ids(ids.to_vec()), false).await
    }

    /// Takes every memory that matches out of recall: first count, then forget that many.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{Filter, ForgetMode};
    ///
    /// let old = Filter { tags: vec!["scratch".to_owned()], ..Filter::default() };
    /// let count = ops.forget_where(old.clone(), ForgetMode::DryRun).await?.count;
    /// ops.forget_where(old, ForgetMode::Expect(count)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`] when another number matches, what else the server answers, or that it can't be reached.
    pub async fn forget_where(&self, filter: Filter, mode: ForgetMode) -> Result<Forgotten, Error> {
        let expected_count = mode.expected();
        self.forget(
            ForgetTarget::Matching { filter: Box::new(filter), expected_count },
            mode == ForgetMode::DryRun,
        )
        .await
    }

    async fn forget(&self, target: ForgetTarget, validate_only: bool) -> Result<Forgotten, Error> {
        let (how, request_id) = self.how(None, validate_only);
        let (namespace, with_derived) = (self.namespace.clone(), self.with_derived);
        let call = ForgetCall { namespace, target, with_derived, validate_only, request_id };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.forget(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Forgotten::from_wire(&answer).map_err(Error::unreadable)
    }

    /// Brings forgotten memories back.
    ///
    /// # Errors
    /// [`Error::Conflict`] when one is not forgotten, [`Error::NotFound`], what else the server answers, or that it
    /// can't be reached.
    pub async fn restore(&self, ids: &[MemoryId]) -> Result<Restored, Error> {
        let (how, request_id) = self.how(None, false);
        let call = RestoreCall { namespace: self.namespace.clone(), ids: ids.to_vec(), request_id };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.restore(request).await }
        };
        let answer = self.transport.call(how, call.into_wire(), send).await?;
        Ok(Restored::from_wire(&answer))
    }
}
