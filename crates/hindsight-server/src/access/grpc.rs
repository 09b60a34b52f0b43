//! The doors of the gRPC port: one before a body is read, one that looks for the namespace in it.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use prost::Message as _;

use super::admit::Access;
use super::call::Call;
use super::policy::{self, Need, RECALL};
use super::{lasting, trail};
use crate::app::{Code, Refusal};
use crate::metrics::Called;

/// A flag and a length of four bytes stand before each message (gRPC over HTTP/2, Length-Prefixed-Message).
const PREFIX_BYTES: usize = 5;
/// The wire type of a text (protobuf, "Message Structure").
const TEXT: u8 = 2;
/// The number of `RecallRequest.observe`.
#[cfg(test)]
pub(super) const OBSERVE_FIELD: i32 = 19;

/// What is read of a request before its method reads it.
#[derive(Clone, PartialEq, prost::Message)]
struct Probe {
    #[prost(string, tag = "1")]
    namespace: String,
}

/// As [`Probe`], of a request that has its namespace in field 2.
#[derive(Clone, PartialEq, prost::Message)]
struct SecondProbe {
    #[prost(string, tag = "2")]
    namespace: String,
}

/// As [`Probe`], of a request that holds a recall.
#[derive(Clone, PartialEq, prost::Message)]
struct NestedProbe {
    #[prost(message, optional, tag = "1")]
    recall: Option<Probe>,
}

/// As [`Probe`], of a recall.
#[derive(Clone, PartialEq, prost::Message)]
struct RecallProbe {
    #[prost(bool, tag = "19")]
    observe: bool,
}

/// The first door: is it a caller of ours, who may make this call at all? What the call did is noted when it is done.
pub(crate) async fn admit(State(access): State<Arc<Access>>, mut request: Request, next: Next) -> Response {
    let Some(policy) = policy::of_grpc(request.uri().path()) else {
        return unknown(&access, request, next).await;
    };
    named(&request, policy);
    let call = match access.admit(policy, request.headers(), request.extensions()).await {
        Ok(call) => call,
        Err((call, refusal)) => return trail::refused(&access, &call, refusal),
    };
    request.extensions_mut().insert(call.clone());
    let response = trail::noted(&access, &call, next.run(request)).await;
    if policy.streams { lasting::until_revoked(&access, &call, response) } else { response }
}

/// Tells the metrics which call it is.
pub(super) fn named(request: &Request, policy: &policy::Policy) {
    if let Some(called) = request.extensions().get::<Called>() {
        called.is(policy.call);
    }
}

/// A call without a row is carried out where no credential is needed: there the services say that it does not exist.
async fn unknown(access: &Access, request: Request, next: Next) -> Response {
    if access.required() {
        let message = "there is no such method: ask the reflection service which there are";
        return Refusal::new(Code::MethodNotAllowed, "NO_SUCH_METHOD", message).into_response();
    }
    let anyone =
        Call::new(super::Caller::Anyone, &policy::UNKNOWN, None, String::new(), Arc::clone(&access.rates));
    anyone.scope(next.run(request)).await
}

