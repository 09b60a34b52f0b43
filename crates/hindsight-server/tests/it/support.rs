//! A server on a directory of its own, and the ways to speak to it.

use std::path::Path;

use hindsight_client::{Client, Draft, NamespaceHandle};
use hindsight_proto::v1::memory_service_client::MemoryServiceClient;
use hindsight_server::{Config, Running, Server};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::transport::Channel;

pub(crate) struct TestServer {
    pub(crate) running: Running,
    pub(crate) dir: TempDir,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Answer {
    /// The names of the fields that were refused.
    pub(crate) fn fields(&self) -> Vec<&str> {
        let violations = self.body["violations"].as_array().unwrap_or_else(|| panic!("{self:?}"));
        violations.iter().map(|violation| violation["field"].as_str().unwrap()).collect()
    }
}

pub(crate) fn config(data: &Path) -> Config {
    Config {
        data: data.to_owned(),
        listen: "127.0.0.1:0".parse().unwrap(),
        http: "127.0.0.1:0".parse().unwrap(),
        ..Config::default()
    }
}

impl TestServer {
    pub(crate) async fn start() -> TestServer {
        TestServer::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> TestServer {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(dir.path());
        change(&mut config);
        let running = Server::start(&config).await.unwrap();
        TestServer { running, dir }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(&format!("http://{}", self.running.grpc_addr())).await.unwrap()
    }

    pub(crate) async fn ops(&self) -> NamespaceHandle {
        self.client().await.namespace("ops").unwrap()
    }

    pub(crate) async fn channel(&self) -> Channel {
        Channel::from_shared(format!("http://{}", self.running.grpc_addr())).unwrap().connect().await.unwrap()
    }

    pub(crate) async fn wire(&self) -> MemoryServiceClient<Channel> {
        MemoryServiceClient::new(self.channel().await).max_encoding_message_size(64 << 20)
    }

    pub(crate) async fn http(&self, method: &str, path: &str, body: Value) -> Answer {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        self.http_raw(method, path, &[], text.as_bytes()).await
    }

    pub(crate) async fn http_raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let (status, head, body) = self.http_text(method, path, headers, body).await;
        let body = if body.is_empty() { Value::Null } else { serde_json::from_str(&body).unwrap() };
        Answer { status, head, body }
    }

    /// As [`TestServer::http_raw`], with a body that need not be JSON: status, head and body.
    pub(crate) async fn http_text(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.running.http_addr()).await.unwrap();
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str("host: 127.0.0.1\r\n");
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).await.unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    /// What the namespace `ops` holds, also what is forgotten, as its contents in alphabetical order: ids of one
    /// millisecond have no order of their own.
    pub(crate) async fn contents(&self) -> Vec<String> {
        let states = json!({"namespace": "ops",
            "states": ["active", "superseded", "archived", "quarantined", "forgotten"]});
        let answer = self.http("POST", "/memory/list", states).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let memories = answer.body["memories"].as_array().unwrap();
        let contents = memories.iter().map(|memory| memory["content"].as_str().unwrap().to_owned());
        let mut contents: Vec<String> = contents.collect();
        contents.sort();
        contents
    }
}

pub(crate) fn draft(content: &str) -> Draft {
    Draft { content: content.to_owned(), ..Draft::default() }
}
