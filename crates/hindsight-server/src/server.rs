//! Starting and stopping.

use std::{
    future::Future,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hindsight_core::likeness::Thresholds;
use hindsight_core::{RawVector, RawVectors, Timestamp, VectorRole};
use hindsight_embed::{Embedder, StaticEmbedder};
use hindsight_engine::{Clock, Embed, Engine, Nearness, OpenReport, Options};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
    task::JoinSet,
    time::timeout,
};

use crate::{
    access::{Access, Exposed, keep},
    app::{self, App, jobs},
    config::Config,
    error::ServeError,
    grpc, http,
    metrics::{Metrics, Source},
    net::{ConnectionLimits, Front, Guard, Listener, Phase, Places, Tls, guard::RequestIds},
    signals::{Signals, ignore_file_size_limit},
};

/// How long a stop waits for the last call to leave the engine, in milliseconds.
const RELEASE_MS_MAX: u32 = 1_000;

/// Connections that wait in the system's queue to be accepted.
const BACKLOG: u32 = 1024;

/// The server; [`Server::start`] makes it run.
#[derive(Debug)]
pub struct Server;

/// A server that runs. Dropping it stops it hard.
pub struct Running {
    grpc: SocketAddr,
    http: SocketAddr,
    report: OpenReport,
    engine: Arc<Engine>,
    access: Arc<Access>,
    phase: watch::Sender<Phase>,
    tasks: JoinSet<()>,
    drain: Duration,
}

impl Server {
    /// Opens the data directory, binds both ports and serves. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`ServeError`]; nothing keeps running then.
    pub async fn start(config: &Config) -> Result<Running, ServeError> {
        Server::start_with(config, Clock::default()).await
    }

    /// As [`Server::start`], with another clock than the machine's, by which all memories live.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub async fn start_with(config: &Config, clock: Clock) -> Result<Running, ServeError> {
        ignore_file_size_limit().map_err(ServeError::Signals)?;
        // Ports first: a port that is taken is found out before a log is replayed.
        let access = Arc::new(Access::load(config)?);
        let tls = Tls::load(&config.tls)?;
        Exposed::check(config, access.required())?;
        let grpc_socket = bind(config.listen, "gRPC")?;
        let http_socket = bind(config.http, "HTTP")?;
        let embedder: Arc<dyn Embedder> = Arc::new(StaticEmbedder::load()?);
        let (engine, report) = open(config, clock, &embedder).await?;
        let engine = Arc::new(engine);
        open_trail(&access, config).await?;
        let (phase, phase_seen) = watch::channel(Phase::Serving);
        let metrics = Metrics::new(hindsight_storage::store::FORMAT_VERSION);
        let (seen, counted) = (phase_seen.clone(), Arc::clone(&metrics));
        let app = Arc::new(App::new(Arc::clone(&engine), embedder, config, now(), seen, counted));
        metrics.watch(Source::new(&engine, &app, &access));
        let reporter = tonic_health::server::HealthReporter::new();
        grpc::health::report(&reporter, true).await;
        let ids = Arc::new(RequestIds::new(run_number()));
        let guard_of = |front| Guard {
            front,
            request_max: Duration::from_millis(config.timeouts.request_ms),
            queue_max: Duration::from_millis(config.timeouts.queue_ms),
            ids: Arc::clone(&ids),
            metrics: Arc::clone(&metrics),
        };
        let limits = ConnectionLimits::of(config);
        let places = Places::new(config.limits.connections, config.limits.connections_per_ip);
        let listener = |socket, front, router| Listener {
            socket,
            front,
            router,
            limits: Arc::clone(&limits),
            places: places.clone(),
            metrics: Arc::clone(&metrics),
            tls: tls.clone(),
        };
        let grpc_router =
            grpc::router(&app, &access, reporter.clone(), &config.limits, guard_of(Front::Grpc))?;
        let http_router = http::router(
            &app,
            &access,
            config.limits.message_bytes,
            phase_seen.clone(),
            guard_of(Front::Http),
        );
        let grpc_listener = listener(grpc_socket, Front::Grpc, grpc_router);
        let http_listener = listener(http_socket, Front::Http, http_router);
        let (grpc, http) = (address(&grpc_listener, config.listen)?, address(&http_listener, config.http)?);

        let mut tasks = JoinSet::new();
        tasks.spawn(grpc_listener.serve(phase_seen.clone()));
        tasks.spawn(http_listener.serve(phase_seen.clone()));
        tasks.spawn(keep(Arc::clone(&access), tls.clone(), phase_seen.clone()));
        tasks.spawn(jobs::drive(Arc::clone(&engine), phase_seen.clone()));
        tasks.spawn(app::sessions::sweep(Arc::clone(&app), phase_seen.clone()));
        tasks.spawn(grpc::health::watch(app, reporter, phase_seen));
        tracing::info!(clean = report.recovered.clean_shutdown, "{}", report.last_stop());
        let (tokens, encrypted) = (access.required(), tls.is_some());
        tracing::info!(%grpc, %http, tokens, tls = encrypted, data = %config.data.display(), %report, "serving");
        let drain = Duration::from_millis(config.timeouts.drain_ms);
        Ok(Running { grpc, http, report, engine, access, phase, tasks, drain })
    }
}

impl Running {
    /// Where gRPC is served.
    #[must_use]
    pub fn grpc_addr(&self) -> SocketAddr {
        self.grpc
    }

    /// Where JSON over HTTP is served.
    #[must_use]
    pub fn http_addr(&self) -> SocketAddr {
        self.http
    }

    /// What opening the data directory found.
    #[must_use]
    pub fn report(&self) -> &OpenReport {
        &self.report
    }

