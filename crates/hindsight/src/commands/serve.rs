//! `serve`: the server, until a signal ends it.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use hindsight_server::config::{Log, LogFormat};
use hindsight_server::{Server, logging};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;
use crate::flags::server::ServerFlags;
use crate::output::tell;
use crate::screen::{counted, grouped};

/// How the server is started.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    config: ServerFlags,
    /// A file to write once the server listens: JSON with its addresses and its process id
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
}

/// What a started server tells whoever started it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ready {
    /// Where gRPC is served, as `address:port`.
    pub(crate) grpc: String,
    /// Where HTTP is served.
    pub(crate) http: String,
    /// The data directory.
    pub(crate) data: PathBuf,
    /// The process.
    pub(crate) pid: u32,
    /// Memories that the log held.
    pub(crate) memories: u64,
    /// From the start of the program until it listened, in milliseconds.
    pub(crate) ready_ms: u64,
}

/// Serves until SIGTERM or SIGINT. A second signal does not wait for the calls that are open.
pub(crate) async fn run(args: ServeArgs) -> Result<(), Failure> {
    let started = Instant::now();
    let config = args.config.load()?;
    logging::start(&config.log);
    // Before anyone is told that the server runs: whoever learns it may stop it at once.
    let mut signals = Signals::listen()?;
    let running = Server::start(&config).await?;
    let ready = Ready {
        grpc: running.grpc_addr().to_string(),
        http: running.http_addr().to_string(),
        data: config.data.clone(),
        pid: std::process::id(),
        memories: running.report().memories,
        ready_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    if speaks_to_people(&config.log) {
        tell(&line(&ready));
        if config.insecure {
            tell(
                "INSECURE: an address that others can reach is served also without credentials or without TLS",
            );
        }
    }
    if let Some(file) = &args.ready_file {
        announce(file, &ready)?;
    }
    signals.next().await;
    Ok(running.shutdown_at_once_when(signals.next()).await?)
}

/// A log of JSON lines says by itself where the server listens, and must hold nothing but JSON.
fn speaks_to_people(log: &Log) -> bool {
    match log.format {
        LogFormat::Auto => std::io::stderr().is_terminal(),
        LogFormat::Text => true,
        LogFormat::Json => false,
    }
}

fn line(ready: &Ready) -> String {
    format!(
        "hindsight {} listening: gRPC on {}, HTTP on {}; data in {} ({}); ready in {} ms",
        env!("CARGO_PKG_VERSION"),
        ready.grpc,
        ready.http,
        ready.data.display(),
        counted(ready.memories, "memory", "memories"),
        grouped(ready.ready_ms),
    )
}

/// Writes the file in one step, so that whoever waits for it never reads a part.
fn announce(file: &Path, ready: &Ready) -> Result<(), Failure> {
    let failed = |source| Failure::Create { path: file.to_owned(), source };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    serde_json::to_writer(&mut temporary, ready).map_err(std::io::Error::from).map_err(failed)?;
    temporary.persist(file).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The signals that end a server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> Result<Signals, Failure> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
