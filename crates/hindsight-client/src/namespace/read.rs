//! Asking, reading by id, listing, counting.

use hindsight_core::{Explanation, Filter, Invalid, Memory, MemoryId, Recall, Recalled};
use hindsight_proto::call::{ExplainCall, GetCall, ListCall, RecallCall};
use hindsight_proto::v1;

use super::NamespaceHandle;
use crate::transport::How;
use crate::{Error, IntoRecall, ListBuilder, NamespaceStats, Page, RecallBuilder, reply};

impl NamespaceHandle {
    /// Asks for the few memories that matter now: with the words of a query, or with a [`Recall`].
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// for hit in ops.recall("what did we do last week about the certificates").top_k(5).await?.hits {
    ///     println!("{:.2} {}", hit.score, hit.memory.content);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn recall(&self, question: impl IntoRecall) -> RecallBuilder {
        RecallBuilder::new(self.clone(), question.into_recall())
    }

    pub(crate) async fn ask(&self, recall: Recall) -> Result<Recalled, Error> {
        let call = RecallCall { namespace: self.namespace.clone(), recall };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.recall(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_wire()?, send).await?;
        Recalled::try_from(answer).map_err(Error::unreadable)
    }

    pub(crate) async fn explain(&self, recall: Recall, id: MemoryId) -> Result<Explanation, Error> {
        let call = ExplainCall { recall: RecallCall { namespace: self.namespace.clone(), recall }, id };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.explain(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_wire()?, send).await?;
        Explanation::try_from(answer).map_err(Error::unreadable)
    }

    /// One memory by its id, in whatever state it is.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), Box<dyn std::error::Error>> {
    /// let memory = ops.get("mem_01k9zq4t8rc5d2v7n3hx6w0jab".parse()?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`], what else the server answers, or that it can't be reached.
    pub async fn get(&self, id: MemoryId) -> Result<Memory, Error> {
        self.read(id, None).await
    }

    /// As [`NamespaceHandle::get`], for an agent: it sees its own memories beside the shared ones.
    ///
    /// # Errors
    /// As [`NamespaceHandle::get`].
    pub async fn get_as(&self, id: MemoryId, agent: &str) -> Result<Memory, Error> {
        self.read(id, Some(agent.to_owned())).await
    }

    async fn read(&self, id: MemoryId, agent_id: Option<String>) -> Result<Memory, Error> {
        let call = GetCall { namespace: self.namespace.clone(), id, agent_id };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.get(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_wire(), send).await?;
        reply::memory(answer.memory).map_err(Error::unreadable)
    }

    /// Memories in the order of their ids; forgotten ones only when the filter names that state.
    pub fn list(&self, filter: Filter) -> ListBuilder {
        ListBuilder::new(self.clone(), filter)
    }

    pub(crate) async fn page(&self, list: ListBuilder) -> Result<Page, Error> {
        if list.page_size == 0 {
            return Err(Invalid::one("page_size", "is 0: expected at least 1").into());
        }
        let call = ListCall {
            namespace: self.namespace.clone(),
            filter: list.filter,
            page_size: list.page_size,
            page_token: list.page_token,
            agent_id: list.agent_id,
        };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.list(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), call.into_wire(), send).await?;
        Page::from_wire(answer).map_err(Error::unreadable)
    }

    /// Counts what the namespace holds.
    ///
    /// # Errors
    /// [`Error::NotFound`] when nothing was ever written to it, what else the server answers, or that it can't be
    /// reached.
    pub async fn stats(&self) -> Result<NamespaceStats, Error> {
        let request = v1::GetNamespaceStatsRequest { namespace: self.namespace.to_string() };
        let send = |request| {
            let mut service = self.transport.namespaces();
            async move { service.get_namespace_stats(request).await }
        };
        let answer = self.transport.call(How::read(self.timeout), request, send).await?;
        NamespaceStats::from_wire(answer).map_err(Error::unreadable)
    }
}
