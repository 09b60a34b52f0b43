//! Messages that tonic answers by itself, with a code and no details: here a caller is told what is wrong.
//!
//! One that is too large is found by the length that stands before it. For the rest, tonic's own answers are told from
//! the methods' by their lack of details.

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, TryStreamExt, stream};

use tonic::{Code, Status};

use crate::app::{self, Budget, Refusal};

/// A flag and a length of four bytes stand before each message (gRPC over HTTP/2, Length-Prefixed-Message).
const PREFIX_BYTES: usize = 5;

/// Where the paths of our own services begin.
const OURS: &str = "/hindsight.v1.";

/// How much of a message that is refused is read, in limits, so that its sender comes to reading the answer.
const DISCARD_LIMITS: usize = 4;

/// What reading a message may cost.
#[derive(Clone)]
pub(super) struct Reading {
    /// The largest message in bytes.
    pub(super) limit: usize,
    pub(super) budget: Budget,
}

/// The middleware before the services.
pub(super) async fn check(State(reading): State<Reading>, request: Request, next: Next) -> Response {
    let Reading { limit, budget } = reading;
    // The standard services take streams, where a client may wait for the reply's head before its first message.
    if !request.uri().path().starts_with(OURS) {
        return explain(next.run(request).await);
    }
    let (parts, body) = request.into_parts();
    let mut frames = body.into_data_stream();
    let mut first: Vec<Bytes> = Vec::new();
    while first.iter().map(Bytes::len).sum::<usize>() < PREFIX_BYTES {
        match frames.next().await {
            // An empty frame is no progress, and a client may send any number of them.
            Some(Ok(frame)) if frame.is_empty() => {}
            Some(Ok(frame)) => first.push(frame),
            // What ends or breaks early is told by tonic, which reads the same.
            Some(Err(error)) => {
                let read = stream::iter(first.into_iter().map(Ok)).chain(stream::iter([Err(error)]));
                return explain(next.run(Request::from_parts(parts, Body::from_stream(read))).await);
            }
            None => break,
        }
    }
    if let Some(length) = length(&first).filter(|length| *length > limit) {
        let mut left = limit.saturating_mul(DISCARD_LIMITS);
        while let Ok(Some(frame)) = frames.try_next().await {
            left = left.saturating_sub(frame.len());
            if left == 0 {
                break;
            }
        }
        return Refusal::too_large("message", u64::try_from(length).ok(), limit).into_response();
    }
    // Held until the call is answered: what the message became lives as long.
    let _share = match budget.share(length(&first).unwrap_or_default()).await {
        Ok(share) => share,
        Err(refusal) => return refusal.into_response(),
    };
    let whole = stream::iter(first.into_iter().map(Ok)).chain(frames);
    explain(next.run(Request::from_parts(parts, Body::from_stream(whole))).await)
}

/// Gives details to an answer that a method never saw.
fn explain(response: Response) -> Response {
    let headers = response.headers();
    if headers.contains_key(Status::GRPC_STATUS_DETAILS) {
        return response;
    }
    match headers.get(Status::GRPC_STATUS).map(|code| Code::from_bytes(code.as_bytes())) {
        Some(Code::Internal) => {
            let message = "the message can't be read: expected the protobuf of this method, see hindsight.v1";
            Refusal::new(app::Code::Invalid, "MESSAGE_MALFORMED", message).into_response()
        }
        Some(Code::Unimplemented) => {
            let message = "there is no such method: ask the reflection service which there are";
            Refusal::new(app::Code::MethodNotAllowed, "NO_SUCH_METHOD", message).into_response()
        }
        _ => response,
    }
}

fn length(frames: &[Bytes]) -> Option<usize> {
    let mut prefix = frames.iter().flatten().copied();
    let _flag = prefix.next()?;
    let length = u32::from_be_bytes([prefix.next()?, prefix.next()?, prefix.next()?, prefix.next()?]);
    usize::try_from(length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_found_across_frames() {
        let frames = [Bytes::from_static(&[0, 0]), Bytes::from_static(&[1, 0, 2, 99])];
        assert_eq!(length(&frames), Some(65_538));
        assert_eq!(length(&frames[..1]), None);
    }
}
