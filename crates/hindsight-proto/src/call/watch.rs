//! Watching a namespace.

use hindsight_core::{Invalid, Lsn, Namespace, WatchRequest};

use crate::gather::Gather;
use crate::{text, v1, words};

/// A request to be told of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchCall {
    /// The namespace to watch.
    pub namespace: Namespace,
    /// What shall be told.
    pub watch: WatchRequest,
}

impl WatchCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::WatchRequest) -> Result<WatchCall, Invalid> {
        let mut gather = Gather::default();
        let watch = WatchRequest {
            after: wire.after_revision.map(Lsn),
            agent_id: text::optional(wire.agent_id),
            kinds: gather.keep(words::list("kinds", &wire.kinds)),
            agents: wire.agents,
            changes: gather.keep(words::list("changes", &wire.changes)),
            ids_only: wire.ids_only,
        };
        gather.keep(watch.check());
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        super::finish(gather, namespace, |namespace| WatchCall { namespace, watch })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::WatchRequest {
        let WatchRequest { after, agent_id, kinds, agents, changes, ids_only } = self.watch;
        v1::WatchRequest {
            namespace: self.namespace.to_string(),
            after_revision: after.map(|after| after.0),
            agent_id: text::or_empty(agent_id),
            kinds: words::numbers(&kinds),
            agents,
            changes: words::numbers(&changes),
            ids_only,
        }
    }
}
