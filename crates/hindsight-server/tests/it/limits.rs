//! What one client may cost, and what it is told.

use hindsight_client::{Client, ConnectHint, Error};
use hindsight_proto::v1;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::Code;
use tonic_types::StatusExt;

use crate::access::{LONG_AGO, Locked, raw, wish};
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

#[tokio::test]
async fn s6_a_token_and_a_namespace_may_only_have_so_many_calls_a_second() {
    let make = |store: &hindsight_auth::TokenStore, name: &str| {
        store.create(wish(name, &["*=read,write"]), LONG_AGO).unwrap().0.expose()
    };
    let (locked, tokens) = Locked::with(
        |store| ["one", "two", "three"].map(|name| make(store, name)),
        |config| {
            config.limits.calls_per_second_of_token = 3;
            config.limits.calls_per_second_of_namespace = 5;
        },
    )
    .await;
    let channel = locked.server.channel().await;
    let call = async |token: &str, namespace: &str| {
        let mut wire = v1::memory_service_client::MemoryServiceClient::new(channel.clone());
        let list = v1::ListRequest { namespace: namespace.into(), ..Default::default() };
        wire.list(raw::request(Some(token), list)).await.err()
    };
    let refused = async |token: &str, namespace: &str| {
        let mut last = None;
        for _ in 0..6 {
            last = call(token, namespace).await.filter(|status| status.code() == Code::ResourceExhausted);
            if last.is_some() {
                break;
            }
        }
        last
    };
    let status = refused(&tokens[0], "ops").await.unwrap();
    let details = status.get_error_details();
    assert_eq!(details.error_info().unwrap().reason, "RATE_LIMITED");
    let wait = details.retry_info().unwrap().retry_delay.unwrap();
    assert!(!wait.is_zero() && wait.as_millis() < 500, "{wait:?}");
    // Another token is not meant by that, but the namespace is by both together.
    assert!(refused(&tokens[1], "ops").await.is_some());
    assert_ne!(call(&tokens[2], "home").await.map(|status| status.code()), Some(Code::ResourceExhausted));
    let answer = loop {
        let answer = locked.http(&tokens[2], "GET", "/stats?namespace=home", serde_json::Value::Null).await;
        if answer.status == 429 {
            break answer;
        }
    };
    assert_eq!(answer.body["reason"], "RATE_LIMITED", "{answer:?}");
    assert!(answer.head.to_lowercase().contains("retry-after: 1"), "{answer:?}");
}

#[tokio::test]
async fn s6_large_requests_share_a_budget_and_who_gets_none_is_told_when_to_come_again() {
    let server = TestServer::with(|config| {
        config.limits.reading_bytes = 1 << 20;
        config.timeouts.queue_ms = 10;
        config.timeouts.request_ms = 2_000;
    })
    .await;
    // Announces a body and does not send it: its share is taken.
    let mut slow = TcpStream::connect(server.running.http_addr()).await.unwrap();
    slow.write_all(b"POST /memory/write HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100000\r\n\r\n{")
        .await
        .unwrap();
    let refused = loop {
        let answer = server
            .http("POST", "/memory/write", serde_json::json!({"namespace": "ops", "content": "x"}))
            .await;
        if answer.status != 200 {
            break answer;
        }
    };
    assert_eq!((refused.status, &refused.body["reason"]), (503, &serde_json::json!("OVERLOADED")));
    assert!(refused.head.to_lowercase().contains("retry-after"), "{refused:?}");
    drop(slow);
    let body = serde_json::json!({"namespace": "ops", "content": "room again"});
    while server.http("POST", "/memory/write", body.clone()).await.status != 200 {}
}
