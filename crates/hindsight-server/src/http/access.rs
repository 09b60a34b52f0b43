//! `/tokens`, `/tokens/create`, `/tokens/revoke`, `/audit`.

use axum::extract::{Request, State};
use hindsight_auth::audit::{Entry, Query};
use hindsight_auth::{Credential, Grant, Wish};
use hindsight_core::Invalid;
use serde::Serialize;

use super::{Http, Reply, answer};
use crate::access::tokens;
use crate::app::page;

#[derive(Serialize)]
struct TokenReply {
    token: String,
    credential: Credential,
}

#[derive(Serialize)]
struct TokensReply {
    credentials: Vec<Credential>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

#[derive(Serialize)]
struct CredentialReply {
    credential: Credential,
}

#[derive(Serialize)]
struct EventsReply {
    events: Vec<Entry>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
    /// Where the trail ends; absent in the answer about one namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<String>,
}

/// Makes a token, and shows it this once.
pub(super) async fn create(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let wish = Wish {
        name: call.fields.take("name")?.unwrap_or_default(),
        grants: call.fields.take::<Vec<Grant>>("grants")?.unwrap_or_default(),
        source: call.fields.take("source_kind")?,
        agent_id: call.fields.take("agent_id")?,
        expires_at: call.fields.take("expires_at")?,
    };
    call.fields.finish()?;
    let (token, credential) = http.access.make_token(wish).await?;
    answer(&TokenReply { token: token.expose(), credential })
}

/// Names the credentials, page by page.
pub(super) async fn list(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let limit = page::size(call.fields.take("page_size")?.unwrap_or(0))?;
    let after: String = call.fields.take("page_token")?.unwrap_or_default();
    call.fields.finish()?;
    let (found, more) = http.access.page(&after, limit)?;
    let next_page_token = found.last().filter(|_| more).map(|last| last.id.to_string());
    let credentials = found.iter().map(|credential| Credential::clone(credential)).collect();
    answer(&TokensReply { credentials, next_page_token })
}

/// Takes a token back.
pub(super) async fn revoke(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let id: Option<String> = call.fields.take("id")?;
    let id = id.ok_or_else(|| Invalid::one("id", "is missing: name the token by its id"))?;
    call.fields.finish()?;
    answer(&CredentialReply { credential: http.access.take_back(&id).await? })
}

/// Who did what, newest first.
pub(super) async fn events(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.optional_namespace()?;
    let limit = page::size(call.fields.take("page_size")?.unwrap_or(0))?;
    let token: String = call.fields.take("page_token")?.unwrap_or_default();
    let query = Query {
        namespace: None,
        token: call.fields.take("token_id")?,
        call: call.fields.take("call")?,
        result: call.fields.take("result")?,
        since: call.fields.take("since")?,
        until: call.fields.take("until")?,
        before: tokens::before(&token)?,
    };
    call.fields.finish()?;
    let page = http.access.events(namespace, query, limit).await?;
    let next_page_token = page.entries.last().filter(|_| page.more).map(|last| last.seq.to_string());
    answer(&EventsReply { events: page.entries, next_page_token, anchor: page.anchor })
}
