//! A request's body, up to its limit.

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
};
use futures_util::StreamExt;
use hindsight_core::Invalid;
use http::{header, request::Parts};

use crate::app::Refusal;

/// How much of a body that is refused is read, in limits, so that its sender comes to reading the answer.
const DISCARD_LIMITS: usize = 4;

/// How many bytes a body has at most: what it announces, or the limit.
pub(super) fn length(request: &Request, limit: usize) -> usize {
    let announced = request.body().size_hint().upper();
    announced.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(limit).min(limit)
}

/// Reads the whole body. Its type is not looked at: what is JSON is taken as JSON.
///
/// # Errors
/// When it is larger than `limit`, or the connection breaks.
pub(super) async fn read(request: Request, limit: usize) -> Result<(Parts, Bytes), Refusal> {
    let (parts, body) = request.into_parts();
    let announced = body.size_hint().lower();
    let too_large = announced > u64::try_from(limit).unwrap_or(u64::MAX);
    if too_large && parts.headers.contains_key(header::EXPECT) {
        // The sender waits for a word before it begins: this is the word.
        return Err(Refusal::too_large("body", Some(announced), limit));
    }
    let mut bytes = Vec::new();
    let mut total = 0_usize;
    let mut frames = Body::into_data_stream(body);
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|error| Invalid::one("body", format!("could not be read: {error}")))?;
        total = total.saturating_add(frame.len());
        if total <= limit {
            bytes.extend_from_slice(&frame);
        } else if total > limit.saturating_mul(DISCARD_LIMITS) {
            break;
        }
    }
    if total > limit {
        return Err(Refusal::too_large("body", too_large.then_some(announced), limit));
    }
    Ok((parts, bytes.into()))
}