/// The second door: is it a namespace of theirs? `limit` is the largest message in bytes. A request that names none gets the
/// one that its header names, or the only one of its credential.
pub(crate) async fn enter(State(limit): State<usize>, request: Request, next: Next) -> Response {
    let Some(call) = request.extensions().get::<Call>().cloned() else {
        return next.run(request).await;
    };
    if !matches!(call.policy().need, Need::In(_) | Need::InOrEverywhere(_)) {
        return next.run(request).await;
    }
    let header = request.headers().get(super::http::NAMESPACE).and_then(|name| name.to_str().ok());
    let header = header.unwrap_or_default().to_owned();
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, limit.saturating_add(PREFIX_BYTES)).await else {
        return unreadable("the message could not be read, or another follows it").into_response();
    };
    match decide(&call, &bytes, &header) {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// The message as its method reads it: with the namespace that was decided.
fn decide(call: &Call, bytes: &Bytes, header: &str) -> Result<Bytes, Refusal> {
    let Some((prefix, message)) = bytes.split_at_checked(PREFIX_BYTES) else {
        return Err(unreadable("there is no message"));
    };
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
    if prefix[0] != 0 || usize::try_from(length).ok() != Some(message.len()) {
        return Err(unreadable("expected one message, not compressed"));
    }
    let malformed = |_| unreadable("expected the protobuf of this method, see hindsight.v1");
    let (field, nested) = (call.policy().field, call.policy().nested);
    let mut named = match field {
        _ if nested => NestedProbe::decode(message).map_err(malformed)?.recall.unwrap_or_default().namespace,
        2 => SecondProbe::decode(message).map_err(malformed)?.namespace,
        _ => Probe::decode(message).map_err(malformed)?.namespace,
    };
    let observes = call.policy().call == RECALL && RecallProbe::decode(message).map_err(malformed)?.observe;
    let is_named = !named.is_empty();
    if !is_named {
        header.clone_into(&mut named);
    }
    match call.enter(&named, observes)? {
        Some(namespace) if !is_named => Ok(with_namespace(message, field, nested, namespace.as_str())),
        _ => Ok(bytes.clone()),
    }
}

/// A field that stands again later counts, and a message that stands again is joined with the one before; so the namespace is put
/// at the end.
fn with_namespace(message: &[u8], field: u8, nested: bool, namespace: &str) -> Bytes {
    // A namespace has at most 64 letters, so each length takes one byte.
    let text = |field: u8, text: &[u8]| {
        let length = u8::try_from(text.len()).unwrap_or_default();
        [&[field << 3 | TEXT, length][..], text].concat()
    };
    let added =
        if nested { text(field, &text(1, namespace.as_bytes())) } else { text(field, namespace.as_bytes()) };
    let total = message.len() + added.len();
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + total);
    bytes.push(0);
    bytes.extend(u32::try_from(total).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend_from_slice(message);
    bytes.extend_from_slice(&added);
    bytes.into()
}

fn unreadable(problem: &str) -> Refusal {
    Refusal::new(Code::Invalid, "MESSAGE_MALFORMED", format!("the message can't be read: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_proto::v1;

    #[test]
    fn s1_a_namespace_that_is_put_in_is_read_by_the_method() {
        let request = v1::RecallRequest { query: "x".repeat(300), observe: true, ..Default::default() };
        let bytes = with_namespace(&request.encode_to_vec(), 1, false, "ops");
        let length = u32::from_be_bytes(bytes[1..5].try_into().unwrap());
        assert_eq!(usize::try_from(length).unwrap() + PREFIX_BYTES, bytes.len());
        let read = v1::RecallRequest::decode(&bytes[PREFIX_BYTES..]).unwrap();
        assert_eq!(read, v1::RecallRequest { namespace: "ops".to_owned(), ..request.clone() });
        assert!(RecallProbe::decode(&bytes[PREFIX_BYTES..]).unwrap().observe);
        assert_eq!(Probe::decode(&bytes[PREFIX_BYTES..]).unwrap().namespace, "ops");
        let explain = v1::ExplainRequest { recall: Some(request), ..Default::default() };
        let bytes = with_namespace(&explain.encode_to_vec(), 1, true, "ops");
        let read = v1::ExplainRequest::decode(&bytes[PREFIX_BYTES..]).unwrap().recall.unwrap();
        assert_eq!((read.namespace.as_str(), read.query.len()), ("ops", 300));
        let bytes = with_namespace(&v1::RunJobRequest::default().encode_to_vec(), 2, false, "ops");
        assert_eq!(v1::RunJobRequest::decode(&bytes[PREFIX_BYTES..]).unwrap().namespace, "ops");
    }
}
