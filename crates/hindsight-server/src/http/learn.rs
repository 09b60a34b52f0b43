//! `/memory/feedback`, `/memory/history`, `/memory/rollback`.

use axum::extract::{Request, State};
use hindsight_core::{Invalid, Memory, MemoryId, Verdict};
use hindsight_engine::{FeedbackRequest, RollbackRequest};
use serde::{Deserialize, Serialize};

use super::{Http, Reply, answer};

/// What became of one memory.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    memory_id: MemoryId,
    verdict: Verdict,
}

/// What became of a feedback.
#[derive(Serialize)]
struct FeedbackReply {
    memories: Vec<Memory>,
    revision: u64,
    replayed: bool,
}

/// What superseded what.
#[derive(Serialize)]
struct HistoryReply {
    memories: Vec<Memory>,
    revision: u64,
}

/// What became of a rollback.
#[derive(Serialize)]
struct RollbackReply {
    restored: Vec<Memory>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invalidated: Option<Memory>,
    revision: u64,
    replayed: bool,
}

/// Takes in what became of what a recall returned: `items`, or the ids by verdict.
pub(super) async fn feedback(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let recall_id = call.fields.take("recall_id")?;
    let task_status = call.fields.take("task_status")?;
    let given: Vec<Item> = call.fields.take("items")?.unwrap_or_default();
    let mut items: Vec<(MemoryId, Verdict)> =
        given.into_iter().map(|item| (item.memory_id, item.verdict)).collect();
    for verdict in Verdict::ALL {
        let ids: Vec<MemoryId> = call.fields.take(verdict.as_str())?.unwrap_or_default();
        items.extend(ids.into_iter().map(|id| (id, *verdict)));
    }
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let feedback = FeedbackRequest { recall_id, items, task_status, request_id };
    let judged = http.app.feedback(namespace, feedback).await?;
    let (revision, replayed) = (judged.revision.0, judged.replayed);
    answer(&FeedbackReply { memories: judged.memories, revision, replayed })
}

/// What superseded what, around one memory.
pub(super) async fn history(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let id = call.fields.take("id")?;
    let id = id.ok_or_else(|| Invalid::one("id", "is missing: name a memory of the chain"))?;
    let agent = call.fields.take("agent_id")?;
    call.fields.finish()?;
    let history = http.app.history(namespace, id, agent).await?;
    answer(&HistoryReply { memories: history.memories, revision: history.revision.0 })
}

/// Takes back that a memory was superseded.
pub(super) async fn rollback(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let id = call.fields.take("id")?;
    let missing = "is missing: name the memory that was superseded, or the one that superseded it";
    let id = id.ok_or_else(|| Invalid::one("id", missing))?;
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let done = http.app.rollback(namespace, RollbackRequest { id, request_id }).await?;
    let (revision, replayed) = (done.revision.0, done.replayed);
    answer(&RollbackReply { restored: done.restored, invalidated: done.invalidated, revision, replayed })
}
