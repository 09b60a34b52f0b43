//! Streams end with their credential: within a second after it is taken back, and when its time is over.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http::HeaderMap;
use hyper::body::Frame;

use super::admit::Access;
use super::call::{Call, Caller};
use crate::app::{Code, Refusal};
use crate::grpc::status::refuse;
use crate::server::now;

/// How often the time of a credential is looked at; that it was taken back is told at once.
const LOOK: Duration = Duration::from_millis(500);

/// The answer, which ends when the call's credential does.
pub(super) fn until_revoked(access: &Arc<Access>, call: &Call, response: Response) -> Response {
    let Caller::Holder(holder) = call.caller() else { return response };
    let (access, id) = (Arc::clone(access), holder.id);
    let mut changes = access.changes();
    let over = async move {
        while access.ring().is_valid(id, now()) {
            // Either way it is looked again; the sender lives as long as `access`.
            let _ = tokio::time::timeout(LOOK, changes.changed()).await;
        }
    };
    response.map(|body| Body::new(Lasting { body, over: Box::pin(over), ended: false }))
}

struct Lasting {
    body: Body,
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
    ended: bool,
}

impl HttpBody for Lasting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.over.as_mut().poll(cx).is_ready() {
            self.ended = true;
            self.body = Body::empty();
            return Poll::Ready(Some(Ok(Frame::trailers(farewell()))));
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }
}

/// The status of a gRPC stream. HTTP/1.1 sends no trailers, so a stream of that ends without one.
fn farewell() -> HeaderMap {
    let message = "the token of this stream was taken back, or its time is over";
    let mut trailers = HeaderMap::new();
    // A status whose text is our own always fits into headers.
    let _ = refuse(Refusal::new(Code::Unauthenticated, "TOKEN_INVALID", message)).add_header(&mut trailers);
    trailers
}
