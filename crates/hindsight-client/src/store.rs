//! The calls that an agent makes, as one trait: what is written against it runs with a server ([`NamespaceHandle`]), with
//! a server in the same process (start one, and take a handle on it), and in unit tests without any ([`Fake`]).

mod fake;
mod remote;

use std::future::Future;

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Draft, Filter, Memory, MemoryId, Namespace, Patch, Recall, Recalled};

pub use fake::Fake;

use crate::{Error, Feedback, Forgotten, Judged, Restored, UpdateOptions, Updated, Written};

#[cfg(doc)]
use crate::NamespaceHandle;

/// One namespace of memories.
///
/// ```
/// use hindsight_client::{Draft, Error, Fake, MemoryStore, Recall};
///
/// // The agent's own code: it asks before it acts.
/// async fn knows<S: MemoryStore>(memory: &S, question: &str) -> Result<Option<String>, Error> {
///     let recall = Recall { query: question.to_owned(), top_k: 1, ..Recall::default() };
///     Ok(memory.recall(recall).await?.hits.into_iter().next().map(|hit| hit.memory.content))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// // Its test: no server.
/// let memory = Fake::new("ops")?;
/// assert_eq!(knows(&memory, "how do we deploy").await?, None);
/// memory.write(Draft { content: "We deploy through Argo CD".to_owned(), ..Draft::default() }).await?;
/// assert_eq!(knows(&memory, "how do we deploy").await?.as_deref(), Some("We deploy through Argo CD"));
/// # Ok(())
/// # }
/// ```
pub trait MemoryStore: Clone + Send + Sync + 'static {
    /// The namespace.
    fn name(&self) -> &Namespace;

    /// Stores one memory.
    fn write(&self, draft: Draft) -> impl Future<Output = Result<Written, Error>> + Send;

    /// Stores a finished task.
    fn record(&self, record: RecordDraft) -> impl Future<Output = Result<Written, Error>> + Send;

    /// The few memories that matter now; none where the namespace has none at all.
    fn recall(&self, recall: Recall) -> impl Future<Output = Result<Recalled, Error>> + Send;

    /// One memory by id.
    fn get(&self, id: MemoryId) -> impl Future<Output = Result<Memory, Error>> + Send;

    /// Every memory that matches, in the order of their ids.
    fn list(&self, filter: Filter) -> impl Future<Output = Result<Vec<Memory>, Error>> + Send;

    /// Changes fields of a memory.
    fn update(
        &self,
        id: MemoryId,
        patch: Patch,
        options: UpdateOptions,
    ) -> impl Future<Output = Result<Updated, Error>> + Send;

    /// Takes memories out of recall; they can be brought back.
    fn forget(&self, ids: Vec<MemoryId>) -> impl Future<Output = Result<Forgotten, Error>> + Send;

    /// Brings forgotten memories back.
    fn restore(&self, ids: Vec<MemoryId>) -> impl Future<Output = Result<Restored, Error>> + Send;

    /// Says what became of what was recalled.
    fn feedback(&self, feedback: Feedback) -> impl Future<Output = Result<Judged, Error>> + Send;
}
