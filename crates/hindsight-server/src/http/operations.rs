//! `/namespaces`, `/stats`, `/info`, and whether the server lives and is ready.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::IntoResponse as _;
use hindsight_core::{Namespace, Timestamp};
use hindsight_engine::MemoryStats;
use http::header;
use serde::Serialize;

use super::{Http, Reply, answer};
use crate::app::{AppError, Code, Refusal, page};
use crate::metrics::CONTENT_TYPE;
use crate::net::Phase;

#[derive(Serialize)]
struct NamespacesReply {
    namespaces: Vec<NamespaceReply>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

#[derive(Serialize)]
struct NamespaceReply {
    name: Namespace,
    memories: u64,
}

#[derive(Serialize)]
struct StatsReply {
    namespace: Namespace,
    by_kind: BTreeMap<&'static str, u64>,
    by_status: BTreeMap<&'static str, u64>,
    by_state: BTreeMap<&'static str, u64>,
    embedded: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimension: Option<usize>,
    terms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_at: Option<Timestamp>,
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector_graph: Option<GraphReply>,
}

#[derive(Serialize)]
struct GraphReply {
    covered: u64,
    dead: u64,
    newer: u64,
    bytes: u64,
    sampled: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    recall: Option<f64>,
}

#[derive(Serialize)]
struct InfoReply {
    version: &'static str,
    format: u32,
    started_at: Timestamp,
    revision: u64,
    embedding_model: String,
    dimension: usize,
    namespaces: u64,
    /// Absent while writes are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    writes_refused: Option<&'static str>,
    /// Absent for who may not know of every namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryStats>,
}

#[derive(Serialize)]
struct HealthReply {
    /// `ok`, or `degraded` while what stores something new is refused and everything else goes on.
    status: &'static str,
    version: &'static str,
    /// Why it is degraded, in the word that writes are refused with.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The same in a sentence, and what would help.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Names every namespace, page by page.
pub(super) async fn namespaces(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let limit = page::size(call.fields.take("page_size")?.unwrap_or(0))?;
    let after = page::after_name(call.fields.take("page_token")?.unwrap_or_default())?;
    call.fields.finish()?;
    let (named, more) = http.app.namespaces(after, limit).await?;
    let next_page_token = named.last().filter(|_| more).map(|last| last.name.to_string());
    let namespaces = named
        .into_iter()
        .map(|summary| NamespaceReply { name: summary.name, memories: summary.memories })
        .collect();
    answer(&NamespacesReply { namespaces, next_page_token })
}

/// Counts what a namespace holds.
pub(super) async fn stats(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    call.fields.finish()?;
    let stats = http.app.stats(namespace.clone()).await?;
    let (embedding_model, dimension) = stats.model.map(|model| (model.name, model.dimension)).unzip();
    answer(&StatsReply {
        namespace,
        by_kind: stats.by_kind.into_iter().collect(),
        by_status: stats.by_status.into_iter().collect(),
        by_state: stats.by_state.into_iter().collect(),
        embedded: stats.embedded,
        embedding_model,
        dimension,
        terms: stats.terms,
        oldest_at: stats.oldest_at,
        newest_at: stats.newest_at,
        revision: stats.revision.0,
        vector_graph: stats.vector_graph.map(|graph| GraphReply {
            covered: graph.covered,
            dead: graph.dead,
            newer: graph.newer,
            bytes: graph.bytes,
            sampled: graph.sampled,
            recall: graph.recall(),
        }),
    })
}

/// Who answers.
pub(super) async fn info(State(http): State<Http>) -> Reply {
    let info = http.app.info().await?;
    answer(&InfoReply {
        version: info.version,
        format: info.format,
        started_at: info.started_at,
        revision: info.revision.0,
        embedding_model: info.embedding_model,
        dimension: info.dimension,
        namespaces: info.namespaces,
        writes_refused: info.writes_refused,
        memory: info.memory,
    })
}

/// Whether the process lives. It asks nothing else, so that a slow disk does not get the process killed.
pub(super) async fn live() -> Reply {
    answer(&health_reply())
}

/// What is measured. It waits for no place in the engine: it is asked when all are taken.
pub(super) async fn metrics(State(http): State<Http>) -> Reply {
    let metrics = Arc::clone(http.app.metrics());
    let text = tokio::task::spawn_blocking(move || metrics.text()).await;
    // Neither a panic nor a text that can't be written is the caller's doing.
    let text = text.ok().and_then(Result::ok).ok_or_else(Refusal::internal)?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

/// Whether calls are served.
pub(super) async fn ready(State(http): State<Http>) -> Reply {
    if *http.phase.borrow() >= Phase::Draining {
        return Err(Refusal::new(
            Code::Unavailable,
            "DRAINING",
            "the server is stopping: try again in a moment",
        ));
    }
    match http.app.health() {
        Ok(()) => answer(&http.app.degraded().map_or_else(health_reply, degraded_reply)),
        Err(error) => {
            let refusal = Refusal::from(error);
            Err(Refusal { code: Code::Unavailable, ..refusal })
        }
    }
}

fn health_reply() -> HealthReply {
    HealthReply { status: "ok", version: env!("CARGO_PKG_VERSION"), reason: None, detail: None }
}

fn degraded_reply(error: AppError) -> HealthReply {
    let Refusal { reason, message, .. } = error.into();
    HealthReply { status: "degraded", reason: Some(reason), detail: Some(message), ..health_reply() }
}
