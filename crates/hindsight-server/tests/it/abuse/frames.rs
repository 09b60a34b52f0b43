//! S2: frames of HTTP/2 that cost the server more than the sender. Each flood is answered with an end of its connection.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::serves_still;
use crate::support::TestServer;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
// Types and flags of frames (RFC 9113, 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;
const END_STREAM: u8 = 1;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The head of a call (RFC 7541): POST, http, and a path, all of them without an index of its own.
fn head() -> Vec<u8> {
    let path = b"/hindsight.v1.MemoryService/Write";
    let mut head = vec![0x83, 0x86, 0x04, u8::try_from(path.len()).unwrap()];
    head.extend_from_slice(path);
    head.extend_from_slice(b"\x01\x01x");
    head
}

fn field(name: &[u8], value_bytes: usize) -> Vec<u8> {
    let mut field = vec![0x00, u8::try_from(name.len()).unwrap()];
    field.extend_from_slice(name);
    // A length in seven bits, and what is beyond that in groups of seven (RFC 7541, 5.1).
    let mut rest = value_bytes - 127;
    field.push(127);
    while rest >= 128 {
        field.push(u8::try_from(rest % 128).unwrap() | 128);
        rest /= 128;
    }
    field.push(u8::try_from(rest).unwrap());
    field.extend(std::iter::repeat_n(b'a', value_bytes));
    field
}

/// Sends `flood` until it is whole or the server ends the connection; whether it ended it.
async fn is_ended(server: &TestServer, flood: impl Iterator<Item = Vec<u8>>) -> bool {
    let mut stream = TcpStream::connect(server.running.grpc_addr()).await.unwrap();
    stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await.unwrap();
    let (mut read, mut write) = stream.split();
    let send = async {
        for bytes in flood {
            if write.write_all(&bytes).await.is_err() {
                return;
            }
        }
        // Nothing more comes: the server may see that as the end.
        let _ = write.shutdown().await;
    };
    let seen = async {
        let mut all = Vec::new();
        let _ = read.read_to_end(&mut all).await;
        all
    };
    let ((), seen) = tokio::join!(send, seen);
    // A GOAWAY (type 7) with an error stands near the end.
    has_goaway(&seen)
}

fn has_goaway(mut seen: &[u8]) -> bool {
    while let Some((head, rest)) = seen.split_at_checked(9) {
        let length = usize::try_from(u32::from_be_bytes([0, head[0], head[1], head[2]])).unwrap();
        if head[3] == 7 && rest.get(4..8).is_some_and(|code| code != [0; 4]) {
            return true;
        }
        seen = rest.get(length..).unwrap_or_default();
    }
    // Where the connection was cut off there may be no frame.
    false
}

#[tokio::test]
async fn s2_calls_that_are_taken_back_at_once_end_their_connection() {
    let server = TestServer::start().await;
    let flood = (0..20_000_u32).map(|number| {
        let stream = 2 * number + 1;
        [frame(HEADERS, END_HEADERS, stream, &head()), frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())]
            .concat()
    });
    assert!(is_ended(&server, flood).await);
    serves_still(&server).await;
}

#[tokio::test]
async fn s2_calls_that_the_server_is_made_to_take_back_end_their_connection() {
    let server = TestServer::start().await;
    // A window that grows by nothing is an error of its stream.
    let flood = (0..5_000_u32).map(|number| {
        let stream = 2 * number + 1;
        [frame(HEADERS, END_HEADERS, stream, &head()), frame(WINDOW_UPDATE, 0, stream, &[0; 4])].concat()
    });
    assert!(is_ended(&server, flood).await);
    serves_still(&server).await;
}

#[tokio::test]
async fn s2_heads_without_end_end_their_connection() {
    let server = TestServer::start().await;
    let first = std::iter::once(frame(HEADERS, 0, 1, &head()));
    let more = (0..5_000).map(|_| frame(CONTINUATION, 0, 1, &field(b"x-more", 1_000)));
    assert!(is_ended(&server, first.chain(more)).await);
    serves_still(&server).await;
}

#[tokio::test]
async fn s2_pings_and_settings_without_end_harm_nobody() {
    let server = TestServer::start().await;
    for kind in [PING, SETTINGS] {
        let payload: &[u8] = if kind == PING { b"12345678" } else { &[] };
        // They may be answered one by one: what counts is that the others are served.
        is_ended(&server, (0..10_000).map(|_| frame(kind, 0, 0, payload))).await;
        serves_still(&server).await;
    }
}

#[tokio::test]
async fn s3_a_message_that_says_it_is_packed_or_four_gigabytes_long_is_refused() {
    let server = TestServer::start().await;
    // A flag that says that it is compressed, and lengths that lie (gRPC over HTTP/2, Length-Prefixed-Message).
    let prefixes: [&[u8]; 4] =
        [b"\x01\0\0\0\x05\x0a\x03ops", b"\0\xff\xff\xff\xff", b"\x01\xff\xff\xff\xffa", b"\0\0\0\0\x20\x0a"];
    for (number, prefix) in prefixes.into_iter().enumerate() {
        let stream = 2 * u32::try_from(number).unwrap() + 1;
        let mut head = head();
        head.extend_from_slice(b"\x0f\x10\x10application/grpc");
        let call =
            [frame(HEADERS, END_HEADERS, stream, &head), frame(DATA, END_STREAM, stream, prefix)].concat();
        assert!(!is_ended(&server, std::iter::once(call)).await, "{prefix:?}");
    }
    let (_, _, text) = server.http_text("GET", "/metrics", &[], b"").await;
    let ok = "hindsight_requests_total{front=\"grpc\",method=\"MemoryService/Write\",code=\"ok\"}";
    let refused =
        "hindsight_requests_total{front=\"grpc\",method=\"MemoryService/Write\",code=\"invalid_argument\"}";
    assert!(!text.contains(ok) && text.contains(refused), "{text}");
    serves_still(&server).await;
}

#[tokio::test]
async fn s2_a_head_that_is_too_large_is_refused_and_the_server_goes_on() {
    let server = TestServer::start().await;
    let mut grpc = tonic::client::Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    for (fields, bytes) in [(1, 60_000), (1_000, 100)] {
        let mut request = crate::access::raw::request(None, Vec::new());
        for number in 0..fields {
            let name: tonic::metadata::MetadataKey<_> = format!("x-{number}").parse().unwrap();
            request.metadata_mut().insert(name, "a".repeat(bytes).parse().unwrap());
        }
        let path = http::uri::PathAndQuery::from_static("/hindsight.v1.MemoryService/List");
        let mut grpc = tonic::client::Grpc::new(server.channel().await);
        grpc.ready().await.unwrap();
        assert!(grpc.unary(request, path, crate::access::raw::Bytes).await.is_err(), "{fields} fields");
    }
    serves_still(&server).await;
}
