//! The door of the HTTP port. A namespace in the path is decided here, one in a body where the body is read: `http::call`.

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
    let Some(policy) = policy::of_route(request.method(), &path) else {
        tracing::error!(path, "a path without a row in access/policy.rs");
        return axum::response::IntoResponse::into_response(crate::app::Refusal::internal());
    };
    super::grpc::named(&request, policy);
    let call = match access.admit(policy, request.headers(), request.extensions()).await {
        Ok(call) => call,
        Err((call, refusal)) => return trail::refused(&access, &call, refusal),
    };
    if let Some(named) = named_in(&path, request.uri().path())
        && let Err(refusal) = call.enter(named, false)
    {
        return trail::refused(&access, &call, refusal);
    }
    request.extensions_mut().insert(call.clone());
    let response = trail::noted(&access, &call, next.run(request)).await;
    if policy.streams { lasting::until_revoked(&access, &call, response) } else { response }
}

/// The namespace that a path names, where its pattern has a place for one. It is not decoded: what would have to be encoded can't
/// stand in a name.
fn named_in<'a>(pattern: &str, path: &'a str) -> Option<&'a str> {
    let place = pattern.split('/').position(|part| part == "{namespace}")?;
    path.split('/').nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_the_namespace_of_a_path_is_found() {
        assert_eq!(named_in("/mcp/{namespace}", "/mcp/ops"), Some("ops"));
        assert_eq!(named_in("/namespaces/{namespace}", "/namespaces/o%70s"), Some("o%70s"));
        assert_eq!(named_in("/stats", "/stats"), None);
    }
}
