//! A refusal in the words of HTTP: a status and an `application/problem+json` body (RFC 9457).

use axum::{body::Body, response::Response};
use hindsight_core::Violation;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::app::{Code, Refusal};

/// The body of an error.
#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
    reason: &'static str,
    violations: &'a [Violation],
    /// Facts that a program needs to go on, such as the present version.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    metadata: &'a std::collections::BTreeMap<&'static str, String>,
    request_id: &'a str,
}

/// The whole reply.
pub(crate) fn reply(refusal: &Refusal, request_id: &str) -> Response {
    let (status, title) = of(refusal);
    let problem = Problem {
        r#type: format!("urn:hindsight:problem:{}", refusal.reason.to_lowercase()),
        title,
        status: status.as_u16(),
        detail: &refusal.message,
        reason: refusal.reason,
        violations: &refusal.violations,
        metadata: &refusal.metadata,
        request_id,
    };
    // Texts and lists of texts always become JSON.
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    if let Some(after) = refusal.retry_after {
        // The header counts whole seconds.
        headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs().max(1)));
    }
    if refusal.code == Code::Unauthenticated {
        // RFC 6750, 3: without a token nothing but the scheme is told.
        let challenge = match refusal.reason {
            "TOKEN_MISSING" => "Bearer realm=\"hindsight\"",
            _ => "Bearer realm=\"hindsight\", error=\"invalid_token\"",
        };
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    response
}

fn of(refusal: &Refusal) -> (StatusCode, &'static str) {
    match (refusal.code, refusal.reason) {
        (Code::Invalid, _) => (StatusCode::BAD_REQUEST, "The request is wrong"),
        (Code::NotFound, _) => (StatusCode::NOT_FOUND, "Not there"),
        (Code::AlreadyExists, _) => (StatusCode::CONFLICT, "There already"),
        (Code::Aborted, _) => (StatusCode::CONFLICT, "Changed meanwhile"),
        (Code::Precondition, _) => (StatusCode::PRECONDITION_FAILED, "Not possible in this state"),
        (Code::Exhausted, "DISK_FULL") => (StatusCode::INSUFFICIENT_STORAGE, "The disk is full"),
        (Code::Exhausted, _) => (StatusCode::TOO_MANY_REQUESTS, "A limit is reached"),
        (Code::OutOfRange, "WATCH_COMPACTED") => (StatusCode::GONE, "Not there any more"),
        (Code::OutOfRange, _) => (StatusCode::BAD_REQUEST, "Not there"),
        (Code::Unavailable, _) => (StatusCode::SERVICE_UNAVAILABLE, "Not now"),
        (Code::Deadline, _) => (StatusCode::GATEWAY_TIMEOUT, "Out of time"),
        (Code::Unauthenticated, _) => (StatusCode::UNAUTHORIZED, "Who are you"),
        (Code::Forbidden, _) => (StatusCode::FORBIDDEN, "Not allowed"),
        (Code::MethodNotAllowed, _) => (StatusCode::METHOD_NOT_ALLOWED, "Another method"),
        (Code::DataLoss, _) => (StatusCode::INTERNAL_SERVER_ERROR, "Data is damaged"),
        (Code::Internal, _) => (StatusCode::INTERNAL_SERVER_ERROR, "The server failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d6_a_full_disk_is_507_with_a_time_to_ask_again() {
        let mut refusal = Refusal::new(Code::Exhausted, "DISK_FULL", "no space left");
        refusal.retry_after = Some(std::time::Duration::from_secs(5));
        let response = reply(&refusal, "req_1");
        assert_eq!(response.status().as_u16(), 507);
        assert_eq!(response.headers()[header::RETRY_AFTER], "5");
    }
}
