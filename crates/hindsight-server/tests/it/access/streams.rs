//! A stream ends with its credential.

use futures_util::StreamExt as _;
use tonic::Code;

use super::raw::{self, Bytes};
use super::{LONG_AGO, Locked, wish};

/// Opens a stream that nothing comes on: the client asks nothing more.
async fn idle(locked: &Locked, token: &str) -> tonic::Streaming<Vec<u8>> {
    let mut grpc = tonic::client::Grpc::new(locked.server.channel().await);
    grpc.ready().await.unwrap();
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo".parse().unwrap();
    // `list_services`, and then silence.
    let asked = futures_util::stream::iter([b"\x3a\x00".to_vec()]).chain(futures_util::stream::pending());
    let mut stream =
        grpc.streaming(raw::request(Some(token), asked), path, Bytes).await.unwrap().into_inner();
    let listed = stream.message().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&listed).contains("hindsight.v1.MemoryService"));
    stream
}

#[tokio::test]
async fn s6_an_open_stream_ends_when_its_token_is_taken_back() {
    let (locked, token) =
        Locked::with(|store| store.create(wish("a", &["ops=read"]), LONG_AGO).unwrap().0, |_| {}).await;
    let mut stream = idle(&locked, &token.expose()).await;
    let mut other = idle(&locked, &locked.admin).await;
    locked.client(&locked.admin).await.revoke_token(token.id()).await.unwrap();
    let status = stream.message().await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
    assert!(stream.message().await.is_ok_and(|message| message.is_none()));
    // That of somebody else goes on.
    let waited = tokio::time::timeout(std::time::Duration::from_millis(50), other.message()).await;
    assert!(waited.is_err(), "{waited:?}");
}

#[tokio::test]
async fn s6_an_open_stream_ends_when_the_time_of_its_token_is_over() {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let soon = hindsight_core::Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap() + 2_000);
    let brief = hindsight_auth::Wish { expires_at: Some(soon), ..wish("a", &["ops=read"]) };
    let (locked, token) =
        Locked::with(|store| store.create(brief, LONG_AGO).unwrap().0.expose(), |_| {}).await;
    let mut stream = idle(&locked, &token).await;
    assert_eq!(stream.message().await.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn s6_a_watch_ends_when_its_token_is_taken_back() {
    let (locked, token) =
        Locked::with(|store| store.create(wish("a", &["ops=read"]), LONG_AGO).unwrap().0, |_| {}).await;
    let mut grpc = tonic::client::Grpc::new(locked.server.channel().await);
    grpc.ready().await.unwrap();
    let path = "/hindsight.v1.WatchService/Watch".parse().unwrap();
    let secret = token.expose();
    // The request names no namespace: the door puts that of the token in.
    let request = raw::request(Some(&secret), Vec::new());
    let mut stream = grpc.server_streaming(request, path, Bytes).await.unwrap().into_inner();
    assert!(stream.message().await.unwrap().is_some());
    let ops = locked.client(&locked.admin).await.namespace("ops").unwrap();
    ops.write(crate::support::draft("CANARY seen")).await.unwrap();
    let seen = stream.message().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&seen).contains("CANARY seen"));
    locked.store.revoke(token.id(), LONG_AGO).unwrap();
    let status = loop {
        match stream.message().await {
            Ok(told) => assert!(told.is_some()),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
}
