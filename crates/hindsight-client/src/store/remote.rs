//! A namespace of a server as a store.

use hindsight_core::draft::RecordDraft;
use hindsight_core::limits::PAGE_SIZE_MAX;
use hindsight_core::{Draft, Filter, Lsn, Memory, MemoryId, Namespace, Patch, Recall, Recalled};

use super::MemoryStore;
use crate::recall::nothing;
use crate::{Error, Feedback, Forgotten, Judged, NamespaceHandle, Restored, UpdateOptions, Updated, Written};

impl MemoryStore for NamespaceHandle {
    fn name(&self) -> &Namespace {
        NamespaceHandle::name(self)
    }

    async fn write(&self, draft: Draft) -> Result<Written, Error> {
        NamespaceHandle::write(self, draft).await
    }

    async fn record(&self, record: RecordDraft) -> Result<Written, Error> {
        NamespaceHandle::record(self, record).await
    }

    async fn recall(&self, recall: Recall) -> Result<Recalled, Error> {
        match NamespaceHandle::recall(self, recall).send().await {
            // A namespace begins with its first memory; an agent asks before that.
            Err(error) if error.reason() == "NAMESPACE_NOT_FOUND" => Ok(nothing(Lsn(0))),
            answer => answer,
        }
    }

    async fn get(&self, id: MemoryId) -> Result<Memory, Error> {
        NamespaceHandle::get(self, id).await
    }

    async fn list(&self, filter: Filter) -> Result<Vec<Memory>, Error> {
        let mut memories = NamespaceHandle::list(self, filter).page_size(PAGE_SIZE_MAX).all();
        let mut found = Vec::new();
        while let Some(memory) = memories.next().await? {
            found.push(memory);
        }
        Ok(found)
    }

    async fn update(&self, id: MemoryId, patch: Patch, options: UpdateOptions) -> Result<Updated, Error> {
        self.update_with(id, patch, options).await
    }

    async fn forget(&self, ids: Vec<MemoryId>) -> Result<Forgotten, Error> {
        self.forget_ids(&ids).await
    }

    async fn restore(&self, ids: Vec<MemoryId>) -> Result<Restored, Error> {
        NamespaceHandle::restore(self, &ids).await
    }

    async fn feedback(&self, feedback: Feedback) -> Result<Judged, Error> {
        NamespaceHandle::feedback(self, feedback).await
    }
}
