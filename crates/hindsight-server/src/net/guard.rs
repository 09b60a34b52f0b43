//! One call's life, whatever its protocol: an id, a place among the calls of its connection, a time limit, and an
//! answer in any case, also after a panic.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue};
use tokio::{sync::Semaphore, time::timeout};

use crate::access::CallId;
use crate::app::Refusal;
use crate::{grpc, http as http_front};

/// The header that carries a call's id in its reply.
pub(crate) const REQUEST_ID: &str = "x-hindsight-request-id";

/// Calls that take longer are logged as slow.
const SLOW: Duration = Duration::from_secs(1);

/// Which protocol a port speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    /// gRPC over HTTP/2.
    Grpc,
    /// JSON over HTTP/1.1.
    Http,
}

/// The places for calls of one connection.
#[derive(Clone)]
pub(super) struct Slots(pub(super) Arc<Semaphore>);

/// What the guard of one front knows.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) front: Front,
    /// Longest time for one call.
    pub(crate) request_max: Duration,
    /// Longest wait for a place.
    pub(crate) queue_max: Duration,
    pub(crate) ids: Arc<RequestIds>,
}

/// Gives each call an id that no other call of this or an earlier run has.
pub(crate) struct RequestIds {
    run: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new(run: u64) -> RequestIds {
        RequestIds { run, next: AtomicU64::new(1) }
    }

    fn next(&self) -> String {
        format!("req_{:012x}{:06x}", self.run & 0xFFFF_FFFF_FFFF, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// The middleware around every call.
pub(crate) async fn guard(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = guard.ids.next();
    request.extensions_mut().insert(CallId(id.clone()));
    let method = request.uri().path().to_owned();
    let limit =
        wanted_time(request.headers()).map_or(guard.request_max, |wanted| wanted.min(guard.request_max));
    let slots = request.extensions().get::<Slots>().cloned();
    let call = async {
        let place = match slots {
            Some(Slots(slots)) => match timeout(guard.queue_max, slots.acquire_owned()).await {
                Ok(Ok(place)) => Some(place),
                _ => {
                    return Err(Refusal::overloaded(
                        "too many calls on this connection: finish some, or open another",
                    ));
                }
            },
            None => None,
        };
        let response = next.run(request).await;
        drop(place);
        Ok(response)
    };
    let outcome = match timeout(limit, AssertUnwindSafe(call).catch_unwind()).await {
        Ok(Ok(Ok(response))) => Ok(response),
        Ok(Ok(Err(refusal))) => Err(refusal),
        Ok(Err(_)) => {
            tracing::error!(request_id = id, method, "a call panicked");
            Err(Refusal::internal())
        }
        Err(_) => Err(Refusal::deadline(limit)),
    };
    let mut response = finish(guard.front, outcome, &id);
    log(&id, &method, &response, began.elapsed());
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// The reply: the handler's own, or the refusal in the form of its front.
fn finish(front: Front, outcome: Result<Response, Refusal>, id: &str) -> Response {
    let refusal = match outcome {
        Err(refusal) => refusal,
        Ok(mut response) => match response.extensions_mut().remove::<Refusal>() {
            Some(refusal) => refusal,
            None => return response,
        },
    };
    match front {
        Front::Grpc => grpc::status::reply(refusal),
        Front::Http => http_front::problem::reply(&refusal, id),
    }
}

fn log(request_id: &str, method: &str, response: &Response, took: Duration) {
    let status = response.status().as_u16();
    let grpc_status =
        response.headers().get("grpc-status").and_then(|code| code.to_str().ok()).unwrap_or("0");
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if took > SLOW {
        tracing::warn!(request_id, method, status, grpc_status, took_ms, "slow call");
    } else {
        tracing::debug!(request_id, method, status, grpc_status, took_ms, "call");
    }
}

/// The time that a gRPC client allows: up to eight digits and a unit. What is none of that is not there.
fn wanted_time(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 3600)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

/// A refusal as a handler's reply: the guard brings it into the form of its front, with the call's id.
impl axum::response::IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = Response::default();
        *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grpc_timeout_is_read() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", HeaderValue::from_str(text).unwrap());
            wanted_time(&headers)
        };
        assert_eq!(read("1500m"), Some(Duration::from_millis(1500)));
        assert_eq!(read("2S"), Some(Duration::from_secs(2)));
        assert_eq!(read("99999999H"), Some(Duration::from_secs(99_999_999 * 3600)));
        for bad in ["", "S", "12", "123456789m", "-1S", "1é"] {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", HeaderValue::from_bytes(bad.as_bytes()).unwrap());
            assert_eq!(wanted_time(&headers), None, "{bad:?}");
        }
    }

    #[test]
    fn ids_differ() {
        let ids = RequestIds::new(0xABC);
        assert_eq!(ids.next(), "req_000000000abc000001");
        assert_ne!(ids.next(), ids.next());
    }
}
