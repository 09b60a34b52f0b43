//! The settings of a client, each with a default that fits a server in the same house.

use std::time::Duration;

use crate::connect::Target;
use crate::locks::{Secret, Tls};
use crate::retry::Retry;
use crate::transport::Transport;
use crate::{Client, Error};

/// Makes a [`Client`]. The defaults are those of the table at the top of this crate.
///
/// ```no_run
/// use std::time::Duration;
/// use hindsight_client::{ClientBuilder, Error};
///
/// # async fn example() -> Result<(), Error> {
/// let client = ClientBuilder::new().timeout(Duration::from_secs(2)).connect("http://127.0.0.1:7420").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ClientBuilder {
    pub(crate) timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) keepalive_interval: Duration,
    pub(crate) keepalive_timeout: Duration,
    pub(crate) tcp_keepalive: Duration,
    pub(crate) retry: Retry,
    pub(crate) sent_bytes_max: usize,
    pub(crate) received_bytes_max: usize,
    pub(crate) token: Option<Secret>,
    pub(crate) tls: Tls,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        ClientBuilder {
            timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(5),
            keepalive_interval: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(10),
            tcp_keepalive: Duration::from_secs(60),
            retry: Retry::default(),
            sent_bytes_max: hindsight_core::limits::MESSAGE_BYTES_MAX,
            received_bytes_max: 16 * 1024 * 1024,
            token: None,
            tls: Tls::default(),
        }
    }
}

impl ClientBuilder {
    /// The defaults.
    #[must_use]
    pub fn new() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// The deadline of a call with all its retries; the server is told of it.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> ClientBuilder {
        ClientBuilder { timeout, ..self }
    }

    /// How long a connection may take to come up.
    #[must_use]
    pub fn connect_timeout(self, connect_timeout: Duration) -> ClientBuilder {
        ClientBuilder { connect_timeout, ..self }
    }

    /// How often an idle connection is tried with an HTTP/2 ping, and how long its answer may take before the
    /// connection counts as dead.
    #[must_use]
    pub fn keepalive(self, interval: Duration, timeout: Duration) -> ClientBuilder {
        ClientBuilder { keepalive_interval: interval, keepalive_timeout: timeout, ..self }
    }

    /// How long a connection is silent before TCP itself tries it.
    #[must_use]
    pub fn tcp_keepalive(self, tcp_keepalive: Duration) -> ClientBuilder {
        ClientBuilder { tcp_keepalive, ..self }
    }

    /// How often a call is tried at most while the server is unavailable; 1 switches retries off.
    #[must_use]
    pub fn attempts(mut self, attempts: usize) -> ClientBuilder {
        self.retry.attempts = attempts.max(1);
        self
    }

    /// The largest message that is sent, and the largest that is received, in bytes. A server that is set to its
    /// defaults takes 4 MiB and sends 16 MiB.
    #[must_use]
    pub fn message_bytes_max(self, sent: usize, received: usize) -> ClientBuilder {
        ClientBuilder { sent_bytes_max: sent, received_bytes_max: received, ..self }
    }

    /// The token that every call carries; white space around it is left away.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let token = std::fs::read_to_string("hindsight.token")?;
    /// let ca = std::fs::read("ca.pem")?;
    /// let builder = hindsight_client::ClientBuilder::new().token(token).tls_ca(ca);
    /// let client = builder.connect("https://memory.example:7420").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> ClientBuilder {
        ClientBuilder { token: Some(Secret(token.into())), ..self }
    }

    /// Certificates of the authorities that may have signed that of an `https://` server, as PEM. Without them those of the system
    /// count.
    #[must_use]
    pub fn tls_ca(mut self, pem: impl Into<Vec<u8>>) -> ClientBuilder {
        self.tls.ca = Some(pem.into());
        self
    }

    /// The name that the server's certificate is for, when it is not the one in the URL.
    #[must_use]
    pub fn tls_domain(mut self, domain: impl Into<String>) -> ClientBuilder {
        self.tls.domain = Some(domain.into());
        self
    }

    /// The client's own certificate and its key, as PEM, for a server that asks for one (mutual TLS).
    #[must_use]
    pub fn tls_identity(
        mut self,
        certificate_pem: impl Into<Vec<u8>>,
        key_pem: impl Into<String>,
    ) -> ClientBuilder {
        self.tls.identity = Some((certificate_pem.into(), Secret(key_pem.into())));
        self
    }

    /// Connects to `url`, such as `http://127.0.0.1:7420`, and asks the server who it is.
    ///
    /// # Errors
    /// [`Error::Connect`] with what would help, or what the server answers.
    pub async fn connect(self, url: &str) -> Result<Client, Error> {
        let client = self.connect_lazy(url)?;
        match client.server_info().await {
            // A server without our services: some other one, or our HTTP port.
            Err(Error::Server { reason, .. }) if reason == "UNIMPLEMENTED" => {
                Err(client.transport().target().not_grpc())
            }
            answer => answer.map(|_| client),
        }
    }

    /// Makes a client that connects with its first call. It has to be called inside a Tokio runtime.
    ///
    /// # Errors
    /// [`Error::Connect`] when `url` can't be that of a server, or there is no runtime.
    pub fn connect_lazy(self, url: &str) -> Result<Client, Error> {
        let target = Target::parse(url)?;
        let timeout = self.timeout;
        Ok(Client::new(Transport::new(target, &self)?, timeout))
    }
}
