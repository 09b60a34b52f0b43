//! Messages that are too large. tonic answers them with OUT_OF_RANGE and no details; here the length that stands
//! before the first message is looked at, and the caller is told the limit.

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::app::Refusal;

/// A flag and a length of four bytes stand before each message (gRPC over HTTP/2, Length-Prefixed-Message).
const PREFIX_BYTES: usize = 5;

/// How much of a message that is refused is read, in limits, so that its sender comes to reading the answer.
const DISCARD_LIMITS: usize = 4;

/// The middleware before the services of one port; `limit` is the largest message in bytes.
pub(super) async fn check(State(limit): State<usize>, request: Request, next: Next) -> Response {
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
                return next.run(Request::from_parts(parts, Body::from_stream(read))).await;
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
    let whole = stream::iter(first.into_iter().map(Ok)).chain(frames);
    next.run(Request::from_parts(parts, Body::from_stream(whole))).await
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
