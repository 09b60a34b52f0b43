//! The calls on one namespace that wait. Each is that of [`crate::NamespaceHandle`] with the same name.

use std::time::Duration;

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Draft, Filter, Memory, MemoryId, Namespace, Patch, Recalled};
use hindsight_proto::call::WriteEntry;

use super::Client;
use crate::{
    BatchOptions, BatchWritten, Error, Feedback, ForgetMode, Forgotten, History, IntoRecall, Judged,
    NamespaceStats, Restored, RolledBack, UpdateOptions, Updated, Written,
};

/// A namespace of a server. Clones are cheap and share the connection.
#[derive(Debug, Clone)]
pub struct NamespaceHandle {
    client: Client,
    handle: crate::NamespaceHandle,
}

impl NamespaceHandle {
    pub(super) fn new(client: Client, handle: crate::NamespaceHandle) -> NamespaceHandle {
        NamespaceHandle { client, handle }
    }

    /// The namespace.
    #[must_use]
    pub fn name(&self) -> &Namespace {
        self.handle.name()
    }

    /// The same namespace with another deadline for each call, its retries included.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> NamespaceHandle {
        NamespaceHandle { client: self.client.clone(), handle: self.handle.with_timeout(timeout) }
    }

    /// Stores a memory, unless the same is known: then that becomes surer.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every wrong field, what else the server answers, or that it can't be reached.
    pub fn write(&self, draft: Draft) -> Result<Written, Error> {
        self.client.wait(self.handle.write(draft))
    }

    /// Stores a finished task as an episode.
    ///
    /// # Errors
    /// As [`NamespaceHandle::write`].
    pub fn record(&self, record: RecordDraft) -> Result<Written, Error> {
        self.client.wait(self.handle.record(record))
    }

    /// Stores many memories with one sync, at most 1,000 and 4 MiB at a time.
    ///
    /// # Errors
    /// What is wrong with the batch as a whole.
    pub fn batch_write(
        &self,
        entries: Vec<WriteEntry>,
        options: BatchOptions,
    ) -> Result<BatchWritten, Error> {
        self.client.wait(self.handle.batch_write(entries, options))
    }

    /// Asks for the few memories that matter now: with the words of a query, or with a [`hindsight_core::Recall`].
    ///
    /// # Errors
    /// What is wrong with the question, what the server answers, or that it can't be reached.
    pub fn recall(&self, question: impl IntoRecall) -> Result<Recalled, Error> {
        self.client.wait(self.handle.recall(question).send())
    }

    /// One memory by its id, in whatever state it is.
    ///
    /// # Errors
    /// [`Error::NotFound`], what else the server answers, or that it can't be reached.
    pub fn get(&self, id: MemoryId) -> Result<Memory, Error> {
        self.client.wait(self.handle.get(id))
    }

    /// Every memory that matches, in the order of their ids; pages are fetched as they are needed, and the iterator ends after
    /// the first error.
    pub fn list(&self, filter: Filter) -> impl Iterator<Item = Result<Memory, Error>> {
        let client = self.client.clone();
        let mut memories = Some(self.handle.list(filter).all());
        std::iter::from_fn(move || {
            let next = client.wait(memories.as_mut()?.next()).transpose();
            if !matches!(next, Some(Ok(_))) {
                memories = None;
            }
            next
        })
    }

    /// Changes fields of a memory.
    ///
    /// # Errors
    /// As [`crate::NamespaceHandle::update_with`].
    pub fn update(&self, id: MemoryId, patch: Patch, options: UpdateOptions) -> Result<Updated, Error> {
        self.client.wait(self.handle.update_with(id, patch, options))
    }

    /// Takes memories out of recall; they can be brought back.
    ///
    /// # Errors
    /// [`Error::NotFound`] when one isn't there, what else the server answers, or that it can't be reached.
    pub fn forget_ids(&self, ids: &[MemoryId]) -> Result<Forgotten, Error> {
        self.client.wait(self.handle.forget_ids(ids))
    }

    /// Takes every memory that matches out of recall.
    ///
    /// # Errors
    /// As [`crate::NamespaceHandle::forget_where`].
    pub fn forget_where(&self, filter: Filter, mode: ForgetMode) -> Result<Forgotten, Error> {
        self.client.wait(self.handle.forget_where(filter, mode))
    }

    /// Brings forgotten memories back.
    ///
    /// # Errors
    /// [`Error::Conflict`] when one is not forgotten, [`Error::NotFound`], what else the server answers, or that it can't
    /// be reached.
    pub fn restore(&self, ids: &[MemoryId]) -> Result<Restored, Error> {
        self.client.wait(self.handle.restore(ids))
    }

    /// Says what became of what was recalled, and how the task ended.
    ///
    /// # Errors
    /// As [`crate::NamespaceHandle::feedback`].
    pub fn feedback(&self, feedback: Feedback) -> Result<Judged, Error> {
        self.client.wait(self.handle.feedback(feedback))
    }

    /// What superseded what, around one memory of the chain.
    ///
    /// # Errors
    /// [`Error::NotFound`], what else the server answers, or that it can't be reached.
    pub fn history(&self, id: MemoryId, agent: Option<&str>) -> Result<History, Error> {
        self.client.wait(self.handle.history(id, agent))
    }

    /// Takes back that a memory was superseded.
    ///
    /// # Errors
    /// As [`crate::NamespaceHandle::rollback`].
    pub fn rollback(&self, id: MemoryId) -> Result<RolledBack, Error> {
        self.client.wait(self.handle.rollback(id))
    }

    /// Counts what the namespace holds.
    ///
    /// # Errors
    /// [`Error::NotFound`] when nothing was ever written to it, what else the server answers, or that it can't be reached.
    pub fn stats(&self) -> Result<NamespaceStats, Error> {
        self.client.wait(self.handle.stats())
    }
}
