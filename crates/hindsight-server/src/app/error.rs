//! What can go wrong between a front and the engine.

use hindsight_core::{Invalid, Namespace};
use hindsight_embed::EmbedError;
use hindsight_engine::EngineError;

use super::refusal::code_of;
use super::{Code, Refusal};

/// An error of the application layer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum AppError {
    /// The engine refused the call.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine refused the vector of a query.
    #[error(transparent)]
    QueryVector(EngineError),
    /// A recall by vector, of a namespace whose model this server does not have.
    #[error(
        "namespace {namespace} holds vectors of {expected:?}, and this server embeds with {ours:?}: send a vector made by {expected:?}, or use mode keyword"
    )]
    ForeignModel {
        /// The namespace.
        namespace: Namespace,
        /// Its model.
        expected: String,
        /// The model of the server's embedder.
        ours: String,
    },
    /// A recall by vector, of a query that the embedder recognises nothing in.
    #[error("the model {model:?} recognises nothing in the query: send a vector, or use mode keyword")]
    NothingToEmbed {
        /// The model of the server's embedder.
        model: String,
    },
    /// The embedder refused the texts.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// Too many calls wait for the engine.
    #[error("too many calls wait already: try again in a moment")]
    Overloaded,
    /// Too many calls of one namespace wait for the engine.
    #[error("too many calls of this namespace wait already: try again in a moment")]
    NamespaceOverloaded,
    /// A backup is being taken.
    #[error("a backup is being taken already: try again when it is done")]
    BackupRuns,
    /// The caller's credential does not allow it.
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    /// The server stops; a watch goes on at the next one.
    #[error("the server is stopping: come again after the newest revision that was told")]
    Draining,
    /// A call panicked; the process goes on.
    #[error("this call failed inside the server; it is logged there")]
    Panicked,
}

impl From<Invalid> for AppError {
    fn from(invalid: Invalid) -> Self {
        AppError::Engine(EngineError::Invalid(invalid))
    }
}

impl AppError {
    /// The label of calls that ended so.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            AppError::Engine(error) | AppError::QueryVector(error) => code_of(error.kind()).word(),
            AppError::ForeignModel { .. } | AppError::NothingToEmbed { .. } => Code::Invalid.word(),
            AppError::Overloaded
            | AppError::NamespaceOverloaded
            | AppError::BackupRuns
            | AppError::Draining => Code::Unavailable.word(),
            AppError::Refused(refusal) => refusal.code.word(),
            AppError::Embed(_) | AppError::Panicked => Code::Internal.word(),
        }
    }

    /// The stable word of the error.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            AppError::Engine(error) | AppError::QueryVector(error) => error.reason(),
            AppError::ForeignModel { .. } => "MODEL_MISMATCH",
            AppError::NothingToEmbed { .. } => "FIELD_INVALID",
            AppError::Overloaded | AppError::NamespaceOverloaded | AppError::BackupRuns => "OVERLOADED",
            AppError::Refused(refusal) => refusal.reason,
            AppError::Draining => "DRAINING",
            AppError::Embed(_) | AppError::Panicked => "INTERNAL",
        }
    }
}
