//! The way to the server: made lazily, so that the first call says what is wrong with it.

use std::path::Path;
use std::time::Duration;

use hindsight_client::{Client, ClientBuilder, Error, NamespaceHandle};
use hindsight_core::{Namespace, time::Span};

use crate::cli::TlsFlags;
use crate::failure::Failure;
use crate::output::tell;
use crate::profile::Globals;

/// A client, and the namespace that the command line names.
pub(crate) struct Connection {
    client: Client,
    namespace: Option<Namespace>,
    server: String,
}

impl Connection {
    /// A connection to the server that the flags name. It needs a Tokio runtime.
    pub(crate) fn new(globals: Globals) -> Result<Connection, Failure> {
        let client = client_of(&globals.server, &globals)?;
        Ok(Connection { client, namespace: globals.namespace, server: globals.server })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The URL of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The namespace to work in. There is no default: a memory must not end up where nobody looks for it.
    pub(crate) fn namespace(&self) -> Result<&Namespace, Failure> {
        self.namespace.as_ref().ok_or(Failure::NoNamespace)
    }

    /// The namespace to work in, ready for calls.
    pub(crate) fn memories(&self) -> Result<NamespaceHandle, Failure> {
        self.memories_of(self.namespace()?)
    }

    /// Any namespace, ready for calls.
    pub(crate) fn memories_of(&self, namespace: &Namespace) -> Result<NamespaceHandle, Failure> {
        Ok(self.client.namespace(namespace.as_str())?)
    }

    /// Says whether an answer is empty because the namespace is, or because of the filter.
    pub(crate) async fn say_why_nothing(&self) -> Result<(), Failure> {
        let namespace = self.namespace()?;
        if self.holds_nothing().await? {
            tell(&format!("namespace {namespace} holds nothing: `hindsight namespaces` names those that do"));
        } else {
            tell(&format!("the filter allows no memory of namespace {namespace}"));
        }
        Ok(())
    }

    async fn holds_nothing(&self) -> Result<bool, Failure> {
        match self.memories()?.stats().await {
            Ok(stats) => Ok(stats.by_kind.iter().all(|(_, count)| *count == 0)),
            Err(Error::NotFound { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

/// A client for the server that the flags name, with their token; it connects with its first call.
pub(crate) fn client_of(server: &str, globals: &Globals) -> Result<Client, Failure> {
    let mut builder = builder(globals.timeout);
    if let Some(token) = token(globals)? {
        builder = builder.token(token);
    }
    let TlsFlags { tls_ca, tls_domain, tls_client_cert, tls_client_key } = &globals.tls;
    if let Some(path) = tls_ca {
        builder = builder.tls_ca(read(path)?);
    }
    if let Some(domain) = tls_domain {
        builder = builder.tls_domain(domain);
    }
    if let (Some(certificate), Some(key)) = (tls_client_cert, tls_client_key) {
        builder = builder.tls_identity(read(certificate)?, read_text(key)?);
    }
    Ok(builder.connect_lazy(server)?)
}

/// The token of the flags; one that is named outright goes before that of a file.
pub(crate) fn token(globals: &Globals) -> Result<Option<String>, Failure> {
    match (&globals.token, &globals.token_file) {
        (Some(token), _) => Ok(Some(token.clone())),
        (None, Some(path)) => read_text(path).map(Some),
        (None, None) => Ok(None),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|source| Failure::Read { name: path.display().to_string(), source })
}

fn read_text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|source| Failure::Read { name: path.display().to_string(), source })
}

/// A client for one server of this program's own, which needs no token; it connects with its first call.
pub(crate) fn client(server: &str, timeout: Span) -> Result<Client, Failure> {
    Ok(builder(timeout).connect_lazy(server)?)
}

fn builder(timeout: Span) -> ClientBuilder {
    let timeout = Duration::from_millis(u64::try_from(timeout.as_ms()).unwrap_or(u64::MAX));
    // A server that never answers must not take longer to be found out than a call may take.
    let connect_timeout = timeout.min(Duration::from_secs(5));
    ClientBuilder::new().timeout(timeout).connect_timeout(connect_timeout)
}
