//! Every call on the memories of one namespace: writing, reading, changing, learning, sessions and watching each have a file.

mod change;
mod learn;
mod purge;
mod read;
mod rules;
mod session;
mod settings;
mod watch;
mod write;

use std::sync::Arc;
use std::time::Duration;

use hindsight_core::Namespace;

pub use change::{ForgetMode, UpdateOptions};
pub use learn::Feedback;
pub use rules::{ConsolidateOptions, RuleQuery, SummarizeOptions};
pub use session::{SessionEpisode, SessionHandle};
pub use watch::{Change, Told, Watch, WatchBuilder, WatchFrom};
pub use write::{BatchOptions, WriteOptions};

use crate::request_id;
use crate::transport::{How, Transport};

/// A namespace of a server. Clones are cheap and share the connection.
#[derive(Debug, Clone)]
pub struct NamespaceHandle {
    transport: Arc<Transport>,
    namespace: Namespace,
    timeout: Duration,
    with_derived: bool,
}

impl NamespaceHandle {
    pub(crate) fn new(transport: Arc<Transport>, namespace: Namespace, timeout: Duration) -> NamespaceHandle {
        NamespaceHandle { transport, namespace, timeout, with_derived: false }
    }

    /// The namespace.
    #[must_use]
    pub fn name(&self) -> &Namespace {
        &self.namespace
    }

    /// The same namespace with another deadline for each call, its retries included.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> NamespaceHandle {
        NamespaceHandle { timeout, ..self.clone() }
    }

    /// The same namespace; what this handle forgets and purges takes with it what was made from it (`derived_from`), and from
    /// that in turn.
    #[must_use]
    pub fn with_derived(&self) -> NamespaceHandle {
        NamespaceHandle { with_derived: true, ..self.clone() }
    }

    /// How a mutation is sent, and with which request id. What is only checked changes nothing and needs none.
    fn how(&self, given: Option<String>, validate_only: bool) -> (How, Option<String>) {
        if validate_only {
            return (How::read(self.timeout), given);
        }
        let request_id = given.or_else(request_id::new);
        (How::mutation(self.timeout, request_id.as_ref()), request_id)
    }
}
