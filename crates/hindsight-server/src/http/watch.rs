//! `/v1/namespaces/{namespace}/watch`: the change feed as server-sent events.
//!
//! Each event's id is its revision, once the revision was told to its end; a reader that comes again brings it as
//! `Last-Event-ID`, and browsers do so by themselves.

use axum::{
    body::{Body, Bytes},
    extract::{Path, Request, State},
    response::Response,
};
use futures_util::StreamExt;
use hindsight_core::{Invalid, Lsn, Namespace, WatchRequest};
use http::{HeaderValue, header};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Http, Reply, fields::Fields, json};
use crate::app::{AppError, Refusal, Told};

/// What a reader that comes again has seen last.
const LAST_EVENT_ID: &str = "last-event-id";

/// The data of a notice of progress.
#[derive(Serialize)]
struct Progress {
    revision: u64,
}

/// The data of the last event of a feed that failed.
#[derive(Serialize)]
struct Failed<'a> {
    reason: &'a str,
    detail: &'a str,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    metadata: &'a std::collections::BTreeMap<&'static str, String>,
}

/// Tells what changes in a namespace until the reader goes away.
pub(super) async fn watch(
    State(http): State<Http>,
    Path(namespace): Path<String>,
    request: Request,
) -> Reply {
    let namespace: Namespace = namespace
        .parse()
        .map_err(|bad: hindsight_core::namespace::BadNamespace| Invalid::one("namespace", bad.to_string()))?;
    let mut call = http.call(request).await?;
    let seen = call.header(LAST_EVENT_ID)?.map(str::parse::<u64>).transpose();
    let seen = seen.map_err(|_| Invalid::one(LAST_EVENT_ID, "is no revision: give the id of an event"))?;
    let asked: Option<u64> = call.fields.take("after_revision")?;
    let watch = WatchRequest {
        // Whoever comes again brings the address it came with first, too.
        after: seen.or(asked).map(Lsn),
        agent_id: call.fields.take("agent_id")?,
        kinds: many(&mut call.fields, "kinds")?,
        agents: many(&mut call.fields, "agents")?,
        changes: many(&mut call.fields, "changes")?,
        ids_only: call.fields.take("ids_only")?.unwrap_or(false),
    };
    call.fields.finish()?;
    let feed = http.app.watch(namespace, watch).await?;
    let mut response =
        Response::new(Body::from_stream(feed.map(|told| Ok::<_, std::io::Error>(event(told)))));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// One value, or a list of them.
fn many<T: DeserializeOwned>(fields: &mut Fields, name: &'static str) -> Result<Vec<T>, Invalid> {
    match fields.take::<Value>(name)? {
        None => Ok(Vec::new()),
        Some(value @ Value::Array(_)) => json::read(value, name, &[]),
        Some(value) => json::read(Value::Array(vec![value]), name, &[]),
    }
}

/// One event on the wire.
fn event(told: Result<Told, AppError>) -> Bytes {
    match told {
        Ok(Told::Changes(watched)) => {
            let id = (!watched.more).then_some(watched.revision);
            text("change", id, &watched)
        }
        Ok(Told::Progress(revision)) => text("progress", Some(revision), &Progress { revision: revision.0 }),
        Err(error) => {
            let Refusal { reason, message, metadata, .. } = Refusal::from(error);
            text("error", None, &Failed { reason, detail: &message, metadata: &metadata })
        }
    }
}

/// JSON is one line, whatever is in it, as the format asks.
fn text(name: &str, id: Option<Lsn>, data: &impl Serialize) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    // Texts, numbers and lists of them always become JSON.
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("event: {name}\n{id}data: {data}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l9_only_a_revision_that_is_whole_has_an_id() {
        let at = hindsight_core::Timestamp::from_ms(0);
        let watched = |more| hindsight_core::Watched { revision: Lsn(7), at, events: Vec::new(), more };
        let part = event(Ok(Told::Changes(watched(true))));
        assert!(part.starts_with(b"event: change\ndata: {\"revision\":7,") && part.ends_with(b"\n\n"));
        assert!(event(Ok(Told::Changes(watched(false)))).starts_with(b"event: change\nid: 7\ndata: {"));
        let failed = event(Err(AppError::Draining));
        assert!(failed.starts_with(b"event: error\ndata: {\"reason\":\"DRAINING\""), "{failed:?}");
    }
}
