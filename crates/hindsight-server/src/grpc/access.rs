//! Tokens and the audit trail, in messages.

use std::sync::Arc;

use hindsight_auth::audit::{Entry, Query};
use hindsight_auth::{Credential, Grant, Right, Rights, Wish};
use hindsight_core::{Invalid, SourceKind};
use hindsight_proto::words::Word as _;
use hindsight_proto::{call, time, v1};

use crate::access::{Access, tokens};
use crate::app::{Refusal, page};

pub(super) async fn create(
    access: &Arc<Access>,
    request: v1::CreateTokenRequest,
) -> Result<v1::CreateTokenResponse, Refusal> {
    let (token, credential) = access.make_token(wish(request)?).await?;
    Ok(v1::CreateTokenResponse { token: token.expose(), credential: Some(to_wire(&credential)) })
}

pub(super) fn list(
    access: &Access,
    request: &v1::ListTokensRequest,
) -> Result<v1::ListTokensResponse, Refusal> {
    let limit = page::size(request.page_size.into())?;
    let (credentials, more) = access.page(&request.page_token, limit)?;
    let next_page_token = credentials.last().filter(|_| more).map(|last| last.id.to_string());
    Ok(v1::ListTokensResponse {
        credentials: credentials.iter().map(|credential| to_wire(credential)).collect(),
        next_page_token: next_page_token.unwrap_or_default(),
    })
}

pub(super) async fn revoke(
    access: &Arc<Access>,
    request: &v1::RevokeTokenRequest,
) -> Result<v1::RevokeTokenResponse, Refusal> {
    let credential = access.take_back(&request.id).await?;
    Ok(v1::RevokeTokenResponse { credential: Some(to_wire(&credential)) })
}

pub(super) async fn events(
    access: &Arc<Access>,
    request: v1::ListAuditEventsRequest,
) -> Result<v1::ListAuditEventsResponse, Refusal> {
    let limit = page::size(request.page_size.into())?;
    let namespace = match request.namespace.as_str() {
        "" => None,
        named => Some(call::namespace(named)?),
    };
    let text = |text: String| Some(text).filter(|text| !text.is_empty());
    let query = Query {
        namespace: None,
        token: text(request.token_id),
        call: text(request.call),
        result: text(request.result),
        since: time::optional("since", request.since.as_ref())?,
        until: time::optional("until", request.until.as_ref())?,
        before: tokens::before(&request.page_token)?,
    };
    let page = access.events(namespace, query, limit).await?;
    let next_page_token = page.entries.last().filter(|_| page.more).map(|last| last.seq.to_string());
    Ok(v1::ListAuditEventsResponse {
        events: page.entries.into_iter().map(event).collect(),
        next_page_token: next_page_token.unwrap_or_default(),
        anchor: page.anchor.unwrap_or_default(),
    })
}

fn wish(request: v1::CreateTokenRequest) -> Result<Wish, Invalid> {
    let grants: Result<Vec<Grant>, Invalid> = request.grants.iter().enumerate().map(grant).collect();
    let source = match request.source_kind {
        0 => None,
        number => Some(SourceKind::of_number(number).ok_or_else(|| {
            let problem = format!("is {number}: expected one of {}", SourceKind::names().join(", "));
            Invalid::one("source_kind", problem)
        })?),
    };
    Ok(Wish {
        name: request.name,
        grants: grants?,
        source,
        agent_id: Some(request.agent_id).filter(|agent| !agent.is_empty()),
        expires_at: time::optional("expires_at", request.expires_at.as_ref())?,
    })
}

fn grant((index, wire): (usize, &v1::Grant)) -> Result<Grant, Invalid> {
    let namespaces = wire.namespaces.parse().map_err(|bad: hindsight_auth::grant::BadPattern| {
        Invalid::one(format!("grants[{index}].namespaces"), bad.to_string())
    })?;
    let rights: Result<Rights, Invalid> = wire
        .rights
        .iter()
        .map(|word| {
            word.parse::<Right>()
                .map_err(|bad| Invalid::one(format!("grants[{index}].rights"), bad.to_string()))
        })
        .collect();
    Ok(Grant { namespaces, rights: rights? })
}

fn to_wire(credential: &Credential) -> v1::Credential {
    let grants = credential.grants.iter().map(|grant| v1::Grant {
        namespaces: grant.namespaces.to_string(),
        rights: grant.rights.list().iter().map(ToString::to_string).collect(),
    });
    v1::Credential {
        id: credential.id.to_string(),
        name: credential.name.clone(),
        grants: grants.collect(),
        source_kind: credential.source.number(),
        agent_id: credential.agent_id.clone().unwrap_or_default(),
        created_at: Some(time::to_wire(credential.created_at)),
        expires_at: credential.expires_at.map(time::to_wire),
        last_used_at: credential.last_used_at.map(time::to_wire),
        revoked_at: credential.revoked_at.map(time::to_wire),
    }
}

fn event(entry: Entry) -> v1::AuditEvent {
    let Entry { seq, event, hash, .. } = entry;
    v1::AuditEvent {
        seq,
        at: Some(time::to_wire(event.at)),
        token_id: event.token,
        token_name: event.name,
        peer: event.peer,
        call: event.call,
        namespace: event.namespace.unwrap_or_default(),
        count: event.count,
        result: event.result,
        request_id: event.request_id,
        hash,
    }
}
