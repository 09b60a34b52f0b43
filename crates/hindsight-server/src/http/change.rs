//! `/memory/update`, `/memory/forget`, `/memory/restore`.

use axum::extract::{Request, State};
use hindsight_core::{Invalid, Memory, MemoryId, Patch};
use hindsight_engine::{Affected, ForgetRequest, ForgetTarget, Maker, RestoreRequest, UpdateRequest};
use serde::Serialize;

use super::{Http, Reply, answer, answer_at};

/// What became of an update.
#[derive(Serialize)]
struct UpdateReply {
    memory: Memory,
    revision: u64,
    replayed: bool,
}

/// What became of a forget or a restore.
#[derive(Serialize)]
struct AffectedReply {
    count: u32,
    ids: Vec<MemoryId>,
    /// What was made from them and stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    derived: Vec<MemoryId>,
    revision: u64,
    replayed: bool,
}

impl From<Affected> for AffectedReply {
    fn from(affected: Affected) -> Self {
        let Affected { count, ids, derived, replayed, revision } = affected;
        AffectedReply { count, ids, derived, revision: revision.0, replayed }
    }
}

/// Changes fields of a memory; a field that is `null` is taken away.
pub(super) async fn update(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let id = call.fields.take("id")?;
    let id = id.ok_or_else(|| Invalid::one("id", "is missing: name the memory to change"))?;
    let version = call.version()?;
    let vectors = call.fields.vectors()?;
    let allow_forgotten = call.fields.take("allow_forgotten")?.unwrap_or(false);
    let request_id = call.request_id()?;
    let patch: Patch = call.fields.rest()?;
    let update =
        UpdateRequest { id, patch, version, vectors, maker: Maker::Caller, request_id, allow_forgotten };
    let written = http.app.update(namespace, update).await?;
    let version = written.memory.version;
    let reply =
        UpdateReply { memory: written.memory, revision: written.revision.0, replayed: written.replayed };
    answer_at(version, &reply)
}

/// Takes memories out of recall: those named, or those that match.
pub(super) async fn forget(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let ids = call.fields.ids()?;
    let filter = call.filter()?;
    let expected_count: Option<u32> = call.fields.take("expected_count")?;
    let validate_only = call.fields.take("validate_only")?.unwrap_or(false);
    let with_derived = call.fields.take("with_derived")?.unwrap_or(false);
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let target = match (ids, filter) {
        (None, None) => {
            return Err(Invalid::one("ids", "is missing: name memories by ids or by a filter").into());
        }
        (Some(_), Some(_)) => return Err(Invalid::one("filter", "comes with ids: give one of them").into()),
        (Some(_), None) if expected_count.is_some() => {
            return Err(Invalid::one("expected_count", "belongs to a filter: leave it out with ids").into());
        }
        (Some(ids), None) => ForgetTarget::Ids(ids),
        (None, Some(filter)) => ForgetTarget::Matching { filter, expected_count },
    };
    let affected =
        http.app.forget(namespace, ForgetRequest { target, validate_only, request_id, with_derived }).await?;
    answer(&AffectedReply::from(affected))
}

/// Brings forgotten memories back.
pub(super) async fn restore(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let ids = call.fields.ids()?;
    let ids = ids.ok_or_else(|| Invalid::one("ids", "is missing: name the memories to bring back"))?;
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let affected = http.app.restore(namespace, RestoreRequest { ids, request_id }).await?;
    answer(&AffectedReply::from(affected))
}
