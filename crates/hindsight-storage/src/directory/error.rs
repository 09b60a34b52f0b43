//! What can go wrong with the directory. None of it loses a memory.

use std::path::PathBuf;

use crate::error::IoFailure;

/// Why whoever reads the record files for a rebuild could not go on.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// Why the directory can't do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The library reported an error.
    #[error("the directory can't {op} {path}: it is derived and can be rebuilt", path = path.display())]
    Failed {
        /// What was tried, as a verb.
        op: &'static str,
        /// The folder of the directory.
        path: PathBuf,
        /// What the library says.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The library panicked, as it does on damaged files.
    #[error("the directory can't {op} {path}: it is derived and can be rebuilt ({message})", path = path.display())]
    Panicked {
        /// What was tried, as a verb.
        op: &'static str,
        /// The folder of the directory.
        path: PathBuf,
        /// What the panic said, for the log.
        message: String,
    },
    /// An earlier call failed: nothing the directory says can be trusted until it is opened or rebuilt.
    #[error("the directory in {path} is out of use since an earlier error: open it again", path = path.display())]
    Broken {
        /// The folder of the directory.
        path: PathBuf,
    },
    /// A key or value of the wrong form.
    #[error("the directory in {path} holds a {what} of {bytes} bytes, and not one of this version: it is derived and can be rebuilt", path = path.display())]
    Malformed {
        /// The folder of the directory.
        path: PathBuf,
        /// Which key or value.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// The system refused a call on a file of the directory.
    #[error(transparent)]
    Io(#[from] IoFailure),
    /// More than a batch may hold. Send several with the same lsn.
    #[error("the directory's batch has {entries} entries: at most {entries_max}")]
    BatchTooLarge {
        /// Puts, removes and dropped namespaces.
        entries: usize,
        /// The limit.
        entries_max: usize,
    },
    /// A job's key that is empty or too long.
    #[error("the job's key has {bytes} bytes: 1 to {bytes_max}")]
    JobKey {
        /// Its length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// A job's value that is too long.
    #[error("the job's value has {bytes} bytes: at most {bytes_max}")]
    JobValue {
        /// Its length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// One job too many. Remove finished ones.
    #[error("the directory holds {jobs_max} jobs already, which is the limit")]
    TooManyJobs {
        /// The limit.
        jobs_max: usize,
    },
    /// The record files could not be read while the directory was rebuilt from them.
    #[error("the directory can't be rebuilt, because its source can't be read")]
    Source(#[source] SourceError),
}

impl DirectoryError {
    /// Whether the directory answers nothing any more until it is opened or rebuilt. All other errors are the
    /// caller's to mend, and changed nothing.
    #[must_use]
    pub fn needs_rebuild(&self) -> bool {
        match self {
            DirectoryError::Failed { .. }
            | DirectoryError::Panicked { .. }
            | DirectoryError::Broken { .. }
            | DirectoryError::Malformed { .. }
            | DirectoryError::Io(_)
            | DirectoryError::Source(_) => true,
            DirectoryError::BatchTooLarge { .. }
            | DirectoryError::JobKey { .. }
            | DirectoryError::JobValue { .. }
            | DirectoryError::TooManyJobs { .. } => false,
        }
    }
}
