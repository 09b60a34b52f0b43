//! What somebody sends who means harm, or whose program is broken: the server refuses it, lives, and serves the others.

mod frames;
mod messages;
mod slow;
mod values;

use crate::support::{TestServer, draft};

/// Holds a server to serving others after what was done to it: it answers, and no call panicked.
async fn serves_still(server: &TestServer) {
    let ops = server.ops().await;
    ops.write(draft("written by somebody else, afterwards")).await.unwrap();
    assert!(!ops.recall("somebody else").await.unwrap().hits.is_empty());
    let (_, _, text) = server.http_text("GET", "/metrics", &[], b"").await;
    assert!(text.contains("\nhindsight_panics_total 0\n"), "{text}");
}
