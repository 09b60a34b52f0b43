//! `serve`: the server, until a signal ends it.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use hindsight_server::config::{Log, LogFormat};
use hindsight_server::{Config, Overrides, Server, logging};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;
use crate::output::tell;
use crate::screen::{counted, grouped};

/// How the server is started.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The data directory; made when it is not there [default: hindsight-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A configuration file (TOML)
    #[arg(long, value_name = "FILE", env = "HINDSIGHT_CONFIG")]
    config: Option<PathBuf>,
    /// Where gRPC is served; port 0 takes a free one [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Where JSON over HTTP is served [default: 127.0.0.1:7421]
    #[arg(long, value_name = "ADDRESS")]
    http: Option<String>,
    /// What is logged: error, warn, info, debug, trace [default: info]
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// How it is logged: auto, text, json [default: auto]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// The server's certificate, as PEM: both ports speak TLS
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Who must have signed the certificate of each client (mutual TLS)
    #[arg(long, value_name = "FILE")]
    tls_client_ca: Option<PathBuf>,
    /// A file with one token that may do everything, as `hindsight token generate` prints it
    #[arg(long, value_name = "FILE")]
    auth_token_file: Option<PathBuf>,
    /// Bind an address that others can reach also without credentials or without TLS
    #[arg(long)]
    insecure: bool,
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
    let overrides = Overrides {
        data: args.data,
        listen: args.listen,
        http: args.http,
        log_level: args.log_level,
        log_format: args.log_format,
        tls_cert: args.tls_cert,
        tls_key: args.tls_key,
        tls_client_ca: args.tls_client_ca,
        auth_token_file: args.auth_token_file,
        insecure: args.insecure,
    };
    let config = Config::load(args.config.as_deref(), &overrides)?;
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
    tokio::select! {
        stopped = running.shutdown() => Ok(stopped?),
        () = signals.next() => Err(Failure::Interrupted),
    }
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
