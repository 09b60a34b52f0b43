//! Where to connect, and what is wrong when that fails.

use std::fmt;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tonic::transport::Uri;

use crate::Error;

/// The port that a server listens on for gRPC unless it is told otherwise.
const GRPC_PORT: u16 = 7420;
/// The port of JSON, metrics and probes.
const HTTP_PORT: u16 = 7421;
/// How long the look at a server that did not answer may take, step by step.
const PROBE_TIMEOUT: Duration = Duration::from_millis(500);

/// Why there is no connection, and what would help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectHint {
    /// The URL has no scheme.
    MissingScheme,
    /// The server speaks TLS only.
    NeedsTls,
    /// The server does not speak TLS.
    NoTls,
    /// There is no agreement on keys: the certificate of one side does not suit the other.
    Certificate,
    /// The certificates that were given can't be read.
    BadCertificate,
    /// No certificates of authorities are known.
    NoAuthorities,
    /// The URL is none, or has a part that a server's address does not have.
    BadUrl,
    /// The name of the host is not known.
    UnknownHost,
    /// Nothing listens on the port.
    NothingListens,
    /// There was no answer in time.
    NoAnswer,
    /// It is the port for HTTP.
    HttpPort,
    /// Something listens that is no HindsightDB server.
    NotGrpc,
    /// There is no Tokio runtime.
    NoRuntime,
    /// A call that waits was made inside a Tokio runtime.
    InsideRuntime,
}

impl ConnectHint {
    /// Whether it may be over by itself.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        matches!(self, ConnectHint::NothingListens | ConnectHint::NoAnswer)
    }
}

impl fmt::Display for ConnectHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConnectHint::MissingScheme => {
                "the URL has no scheme: write http://HOST:PORT, such as http://127.0.0.1:7420"
            }
            ConnectHint::NeedsTls => "that server speaks TLS only: write https://",
            ConnectHint::NoTls => "that server does not speak TLS: write http://",
            ConnectHint::Certificate => {
                "no agreement with that server's TLS: name the certificate of who signed the server's (--tls-ca), the name that it \
                 is for (--tls-domain), and your own certificate where the server asks for one (--tls-client-cert, --tls-client-key)"
            }
            ConnectHint::BadCertificate => "the certificates or the key that were given are no PEM that can be used",
            ConnectHint::NoAuthorities => {
                "this system has no certificates of authorities: name that of who signed the server's (--tls-ca)"
            }
            ConnectHint::BadUrl => {
                "that is not the URL of a server: write http://HOST:PORT, such as http://127.0.0.1:7420"
            }
            ConnectHint::UnknownHost => "the name of the host is not known: check its spelling",
            ConnectHint::NothingListens => "nothing listens there: is the server running, and on this port?",
            ConnectHint::NoAnswer => "no answer in time: check the host, the port and the firewall between",
            ConnectHint::HttpPort => "7421 is the HTTP port, gRPC is 7420",
            ConnectHint::NotGrpc => {
                "what listens there is no HindsightDB gRPC port: check the port (7420 unless changed)"
            }
            ConnectHint::InsideRuntime => {
                "a call that waits would stop the Tokio runtime that it is made in: use hindsight_client::Client there"
            }
            ConnectHint::NoRuntime => "there is no Tokio runtime: make the client inside one",
        })
    }
}

/// The address of a server.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The URL as the caller wrote it.
    url: String,
    host: String,
    port: u16,
    encrypted: bool,
}

impl Target {
    /// Reads a URL; a port that is left out is [`GRPC_PORT`].
    pub(crate) fn parse(url: &str) -> Result<Target, Error> {
        let refuse = |hint| Err(Error::Connect { url: url.to_owned(), hint });
        let Ok(uri) = url.trim().parse::<Uri>() else {
            return refuse(if url.contains("://") {
                ConnectHint::BadUrl
            } else {
                ConnectHint::MissingScheme
            });
        };
        let encrypted = match uri.scheme_str() {
            None => return refuse(ConnectHint::MissingScheme),
            Some("http") => false,
            Some("https") => true,
            Some(_) => return refuse(ConnectHint::BadUrl),
        };
        let plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
        match uri
            .authority()
            .map(|authority| (authority.host(), port_of(authority.as_str(), authority.host())))
        {
            Some((host, Some(port))) if plain && !host.is_empty() => {
                Ok(Target { url: url.to_owned(), host: host.to_owned(), port, encrypted })
            }
            _ => refuse(ConnectHint::BadUrl),
        }
    }

