//! S4: who sends a byte at a time, and who does not read what it asked for.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::serves_still;
use crate::support::{TestServer, draft};

#[tokio::test]
async fn s4_a_body_that_comes_a_byte_at_a_time_is_ended() {
    let server = TestServer::with(|config| config.timeouts.request_ms = 300).await;
    let mut stream = TcpStream::connect(server.running.http_addr()).await.unwrap();
    let head = "POST /memory/write HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.split();
    let drip = async {
        while write.write_all(b" ").await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let mut answer = String::new();
    tokio::select! {
        () = drip => {}
        _ = read.read_to_string(&mut answer) => {}
    }
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 504"), "{answer}");
    serves_still(&server).await;
}

#[tokio::test]
async fn s4_a_head_that_comes_a_byte_at_a_time_is_ended() {
    let server = TestServer::with(|config| config.timeouts.first_frame_ms = 300).await;
    let mut stream = TcpStream::connect(server.running.http_addr()).await.unwrap();
    let mut sent = 0;
    for byte in "GET /health HTTP/1.1\r\nx-filler: ".bytes().chain(std::iter::repeat(b'a')) {
        if stream.write_all(&[byte]).await.is_err() {
            break;
        }
        sent += 1;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(sent > 1);
    serves_still(&server).await;
}

#[tokio::test]
async fn s4_readers_who_do_not_read_hold_up_nobody() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    for number in 0..10 {
        ops.write(draft(&format!("{number} {}", "a long note ".repeat(2_000)))).await.unwrap();
    }
    serves_still(&server).await;
    // Each asks for more than its small buffer takes, and reads none of it.
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let mut stream = socket.connect(server.running.http_addr()).await.unwrap();
        for _ in 0..3 {
            let list = "GET /memory/list?namespace=ops HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
            stream.write_all(list.as_bytes()).await.unwrap();
        }
        stalled.push(stream);
    }
    serves_still(&server).await;
    drop(stalled);
    serves_still(&server).await;
}
