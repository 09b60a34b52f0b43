//! The application layer: what every front calls. It embeds texts that came without vectors, keeps the engine's
//! calls within bounds and off the network's threads, and shows an answer only when the log is synced up to it.
//!
//! Reading order: this file, `embedding` (which texts get a vector), `write`, `learn`, `read`, `recall`, `page`, `settings`, `purge`, `jobs`, `backup`, `sessions`, `watch`, `gate`, `budget`,
//! `error` and `refusal` (what a caller is told).

mod backup;
mod budget;
mod embedding;
mod error;
mod gate;
pub(crate) mod jobs;
mod learn;
pub(crate) mod page;
mod purge;
mod read;
mod recall;
mod refusal;
mod rules;
pub(crate) mod sessions;
mod settings;
mod watch;
mod write;

use std::sync::Arc;
use std::time::Duration;

use hindsight_core::limits::NAMESPACES_MAX;
use hindsight_core::{Lsn, Timestamp};
use hindsight_embed::Embedder;
use hindsight_engine::{Engine, NamespaceSummary, Unsynced};

pub(crate) use backup::BackupPart;
pub(crate) use budget::{Budget, Share};
pub(crate) use error::AppError;
pub(crate) use purge::shown;
pub(crate) use refusal::{Code, Refusal};
pub(crate) use watch::Told;
pub(crate) use write::Batch;

use crate::access;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::net::Phase;
use gate::Gate;

/// The engine with an embedder before it. Cheap to share; all of it is behind one `Arc`.
pub(crate) struct App {
    worker: Arc<Worker>,
    gate: Gate,
    budget: Budget,
    backups: backup::Backups,
    watches: watch::Watches,
    metrics: Arc<Metrics>,
    started_at: Timestamp,
}

/// What a call needs on the thread it runs on.
struct Worker {
    engine: Arc<Engine>,
    embedder: Arc<dyn Embedder>,
    min_chars: usize,
}

impl Worker {
    fn info(&self, started_at: Timestamp) -> ServerInfo {
        let Worker { engine, embedder, .. } = self;
        ServerInfo {
            version: env!("CARGO_PKG_VERSION"),
            format: hindsight_storage::store::FORMAT_VERSION,
            started_at,
            revision: engine.revision(),
            embedding_model: embedder.model().to_owned(),
            dimension: embedder.dimension(),
            namespaces: u64::try_from(engine.namespace_count()).unwrap_or(u64::MAX),
            writes_refused: engine.health().err().or_else(|| engine.degraded()).map(|error| error.reason()),
        }
    }
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerInfo {
    /// The version of the program.
    pub(crate) version: &'static str,
    /// The version of the format on disk.
    pub(crate) format: u32,
    /// When the server was started.
    pub(crate) started_at: Timestamp,
    /// The newest log position.
    pub(crate) revision: Lsn,
    /// The model that embeds texts that come without vectors.
    pub(crate) embedding_model: String,
    /// How many numbers its vectors have.
    pub(crate) dimension: usize,
    /// How many namespaces there are.
    pub(crate) namespaces: u64,
    /// Why writes are refused at present, in the word that they are refused with.
    pub(crate) writes_refused: Option<&'static str>,
}

impl App {
    /// Puts an embedder before an engine; `config` says how many calls at once, `started_at` is told to who asks,
    /// and `phase` ends what would go on for ever.
    #[must_use]
    pub(crate) fn new(
        engine: Arc<Engine>,
        embedder: Arc<dyn Embedder>,
        config: &Config,
        started_at: Timestamp,
        phase: tokio::sync::watch::Receiver<Phase>,
        metrics: Arc<Metrics>,
    ) -> App {
        let calls = match config.limits.engine_calls {
            0 => 2 * std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
            calls => calls,
        };
        let min_chars = config.embedding.min_chars;
        App {
            worker: Arc::new(Worker { engine, embedder, min_chars }),
            gate: Gate::new(calls, config.limits.engine_queue, config.limits.engine_queue_of_namespace),
            budget: Budget::new(config.limits.reading_bytes, Duration::from_millis(config.timeouts.queue_ms)),
            backups: backup::Backups::default(),
            watches: watch::Watches::new(config, phase),
            metrics,
            started_at,
        }
    }

    /// How many calls are inside the engine, and how many wait for it.
    pub(crate) fn load(&self) -> (usize, usize) {
        self.gate.load()
    }

    /// Memory for reading requests.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// How many watch.
    pub(crate) fn watchers(&self) -> usize {
        self.watches.open()
    }

    /// What is counted.
    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Whether the database can acknowledge anything.
    ///
    /// # Errors
    /// Why it can't.
    pub(crate) fn health(&self) -> Result<(), AppError> {
        Ok(self.worker.engine.health()?)
    }

    /// Why what stores something new is refused at present, if it is; everything else goes on.
    pub(crate) fn degraded(&self) -> Option<AppError> {
        self.worker.engine.degraded().map(AppError::from)
    }

    /// Who answers.
    pub(crate) async fn info(&self) -> Result<ServerInfo, AppError> {
        let started_at = self.started_at;
        let info = self.on_worker(move |worker| Ok(worker.info(started_at))).await?;
        if access::sees_all() {
            return Ok(info);
        }
        // How many others there are is no concern of whoever may know of some.
        let (seen, _) = self.namespaces(None, NAMESPACES_MAX).await?;
        Ok(ServerInfo { namespaces: u64::try_from(seen.len()).unwrap_or(u64::MAX), ..info })
    }

    /// Names the namespaces that the caller may know of in alphabetical order, at most `limit` of those after `after`; and
    /// whether more follow.
    pub(crate) async fn namespaces(
        &self,
        mut after: Option<String>,
        limit: usize,
    ) -> Result<(Vec<NamespaceSummary>, bool), AppError> {
        let mut seen = Vec::new();
        loop {
            let from = after.take();
            let (named, more) =
                self.run(move |worker| Ok(worker.engine.namespaces(from.as_deref(), limit)?)).await?;
            after = named.last().map(|last| last.name.to_string());
            seen.extend(named.into_iter().filter(|summary| access::sees(&summary.name)));
            let ends = !more || after.is_none();
            if ends || seen.len() >= limit {
                // Whether those that follow may be known of is found out by whoever asks for the next page.
                let more = seen.len() > limit || !ends;
                seen.truncate(limit);
                return Ok((seen, more));
            }
        }
    }

    /// Runs `work` beside the network's threads, then waits until the log is synced up to its answer. When the
    /// caller goes away, work that has not begun is not begun; work that has is finished.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Worker) -> Result<Unsynced<T>, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        let unsynced = self.on_worker(work).await?;
        Ok(unsynced.synced().await?)
    }

    async fn on_worker<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Worker) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        let whose = access::Call::current().and_then(|call| call.namespace().cloned());
        let pass = self.gate.enter(whose).await?;
        let worker = Arc::clone(&self.worker);
        let span = tracing::Span::current();
        let task = tokio::task::spawn_blocking(move || {
            let _pass = pass;
            span.in_scope(|| work(&worker))
        });
        // A panic stays inside its task: the caller hears of it and the process goes on.
        task.await.map_err(|_| AppError::Panicked)?
    }
}
