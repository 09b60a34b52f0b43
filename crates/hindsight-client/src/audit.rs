//! The audit trail: who did what.

use hindsight_core::{Invalid, Namespace, Timestamp};
use hindsight_proto::{time, v1};
use serde::Serialize;

use crate::transport::How;
use crate::{Client, Error};

/// Which events are looked for; what is not given does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Of this namespace; none: of all, which needs the right for all.
    pub namespace: Option<Namespace>,
    /// Of the token with this id.
    pub token_id: Option<String>,
    /// Of this call, such as `Purge`.
    pub call: Option<String>,
    /// With this result: `OK`, or a reason such as `NAMESPACE_DENIED`.
    pub result: Option<String>,
    /// From then on.
    pub since: Option<Timestamp>,
    /// Before then.
    pub until: Option<Timestamp>,
    /// At most so many; 0 is the server's default.
    pub page_size: u32,
    /// [`AuditPage::next_page_token`] of the page before.
    pub page_token: String,
}

/// Somebody did something, or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditEvent {
    /// Its number.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The id of the token; empty without one.
    pub token_id: String,
    /// What the token is called.
    pub token_name: String,
    /// The address that the call came from.
    pub peer: String,
    /// The call.
    pub call: String,
    /// The namespace, if the call has one.
    pub namespace: String,
    /// How many memories (or tokens, or events) it stored, changed or returned.
    pub count: u64,
    /// `OK`, or the reason of the refusal.
    pub result: String,
    /// The id of the call.
    pub request_id: String,
    /// The hash of the entry, in hex.
    pub hash: String,
}

/// Events, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditPage {
    /// The events.
    pub events: Vec<AuditEvent>,
    /// For the page of older ones; none when there are none.
    pub next_page_token: Option<String>,
    /// Where the trail ends, as `NUMBER:HASH`; none in an answer about one namespace.
    pub anchor: Option<String>,
}

impl Client {
    /// Who did what, newest first.
    ///
    /// # Errors
    /// [`Error::PermissionDenied`] without the right `audit`; what else the server answers, or that it can't be reached.
    pub async fn audit(&self, query: AuditQuery) -> Result<AuditPage, Error> {
        let request = v1::ListAuditEventsRequest {
            namespace: query.namespace.map(|namespace| namespace.to_string()).unwrap_or_default(),
            token_id: query.token_id.unwrap_or_default(),
            call: query.call.unwrap_or_default(),
            result: query.result.unwrap_or_default(),
            since: query.since.map(time::to_wire),
            until: query.until.map(time::to_wire),
            page_size: i32::try_from(query.page_size).unwrap_or(i32::MAX),
            page_token: query.page_token,
        };
        let page = self
            .transport()
            .call(How::read(self.timeout()), request, |request| {
                let mut service = self.transport().admin();
                async move { service.list_audit_events(request).await }
            })
            .await?;
        let events: Result<_, Invalid> = page.events.into_iter().map(event).collect();
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        Ok(AuditPage {
            events: events.map_err(Error::unreadable)?,
            next_page_token: given(page.next_page_token),
            anchor: given(page.anchor),
        })
    }
}

fn event(wire: v1::AuditEvent) -> Result<AuditEvent, Invalid> {
    Ok(AuditEvent {
        seq: wire.seq,
        at: time::required("at", wire.at.as_ref())?,
        token_id: wire.token_id,
        token_name: wire.token_name,
        peer: wire.peer,
        call: wire.call,
        namespace: wire.namespace,
        count: wire.count,
        result: wire.result,
        request_id: wire.request_id,
        hash: wire.hash,
    })
}
