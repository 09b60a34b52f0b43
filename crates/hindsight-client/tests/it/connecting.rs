//! What a client says when there is no connection, and that it comes back.

use hindsight_client::{Client, ClientBuilder, ConnectHint, Draft, Error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::mock::Mock;

async fn hint(url: &str) -> ConnectHint {
    match Client::connect(url).await.unwrap_err() {
        Error::Connect { hint, url: given } => {
            assert_eq!(given, url);
            hint
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(hint(&url).await, ConnectHint::NothingListens);
    let error = Client::connect(&url).await.unwrap_err();
    assert!(error.is_retryable());
    assert_eq!(error.reason(), "CONNECT");
    assert!(error.to_string().starts_with(&format!("cannot connect to {url}: nothing listens")), "{error}");
}

#[tokio::test]
async fn a_url_without_scheme_is_refused_at_once() {
    assert_eq!(hint("127.0.0.1:7420").await, ConnectHint::MissingScheme);
}

#[tokio::test]
async fn an_http_server_is_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut first = [0; 16];
            let _ = stream.read(&mut first).await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    assert_eq!(hint(&url).await, ConnectHint::NotGrpc);
    server.abort();
}

#[tokio::test]
async fn a_grpc_server_of_others_is_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let only_memories = hindsight_proto::v1::memory_service_server::MemoryServiceServer::new(Mock::default());
    let incoming = tonic::transport::server::TcpIncoming::from(listener);
    let server = tonic::transport::Server::builder().add_service(only_memories).serve_with_incoming(incoming);
    let server = tokio::spawn(server);
    assert_eq!(hint(&url).await, ConnectHint::NotGrpc);
    server.abort();
}

#[tokio::test]
async fn a_server_that_hangs_up_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        loop {
            drop(listener.accept().await.unwrap());
        }
    });
    let client = ClientBuilder::new().connect_lazy(&url).unwrap();
    let error = client.server_info().await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(error.is_retryable());
    server.abort();
}

#[tokio::test]
async fn a_client_comes_back_after_the_server_did() {
    let server = Mock::default().start().await;
    let (address, client) = (server.address, server.client().await);
    let ops = client.namespace("ops").unwrap();
    let fact = || Draft { content: "x".to_owned(), ..Draft::default() };
    ops.write(fact()).await.unwrap();
    server.stop().await;
    let error = ops.write(fact()).await.unwrap_err();
    assert!(matches!(error, Error::Connect { hint: ConnectHint::NothingListens, .. }), "{error:?}");
    let server = Mock::default().start_at(address).await;
    ops.write(fact()).await.unwrap();
    assert_eq!(server.mock.seen().len(), 1);
}

#[test]
fn outside_of_a_runtime_there_is_an_error_and_no_panic() {
    let error = Client::connect_lazy("http://127.0.0.1:7420").unwrap_err();
    assert!(matches!(error, Error::Connect { hint: ConnectHint::NoRuntime, .. }), "{error:?}");
}
