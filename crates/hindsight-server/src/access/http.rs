//! The door of the HTTP port. The namespace of a body is looked at where the body is read: `http::call`, and for MCP by its
//! address.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};

use super::admit::Access;
use super::{lasting, policy, trail};

/// Names the namespace for calls whose body does not.
pub(crate) const NAMESPACE: &str = "x-hindsight-namespace";

/// Is it a caller of ours, who may make this call at all? What the call did is noted when it is done.
pub(crate) async fn admit(State(access): State<Arc<Access>>, mut request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let Some(path) = path else {
        // Nothing is there: the answer says which paths there are, and nothing else.
        return next.run(request).await;
    };
    let Some(policy) = policy::of_route(&path) else {
        tracing::error!(path, "a path without a row in access/policy.rs");
        return axum::response::IntoResponse::into_response(crate::app::Refusal::internal());
    };
    let call = match access.admit(policy, request.headers(), request.extensions()).await {
        Ok(call) => call,
        Err((call, refusal)) => return trail::refused(&access, &call, refusal),
    };
    request.extensions_mut().insert(call.clone());
    let response = trail::noted(&access, &call, next.run(request)).await;
    if policy.streams { lasting::until_revoked(&access, &call, response) } else { response }
}
