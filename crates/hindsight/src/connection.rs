//! The way to the server: made lazily, so that the first call says what is wrong with it.

use std::time::Duration;

use hindsight_client::{Client, ClientBuilder, Error, NamespaceHandle};
use hindsight_core::{Namespace, time::Span};

use crate::cli::Globals;
use crate::failure::Failure;
use crate::output::tell;

/// A client, and the namespace that the command line names.
pub(crate) struct Connection {
    client: Client,
    namespace: Option<Namespace>,
    server: String,
}

impl Connection {
    /// A connection to the server that the flags name. It needs a Tokio runtime.
    pub(crate) fn new(globals: Globals) -> Result<Connection, Failure> {
        let client = client(&globals.server, globals.timeout)?;
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

/// A client for one server, which connects with its first call.
pub(crate) fn client(server: &str, timeout: Span) -> Result<Client, Failure> {
    let timeout = Duration::from_millis(u64::try_from(timeout.as_ms()).unwrap_or(u64::MAX));
    // A server that never answers must not take longer to be found out than a call may take.
    let connect_timeout = timeout.min(Duration::from_secs(5));
    Ok(ClientBuilder::new().timeout(timeout).connect_timeout(connect_timeout).connect_lazy(server)?)
}
