//! What is measured, in the text format of Prometheus: `GET /metrics`.
//!
//! Names are an interface: `names.txt` lists them, with their types, and a test holds the answer against it. Labels come from lists of this
//! program; the one that does not, the namespace, is there for the largest ones only. Reading order: `calls` (every call),
//! `memory` (what calls did), `figures` (what is read off the engine when somebody asks), `process`.

mod calls;
mod figures;
mod memory;
mod process;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub(crate) use calls::{Called, Calls};
pub(crate) use figures::Source;
pub(crate) use memory::Memories;

/// The type of the text.
pub(crate) const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// Everything that one server counts.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    pub(crate) calls: Calls,
    pub(crate) memories: Memories,
    /// Connections that are open.
    pub(crate) connections: Gauge,
    /// Connections that were closed at once because their address had too many.
    pub(crate) connections_refused: Counter,
    /// When accepting failed for want of descriptors or memory.
    pub(crate) accept_failures: Counter,
}

impl Metrics {
    /// Nothing was counted. `format` is the version of the format on disk.
    pub(crate) fn new(format: u32) -> Arc<Metrics> {
        let mut root = Registry::default();
        let registry = root.sub_registry_with_prefix("hindsight");
        let build = [
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("format".into(), format.to_string()),
        ];
        registry.register(
            "build",
            "The program: its version, and that of the format on disk",
            Info::new(Vec::from(build)),
        );
        let (connections, refused, failures) = (Gauge::default(), Counter::default(), Counter::default());
        registry.register("connections", "Open connections of both ports", connections.clone());
        let help = "Connections closed at once because their address had too many open";
        registry.register("connections_refused", help, refused.clone());
        let help = "Times at which no connection could be accepted for want of descriptors or memory";
        registry.register("accept_failures", help, failures.clone());
        let calls = Calls::new(registry);
        let memories = Memories::new(registry);
        Arc::new(Metrics {
            registry: Mutex::new(root),
            calls,
            memories,
            connections,
            connections_refused: refused,
            accept_failures: failures,
        })
    }

    /// From now on the text also tells what is read off the engine.
    pub(crate) fn watch(&self, source: Source) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        registry.sub_registry_with_prefix("hindsight").register_collector(Box::new(source));
        // These have names of their own everywhere.
        registry.register_collector(Box::new(process::Process));
    }

    /// The whole text. It blocks for as long as it takes to look at every namespace.
    pub(crate) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        prometheus_text::encode(&mut text, &registry)?;
        Ok(text)
    }
}
