//! What can be set, each key with its unit and its default.
//!
//! A value comes from a flag, else from the environment (`HINDSIGHT__SECTION__KEY`), else from the TOML file, else
//! it is the default. An unknown key is an error that names the key and its nearest neighbour.

mod auth;
mod check;
mod error;
mod layers;
mod life;
mod rules;
mod storage;
#[cfg(test)]
mod tests;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use hindsight_core::likeness::Thresholds;
use hindsight_core::limits::MESSAGE_BYTES_MAX;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

pub use auth::{Audit, AuditLevel, Auth, TlsFiles};
pub use error::{ConfigError, Origin};
pub use layers::Setting;
pub use life::{Jobs, Life};
pub use rules::Rules;
pub use storage::Storage;

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `data`: the data directory; made when it is not there. Default `hindsight-data`.
    pub data: PathBuf,
    /// `listen`: where gRPC is served; port 0 takes a free one. Another address than loopback needs
    /// credentials and TLS. Default `127.0.0.1:7420`.
    #[serde(deserialize_with = "address")]
    pub listen: SocketAddr,
    /// `http`: where JSON over HTTP is served; port 0 takes a free one. As `listen`.
    /// Default `127.0.0.1:7421`.
    #[serde(deserialize_with = "address")]
    pub http: SocketAddr,
    /// `[limits]`
    pub limits: Limits,
    /// `[timeouts]`
    pub timeouts: Timeouts,
    /// `[storage]`
    pub storage: Storage,
    /// `[embedding]`
    pub embedding: Embedding,
    /// `[likeness]`
    pub likeness: Likeness,
    /// `[life]`
    pub life: Life,
    /// `[jobs]`
    pub jobs: Jobs,
    /// `[rules]`
    pub rules: Rules,
    /// `[log]`
    pub log: Log,
    /// `[auth]`
    pub auth: Auth,
    /// `[tls]`
    pub tls: TlsFiles,
    /// `[audit]`
    pub audit: Audit,
    /// `insecure`: bind an address that is not loopback also without credentials or without TLS. Default false.
    pub insecure: bool,
}

/// `[limits]`: how much of everything at once. Each bounds memory or descriptors; raising one raises what a single
/// client can cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// `message_bytes`: largest gRPC request and largest HTTP body, in bytes. Default 4194304 (4 MiB).
    pub message_bytes: usize,
    /// `reply_bytes`: largest gRPC reply, in bytes. Default 16777216 (16 MiB).
    pub reply_bytes: usize,
    /// `connections`: most open connections of both ports together; further ones wait in the system's queue. Fewer
    /// are taken when the process may not open as many files. Default 1024.
    pub connections: usize,
    /// `connections_per_ip`: most open connections of one address. All programs of this machine share the loopback
    /// address, so it is bounded by `connections` alone. Default 64.
    pub connections_per_ip: usize,
    /// `streams_per_connection`: most gRPC calls open on one connection. Default 128.
    pub streams_per_connection: u32,
    /// `requests_per_connection`: most gRPC calls of one connection worked on at once; further ones wait
    /// `timeouts.queue_ms` and are then refused with `OVERLOADED`. Default 32.
    pub requests_per_connection: usize,
    /// `header_bytes`: largest header block of a request, in bytes. Default 16384.
    pub header_bytes: u32,
    /// `reset_streams`: gRPC calls that a client opened and took back before they were looked at; more close the
    /// connection. Default 20.
    pub reset_streams: usize,
    /// `error_streams`: calls reset because of the client's protocol errors; more close the connection. Default 256.
    pub error_streams: usize,
    /// `engine_calls`: most calls inside the engine at once; 0 means twice the number of processors. Default 0.
    pub engine_calls: usize,
    /// `watchers`: most watches of the change feed at once. Default 256.
    pub watchers: usize,
    /// `calls_per_second_of_token`: most calls with one token in a second, on the average; as many may come at once. 0: any
    /// number. Default 0.
    pub calls_per_second_of_token: u32,
    /// `calls_per_second_of_namespace`: the same of one namespace, whoever calls. Default 0.
    pub calls_per_second_of_namespace: u32,
    /// `reading_bytes`: memory for requests while they are read and worked on, counted as 64 times their length, in bytes; more
    /// wait `timeouts.queue_ms`. Default 536870912 (512 MiB).
    pub reading_bytes: u64,
    /// `engine_queue_of_namespace`: most calls of one namespace that wait for the engine. Default 256.
    pub engine_queue_of_namespace: usize,
    /// `engine_queue`: most calls that wait for the engine; further ones are refused with `OVERLOADED`. Default 2048.
    pub engine_queue: usize,
}

