//! The client: one connection to one server, cheap to clone and to share.

use std::sync::Arc;
use std::time::Duration;

use hindsight_core::Invalid;
use hindsight_core::limits::{NAMESPACES_MAX, PAGE_SIZE_MAX};
use hindsight_proto::v1;

use crate::transport::{How, Transport};
use crate::{ClientBuilder, Error, NamespaceHandle, NamespaceSummary, ServerInfo};

/// A connection to a server. Clones share it; it comes back by itself when the server was away.
#[derive(Debug, Clone)]
pub struct Client {
    transport: Arc<Transport>,
    timeout: Duration,
}

impl Client {
    pub(crate) fn new(transport: Transport, timeout: Duration) -> Client {
        Client { transport: Arc::new(transport), timeout }
    }

    /// The deadline of a call.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Connects to `url` with the default settings, and asks the server who it is.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), hindsight_client::Error> {
    /// let client = hindsight_client::Client::connect("http://127.0.0.1:7420").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Connect`] with what would help, or what the server answers.
    pub async fn connect(url: &str) -> Result<Client, Error> {
        ClientBuilder::new().connect(url).await
    }

    /// Makes a client with the default settings that connects with its first call.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), hindsight_client::Error> {
    /// let client = hindsight_client::Client::connect_lazy("http://127.0.0.1:7420")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Connect`] when `url` can't be that of a server, or there is no Tokio runtime.
    pub fn connect_lazy(url: &str) -> Result<Client, Error> {
        ClientBuilder::new().connect_lazy(url)
    }

    /// A handle on one namespace. A namespace comes into being with the first memory written to it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), hindsight_client::Error> {
    /// # let client = hindsight_client::Client::connect_lazy("http://127.0.0.1:7420")?;
    /// let ops = client.namespace("ops")?;
    /// assert!(client.namespace("../etc").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] when the name can't be that of a namespace.
    pub fn namespace(&self, name: &str) -> Result<NamespaceHandle, Error> {
        let namespace = hindsight_proto::call::namespace(name)?;
        Ok(NamespaceHandle::new(Arc::clone(&self.transport), namespace, self.timeout))
    }

    /// Every namespace of the server, in alphabetical order.
    ///
    /// ```no_run
    /// # async fn example(client: hindsight_client::Client) -> Result<(), hindsight_client::Error> {
    /// for namespace in client.namespaces().await? {
    ///     println!("{}: {} memories", namespace.name, namespace.memories);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn namespaces(&self) -> Result<Vec<NamespaceSummary>, Error> {
        let mut found = Vec::new();
        let mut page_token = String::new();
        while found.len() < NAMESPACES_MAX {
            let page_size = i32::try_from(PAGE_SIZE_MAX).unwrap_or(i32::MAX);
            let request = v1::ListNamespacesRequest { page_size, page_token };
            let page = self
                .transport
                .call(How::read(self.timeout), request, |request| {
                    let mut service = self.transport.namespaces();
                    async move { service.list_namespaces(request).await }
                })
                .await?;
            let summaries: Result<Vec<NamespaceSummary>, Invalid> =
                page.namespaces.iter().map(NamespaceSummary::from_wire).collect();
            found.extend(summaries.map_err(Error::unreadable)?);
            if page.next_page_token.is_empty() {
                break;
            }
            page_token = page.next_page_token;
        }
        Ok(found)
    }

    /// Who answers: version, log position, embedding model.
    ///
    /// ```no_run
    /// # async fn example(client: hindsight_client::Client) -> Result<(), hindsight_client::Error> {
    /// println!("server {}", client.server_info().await?.version);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn server_info(&self) -> Result<ServerInfo, Error> {
        let answer = self
            .transport
            .call(How::read(self.timeout), v1::GetServerInfoRequest {}, |request| {
                let mut service = self.transport.admin();
                async move { service.get_server_info(request).await }
            })
            .await?;
        ServerInfo::from_wire(answer).map_err(Error::unreadable)
    }
}
