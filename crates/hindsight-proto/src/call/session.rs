//! Working memory: open, append, get, close, list.

use hindsight_core::limits::TURNS_MAX;
use hindsight_core::{Invalid, Namespace, SessionDraft, SessionId, TurnDraft};

use super::RecordCall;
use crate::gather::Gather;
use crate::session::wide;
use crate::{text, time, v1, words};

/// A request to open a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSessionCall {
    /// Where.
    pub namespace: Namespace,
    /// What the caller says about it.
    pub draft: SessionDraft,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A request to append turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendTurnsCall {
    /// Where the session is.
    pub namespace: Namespace,
    /// The session.
    pub session_id: SessionId,
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// The turns.
    pub turns: Vec<TurnDraft>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A request for a session and its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetSessionCall {
    /// Where the session is.
    pub namespace: Namespace,
    /// The session.
    pub session_id: SessionId,
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// Only the newest so many turns.
    pub last: Option<usize>,
}

/// A request to end a session.
#[derive(Debug, Clone, PartialEq)]
pub struct CloseSessionCall {
    /// Where the session is.
    pub namespace: Namespace,
    /// The session.
    pub session_id: SessionId,
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// The task that it was for; neither only checked nor with a request id of its own.
    pub record: Option<RecordCall>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

/// A request for a page of open sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListSessionsCall {
    /// Where they are.
    pub namespace: Namespace,
    /// The agent that asks.
    pub agent_id: Option<String>,
    /// Most sessions of the page.
    pub page_size: usize,
    /// The last id of the page before; none for the first page.
    pub after: Option<SessionId>,
}

impl OpenSessionCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::OpenSessionRequest) -> Result<OpenSessionCall, Invalid> {
        let mut gather = Gather::default();
        let idle_ttl = wire.idle_ttl.as_ref().map(|span| time::span_from_wire("idle_ttl", span));
        let draft = SessionDraft {
            session_id: gather.keep(text::parsed_optional("session_id", &wire.session_id)),
            agent_id: text::optional(wire.agent_id),
            scope: gather.keep(words::optional("scope", wire.scope)),
            max_turns: wire.max_turns.map(wide),
            max_bytes: wire.max_bytes.map(wide),
            idle_ttl: gather.keep(idle_ttl.transpose()),
        };
        let request_id = gather.keep(super::request_id(wire.request_id));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        super::finish(gather, namespace, |namespace| OpenSessionCall { namespace, draft, request_id })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::OpenSessionRequest {
        let SessionDraft { session_id, agent_id, scope, max_turns, max_bytes, idle_ttl } = self.draft;
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        v1::OpenSessionRequest {
            namespace: self.namespace.to_string(),
            session_id: session_id.map(|id| id.to_string()).unwrap_or_default(),
            agent_id: text::or_empty(agent_id),
            scope: words::number(scope),
            max_turns: max_turns.map(small),
            max_bytes: max_bytes.map(small),
            idle_ttl: idle_ttl.map(time::span_to_wire),
            request_id: text::or_empty(self.request_id),
        }
    }
}

impl AppendTurnsCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::AppendTurnsRequest) -> Result<AppendTurnsCall, Invalid> {
        let mut gather = Gather::default();
        let turns = gather.keep(turns(wire.turns));
        let request_id = gather.keep(super::request_id(wire.request_id));
        let session_id = gather.keep_some(super::session_id(&wire.session_id));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let agent_id = text::optional(wire.agent_id);
        super::finish(gather, namespace.zip(session_id), |(namespace, session_id)| AppendTurnsCall {
            namespace,
            session_id,
            agent_id,
            turns,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::AppendTurnsRequest {
        v1::AppendTurnsRequest {
            namespace: self.namespace.to_string(),
            session_id: self.session_id.to_string(),
            agent_id: text::or_empty(self.agent_id),
            turns: self.turns.into_iter().map(Into::into).collect(),
            request_id: text::or_empty(self.request_id),
        }
    }
}

impl GetSessionCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::GetSessionRequest) -> Result<GetSessionCall, Invalid> {
        let mut gather = Gather::default();
        let session_id = gather.keep_some(super::session_id(&wire.session_id));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let (agent_id, last) = (text::optional(wire.agent_id), wire.last.map(wide));
        super::finish(gather, namespace.zip(session_id), |(namespace, session_id)| GetSessionCall {
            namespace,
            session_id,
            agent_id,
            last,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::GetSessionRequest {
        v1::GetSessionRequest {
            namespace: self.namespace.to_string(),
            session_id: self.session_id.to_string(),
            agent_id: text::or_empty(self.agent_id),
            last: self.last.map(|last| u32::try_from(last).unwrap_or(u32::MAX)),
        }
    }
}

impl CloseSessionCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::CloseSessionRequest) -> Result<CloseSessionCall, Invalid> {
        let mut gather = Gather::default();
        let record = wire.record.map(|record| {
            record_from_wire(record, &wire.namespace).map_err(|invalid| invalid.under("record."))
        });
        let record = gather.keep(record.transpose());
        let request_id = gather.keep(super::request_id(wire.request_id));
        let session_id = gather.keep_some(super::session_id(&wire.session_id));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let agent_id = text::optional(wire.agent_id);
        super::finish(gather, namespace.zip(session_id), |(namespace, session_id)| CloseSessionCall {
            namespace,
            session_id,
            agent_id,
            record,
            request_id,
        })
    }

