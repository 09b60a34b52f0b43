//! JSON over HTTP: the native calls for `curl` and for languages without a client.
//!
//! Field names are those of the wire in snake_case, times are RFC 3339, words are lower case. A field that does not
//! exist is refused by name; an error is `application/problem+json`. Reading order: `call` (what a request brings),
//! `fields` and `json` (how it is read), `write`, `change`, `purge`, `jobs`, `learn`, `rules`, `search`, `read`, `session`, `watch`, `operations`, `settings` (the calls), `mcp` (the
//! same for agents that speak MCP), `problem`
//! (errors), `access` (tokens and the audit trail), `browser` (who may not call).

mod access;
mod body;
mod browser;
mod call;
mod change;
mod fields;
mod jobs;
mod json;
mod learn;
mod mcp;
pub(crate) mod openapi;
mod operations;
pub(crate) mod problem;
mod purge;
mod read;
mod rules;
mod search;
mod session;
mod settings;
mod watch;
mod write;

use std::sync::Arc;

use axum::{
    Router,
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{any, delete, get, post, put},
};
use http::{Method, Uri};
use tokio::sync::watch::Receiver;

use crate::{
    access::{Access, http as door},
    app::{App, Code, Refusal},
    net::{Guard, Phase, guard::guard},
    words::nearest,
};

/// What a handler answers: its value as JSON, or a refusal.
type Reply = Result<Response, Refusal>;

/// What every handler knows.
#[derive(Clone)]
struct Http {
    app: Arc<App>,
    access: Arc<Access>,
    /// Largest body in bytes.
    body_max: usize,
    phase: Receiver<Phase>,
}

/// Paths, for the hint after a slip.
const PATHS: &[&str] = &[
    "/memory/write",
    "/memory/record",
    "/memory/batch",
    "/memory/search",
    "/memory/explain",
    "/memory/get",
    "/memory/list",
    "/memory/update",
    "/memory/forget",
    "/memory/restore",
    "/memory/feedback",
    "/memory/history",
    "/memory/rollback",
    "/memory/rules",
    "/memory/rules/{id}",
    "/memory/rules/{id}/history",
    "/memory/consolidate",
    "/memory/summarize",
    "/mcp/{namespace}",
    "/memory/purge",
    "/sessions/open",
    "/sessions/append",
    "/sessions/get",
    "/sessions/close",
    "/sessions/list",
    "/v1/namespaces/{namespace}/watch",
    "/namespaces",
    "/namespaces/drop",
    "/jobs",
    "/jobs/run",
    "/namespaces/{namespace}",
    "/stats",
    "/info",
    "/tokens",
    "/tokens/create",
    "/tokens/revoke",
    "/audit",
    "/health",
    "/livez",
    "/readyz",
    "/metrics",
    "/openapi.json",
];

/// Everything that answers on the HTTP port.
pub(crate) fn router(
    app: &Arc<App>,
    access: &Arc<Access>,
    body_max: usize,
    phase: Receiver<Phase>,
    call_guard: Guard,
) -> Router {
    let state = Http { app: Arc::clone(app), access: Arc::clone(access), body_max, phase };
    Router::new()
        .route("/memory/write", post(write::write))
        .route("/memory/record", post(write::record))
        .route("/memory/batch", post(write::batch))
        .route("/memory/search", post(search::search))
        .route("/memory/explain", post(search::explain))
        .route("/memory/get", get(read::get))
        .route("/memory/list", get(read::list).post(read::list))
        .route("/memory/update", put(change::update).post(change::update))
        .route("/memory/forget", delete(change::forget).post(change::forget))
        .route("/memory/restore", post(change::restore))
        .route("/memory/feedback", post(learn::feedback))
        .route("/memory/history", get(learn::history).post(learn::history))
        .route("/memory/rollback", post(learn::rollback))
        .route("/memory/rules", get(rules::list).post(rules::propose))
        .route("/memory/rules/{id}", get(rules::get).patch(rules::update))
        .route("/memory/rules/{id}/history", get(rules::history))
        .route("/memory/consolidate", post(rules::consolidate))
        .route("/memory/summarize", post(rules::summarize))
        .route("/mcp/{namespace}", any(mcp::serve))
        .route("/memory/purge", delete(purge::purge).post(purge::purge))
        // A namespace may be named "drop", too.
        .route(
            "/namespaces/drop",
            delete(purge::drop_namespace)
                .post(purge::drop_namespace)
                .get(settings::show)
                .patch(settings::change),
        )
        .route("/namespaces/{namespace}", get(settings::show).patch(settings::change))
        .route("/sessions/open", post(session::open))
        .route("/sessions/append", post(session::append))
        .route("/sessions/get", get(session::get).post(session::get))
        .route("/sessions/close", post(session::close))
        .route("/sessions/list", get(session::list).post(session::list))
        .route("/v1/namespaces/{namespace}/watch", get(watch::watch))
        .route("/namespaces", get(operations::namespaces))
        .route("/jobs", get(jobs::list))
        .route("/jobs/run", post(jobs::run))
        .route("/stats", get(operations::stats))
        .route("/info", get(operations::info))
        .route("/tokens", get(access::list))
        .route("/tokens/create", post(access::create))
        .route("/tokens/revoke", post(access::revoke))
        .route("/audit", get(access::events).post(access::events))
        .route("/health", get(operations::ready))
        .route("/readyz", get(operations::ready))
        .route("/livez", get(operations::live))
        .route("/openapi.json", get(openapi::show))
        .route("/metrics", get(operations::metrics))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .with_state(state)
        .layer(from_fn_with_state(Arc::clone(access), door::admit))
        .layer(from_fn_with_state(Arc::clone(access), browser::check))
        .layer(from_fn_with_state(call_guard, guard))
}

async fn no_such_path(uri: Uri) -> Refusal {
    let hint = match nearest(uri.path(), PATHS.iter().copied()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("there are {}", PATHS.join(", ")),
    };
    Refusal::new(Code::NotFound, "NO_SUCH_PATH", format!("nothing is at this path: {hint}"))
}

async fn no_such_method(method: Method, uri: Uri) -> Refusal {
    let message = format!("{} does not take {method}", uri.path());
    Refusal::new(Code::MethodNotAllowed, "NO_SUCH_METHOD", message)
}

impl Http {
    async fn call(&self, request: axum::extract::Request) -> Result<call::Call, Refusal> {
        call::Call::of(request, self.body_max, self.app.budget()).await
    }
}

/// As [`answer`], of one memory: its version is the tag that `If-Match` of a change takes (RFC 9110, 8.8.3).
fn answer_at(version: u64, value: &impl serde::Serialize) -> Reply {
    let mut response = answer(value)?;
    if let Ok(tag) = http::HeaderValue::try_from(format!("\"{version}\"")) {
        response.headers_mut().insert(http::header::ETAG, tag);
    }
    Ok(response)
}

fn answer(value: &impl serde::Serialize) -> Reply {
    Ok(axum::Json(value).into_response())
}