    /// The address in the form that the transport takes.
    pub(crate) fn uri(&self) -> String {
        let scheme = if self.encrypted { "https" } else { "http" };
        format!("{scheme}://{}:{}", self.host, self.port)
    }

    /// Whether the connection is encrypted.
    pub(crate) fn encrypted(&self) -> bool {
        self.encrypted
    }

    /// The error of a connection to this server.
    pub(crate) fn error(&self, hint: ConnectHint) -> Error {
        Error::Connect { url: self.url.clone(), hint }
    }

    /// The error of a server that speaks HTTP, but not ours.
    pub(crate) fn not_grpc(&self) -> Error {
        self.error(if self.port == HTTP_PORT { ConnectHint::HttpPort } else { ConnectHint::NotGrpc })
    }

    /// Looks at a server that gave no answer, for at most a second and a half. Gives nothing when the cause is not at
    /// the door.
    pub(crate) async fn explain(&self) -> Option<Error> {
        // IPv6 hosts stand in brackets in a URL, and only there.
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        match timeout(PROBE_TIMEOUT, tokio::net::lookup_host((host, self.port))).await {
            Err(_) => return Some(self.error(ConnectHint::NoAnswer)),
            Ok(Err(_)) => return Some(self.error(ConnectHint::UnknownHost)),
            Ok(Ok(_)) => {}
        }
        match timeout(PROBE_TIMEOUT, TcpStream::connect((host, self.port))).await {
            Err(_) => Some(self.error(ConnectHint::NoAnswer)),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                Some(self.error(ConnectHint::NothingListens))
            }
            Ok(Err(_)) => Some(self.error(ConnectHint::NoAnswer)),
            Ok(Ok(stream)) => {
                let tongue = timeout(PROBE_TIMEOUT, tongue(stream)).await.unwrap_or(Tongue::Unknown);
                match (tongue, self.encrypted) {
                    (Tongue::Http1, false) => Some(self.not_grpc()),
                    (Tongue::Tls, false) => Some(self.error(ConnectHint::NeedsTls)),
                    (Tongue::Http1, true) => Some(self.error(ConnectHint::NoTls)),
                    (Tongue::Tls, true) => Some(self.error(ConnectHint::Certificate)),
                    (Tongue::Unknown, _) => None,
                }
            }
        }
    }
}

/// The port of `host:port`; none when that is none, or a user stands before the host.
fn port_of(authority: &str, host: &str) -> Option<u16> {
    match authority.strip_prefix(host)?.strip_prefix(':') {
        Some(port) => port.parse().ok().filter(|port| *port != 0),
        None => (authority == host).then_some(GRPC_PORT),
    }
}

/// What the other side speaks.
enum Tongue {
    Http1,
    Tls,
    Unknown,
}

/// What the other side answers to a question of HTTP/1: one that speaks it answers in kind (our gRPC port too, to say that it is
/// the wrong one), TLS with an alert.
async fn tongue(mut stream: TcpStream) -> Tongue {
    let asked = stream.write_all(b"GET / HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n\r\n").await;
    let mut answer = [0; 5];
    if asked.is_err() || stream.read_exact(&mut answer).await.is_err() {
        return Tongue::Unknown;
    }
    match &answer {
        b"HTTP/" => Tongue::Http1,
        // An alert, of whatever version (RFC 8446, 5.1).
        [0x15, 0x03, ..] => Tongue::Tls,
        _ => Tongue::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(url: &str) -> ConnectHint {
        match Target::parse(url).unwrap_err() {
            Error::Connect { hint, url: given } => {
                assert_eq!(given, url);
                hint
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_url_that_is_none_says_what_would_be_one() {
        for url in ["127.0.0.1:7420", "localhost", "localhost:7420", "", "[::1]:7420"] {
            assert_eq!(hint(url), ConnectHint::MissingScheme, "{url:?}");
        }
        for url in [
            "ftp://host:1",
            "http://host:7420/v1",
            "http://host:7420?x=1",
            "http://",
            "http://host:99999",
            "http://me@host:1",
        ] {
            assert_eq!(hint(url), ConnectHint::BadUrl, "{url:?}");
        }
        assert!(hint("host:1").to_string().contains("http://127.0.0.1:7420"));
    }

    #[test]
    fn the_port_may_be_left_out() {
        assert_eq!(Target::parse("http://localhost").unwrap().uri(), "http://localhost:7420");
        assert_eq!(Target::parse("http://[::1]:9/").unwrap().uri(), "http://[::1]:9");
        assert_eq!(Target::parse("https://db.example").unwrap().uri(), "https://db.example:7420");
    }
}