    /// The request for the wire.
    ///
    /// # Errors
    /// When a number of the record would lose digits there.
    pub fn into_wire(self) -> Result<v1::CloseSessionRequest, Invalid> {
        let record = self.record.map(RecordCall::into_wire).transpose();
        Ok(v1::CloseSessionRequest {
            namespace: self.namespace.to_string(),
            session_id: self.session_id.to_string(),
            agent_id: text::or_empty(self.agent_id),
            record: record.map_err(|invalid| invalid.under("record."))?,
            request_id: text::or_empty(self.request_id),
        })
    }
}

impl ListSessionsCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::ListSessionsRequest) -> Result<ListSessionsCall, Invalid> {
        let mut gather = Gather::default();
        let page_size = gather.keep(super::page_size(wire.page_size));
        let after = gather.keep(text::parsed_optional("page_token", &wire.page_token));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let agent_id = text::optional(wire.agent_id);
        super::finish(gather, namespace, |namespace| ListSessionsCall {
            namespace,
            agent_id,
            page_size,
            after,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::ListSessionsRequest {
        v1::ListSessionsRequest {
            namespace: self.namespace.to_string(),
            agent_id: text::or_empty(self.agent_id),
            page_size: i32::try_from(self.page_size).unwrap_or(i32::MAX),
            page_token: self.after.map(|id| id.to_string()).unwrap_or_default(),
        }
    }
}

/// The turns; of several bad ones the first is named.
fn turns(wire: Vec<v1::Turn>) -> Result<Vec<TurnDraft>, Invalid> {
    if wire.len() > TURNS_MAX {
        return Err(Invalid::one("turns", format!("has {} turns: at most {TURNS_MAX} at once", wire.len())));
    }
    let turns = wire.into_iter().enumerate();
    turns
        .map(|(at, turn)| {
            TurnDraft::try_from(turn).map_err(|invalid| invalid.under(&format!("turns[{at}].")))
        })
        .collect()
}

/// A record inside another call: what belongs to a call by itself is said outside.
fn record_from_wire(mut wire: v1::RecordRequest, namespace: &str) -> Result<RecordCall, Invalid> {
    if wire.namespace.is_empty() {
        namespace.clone_into(&mut wire.namespace);
    }
    if wire.namespace != namespace {
        return Err(Invalid::one("namespace", "is another than that of the session: leave it out"));
    }
    if !wire.request_id.is_empty() {
        return Err(Invalid::one("request_id", "belongs to the whole call: give it beside the record"));
    }
    if wire.validate_only {
        return Err(Invalid::one("validate_only", "is not possible here: a session is closed for good"));
    }
    RecordCall::from_wire(wire)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(invalid: &Invalid) -> Vec<&str> {
        invalid.violations.iter().map(|violation| violation.field.as_str()).collect()
    }

    #[test]
    fn l8_every_bad_field_is_named() {
        let open = v1::OpenSessionRequest {
            session_id: " x".to_owned(),
            scope: 99,
            idle_ttl: Some(prost_types::Duration { seconds: -1, nanos: 0 }),
            ..v1::OpenSessionRequest::default()
        };
        let invalid = OpenSessionCall::from_wire(open).unwrap_err();
        assert_eq!(fields(&invalid), ["session_id", "scope", "idle_ttl", "namespace"]);
        let turn = v1::Turn { number: 3, ..v1::Turn::default() };
        let append = v1::AppendTurnsRequest {
            namespace: "ops".to_owned(),
            turns: vec![v1::Turn::default(), turn],
            ..v1::AppendTurnsRequest::default()
        };
        let invalid = AppendTurnsCall::from_wire(append).unwrap_err();
        assert_eq!(fields(&invalid), ["turns[1].number", "session_id"]);
    }

    #[test]
    fn l8_a_record_says_nothing_that_the_call_says() {
        let close = |record: v1::RecordRequest| {
            CloseSessionCall::from_wire(v1::CloseSessionRequest {
                namespace: "ops".to_owned(),
                session_id: "s".to_owned(),
                record: Some(record),
                ..v1::CloseSessionRequest::default()
            })
        };
        let empty = v1::RecordRequest::default();
        assert_eq!(close(empty.clone()).unwrap().record.unwrap().namespace.as_str(), "ops");
        for (record, field) in [
            (v1::RecordRequest { namespace: "dev".to_owned(), ..empty.clone() }, "record.namespace"),
            (v1::RecordRequest { request_id: "r".to_owned(), ..empty.clone() }, "record.request_id"),
            (v1::RecordRequest { validate_only: true, ..empty.clone() }, "record.validate_only"),
            (v1::RecordRequest { status: 77, ..empty }, "record.status"),
        ] {
            assert_eq!(fields(&close(record).unwrap_err()), [field]);
        }
    }
}
