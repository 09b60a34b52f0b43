//! The same calls for programs without a runtime: each waits until it is answered.
//!
//! A client has one thread of its own, which keeps the connection alive between two calls. Inside a Tokio runtime waiting would
//! stop that runtime, so there every call is refused with [`ConnectHint::InsideRuntime`]; use [`crate::Client`] there.
//!
//! ```no_run
//! use hindsight_client::{Draft, Error, blocking};
//!
//! # fn main() -> Result<(), Error> {
//! let client = blocking::Client::connect("http://127.0.0.1:7420")?;
//! let home = client.namespace("home")?;
//! home.write(Draft { content: "Mei is allergic to peanuts".to_owned(), ..Draft::default() })?;
//! for hit in home.recall("what is Mei allergic to")?.hits {
//!     println!("{:.2} {}", hit.score, hit.memory.content);
//! }
//! # Ok(())
//! # }
//! ```

mod namespace;

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};

pub use namespace::NamespaceHandle;

use crate::{ClientBuilder, ConnectHint, Error, NamespaceSummary, ServerInfo};

/// A connection to a server. Clones share it and its thread.
#[derive(Debug, Clone)]
pub struct Client {
    waiter: Arc<Waiter>,
    client: crate::Client,
}

/// The runtime that calls are waited for in.
#[derive(Debug)]
struct Waiter {
    /// Taken out when it is dropped.
    runtime: Option<Runtime>,
    url: String,
}

impl Waiter {
    fn refused(&self, hint: ConnectHint) -> Error {
        Error::Connect { url: self.url.clone(), hint }
    }

    fn wait<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        if Handle::try_current().is_ok() {
            return Err(self.refused(ConnectHint::InsideRuntime));
        }
        match &self.runtime {
            Some(runtime) => runtime.block_on(call),
            None => Err(self.refused(ConnectHint::NoRuntime)),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        // A runtime that is dropped waits for its thread, which panics inside another runtime; this does not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Client {
    /// Connects to `url` with the default settings, and asks the server who it is.
    ///
    /// # Errors
    /// [`Error::Connect`] with what would help, or what the server answers.
    pub fn connect(url: &str) -> Result<Client, Error> {
        Client::of(ClientBuilder::new(), url)
    }

    /// As [`Client::connect`], with settings.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use hindsight_client::{ClientBuilder, Error, blocking};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let settings = ClientBuilder::new().timeout(Duration::from_secs(2)).token("hs_…");
    /// let client = blocking::Client::of(settings, "http://127.0.0.1:7420")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub fn of(settings: ClientBuilder, url: &str) -> Result<Client, Error> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("hindsight-client")
            .enable_all()
            .build();
        let waiter = Arc::new(Waiter { runtime: runtime.ok(), url: url.to_owned() });
        let client = waiter.wait(settings.connect(url))?;
        Ok(Client { waiter, client })
    }

    /// A handle on one namespace.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the name can't be that of a namespace.
    pub fn namespace(&self, name: &str) -> Result<NamespaceHandle, Error> {
        Ok(NamespaceHandle::new(self.clone(), self.client.namespace(name)?))
    }

    /// Every namespace of the server, in alphabetical order.
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub fn namespaces(&self) -> Result<Vec<NamespaceSummary>, Error> {
        self.wait(self.client.namespaces())
    }

    /// Who answers: version, log position, embedding model.
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub fn server_info(&self) -> Result<ServerInfo, Error> {
        self.wait(self.client.server_info())
    }

    /// The client whose calls these are, for those that have no counterpart here; [`Client::wait`] waits for them.
    #[must_use]
    pub fn asynchronous(&self) -> &crate::Client {
        &self.client
    }

    /// Waits for any call of the crate.
    ///
    /// ```no_run
    /// # fn example(client: hindsight_client::blocking::Client) -> Result<(), hindsight_client::Error> {
    /// let ops = client.asynchronous().namespace("ops")?;
    /// let found = client.wait(ops.recall("how do we deploy").top_k(3).explain().send())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of the call, and [`ConnectHint::InsideRuntime`].
    pub fn wait<T>(&self, call: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.waiter.wait(call)
    }
}