    /// Serves until SIGTERM or SIGINT, then stops; a second signal stops without waiting for open calls.
    ///
    /// # Errors
    /// [`ServeError::Close`] when the last sync fails, [`ServeError::Signals`].
    pub async fn wait_for_signal(self) -> Result<(), ServeError> {
        let mut signals = Signals::listen().map_err(ServeError::Signals)?;
        let signal = signals.next().await;
        tracing::info!(signal, "stopping");
        self.stop(async move {
            let signal = signals.next().await;
            tracing::warn!(signal, "a second signal: open calls are not waited for");
        })
        .await
    }

    /// Stops: health says so, no new connections, open calls get time to finish, the log is synced and closed.
    ///
    /// # Errors
    /// [`ServeError::Close`] when the last sync fails.
    pub async fn shutdown(self) -> Result<(), ServeError> {
        self.stop(std::future::pending()).await
    }

    /// As [`Running::shutdown`], but once `now` has come no call is waited for any more.
    ///
    /// # Errors
    /// [`ServeError::Close`] when the last sync fails.
    pub async fn shutdown_at_once_when(self, now: impl Future<Output = ()>) -> Result<(), ServeError> {
        self.stop(now).await
    }

    /// Stops like a crash of the process would: open calls end without an answer, and the log is not closed. What was
    /// acknowledged is there at the next start.
    pub async fn abort(mut self) {
        self.tasks.shutdown().await;
        self.directory_is_free().await;
    }

    /// Waits until nothing but `self` holds the engine, and with it the lock of the directory: a call that is inside
    /// holds it for the moment that it takes.
    async fn directory_is_free(&self) {
        for _ in 0..RELEASE_MS_MAX {
            if Arc::strong_count(&self.engine) == 1 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tracing::warn!("a call is still inside the engine and keeps the data directory");
    }

    async fn stop(mut self, now: impl Future<Output = ()>) -> Result<(), ServeError> {
        self.phase.send_replace(Phase::Draining);
        let drained = async { while self.tasks.join_next().await.is_some() {} };
        tokio::select! {
            outcome = timeout(self.drain, drained) => {
                if outcome.is_err() {
                    tracing::warn!(drain_ms = self.drain.as_millis(), "open calls did not finish in time and are ended");
                }
            }
            () = now => {}
        }
        self.tasks.shutdown().await;
        if let Some(head) = self.access.trail_head().await {
            tracing::info!(%head, "the audit trail ends here");
        }
        let engine = Arc::clone(&self.engine);
        // The last sync blocks its thread. A panic there means that the log was not closed.
        let closed = tokio::task::spawn_blocking(move || engine.close()).await;
        self.directory_is_free().await;
        match closed {
            Ok(Ok(())) => {
                tracing::info!("stopped");
                Ok(())
            }
            Ok(Err(error)) => Err(ServeError::Close(Box::new(error))),
            Err(panic) => Err(ServeError::Panicked(panic)),
        }
    }
}

/// Opens the audit trail, beside the network's threads.
async fn open_trail(access: &Arc<Access>, config: &Config) -> Result<(), ServeError> {
    let (access, data) = (Arc::clone(access), config.data.clone());
    let opened = tokio::task::spawn_blocking(move || access.open_trail(&data)).await;
    Ok(opened.map_err(ServeError::Panicked)??)
}

/// Opens the data directory. The embedder's is the model whose cosines the built-in thresholds are for; it also makes the
/// vectors of what the engine writes itself.
async fn open(
    config: &Config,
    clock: Clock,
    embedder: &Arc<dyn Embedder>,
) -> Result<(Engine, OpenReport), ServeError> {
    let data = config.data.clone();
    let likeness = &config.likeness;
    let nearness = Nearness {
        of_model: [(embedder.model().to_owned(), likeness.over(Thresholds::BUILT_IN))].into(),
        default: likeness.over(Thresholds::default()),
    };
    let (lent, min_chars) = (Arc::clone(embedder), config.embedding.min_chars);
    let options = Options {
        storage: config.storage.options(),
        nearness,
        rules: config.rules.tuning(),
        embed: Embed::new(move |text| vectors_of(&*lent, min_chars, text)),
        clock,
        life: config.life.rules(),
        schedules: config.jobs.schedules(),
        memory_budget: config.storage.memory_budget(),
        snapshots: config.storage.snapshots(),
        ..Options::default()
    };
    let opened = tokio::task::spawn_blocking(move || Engine::open(&data, options)).await;
    match opened {
        Ok(Ok(opened)) => Ok(opened),
        Ok(Err(error)) => Err(ServeError::Open { data: config.data.clone(), source: Box::new(error) }),
        Err(panic) => Err(ServeError::Panicked(panic)),
    }
}

/// The vector of a text that the engine has written; none where it has none, and the text is found by its words.
fn vectors_of(embedder: &dyn Embedder, min_chars: usize, text: &str) -> Option<RawVectors> {
    if text.chars().count() < min_chars {
        return None;
    }
    let values = embedder.embed(&[text]).ok()?.pop().flatten()?;
    let vectors = vec![RawVector { role: VectorRole::Content, values }];
    Some(RawVectors { model: embedder.model().to_owned(), vectors })
}

fn bind(address: SocketAddr, what: &'static str) -> Result<TcpListener, ServeError> {
    let bound = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A restart must not wait until the system forgets the connections of the run before.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bound().map_err(|source| ServeError::Bind { what, address, source })
}

fn address(listener: &Listener, wished: SocketAddr) -> Result<SocketAddr, ServeError> {
    listener.address().map_err(|source| ServeError::Bind { what: "a client", address: wished, source })
}

/// The time.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A number that no other run has, for the ids of calls.
fn run_number() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
