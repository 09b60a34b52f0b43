//! `/memory/get`, `/memory/list`.

use axum::extract::{Request, State};
use hindsight_core::{Filter, Invalid, Memory};
use hindsight_engine::ListRequest;
use serde::Serialize;

use super::{Http, Reply, answer, answer_at, call};
use crate::app::page::{self, Listing};

/// One memory.
#[derive(Serialize)]
struct GetReply {
    memory: Memory,
    revision: u64,
}

/// A page of memories.
#[derive(Serialize)]
struct ListReply {
    memories: Vec<Memory>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
    revision: u64,
}

/// Returns one memory by id.
pub(super) async fn get(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let id = call.fields.take("id")?;
    let id = id.ok_or_else(|| Invalid::one("id", "is missing: name the memory"))?;
    let agent = call.fields.take("agent_id")?;
    call.fields.finish()?;
    let got = http.app.get(namespace, id, agent).await?;
    answer_at(got.memory.version, &GetReply { memory: got.memory, revision: got.revision.0 })
}

/// Lists memories page by page. Conditions may stand beside the call's own fields.
pub(super) async fn list(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let filter = call.filter()?;
    let page_size = page::size(call.fields.take("page_size")?.unwrap_or(0))?;
    let token: String = call.fields.take("page_token")?.unwrap_or_default();
    let agent_id: Option<String> = call.fields.take("agent_id")?;
    let flat: Filter = call.fields.without_nulls().rest()?;
    let filter = call::both(filter, flat);
    let listing = Listing { namespace: &namespace, filter: &filter, agent_id: agent_id.as_deref() };
    let after = listing.after(&token)?;
    let wish = ListRequest { filter: filter.clone(), page_size, after, agent_id: agent_id.clone() };
    let page = http.app.list(namespace.clone(), wish).await?;
    let next_page_token = listing.next(&page);
    answer(&ListReply { memories: page.memories, next_page_token, revision: page.revision.0 })
}
