//! What goes wrong, told apart by what the caller can do about it.

use std::time::Duration;

use hindsight_core::{Invalid, Violation};

use crate::ConnectHint;

/// A call that failed. Whether it was carried out is not known after [`Error::Deadline`], [`Error::Unavailable`],
/// [`Error::Connect`] and [`Error::Server`]; after any other, nothing was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no connection to the server.
    #[error("cannot connect to {url}: {hint}")]
    Connect {
        /// The URL as it was given.
        url: String,
        /// What is wrong, and what would help.
        hint: ConnectHint,
    },
    /// The request is wrong: correct it. Every wrong field is named.
    #[error("{message}")]
    Invalid {
        /// The short word of the error, such as `FIELD_INVALID` or `CONTENT_TOO_LARGE`.
        reason: String,
        /// What is wrong, in a sentence.
        message: String,
        /// Which fields are wrong, and what would be right.
        violations: Vec<Violation>,
    },
    /// It names a memory or a namespace that isn't there.
    #[error("{message}")]
    NotFound {
        /// The short word of the error, such as `MEMORY_NOT_FOUND`.
        reason: String,
        /// What isn't there.
        message: String,
    },
    /// The memory changed since it was read: read it again.
    #[error("{message}")]
    VersionMismatch {
        /// The version it has now, where the server says it.
        current: Option<u64>,
        /// Which versions differ.
        message: String,
    },
    /// It names something that is there already.
    #[error("{message}")]
    AlreadyExists {
        /// The short word of the error, such as `REQUEST_ID_REUSED`.
        reason: String,
        /// What is there already.
        message: String,
    },
    /// The state of the memory or the database does not allow it; repeating it as it stands won't help.
    #[error("{message}")]
    Conflict {
        /// The short word of the error, such as `COUNT_MISMATCH` or `WRONG_STATE`.
        reason: String,
        /// What stands against it.
        message: String,
    },
    /// The caller may not do this.
    #[error("{message}")]
    PermissionDenied {
        /// The short word of the error, such as `TOKEN_MISSING`.
        reason: String,
        /// What is not allowed.
        message: String,
    },
    /// The server is away, starting or stopping. Whether the call was carried out is not known; the same request id
    /// makes it safe to repeat.
    #[error("the server is unavailable: {message}")]
    Unavailable {
        /// The short word of the error, such as `DRAINING`.
        reason: String,
        /// Why.
        message: String,
        /// When the server asks to be called again.
        retry_after: Option<Duration>,
    },
    /// A limit is reached.
    #[error("{message}")]
    Exhausted {
        /// The short word of the error, such as `RATE_LIMITED` or `DISK_FULL`.
        reason: String,
        /// Which limit.
        message: String,
        /// When it is over; none when waiting won't help.
        retry_after: Option<Duration>,
    },
    /// It names a revision that is not there: given up by the log, or of another database.
    #[error("{message}")]
    OutOfRange {
        /// The short word of the error: `WATCH_COMPACTED` or `WATCH_AHEAD`.
        reason: String,
        /// What is there instead.
        message: String,
        /// The oldest revision after which a watch can begin, where the log was given up.
        oldest: Option<hindsight_core::Lsn>,
    },
    /// There was no answer in time. Whether the call was carried out is not known; the same request id makes it safe
    /// to repeat.
    #[error("no answer within {} ms", timeout.as_millis())]
    Deadline {
        /// The time that the call had, with its retries.
        timeout: Duration,
    },
    /// What the caller gave to write to took no more.
    #[error("what was received can't be written: {message}")]
    Sink {
        /// What kind of error it is.
        kind: std::io::ErrorKind,
        /// What the system says.
        message: String,
    },
    /// The server failed, or answered what this client can't read.
    #[error("{message} ({reason})")]
    Server {
        /// The short word of the error, such as `CHECKSUM_MISMATCH`, or the name of the gRPC code.
        reason: String,
        /// What the server says.
        message: String,
    },
}

impl Error {
    /// Whether the same call may succeed when it is made again as it is. The client has already tried, within the
    /// deadline.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Unavailable { .. } => true,
            Error::Exhausted { retry_after, .. } => retry_after.is_some(),
            Error::Connect { hint, .. } => hint.may_pass(),
            _ => false,
        }
    }

    /// The short word of the error: stable, in capitals, made for programs.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Error::Connect { .. } => "CONNECT",
            Error::VersionMismatch { .. } => "VERSION_MISMATCH",
            Error::Deadline { .. } => "DEADLINE",
            Error::Sink { .. } => "SINK",
            Error::Invalid { reason, .. }
            | Error::NotFound { reason, .. }
            | Error::AlreadyExists { reason, .. }
            | Error::Conflict { reason, .. }
            | Error::PermissionDenied { reason, .. }
            | Error::Unavailable { reason, .. }
            | Error::Exhausted { reason, .. }
            | Error::OutOfRange { reason, .. }
            | Error::Server { reason, .. } => reason,
        }
    }

    /// The fields that are wrong; empty for every other kind of error.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        if let Error::Invalid { violations, .. } = self { violations } else { &[] }
    }

    /// When the server asks to be called again.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::Unavailable { retry_after, .. } | Error::Exhausted { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    pub(crate) fn sink(error: &std::io::Error) -> Error {
        Error::Sink { kind: error.kind(), message: error.to_string() }
    }

    /// An answer that this client can't read: the server is broken, or much newer.
    #[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
    pub(crate) fn unreadable(invalid: Invalid) -> Error {
        let message = format!("the server's answer can't be read: {invalid}");
        Error::Server { reason: "BAD_RESPONSE".to_owned(), message }
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Error {
        Error::Invalid {
            reason: "FIELD_INVALID".to_owned(),
            message: invalid.to_string(),
            violations: invalid.violations,
        }
    }
}
