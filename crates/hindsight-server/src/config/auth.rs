//! Credentials, certificates and the audit trail.

use std::path::PathBuf;

use hindsight_auth::audit::Keep;
use serde::{Deserialize, Serialize};

/// `[auth]`: who may call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Auth {
    /// `required`: a token is needed for every call. Without this it is needed once a token was made. Default false.
    pub required: bool,
    /// `token_file`: a file with one token, as `hindsight token generate` prints it, to which everything is allowed. It is how a
    /// container or a service gets its first token. Empty: none. Default empty.
    pub token_file: PathBuf,
}

/// `[tls]`: certificates of both ports, as PEM files. SIGHUP has them read anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsFiles {
    /// `cert`: the server's certificate, with those between it and the root. Empty: no TLS. Default empty.
    pub cert: PathBuf,
    /// `key`: its private key. Default empty.
    pub key: PathBuf,
    /// `client_ca`: who must have signed the certificate of every client (mutual TLS). Empty: clients need none. Default empty.
    pub client_ca: PathBuf,
}

/// `[audit]`: the record of who did what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Audit {
    /// `level`: `off`, `changes` (and whatever was refused), `all` (reads too), or `auto`: all where a token is needed, else
    /// changes. Default `auto`.
    pub level: AuditLevel,
    /// `keep_days`: files of the trail whose entries are all older are removed; the trail says so. 0: none. Default 365.
    pub keep_days: u32,
    /// `keep_bytes`: the oldest files are removed when those that are ended have more bytes together. 0: any number.
    /// Default 0.
    pub keep_bytes: u64,
}

impl Audit {
    /// How much of the trail is kept.
    pub(crate) fn keep(&self) -> Keep {
        Keep { days: self.keep_days, bytes: self.keep_bytes }
    }
}

impl Default for Audit {
    fn default() -> Self {
        Audit { level: AuditLevel::default(), keep_days: 365, keep_bytes: 0 }
    }
}

/// What goes into the audit trail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditLevel {
    /// All where a token is needed, else changes.
    #[default]
    Auto,
    /// Nothing.
    Off,
    /// What changes something, and what was refused.
    Changes,
    /// Reads too.
    All,
}
