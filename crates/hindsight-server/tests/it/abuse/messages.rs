//! S3: messages that say they are larger than they are, are cut off, nested without end, or become more than they were.

use tonic::transport::Channel;

use super::serves_still;
use crate::access::raw::outcome;
use crate::support::TestServer;

/// The most bytes of a message.
const MESSAGE_BYTES: usize = 4 << 20;

async fn refused(channel: &Channel, rpc: &str, message: Vec<u8>) -> String {
    let told = outcome(channel, rpc, None, message, false).await;
    let known =
        ["FIELD_INVALID", "MESSAGE_MALFORMED", "BATCH_TOO_LARGE", "CONTENT_TOO_LARGE", "MODEL_MISMATCH"];
    assert!(known.contains(&told.as_str()), "{rpc}: {told}");
    told
}

fn text(field: u8, bytes: &[u8]) -> Vec<u8> {
    let mut whole = vec![field << 3 | 2];
    let mut length = bytes.len();
    while length >= 128 {
        whole.push(u8::try_from(length % 128).unwrap() | 128);
        length /= 128;
    }
    whole.push(u8::try_from(length).unwrap());
    whole.extend_from_slice(bytes);
    whole
}

#[tokio::test]
async fn s3_empty_parts_without_number_are_refused() {
    let server = TestServer::start().await;
    let channel = server.channel().await;
    let namespace = text(1, b"ops");
    let room = MESSAGE_BYTES - namespace.len() - 16;
    for field in 2..=8_u8 {
        // Two bytes each: as many empty parts as a message holds.
        let parts = [field << 3 | 2, 0].repeat(room / 2);
        let message = [namespace.clone(), parts].concat();
        let told = outcome(&channel, "MemoryService/BatchWrite", None, message, false).await;
        assert_ne!(told, "INTERNAL", "field {field}");
    }
    let inside = text(2, &[0x5a, 0].repeat(room / 2 - 8));
    let told = outcome(&channel, "MemoryService/Write", None, [namespace, inside].concat(), false).await;
    assert_ne!(told, "INTERNAL");
    serves_still(&server).await;
}

#[tokio::test]
async fn s3_messages_inside_messages_are_read_to_a_bounded_depth() {
    let server = TestServer::start().await;
    let channel = server.channel().await;
    for depth in [101, 2_000, 100_000] {
        // RecallRequest.filter and Filter.not, by the numbers that the descriptor has.
        let (filter, not) = (field_of("RecallRequest", "filter"), field_of("Filter", "not"));
        let mut message = Vec::new();
        for _ in 0..depth {
            message = text(not, &message);
            if message.len() > MESSAGE_BYTES / 2 {
                break;
            }
        }
        let message = [text(1, b"ops"), text(filter, &message)].concat();
        refused(&channel, "MemoryService/Recall", message).await;
        let nested = format!("{}{}", "{\"not\":".repeat(depth), "}".repeat(depth));
        let body = format!("{{\"namespace\":\"ops\",\"query\":\"x\",\"filter\":{{\"not\":{nested}}}}}");
        let answer = server.http_raw("POST", "/memory/search", &[], body.as_bytes()).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let body = format!("{{\"namespace\":\"ops\",\"content\":\"x\",\"metadata\":{{\"a\":{lists}}}}}");
        assert_eq!(server.http_raw("POST", "/memory/write", &[], body.as_bytes()).await.status, 400);
    }
    serves_still(&server).await;
}

fn field_of(message: &str, field: &str) -> u8 {
    let message = super::values::Messages::read().by_name(message);
    let found = message.field.iter().find(|known| known.name() == field);
    u8::try_from(found.unwrap_or_else(|| panic!("no field {field}")).number()).unwrap()
}

#[tokio::test]
async fn s3_random_messages_are_answered_and_none_is_the_server_s_fault() {
    let server = TestServer::start().await;
    let channel = server.channel().await;
    let mut random = fastrand::Rng::with_seed(7);
    let rpcs = [
        "MemoryService/Write",
        "MemoryService/Recall",
        "MemoryService/BatchWrite",
        "SessionService/AppendTurns",
    ];
    for number in 0..2_000 {
        let length = random.usize(..200);
        let mut message = text(1, b"ops");
        message.extend((0..length).map(|_| random.u8(..)));
        let told = outcome(&channel, rpcs[number % rpcs.len()], None, message, false).await;
        assert!(
            !["INTERNAL", "STORAGE_FAILED"].contains(&told.as_str()) && !told.contains("Unknown"),
            "{told}"
        );
    }
    serves_still(&server).await;
}

#[tokio::test]
async fn s3_a_body_that_is_not_as_long_as_it_says_is_refused() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let server = TestServer::start().await;
    let port = server.running.http_addr();
    // JSON that is cut off, and one that says that it is longer than it is.
    for (length, body) in [(5, "{\"a\":"), (1 << 20, "{}"), (usize::MAX / 2, "{}")] {
        let mut stream = tokio::net::TcpStream::connect(port).await.unwrap();
        let head = format!(
            "POST /memory/write HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200") && !answer.starts_with(b"HTTP/1.1 5"), "{answer:?}");
    }
    serves_still(&server).await;
}
