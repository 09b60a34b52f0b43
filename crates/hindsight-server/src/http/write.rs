//! `/memory/write`, `/memory/record`, `/memory/batch`.

use axum::extract::{Request, State};
use hindsight_core::draft::RecordDraft;
use hindsight_core::{Draft, Invalid, Memory, MemoryId, Neighbor, Outcome, Violation};
use hindsight_engine::{EngineError, ItemWritten, WriteItem, Written};
use serde::Serialize;
use serde_json::Value;

use super::{Http, Reply, answer, answer_at, fields::Fields};
use crate::app::{AppError, Batch, Refusal};

/// What became of a write.
#[derive(Serialize)]
struct WriteReply {
    outcome: Outcome,
    memory: Memory,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    neighbors: Vec<Neighbor>,
    revision: u64,
    replayed: bool,
}

impl From<Written> for WriteReply {
    fn from(written: Written) -> Self {
        WriteReply {
            outcome: written.outcome,
            memory: written.memory,
            neighbors: written.neighbors,
            revision: written.revision.0,
            replayed: written.replayed,
        }
    }
}

/// What became of a batch.
#[derive(Serialize)]
struct BatchReply {
    results: Vec<ItemReply>,
    replayed: bool,
    revision: u64,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ItemReply {
    Written { id: MemoryId, outcome: Outcome },
    Refused { error: ItemError },
}

#[derive(Serialize)]
struct ItemError {
    reason: &'static str,
    message: String,
    violations: Vec<Violation>,
}

/// Stores one memory: the fields of a draft, beside those of the call.
pub(super) async fn write(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let options = call.options()?;
    let item = item(call.fields)?;
    let reply = WriteReply::from(http.app.write(namespace, item, options).await?);
    answer_at(reply.memory.version, &reply)
}

/// Stores a finished task.
pub(super) async fn record(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let options = call.options()?;
    let vectors = call.fields.vectors()?;
    let record: RecordDraft = call.fields.without_nulls().rest()?;
    let item = WriteItem::new(record.into_draft()?, vectors);
    answer(&WriteReply::from(http.app.record(namespace, item, options).await?))
}

/// Stores many memories with one sync.
pub(super) async fn batch(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let request_id = call.request_id()?;
    let all_or_nothing = call.fields.take("all_or_nothing")?.unwrap_or(false);
    let on_duplicate = call.fields.take("on_duplicate")?;
    let allow_forgotten = call.fields.take("allow_forgotten")?.unwrap_or(false);
    let items: Vec<Value> = call
        .fields
        .take("items")?
        .ok_or_else(|| Invalid::one("items", "is missing: expected a list of memories"))?;
    call.fields.finish()?;
    let items = items.into_iter().map(|value| item(Fields::of_value(value, "")?)).collect();
    let batch = Batch { items, all_or_nothing, on_duplicate, allow_forgotten, request_id };
    let written = http.app.write_batch(namespace, batch).await?;
    answer(&BatchReply {
        results: written.results.into_iter().map(item_reply).collect(),
        replayed: written.replayed,
        revision: written.revision.0,
    })
}

fn item(mut fields: Fields) -> Result<WriteItem, Invalid> {
    let vectors = fields.vectors()?;
    let draft: Draft = fields.without_nulls().rest()?;
    Ok(WriteItem::new(draft, vectors))
}

fn item_reply(result: Result<ItemWritten, EngineError>) -> ItemReply {
    match result {
        Ok(ItemWritten { id, outcome }) => ItemReply::Written { id, outcome },
        Err(error) => {
            let Refusal { reason, message, violations, .. } = AppError::from(error).into();
            ItemReply::Refused { error: ItemError { reason, message, violations } }
        }
    }
}
