//! What one client may cost, and what it is told.

use hindsight_client::{Client, ConnectHint, Error};
use hindsight_proto::v1;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;
use tonic_types::StatusExt;

use crate::support::{TestServer, draft};

#[tokio::test]
async fn a_client_of_the_wrong_port_is_told() {
    let server = TestServer::start().await;
    let mut stream = TcpStream::connect(server.running.grpc_addr()).await.unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 400") && text.contains("This port speaks gRPC"), "{text}");
    let wrong = Client::connect(&format!("http://{}", server.running.http_addr())).await.unwrap_err();
    assert!(
        matches!(wrong, Error::Connect { hint: ConnectHint::NotGrpc | ConnectHint::HttpPort, .. }),
        "{wrong:?}"
    );
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let server = TestServer::with(|config| config.timeouts.first_frame_ms = 50).await;
    for address in [server.running.grpc_addr(), server.running.http_addr()] {
        for first in ["", "P"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(first.as_bytes()).await.unwrap();
            let mut rest = Vec::new();
            // Ends only because the server closes.
            let _ = stream.read_to_end(&mut rest).await;
            assert!(!rest.starts_with(b"HTTP/1.1 200"));
        }
    }
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let server = TestServer::with(|config| config.limits.connections = 2).await;
    let ops = server.ops().await;
    let idle = TcpStream::connect(server.running.grpc_addr()).await.unwrap();
    // The third is in the system's queue and is served when the second goes.
    let third = tokio::spawn({
        let address = server.running.grpc_addr();
        async move { Client::connect(&format!("http://{address}")).await.map(|_| ()) }
    });
    ops.write(draft("meanwhile")).await.unwrap();
    drop(idle);
    third.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_ended() {
    let server = TestServer::with(|config| config.timeouts.request_ms = 1).await;
    let channel = server.channel().await;
    let mut wire = v1::memory_service_client::MemoryServiceClient::new(channel);
    let write = || v1::WriteRequest {
        namespace: "ops".into(),
        memory: Some(v1::Memory { content: "字".repeat(30_000), ..v1::Memory::default() }),
        ..v1::WriteRequest::default()
    };
    // A disk may be fast enough for some of them.
    let mut ended = None;
    for _ in 0..200 {
        if let Err(status) = wire.write(write()).await {
            ended = Some(status);
            break;
        }
    }
    let status = ended.unwrap();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert_eq!(status.get_error_details().error_info().unwrap().reason, "DEADLINE");
}

#[tokio::test]
async fn more_calls_than_the_engine_takes_are_refused_with_when_to_retry() {
    let server = TestServer::with(|config| {
        config.limits.engine_calls = 1;
        config.limits.engine_queue = 1;
    })
    .await;
    let wire = server.wire().await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..32 {
        let mut wire = wire.clone();
        calls.spawn(async move {
            let memory =
                v1::Memory { content: format!("{number} {}", "字".repeat(20_000)), ..v1::Memory::default() };
            let request = v1::WriteRequest {
                namespace: "ops".into(),
                memory: Some(memory),
                ..v1::WriteRequest::default()
            };
            wire.write(request).await.map(|_| ())
        });
    }
    let (mut served, mut refused) = (0, 0);
    while let Some(call) = calls.join_next().await {
        match call.unwrap() {
            Ok(()) => served += 1,
            Err(status) => {
                refused += 1;
                assert_eq!(status.code(), Code::Unavailable);
                let details = status.get_error_details();
                assert_eq!(details.error_info().unwrap().reason, "OVERLOADED");
                assert!(details.retry_info().unwrap().retry_delay.is_some());
            }
        }
    }
    assert!(served >= 2 && refused >= 1, "{served} served, {refused} refused");
    assert_eq!(server.contents().await.len(), served);
}

#[tokio::test]
async fn a_message_or_method_that_does_not_exist_is_told() {
    let server = TestServer::start().await;
    let told = |path: &'static str| {
        let channel = server.channel();
        async move {
            let mut grpc = tonic::client::Grpc::new(channel.await);
            grpc.ready().await.unwrap();
            // A number where every request has a text.
            let message = prost_types::Timestamp { seconds: 5, nanos: 0 };
            let codec = tonic_prost::ProstCodec::<prost_types::Timestamp, v1::WriteResponse>::default();
            let path = http::uri::PathAndQuery::from_static(path);
            let status = grpc.unary(tonic::Request::new(message), path, codec).await.unwrap_err();
            (status.code(), status.get_error_details().error_info().unwrap().reason.clone())
        }
    };
    let malformed = told("/hindsight.v1.MemoryService/Write").await;
    assert_eq!(malformed, (Code::InvalidArgument, "MESSAGE_MALFORMED".to_owned()));
    for path in ["/hindsight.v1.MemoryService/Wrote", "/hindsight.v9.MemoryService/Write"] {
        assert_eq!(told(path).await, (Code::Unimplemented, "NO_SUCH_METHOD".to_owned()), "{path}");
    }
}
