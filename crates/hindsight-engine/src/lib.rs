//! The spine: the only crate that joins log, indexes and query.
//!
//! **The life of a write.** [`Engine::write`] checks the draft and its vectors (nothing is trusted, whoever calls),
//! then takes the namespace's writer lock and decides everything there is to decide (id, time, version; whether the same
//! is known already, and what the new memory contradicts) into a [`Batch`](hindsight_core::Batch). The batch goes to the
//! log, which gives it its position; `apply` puts it into memory at once, under the same lock, so that memory follows the
//! order of the log. The answer is an [`Unsynced`] value: it can be looked at only after the log is synced up to that
//! position. One sync serves all that wait.
//!
//! **The life of a recall.** [`Engine::recall`] reads under the namespace's read lock: a prefix of the log, never a
//! gap. What it saw may be newer than the last sync, so its answer is an [`Unsynced`] value too: no reader is told
//! what a crash could take back.
//!
//! **Opening.** [`Engine::open`] learns from the manifest which namespaces lie in record files, and replays the rest of
//! the log through the same `apply`. It decides nothing. A stored namespace is loaded when it is first touched; only a
//! read of one memory by its id comes from its record file without that, once the directory of where memories lie is
//! open in the background.
//!
//! **Checkpoints.** When the log has grown, what changed is put into record files, and the log's oldest segments are
//! given up. Writes go on meanwhile.
//!
//! **Graphs.** A namespace that has outgrown the exact scan of its vectors gets a graph over them, built in the background
//! in steps of a few milliseconds, from rows that are copied a few at a time. What came later is scanned beside it.
//!
//! **Purges.** A purge is a batch like any other, and takes memories out of every answer at once. It is answered when no
//! byte of them is left on the disk; until then, and after any crash, what is left to do stands in the log or the ledger.
//!
//! **Sessions** are in memory alone; only the episode that a closed one becomes is written.
//!
//! **Watches.** The change feed is the log itself, read while it is written: what is durable, in order, and never with a gap.
//!
//! After a failed sync the log is poisoned: nothing is acknowledged any more, and a namespace that holds changes
//! which were never synced answers no reads. The others go on.
//!
//! What it does not do: it embeds nothing (the server does), knows no credential, speaks no protocol.
//!
//! Reading order: [`request`] and [`reply`], `engine` (the map of namespaces), `write`, `decision` and `encounter` (what becomes of a new
//! memory, and what it repeats or contradicts), `settle` (what becomes true again), `update`, `forget`, `tombstones` (what does not come back), `purge`, `erase`,
//! `drop_namespace`, `settings`, `history`, `feedback`, `consolidate` (rules out of episodes), `rules`, `summarize`, `read`, `recall`,
//! `apply`, `jobs` (what is done by itself), `checkpoint`, `backup`, `load`, `replay`, `graph` and `gauge`, `state` (what a namespace holds),
//! `gate` (who may be returned), `view` (how recall reads it), `requests` (request ids), [`unsynced`], `figures` (what is measured), `sessions` (working memory),
//! `watch` (the change feed).
#![forbid(unsafe_code)]

mod apply;
mod backup;
mod budget;
mod checkpoint;
mod consolidate;
mod decide;
mod decision;
mod drop_namespace;
mod encounter;
mod engine;
mod erase;
mod error;
mod feedback;
mod figures;
mod forget;
mod gate;
mod gauge;
mod graph;
mod history;
mod jobs;
mod load;
mod maintenance;
mod namespaces;
mod options;
mod purge;
mod read;
mod recall;
mod replay;
pub mod reply;
pub mod request;
mod requests;
mod rules;
#[cfg(test)]
mod schedules;
mod sessions;
mod settings;
mod settle;
mod slot;
mod state;
mod summarize;
mod sync;
mod tombstones;
pub mod unsynced;
mod update;
mod view;
mod watch;
mod weight;
mod write;

pub use budget::MemoryStats;
pub use engine::{Engine, EngineOver};
pub use erase::PurgeStep;
pub use error::{EngineError, ErrorKind};
pub use figures::{CheckpointCounts, Figures};
pub use hindsight_index::GraphRule;
pub use hindsight_storage::{Clock, Erased, Erasure, ErasureDone, ErasureFile, ErasureReceipt};
pub use options::{Embed, Nearness, OpenReport, Options, SnapshotRule};
pub use purge::PurgeBegun;
pub use reply::{
    Affected, BatchWritten, Consolidated, ConsolidatedRule, Got, History, ItemWritten, Judged, Model,
    NamespaceInfo, NamespaceStats, NamespaceSummary, Page, PurgeDone, RolledBack, RuleHistory, Summarized,
    Updated, VectorGraph, Written,
};
pub use request::{
    BatchRequest, ConsolidateRequest, DropRequest, FeedbackRequest, ForgetRequest, ForgetTarget, ListRequest,
    Maker, PurgeRequest, PurgeTarget, RestoreRequest, RollbackRequest, RuleListRequest, RuleUpdateRequest,
    SettingsRequest, SummarizeRequest, UpdateRequest, WriteItem, WriteOptions,
};
pub use sessions::{
    AppendTurnsRequest, CloseSessionRequest, EpisodeWrite, GetSessionRequest, ListSessionsRequest,
    OpenSessionRequest, SessionClosed, SessionEpisode, SessionGot, SessionOpened, SessionRecord,
    TurnsAppended,
};
pub use unsynced::Unsynced;
pub use watch::{Watcher, WatcherOver};
