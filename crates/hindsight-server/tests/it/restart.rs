//! Stopping and starting: what was acknowledged is there, and a directory that is not to be opened is not touched.

use hindsight_client::WriteOptions;
use hindsight_server::{ServeError, Server};

use crate::support::{TestServer, config, draft};

async fn refusal(dir: &std::path::Path) -> (u8, String) {
    let error = Server::start(&config(dir)).await.err().unwrap();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    (error.exit_code(), text)
}

#[tokio::test]
async fn a_stop_and_a_crash_keep_all_that_was_acknowledged() {
    let TestServer { running, dir } = TestServer::start().await;
    let server = TestServer { running, dir };
    let id = || WriteOptions { request_id: Some("r-1".into()), ..WriteOptions::default() };
    let first = server.ops().await.write_with(draft("before the stop"), None, id()).await.unwrap();
    let TestServer { running, dir } = server;
    running.shutdown().await.unwrap();

    let server = TestServer { running: Server::start(&config(dir.path())).await.unwrap(), dir };
    assert_eq!(server.running.report().memories, 1);
    let ops = server.ops().await;
    let again = ops.write_with(draft("before the stop"), None, id()).await.unwrap();
    assert!(again.replayed && again.memory.id == first.memory.id);
    ops.write(draft("崩溃之前")).await.unwrap();
    let before = ops.recall("崩溃").send().await.unwrap();
    let TestServer { running, dir } = server;
    running.abort().await;

    let server = TestServer { running: Server::start(&config(dir.path())).await.unwrap(), dir };
    assert_eq!(server.contents().await, ["before the stop", "崩溃之前"]);
    let after = server.ops().await.recall("崩溃").send().await.unwrap();
    assert_eq!(after.hits[0].memory, before.hits[0].memory);
}

#[tokio::test]
async fn a_stop_waits_for_open_calls_and_then_refuses() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    ops.write(draft("first")).await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..16 {
        let ops = ops.with_timeout(std::time::Duration::from_secs(2));
        calls.spawn(async move { ops.write(draft(&format!("call {number}"))).await.is_ok() });
    }
    tokio::task::yield_now().await;
    let TestServer { running, dir } = server;
    running.shutdown().await.unwrap();
    let mut acknowledged = 0;
    while let Some(call) = calls.join_next().await {
        acknowledged += usize::from(call.unwrap());
    }
    let server = TestServer { running: Server::start(&config(dir.path())).await.unwrap(), dir };
    let stored = server.contents().await.len();
    assert!(stored > acknowledged, "{stored} stored, {acknowledged} acknowledged beside the first");
}

#[tokio::test]
async fn a_directory_in_use_is_refused_with_the_process() {
    let server = TestServer::start().await;
    let (code, text) = refusal(server.dir.path()).await;
    assert_eq!(code, 78);
    assert!(text.contains("in use by") && text.contains(&std::process::id().to_string()), "{text}");
    assert_eq!(server.contents().await, [""; 0]);
}

#[tokio::test]
async fn a_newer_format_and_a_foreign_directory_are_refused_and_not_touched() {
    let TestServer { running, dir } = TestServer::start().await;
    running.shutdown().await.unwrap();
    let format = dir.path().join("FORMAT");
    let text = std::fs::read_to_string(&format).unwrap();
    let mut newer: serde_json::Value = serde_json::from_str(&text).unwrap();
    newer["format"] = 99.into();
    newer["min_reader"] = 99.into();
    // A file without a checksum is read; this one's would be another.
    newer.as_object_mut().unwrap().remove("crc32");
    std::fs::write(&format, newer.to_string()).unwrap();
    let (code, message) = refusal(dir.path()).await;
    assert_eq!(code, 78);
    assert!(message.contains("format 99"), "{message}");
    assert_eq!(std::fs::read_to_string(&format).unwrap(), newer.to_string());

    let foreign = tempfile::tempdir().unwrap();
    std::fs::write(foreign.path().join("letter.txt"), "dear").unwrap();
    let (code, message) = refusal(foreign.path()).await;
    assert_eq!(code, 78);
    assert!(message.contains("not a HindsightDB data directory"), "{message}");
    assert_eq!(std::fs::read_dir(foreign.path()).unwrap().count(), 1);
    let (code, _) = refusal(&foreign.path().join("letter.txt")).await;
    assert_eq!(code, 73);
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let server = TestServer::start().await;
    let other = tempfile::tempdir().unwrap();
    let mut config = config(&other.path().join("data"));
    config.http = server.running.http_addr();
    let error = Server::start(&config).await.err().unwrap();
    assert!(
        matches!(error, ServeError::Bind { what: "HTTP", address, .. } if address == server.running.http_addr())
    );
    assert_eq!(error.exit_code(), 1);
    assert!(!other.path().join("data").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_stops_the_server() {
    use futures_util::FutureExt;

    let server = TestServer::start().await;
    server.ops().await.write(draft("before the signal")).await.unwrap();
    let TestServer { running, dir } = server;
    let mut stopped = Box::pin(running.wait_for_signal());
    // The first look takes the signals over, so that the next line does not end the tests.
    assert!(stopped.as_mut().now_or_never().is_none());
    let process = std::process::id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    stopped.await.unwrap();
    let server = TestServer { running: Server::start(&config(dir.path())).await.unwrap(), dir };
    assert_eq!(server.contents().await, ["before the signal"]);
}
