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
use tonic_types::StatusExt as _;
use tracing::{Instrument as _, field::Empty};

use crate::access::CallId;
use crate::app::Refusal;
use crate::metrics::{Called, Metrics};
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

impl Front {
    /// The label of its calls.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Front::Grpc => "grpc",
            Front::Http => "http",
        }
    }
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
    pub(crate) metrics: Arc<Metrics>,
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
    let front = guard.front.word();
    let _open = guard.metrics.calls.begin(front);
    let id = guard.ids.next();
    request.extensions_mut().insert(CallId(id.clone()));
    let called = Called::default();
    request.extensions_mut().insert(called.clone());
    let method = request.uri().path().to_owned();
    let limit =
        wanted_time(request.headers()).map_or(guard.request_max, |wanted| wanted.min(guard.request_max));
    let trace = request.headers().get("traceparent").cloned();
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
    // At every level: a line without the id of its call is of little use.
    let span =
        tracing::error_span!("call", request_id = id, trace_id = Empty, token = Empty, namespace = Empty);
    if let Some(trace) = trace_id(&trace) {
        span.record("trace_id", trace);
    }
    let call = AssertUnwindSafe(call).catch_unwind().instrument(span);
    let outcome = match timeout(limit, call).await {
        Ok(Ok(Ok(response))) => Ok(response),
        Ok(Ok(Err(refusal))) => Err(refusal),
        Ok(Err(_)) => {
            tracing::error!(request_id = id, method, "a call panicked");
            guard.metrics.calls.panicked();
            Err(Refusal::internal())
        }
        Err(_) => Err(Refusal::deadline(limit)),
    };
    let (mut response, told) = finish(guard.front, outcome, &id);
    count(&guard, called.method(), &response, told, began.elapsed());
    log(&id, &method, &response, began.elapsed());
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// The reply: the handler's own, or the refusal in the form of its front.
fn finish(front: Front, outcome: Result<Response, Refusal>, id: &str) -> (Response, Option<Told>) {
    let refusal = match outcome {
        Err(refusal) => refusal,
        Ok(mut response) => match response.extensions_mut().remove::<Refusal>() {
            Some(refusal) => refusal,
            None => return (response, None),
        },
    };
    let refusal = refusal.clipped();
    let told = Told { code: refusal.code.word(), reason: refusal.reason };
    let response = match front {
        Front::Grpc => grpc::status::reply(refusal),
        Front::Http => http_front::problem::reply(&refusal, id),
    };
    (response, Some(told))
}

/// What a refused caller was told.
struct Told {
    code: &'static str,
    reason: &'static str,
}

fn count(guard: &Guard, method: &'static str, response: &Response, told: Option<Told>, took: Duration) {
    let calls = &guard.metrics.calls;
    let code = match told {
        Some(Told { code, reason }) => {
            calls.refused(reason);
            code
        }
        // A method of gRPC brings its refusal in the form of its front already.
        None => match tonic::Status::from_header_map(response.headers()) {
            Some(status) if status.code() != tonic::Code::Ok => {
                if let Some(info) = status.get_error_details().error_info() {
                    calls.refused(&info.reason);
                }
                grpc::status::word(status.code())
            }
            _ if response.status().is_server_error() => "internal",
            _ if response.status().is_client_error() => "invalid_argument",
            _ => "ok",
        },
    };
    calls.answered(guard.front.word(), method, code, took);
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

/// The id of the trace that a call belongs to, as its caller says (W3C Trace Context, `traceparent`).
fn trace_id(header: &Option<HeaderValue>) -> Option<&str> {
    let id = header.as_ref()?.to_str().ok()?.split('-').nth(1)?;
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
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
    fn i7_a_trace_that_is_named_rightly_is_kept_for_the_log_and_nothing_else() {
        let of = |text: &str| {
            let header = Some(HeaderValue::from_str(text).unwrap());
            trace_id(&header).map(str::to_owned)
        };
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(of(&format!("00-{id}-00f067aa0ba902b7-01")).as_deref(), Some(id));
        for bad in ["", "00", "00-xyz-1-01", &format!("00-{}-1-01", "g".repeat(32))] {
            assert_eq!(of(bad), None, "{bad:?}");
        }
        assert_eq!(trace_id(&None), None);
    }

    #[test]
    fn ids_differ() {
        let ids = RequestIds::new(0xABC);
        assert_eq!(ids.next(), "req_000000000abc000001");
        assert_ne!(ids.next(), ids.next());
    }
}
