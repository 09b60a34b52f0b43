//! One request over HTTP/1.1 without TLS, and its answer. Enough to ask a server of this machine how it is, and no more.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest wait for the whole answer.
const WAIT: Duration = Duration::from_secs(3);
/// Longest answer that is read, in bytes.
const BYTES_MAX: u64 = 1024 * 1024;

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Asks `address` (`host:port`), with these headers beside the needed ones.
pub(super) async fn ask(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, String)],
    body: &str,
) -> io::Result<Answer> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(head.as_bytes()).await?;
        let mut bytes = Vec::new();
        stream.take(BYTES_MAX).read_to_end(&mut bytes).await?;
        read(&String::from_utf8_lossy(&bytes))
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "what answers does not speak HTTP"))
    };
    timeout(WAIT, exchange).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

fn read(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    Some(Answer { status, headers, body: body.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_apart_and_what_is_none_is_refused() {
        let answer = read("HTTP/1.1 503 Service Unavailable\r\nDate: x\r\n\r\n{\"a\":1}").unwrap();
        assert_eq!(
            (answer.status, answer.header("date"), answer.body.as_str()),
            (503, Some("x"), "{\"a\":1}")
        );
        assert!(read("SSH-2.0-OpenSSH\r\n\r\n").is_none());
        assert!(read("HTTP/1.1 abc\r\n\r\n").is_none());
    }
}
