//! What a server says about itself and its namespaces.

use hindsight_core::{Invalid, Lsn, Namespace, Settings, Timestamp};
use hindsight_proto::{call, settings, time, v1};
use serde::Serialize;

/// A server and what it runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Its version.
    pub version: String,
    /// The version of its format on disk.
    pub format: u32,
    /// When it started.
    pub started_at: Timestamp,
    /// Its log position.
    pub revision: Lsn,
    /// The model it embeds texts with, if it has one.
    pub embedding_model: Option<Model>,
    /// How many namespaces it holds.
    pub namespaces: u64,
    /// Why it refuses writes at present, as [`crate::Error::reason`] says it: `DISK_FULL` (forgets and reads go on) or
    /// `STORAGE_POISONED`. None while it takes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes_refused: Option<String>,
    /// Which namespaces are in memory, and what that takes; none for who may not know of every namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
}

/// How much memory namespaces take, and how often they came and went since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct MemoryUse {
    /// Bytes that namespaces in memory may take; 0 when that is any number.
    pub budget_bytes: u64,
    /// Bytes that they take, estimated.
    pub used_bytes: u64,
    /// Namespaces in memory.
    pub loaded: u64,
    /// Namespaces that are not.
    pub unloaded: u64,
    /// How often one was loaded.
    pub loads: u64,
    /// How often its index came from a snapshot.
    pub snapshot_loads: u64,
    /// How often a snapshot could not be used, so that the index was made of the records.
    pub snapshots_doubted: u64,
    /// How often one was let go of, because of the budget.
    pub evictions: u64,
}

/// An embedding model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Model {
    /// Its name.
    pub name: String,
    /// How many numbers its vectors have.
    pub dimension: u32,
}

/// A namespace and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamespaceSummary {
    /// Its name.
    pub name: Namespace,
    /// Its memories, without the forgotten ones.
    pub memories: u64,
}

/// A namespace with what is set about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NamespaceInfo {
    /// Its name.
    pub name: Namespace,
    /// Its memories, without the forgotten ones.
    pub memories: u64,
    /// Its settings.
    pub settings: Settings,
    /// The log position that the answer reflects, or that holds the change.
    pub revision: Lsn,
    /// The newest durable log position: a write that was acknowledged with a revision up to this one can't be lost.
    pub durable_revision: Lsn,
}

/// The graph over the vectors of a large namespace, and how good it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VectorGraph {
    /// Vectors that it was built from.
    pub covered: u64,
    /// Those of them that are gone.
    pub dead: u64,
    /// Memories with vectors that came after it was begun; they are scanned beside it.
    pub newer: u64,
    /// What it costs beside the vectors.
    pub bytes: u64,
    /// Of its last answers, how many were compared with the exact scan.
    pub sampled: u32,
    /// The share of what the scan found that those answers had, 0–1.
    pub recall: Option<f64>,
}

/// What a namespace holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NamespaceStats {
    /// Its name.
    pub namespace: Namespace,
    /// Memories by kind.
    pub by_kind: Vec<(String, u64)>,
    /// Memories by outcome.
    pub by_status: Vec<(String, u64)>,
    /// Memories by state.
    pub by_state: Vec<(String, u64)>,
    /// Memories with at least one vector.
    pub embedded: u64,
    /// The model that made its vectors, once there are any.
    pub embedding_model: Option<Model>,
    /// Distinct terms of its keyword index.
    pub terms: u64,
    /// When its oldest memory happened.
    pub oldest_at: Option<Timestamp>,
    /// When its newest memory happened.
    pub newest_at: Option<Timestamp>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
    /// The graph over its vectors; none while every search scans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_graph: Option<VectorGraph>,
}

impl ServerInfo {
    pub(crate) fn from_wire(wire: v1::GetServerInfoResponse) -> Result<ServerInfo, Invalid> {
        Ok(ServerInfo {
            version: wire.version,
            format: wire.format,
            started_at: time::required("started_at", wire.started_at.as_ref())?,
            revision: Lsn(wire.revision),
            embedding_model: model(wire.embedding_model, wire.dimension),
            namespaces: wire.namespaces,
            writes_refused: Some(wire.writes_refused).filter(|reason| !reason.is_empty()),
            memory: wire.memory.as_ref().map(MemoryUse::from_wire),
        })
    }
}

impl MemoryUse {
    fn from_wire(wire: &v1::MemoryUse) -> MemoryUse {
        MemoryUse {
            budget_bytes: wire.budget_bytes,
            used_bytes: wire.used_bytes,
            loaded: wire.loaded,
            unloaded: wire.unloaded,
            loads: wire.loads,
            snapshot_loads: wire.snapshot_loads,
            snapshots_doubted: wire.snapshots_doubted,
            evictions: wire.evictions,
        }
    }
}

impl NamespaceSummary {
    pub(crate) fn from_wire(wire: &v1::NamespaceSummary) -> Result<NamespaceSummary, Invalid> {
        Ok(NamespaceSummary { name: call::namespace(&wire.name)?, memories: wire.memories })
    }
}

impl NamespaceInfo {
    pub(crate) fn from_wire(wire: Option<v1::NamespaceInfo>) -> Result<NamespaceInfo, Invalid> {
        let wire = wire.ok_or_else(|| Invalid::one("namespace", "is missing"))?;
        Ok(NamespaceInfo {
            name: call::namespace(&wire.name)?,
            memories: wire.memories,
            settings: settings::from_wire(wire.settings)?,
            revision: Lsn(wire.revision),
            durable_revision: Lsn(wire.durable_revision),
        })
    }
}

impl NamespaceStats {
    pub(crate) fn from_wire(wire: v1::GetNamespaceStatsResponse) -> Result<NamespaceStats, Invalid> {
        let stats = wire.stats.ok_or_else(|| Invalid::one("stats", "is missing"))?;
        let counts =
            |counts: Vec<v1::Count>| counts.into_iter().map(|each| (each.name, each.count)).collect();
        Ok(NamespaceStats {
            namespace: call::namespace(&stats.namespace)?,
            by_kind: counts(stats.by_kind),
            by_status: counts(stats.by_status),
            by_state: counts(stats.by_state),
            embedded: stats.embedded,
            embedding_model: model(stats.embedding_model, stats.dimension),
            terms: stats.terms,
            oldest_at: time::optional("oldest_at", stats.oldest_at.as_ref())?,
            newest_at: time::optional("newest_at", stats.newest_at.as_ref())?,
            revision: Lsn(stats.revision),
            vector_graph: stats.vector_graph.map(|graph| VectorGraph {
                covered: graph.covered,
                dead: graph.dead,
                newer: graph.newer,
                bytes: graph.bytes,
                sampled: graph.sampled,
                recall: graph.recall,
            }),
        })
    }
}

fn model(name: String, dimension: u32) -> Option<Model> {
    (!name.is_empty()).then_some(Model { name, dimension })
}
