//! `/sessions/open`, `/sessions/append`, `/sessions/get`, `/sessions/close`, `/sessions/list`.

use axum::extract::{Request, State};
use hindsight_core::draft::RecordDraft;
use hindsight_core::{Invalid, Memory, Neighbor, Outcome, Session, SessionDraft, SessionId, Turn, TurnDraft};
use hindsight_engine::{
    AppendTurnsRequest, CloseSessionRequest, GetSessionRequest, ListSessionsRequest, OpenSessionRequest,
    SessionRecord,
};
use serde::Serialize;
use serde_json::Value;

use super::{Http, Reply, answer, call::Call, fields::Fields};
use crate::app::page;

#[derive(Serialize)]
struct OpenReply {
    session: Session,
    resumed: bool,
}

#[derive(Serialize)]
struct AppendReply {
    session: Session,
    replayed: bool,
}

#[derive(Serialize)]
struct GetReply {
    session: Session,
    turns: Vec<Turn>,
}

#[derive(Serialize)]
struct CloseReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Session>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Memory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    neighbors: Vec<Neighbor>,
    revision: u64,
    replayed: bool,
}

#[derive(Serialize)]
struct ListReply {
    sessions: Vec<Session>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

/// Opens a session.
pub(super) async fn open(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let request_id = call.request_id()?;
    let draft: SessionDraft = call.fields.without_nulls().rest()?;
    let opened = http.app.open_session(namespace, OpenSessionRequest { draft, request_id }).await?;
    answer(&OpenReply { session: opened.session, resumed: opened.resumed })
}

/// Appends turns to a session.
pub(super) async fn append(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let (session_id, agent_id) = who(&mut call)?;
    let turns: Vec<TurnDraft> = call.fields.take("turns")?.unwrap_or_default();
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let append = AppendTurnsRequest { session_id, agent_id, turns, request_id };
    let appended = http.app.append_turns(namespace, append).await?;
    answer(&AppendReply { session: appended.session, replayed: appended.replayed })
}

/// A session with its newest turns.
pub(super) async fn get(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let (session_id, agent_id) = who(&mut call)?;
    let last = call.fields.take("last")?;
    call.fields.finish()?;
    let got = http.app.get_session(namespace, GetSessionRequest { session_id, agent_id, last }).await?;
    answer(&GetReply { session: got.session, turns: got.turns })
}

/// Ends a session; with a record it becomes an episode.
pub(super) async fn close(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let (session_id, agent_id) = who(&mut call)?;
    let record = call.fields.take::<Value>("record")?.map(record).transpose()?;
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let close = CloseSessionRequest { session_id, agent_id, record, request_id };
    let closed = http.app.close_session(namespace, close).await?;
    let (revision, replayed) = (closed.revision.0, closed.replayed);
    let (outcome, memory, neighbors) = match closed.episode {
        Some(episode) => (Some(episode.outcome), Some(episode.memory), episode.neighbors),
        None => (None, None, Vec::new()),
    };
    answer(&CloseReply { session: closed.session, outcome, memory, neighbors, revision, replayed })
}

/// The open sessions of a namespace, page by page.
pub(super) async fn list(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let agent_id = call.fields.take("agent_id")?;
    let page_size = page::size(call.fields.take("page_size")?.unwrap_or(0))?;
    let after = call.fields.take("page_token")?;
    call.fields.finish()?;
    let list = ListSessionsRequest { agent_id, page_size, after };
    let (sessions, more) = http.app.list_sessions(namespace, list).await?;
    let next_page_token = sessions.last().filter(|_| more).map(|last| last.session_id.to_string());
    answer(&ListReply { sessions, next_page_token })
}

/// Which session, and who asks.
fn who(call: &mut Call) -> Result<(SessionId, Option<String>), Invalid> {
    let session_id = call.fields.take("session_id")?;
    let session_id = session_id.ok_or_else(|| Invalid::one("session_id", "is missing: name the session"))?;
    Ok((session_id, call.fields.take("agent_id")?))
}

/// The fields of a record call, but for those of the call around it.
fn record(value: Value) -> Result<SessionRecord, Invalid> {
    let mut fields = Fields::of_value(value, "record")?;
    let vectors = fields.vectors()?;
    let on_duplicate = fields.take("on_duplicate")?;
    let record: RecordDraft = fields.without_nulls().rest()?;
    Ok(SessionRecord { record, vectors, on_duplicate })
}
