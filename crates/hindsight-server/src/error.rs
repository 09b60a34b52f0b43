//! Why a server does not start or stop well, and the exit code that says so.

use std::{io, net::SocketAddr, path::PathBuf};

use hindsight_auth::{StoreError, audit::AuditError};
use hindsight_embed::LoadError;
use hindsight_engine::EngineError;
use hindsight_storage::StorageErrorKind;

use crate::access::Exposed;
use crate::config::ConfigError;
use crate::net::tls::TlsError;

/// Why a server did not start, or did not stop cleanly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data directory can't be opened.
    #[error("can't open the data directory {}", data.display())]
    Open {
        /// The directory.
        data: PathBuf,
        /// Why not.
        source: Box<EngineError>,
    },
    /// A port can't be bound.
    #[error("can't listen on {address} for {what}")]
    Bind {
        /// What would have answered there.
        what: &'static str,
        /// The address.
        address: SocketAddr,
        /// The answer of the system.
        source: io::Error,
    },
    /// The model that is part of the program is damaged: a fault of the build.
    #[error("the built-in embedding model can't be used")]
    Embedder(#[from] LoadError),
    /// The descriptions that are part of the program are damaged: a fault of the build.
    #[error("the gRPC descriptions can't be served")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// The credentials can't be read.
    #[error(transparent)]
    Tokens(#[from] StoreError),
    /// The certificates can't be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// An address that others could reach, without what keeps them out.
    #[error(transparent)]
    Exposed(#[from] Exposed),
    /// The audit trail can't be opened.
    #[error("the audit trail can't be used (audit.level = \"off\" does without)")]
    Audit(#[from] AuditError),
    /// Signals can't be listened for.
    #[error("can't listen for signals")]
    Signals(#[source] io::Error),
    /// Opening or closing the data directory panicked: a bug.
    #[error("the data directory's task panicked")]
    Panicked(#[source] tokio::task::JoinError),
    /// The last sync failed.
    #[error("the data directory could not be closed cleanly; the next start replays the log")]
    Close(#[source] Box<EngineError>),
}

impl ServeError {
    /// The exit code of the program: 65 damaged data, 73 a directory that can't be made or written, 74 a failing disk,
    /// 78 a configuration or directory that is not to be used like this, 1 anything else.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            ServeError::Config(_) | ServeError::Tls(_) | ServeError::Exposed(_) => 78,
            ServeError::Tokens(StoreError::Damaged { .. }) => 65,
            ServeError::Tokens(_) => 78,
            ServeError::Audit(_) => 74,
            ServeError::Open { source, .. } | ServeError::Close(source) => of_engine(source),
            ServeError::Bind { .. }
            | ServeError::Embedder(_)
            | ServeError::Reflection(_)
            | ServeError::Signals(_)
            | ServeError::Panicked(_) => 1,
        }
    }
}

fn of_engine(error: &EngineError) -> u8 {
    match error {
        EngineError::Storage(storage) => match storage.kind() {
            StorageErrorKind::Corrupt | StorageErrorKind::Replay => 65,
            StorageErrorKind::NotWritable => 73,
            StorageErrorKind::Refused => 78,
            StorageErrorKind::Io | StorageErrorKind::Full | StorageErrorKind::Poisoned => 74,
            StorageErrorKind::Closed | StorageErrorKind::Unstorable => 1,
        },
        EngineError::Unapplicable { .. } => 65,
        _ => 1,
    }
}