/// `[timeouts]`, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// `request_ms`: longest time for one call; a caller may ask for less with `grpc-timeout`. Default 30000.
    pub request_ms: u64,
    /// `queue_ms`: longest wait for a place among the calls of a connection. Default 1000.
    pub queue_ms: u64,
    /// `first_frame_ms`: how soon a new connection must say something, and how long one of the HTTP port may be
    /// silent between two requests. Default 10000.
    pub first_frame_ms: u64,
    /// `keepalive_ms`: how often an idle gRPC connection is asked whether it lives. Default 20000.
    pub keepalive_ms: u64,
    /// `keepalive_reply_ms`: how soon it must answer. Default 10000.
    pub keepalive_reply_ms: u64,
    /// `watch_notice_ms`: after which time without a change a watch is told how far it is. Default 10000.
    pub watch_notice_ms: u64,
    /// `connection_age_ms`: after which a connection is asked to end, so that clients spread anew. Default 1800000.
    pub connection_age_ms: u64,
    /// `connection_grace_ms`: how long its calls may then take. Default 30000.
    pub connection_grace_ms: u64,
    /// `drain_ms`: how long open calls may take at a stop. Default 8000: with the last sync, below the ten seconds
    /// that a container engine waits.
    pub drain_ms: u64,
}

/// `[embedding]`: texts that come without vectors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Embedding {
    /// `min_chars`: a stored text shorter than this gets no vector; keywords find it. Default 0, because the built-in
    /// model takes microseconds.
    pub min_chars: usize,
}

/// `[likeness]`: from which similarity on two memories are compared, in hundredths of a cosine. What is compared is judged
/// by its words and claims; lower values only make more memories be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Likeness {
    /// `duplicate`: for being one memory; 0 takes the model's own: 70 for the built-in one, 92 for others. Default 0.
    pub duplicate: u64,
    /// `conflict`: for saying the opposite; 0 takes the model's own: 30 for the built-in one, 85 for others. Default 0.
    pub conflict: u64,
}

impl Likeness {
    /// The thresholds for a model that has these of its own.
    #[must_use]
    pub fn over(&self, own: Thresholds) -> Thresholds {
        let share = |hundredths: u64, own: f64| match u8::try_from(hundredths) {
            Ok(0) | Err(_) => own,
            Ok(hundredths) => f64::from(hundredths) / 100.0,
        };
        Thresholds {
            duplicate: share(self.duplicate, own.duplicate),
            conflict: share(self.conflict, own.conflict),
        }
    }
}

