//! The tools' view of a namespace, over the client.

use hindsight_client::{
    Draft, Error, Kind, Memory, MemoryId, Namespace, NamespaceHandle, Patch, Recall, Recalled, RecordDraft,
    RuleQuery, RuleState, SummarizeOptions,
};
use hindsight_client::{Feedback, UpdateOptions, Written};
use hindsight_mcp::{Judgement, SessionCall, SessionSaid, Store, Stored, Trouble};

/// A namespace of the server that the client is connected to.
#[derive(Debug, Clone)]
pub(crate) struct Remote(pub(crate) NamespaceHandle);

/// The error as one sentence, with what would help where the program knows it.
fn trouble(error: Error) -> Trouble {
    let hint = match &error {
        Error::Connect { .. } => {
            ". Start a server with `hindsight serve`, or run `hindsight mcp --embedded`."
        }
        Error::Unavailable { .. } => ". Try once more in a moment.",
        _ => "",
    };
    Trouble(format!("{error}{hint}"))
}

fn is_unknown_namespace(error: &Error) -> bool {
    error.reason() == "NAMESPACE_NOT_FOUND"
}

fn stored(written: Written) -> Stored {
    let outcome = serde_json::to_value(written.outcome).ok();
    let outcome = outcome.as_ref().and_then(|word| word.as_str()).unwrap_or("stored").to_owned();
    Stored { outcome, memory: written.memory, neighbors: written.neighbors }
}

impl Store for Remote {
    fn namespace(&self) -> &Namespace {
        self.0.name()
    }

    async fn recall(&self, recall: Recall) -> Result<Option<Recalled>, Trouble> {
        match self.0.recall(recall).send().await {
            Err(error) if is_unknown_namespace(&error) => Ok(None),
            result => result.map(Some).map_err(trouble),
        }
    }

    async fn write(&self, draft: Draft) -> Result<Stored, Trouble> {
        self.0.write(draft).await.map(stored).map_err(trouble)
    }

    async fn record(&self, record: RecordDraft) -> Result<Stored, Trouble> {
        self.0.record(record).await.map(stored).map_err(trouble)
    }

    async fn get(&self, id: MemoryId) -> Result<Memory, Trouble> {
        self.0.get(id).await.map_err(trouble)
    }

    async fn update(&self, id: MemoryId, patch: Patch, version: Option<u64>) -> Result<Memory, Trouble> {
        let options = UpdateOptions { version, ..UpdateOptions::default() };
        self.0.update_with(id, patch, options).await.map(|updated| updated.memory).map_err(trouble)
    }

    async fn forget(&self, ids: Vec<MemoryId>) -> Result<u32, Trouble> {
        self.0.forget_ids(&ids).await.map(|forgotten| forgotten.count).map_err(trouble)
    }

    async fn feedback(&self, judgement: Judgement) -> Result<usize, Trouble> {
        let Judgement { recall_id, items, task_status } = judgement;
        let feedback = Feedback { recall_id, items, task_status, request_id: None };
        self.0.feedback(feedback).await.map(|judged| judged.memories.len()).map_err(trouble)
    }

    async fn rules(
        &self,
        state: RuleState,
        task_type: Option<String>,
        limit: usize,
    ) -> Result<Vec<Memory>, Trouble> {
        let query = RuleQuery {
            rule_states: vec![state],
            task_types: task_type.into_iter().collect(),
            page_size: limit,
            ..RuleQuery::default()
        };
        self.0.rules(query).await.map(|page| page.rules).map_err(trouble)
    }

    async fn summarize(
        &self,
        entity: String,
        kind: Option<Kind>,
        is_dry: bool,
    ) -> Result<(Memory, Vec<MemoryId>), Trouble> {
        let kinds = kind.into_iter().collect();
        let options = SummarizeOptions { kinds, validate_only: is_dry, ..SummarizeOptions::default() };
        self.0.summarize(&entity, options).await.map(|done| (done.summary, done.parts)).map_err(trouble)
    }

    async fn session(&self, call: SessionCall) -> Result<SessionSaid, Trouble> {
        let said = |session| SessionSaid { session, turns: Vec::new(), episode: None, is_closed: false };
        match call {
            SessionCall::Open(draft) => {
                self.0.open_session(draft).await.map(|opened| said(Some(opened.session))).map_err(trouble)
            }
            SessionCall::Append(id, turns) => {
                let appended = self.0.session(id).append(turns).await.map_err(trouble)?;
                Ok(said(Some(appended.session)))
            }
            SessionCall::Read(id, last) => {
                let found = self.0.session(id).read(last).await.map_err(trouble)?;
                Ok(SessionSaid { turns: found.turns, ..said(Some(found.session)) })
            }
            SessionCall::Close(id, record) => {
                let session = self.0.session(id);
                let closed = match record {
                    Some(record) => session.close_as(*record).await,
                    None => session.close().await,
                };
                let closed = closed.map_err(trouble)?;
                let episode = closed.memory.map(|memory| memory.id);
                Ok(SessionSaid { episode, is_closed: true, ..said(closed.session) })
            }
        }
    }

    async fn kinds(&self) -> Result<Vec<(String, u64)>, Trouble> {
        match self.0.stats().await {
            Ok(stats) => Ok(stats.by_kind),
            Err(error) if is_unknown_namespace(&error) => Ok(Vec::new()),
            Err(error) => Err(trouble(error)),
        }
    }
}
