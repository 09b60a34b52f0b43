//! Calls that read memories by id, by condition, or count them.

use hindsight_core::limits::FORGET_IDS_MAX;
use hindsight_core::{Memory, MemoryId, Namespace};
use hindsight_engine::{Got, ListRequest, NamespaceInfo, NamespaceStats, Page};

use super::{App, AppError};
use crate::access;

/// Most bytes of JSON that the memories of one answer have together. The wire form of metadata can be three times
/// as long as its JSON, so the largest answer stays below the largest reply.
pub(super) const ANSWER_JSON_BYTES_MAX: usize = 4 << 20;

impl App {
    /// One memory by id; `agent` sees its own memories beside the shared ones.
    pub(crate) async fn get(
        &self,
        namespace: Namespace,
        id: MemoryId,
        mut agent: Option<String>,
    ) -> Result<Got, AppError> {
        access::as_agent(&mut agent)?;
        let got = self.run(move |worker| Ok(worker.engine.get(&namespace, id, agent.as_deref())?)).await?;
        access::note(1);
        Ok(got)
    }

    /// A page of memories by id. A page that would be too large an answer ends early.
    pub(crate) async fn list(
        &self,
        namespace: Namespace,
        mut request: ListRequest,
    ) -> Result<Page, AppError> {
        access::as_agent(&mut request.agent_id)?;
        let page = self.run(move |worker| Ok(worker.engine.list(&namespace, &request)?)).await?;
        let page = ending_early(page);
        access::note(page.memories.len());
        Ok(page)
    }

    /// Whether the caller's agent may know of these memories; a caller who is no agent in particular may.
    ///
    /// # Errors
    /// That the first one that it may not know of is not there.
    pub(super) async fn reaches(&self, namespace: &Namespace, ids: &[MemoryId]) -> Result<(), AppError> {
        let mut agent = None;
        access::as_agent(&mut agent)?;
        if agent.is_none() || ids.is_empty() {
            return Ok(());
        }
        let (namespace, ids) = (namespace.clone(), ids.to_vec());
        self.on_worker(move |worker| {
            for id in ids.iter().take(FORGET_IDS_MAX) {
                worker.engine.get(&namespace, *id, agent.as_deref())?.wait()?;
            }
            Ok(())
        })
        .await
    }

    /// A namespace with its settings.
    pub(crate) async fn namespace(&self, name: Namespace) -> Result<NamespaceInfo, AppError> {
        self.run(move |worker| Ok(worker.engine.namespace(&name)?)).await
    }

    /// Counts what a namespace holds.
    pub(crate) async fn stats(&self, namespace: Namespace) -> Result<NamespaceStats, AppError> {
        self.run(move |worker| Ok(worker.engine.stats(&namespace)?)).await
    }
}

/// The page, ended early where it would be too large an answer.
pub(super) fn ending_early(mut page: Page) -> Page {
    let fitting = fitting(page.memories.iter());
    page.more |= fitting < page.memories.len();
    page.memories.truncate(fitting);
    page
}

/// How many of the memories, from the first, one answer takes: all that fit, and at least one.
pub(super) fn fitting<'a>(memories: impl Iterator<Item = &'a Memory>) -> usize {
    let mut count = 0;
    let mut total = 0;
    for memory in memories {
        total += json_bytes(memory);
        if count > 0 && total > ANSWER_JSON_BYTES_MAX {
            break;
        }
        count += 1;
    }
    count
}

/// How long a memory is as JSON.
pub(super) fn json_bytes(memory: &Memory) -> usize {
    struct Count(usize);

    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    // What can't be written is counted as far as it went; the front that writes it tells of the error.
    let _ = serde_json::to_writer(&mut count, memory);
    count.0
}
