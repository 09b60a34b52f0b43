//! The flags that set keys of the server's configuration: those of `serve`, and of the commands that look at it.

use std::path::PathBuf;

use clap::Args;
use hindsight_server::{Config, ConfigError, Overrides};

/// How a server is, or would be, started.
#[derive(Debug, Default, Args)]
pub(crate) struct ServerFlags {
    /// The data directory; made when it is not there [default: hindsight-data]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// A configuration file (TOML)
    #[arg(long, value_name = "FILE", env = "HINDSIGHT_CONFIG")]
    pub(crate) config: Option<PathBuf>,
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
}

impl ServerFlags {
    /// The configuration that a server would have with these flags.
    ///
    /// # Errors
    /// What is wrong with it, and where that stands.
    pub(crate) fn load(&self) -> Result<Config, ConfigError> {
        Config::load(self.config.as_deref(), &self.overrides())
    }

    /// What the flags set, over the file and the environment.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            data: self.data.clone(),
            listen: self.listen.clone(),
            http: self.http.clone(),
            log_level: self.log_level.clone(),
            log_format: self.log_format.clone(),
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            tls_client_ca: self.tls_client_ca.clone(),
            auth_token_file: self.auth_token_file.clone(),
            insecure: self.insecure,
        }
    }
}