/// `[log]`: what is written to standard error; never the content of a memory or a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `format`: `text`, `json`, or `auto`: text on a terminal, else JSON. Default `auto`.
    pub format: LogFormat,
    /// `level`: `error`, `warn`, `info`, `debug`, `trace`, or a list such as `info,hindsight_server=debug`.
    /// Default `info`.
    pub level: String,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text on a terminal, else JSON.
    #[default]
    Auto,
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What the command line sets; it wins over everything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--data`
    pub data: Option<PathBuf>,
    /// `--listen`
    pub listen: Option<String>,
    /// `--http`
    pub http: Option<String>,
    /// `--log-level`
    pub log_level: Option<String>,
    /// `--log-format`
    pub log_format: Option<String>,
    /// `--tls-cert`
    pub tls_cert: Option<PathBuf>,
    /// `--tls-key`
    pub tls_key: Option<PathBuf>,
    /// `--tls-client-ca`
    pub tls_client_ca: Option<PathBuf>,
    /// `--auth-token-file`
    pub auth_token_file: Option<PathBuf>,
    /// `--insecure`
    pub insecure: bool,
}

impl Config {
    /// Reads the file at `path`, if one is named, then the environment, then the flags, and checks the whole.
    ///
    /// # Errors
    /// [`ConfigError`] for a file that can't be read, a key that is not known, a value that is not right.
    pub fn load(path: Option<&Path>, overrides: &Overrides) -> Result<Config, ConfigError> {
        let text = path.map(file_text).transpose()?;
        Config::of(path.zip(text.as_deref()), process_environment(), overrides)
    }

    /// Every key with the value that [`Config::load`] would give it and where that comes from, in alphabetical order.
    ///
    /// # Errors
    /// Those of [`Config::load`].
    pub fn effective(path: Option<&Path>, overrides: &Overrides) -> Result<Vec<Setting>, ConfigError> {
        let text = path.map(file_text).transpose()?;
        let layers = Config::layers(path.zip(text.as_deref()), process_environment(), overrides)?;
        let settings = layers.settings();
        let (config, origins) = layers.into_config()?;
        check::check(&config, &origins)?;
        Ok(settings)
    }

    /// As [`Config::load`], with the file's text and the environment given.
    ///
    /// # Errors
    /// Those of [`Config::load`], without the reading.
    pub fn of(
        file: Option<(&Path, &str)>,
        environment: impl IntoIterator<Item = (String, String)>,
        overrides: &Overrides,
    ) -> Result<Config, ConfigError> {
        let (config, origins) = Config::layers(file, environment, overrides)?.into_config()?;
        check::check(&config, &origins)?;
        Ok(config)
    }

    fn layers(
        file: Option<(&Path, &str)>,
        environment: impl IntoIterator<Item = (String, String)>,
        overrides: &Overrides,
    ) -> Result<layers::Layers, ConfigError> {
        let mut layers = layers::Layers::of_defaults()?;
        if let Some((path, text)) = file {
            layers.add_file(path, text)?;
        }
        layers.add_environment(environment)?;
        layers.add_flags(overrides)?;
        Ok(layers)
    }
}

fn file_text(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })
}

/// The variables of this process that are text.
fn process_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

impl Default for Config {
    fn default() -> Self {
        Config {
            data: PathBuf::from("hindsight-data"),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7420)),
            http: SocketAddr::from((Ipv4Addr::LOCALHOST, 7421)),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            storage: Storage::default(),
            embedding: Embedding::default(),
            likeness: Likeness::default(),
            life: Life::default(),
            jobs: Jobs::default(),
            rules: Rules::default(),
            log: Log::default(),
            auth: Auth::default(),
            tls: TlsFiles::default(),
            audit: Audit::default(),
            insecure: false,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_bytes: MESSAGE_BYTES_MAX,
            reply_bytes: 16 << 20,
            connections: 1024,
            connections_per_ip: 64,
            streams_per_connection: 128,
            requests_per_connection: 32,
            header_bytes: 16 << 10,
            reset_streams: 20,
            error_streams: 256,
            engine_calls: 0,
            watchers: 256,
            engine_queue: 2048,
            engine_queue_of_namespace: 256,
            reading_bytes: 512 << 20,
            calls_per_second_of_token: 0,
            calls_per_second_of_namespace: 0,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            request_ms: 30_000,
            queue_ms: 1_000,
            first_frame_ms: 10_000,
            keepalive_ms: 20_000,
            keepalive_reply_ms: 10_000,
            connection_age_ms: 30 * 60_000,
            connection_grace_ms: 30_000,
            watch_notice_ms: 10_000,
            drain_ms: 8_000,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Log { format: LogFormat::Auto, level: "info".to_owned() }
    }
}

/// Reads `127.0.0.1:7420`, `[::1]:7420` or `localhost:7420`. Other names are not looked up: a server must not bind
/// what a name server says.
fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numeric.as_deref().unwrap_or(&text).parse().map_err(|_| {
        D::Error::custom(format!("{text:?} is not an address: expected one such as 127.0.0.1:7420"))
    })
}
