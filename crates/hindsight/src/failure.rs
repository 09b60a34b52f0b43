//! What goes wrong, in words for people and a code for scripts.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use hindsight_auth::{StoreError, audit::AuditError};
use hindsight_client::Error;
use hindsight_core::{Invalid, Violation};
use hindsight_server::{ConfigError, ServeError};
use hindsight_storage::inspect::InspectError;
use hindsight_storage::repair::RepairError;
use hindsight_storage::{BackupError, StorageError, StorageErrorKind};

use crate::output::tell;
use crate::screen::{counted, safe};

/// Why a command did not do what it was told to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Whoever read standard output has enough; this is no error.
    #[error("standard output was closed")]
    ReaderGone,
    #[error("can't write to standard output")]
    Output(#[source] io::Error),
    #[error("name a namespace with --namespace or HINDSIGHT_NAMESPACE")]
    NoNamespace,
    #[error("there is no profile {name:?} in {}{}", path.display(), known_profiles(known))]
    NoProfile { name: String, path: PathBuf, known: Vec<String> },
    #[error("{place}: {problem}")]
    Profile { place: String, problem: String },
    #[error("{} wrong", counted(*wrong, "thing is", "things are"))]
    Unwell { wrong: u64 },
    #[error("name either ids or a filter, and not both")]
    ForgetWhat,
    #[error("name one of --id, a filter and --whole-namespace")]
    PurgeWhat,
    #[error("not done: {what} {}? Say so with --yes", counted(u64::from(*count), "memory", "memories"))]
    Unconfirmed { what: &'static str, count: u32 },
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    Call(#[from] Error),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("can't read {name}")]
    Read {
        name: String,
        #[source]
        source: io::Error,
    },
    #[error("can't write {}", path.display())]
    Create {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} refused; everything else is stored", counted(*lines, "line was", "lines were"))]
    LinesRefused { lines: u64 },
    #[error("the server of the demonstration did not come up{}{}", ended(*status), tail(log))]
    ServerLost { status: Option<ExitStatus>, log: String },
    #[error("the sample that ships with the program can't be read: {0}")]
    Sample(#[source] Invalid),
    #[error("{} not as it should be", counted(*wrong, "answer was", "answers were"))]
    DemoFailed { wrong: u64 },
    #[error("{}", path.display())]
    Backup {
        path: PathBuf,
        #[source]
        source: Box<BackupError>,
    },
    #[error("{} is not sound", path.display())]
    BackupUnsound {
        path: PathBuf,
        #[source]
        source: Box<BackupError>,
    },
    #[error("{} does not hold what the server sent: look at the disk", path.display())]
    OtherBackup { path: PathBuf },
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("{} damaged or missing", counted(*files, "file is", "files are"))]
    Unsound { files: u64 },
    #[error(transparent)]
    Tokens(#[from] StoreError),
    #[error(transparent)]
    Trail(#[from] AuditError),
    #[error("the audit trail is not as it was written: {}", counted(*faults, "fault", "faults"))]
    TrailUnsound { faults: u64 },
    #[error(transparent)]
    Repair(#[from] RepairError),
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error("the agent's program does not speak MCP as expected: {0}")]
    Mcp(String),
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn ended(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| " in time".to_owned(), |status| format!(": it ended with {status}"))
}

fn known_profiles(known: &[String]) -> String {
    if known.is_empty() { ": it names none".to_owned() } else { format!(": there are {}", known.join(", ")) }
}

fn tail(log: &str) -> String {
    if log.trim().is_empty() { String::new() } else { format!("\n{}", safe(log.trim_end())) }
}

impl Failure {
    /// The code that the program ends with; the table stands at the top of this crate.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::ReaderGone => 0,
            Failure::NoNamespace
            | Failure::NoProfile { .. }
            | Failure::Profile { .. }
            | Failure::ForgetWhat
            | Failure::PurgeWhat
            | Failure::Unconfirmed { .. }
            | Failure::Invalid(_) => 2,
            Failure::Call(error) => match error {
                Error::Invalid { .. } => 2,
                Error::NotFound { .. } => 3,
                Error::VersionMismatch { .. }
                | Error::AlreadyExists { .. }
                | Error::Conflict { .. }
                | Error::OutOfRange { .. } => 4,
                Error::PermissionDenied { .. } => 5,
                Error::Connect { .. } | Error::Unavailable { .. } | Error::Deadline { .. } => 6,
                // It passes when somebody makes room.
                Error::Exhausted { reason, .. } if reason == "DISK_FULL" => 1,
                // What passes by itself is a server that is too busy now; the rest is a limit that stays.
                Error::Exhausted { retry_after: Some(_), .. } => 6,
                _ => 1,
            },
            Failure::LinesRefused { .. } => 7,
            Failure::Unwell { .. }
            | Failure::Unsound { .. }
            | Failure::BackupUnsound { .. }
            | Failure::TrailUnsound { .. } => 8,
            Failure::Tokens(StoreError::Wish(_)) => 2,
            Failure::Tokens(StoreError::Unknown { .. }) => 3,
            Failure::Tokens(StoreError::Damaged { .. }) => 65,
            Failure::Tokens(StoreError::TooNew { .. }) => 78,
            Failure::Backup { source, .. } => of_storage(source.kind()),
            Failure::OtherBackup { .. } => 65,
            Failure::Storage(error) => of_storage(error.kind()),
            Failure::Repair(RepairError::Truncate { .. }) => 2,
            Failure::Repair(error) => of_storage(error.kind()),
            Failure::Inspect(InspectError::Unknown { .. }) => 2,
            Failure::Config(_) => 78,
            Failure::Serve(error) => error.exit_code(),
            // What a shell says of a program that SIGINT ended.
            Failure::Interrupted => 130,
            Failure::Output(_)
            | Failure::Read { .. }
            | Failure::Create { .. }
            | Failure::ServerLost { .. }
            | Failure::Sample(_)
            | Failure::DemoFailed { .. }
            | Failure::Inspect(_)
            | Failure::Tokens(_)
            | Failure::Trail(_)
            | Failure::Mcp(_)
            | Failure::Io(_) => 1,
        }
    }

    /// Says what is wrong on standard error, with its causes, and what would help.
    pub(crate) fn report(&self) {
        if matches!(self, Failure::ReaderGone) {
            return;
        }
        let mut text = format!("error: {}", safe(&self.to_string()));
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(&format!(": {}", safe(&error.to_string())));
            cause = error.source();
        }
        if let Some(hint) = self.hint() {
            text.push_str(&format!("\nhint: {hint}"));
        }
        tell(&text);
    }

    fn hint(&self) -> Option<Cow<'static, str>> {
        if let Failure::Serve(error @ ServeError::Open { data, .. }) = self {
            let data = safe(&data.display().to_string());
            return (error.exit_code() == 65).then(|| {
                format!("`hindsight repair --data {data}` shows what can be kept, and changes nothing; `hindsight backup restore` brings a backup back").into()
            });
        }
        let hint = match self {
            Failure::Call(Error::Connect { .. }) => {
                Some("start one with `hindsight serve`, or say where it is with --server or HINDSIGHT_SERVER")
            }
            Failure::Call(Error::PermissionDenied { reason, .. }) if reason == "TOKEN_MISSING" => Some(
                "name the file of a token with --token-file or HINDSIGHT_TOKEN_FILE, or set HINDSIGHT_TOKEN",
            ),
            Failure::Call(Error::PermissionDenied { reason, .. }) if reason.starts_with("TOKEN_") => {
                Some("whoever has the data directory makes a new one: `hindsight token create --data DIR …`")
            }
            Failure::Call(Error::Deadline { .. }) => Some("give it longer with --timeout"),
            Failure::Call(Error::OutOfRange { oldest: Some(oldest), .. }) => {
                return Some(
                    format!(
                        "`hindsight list` has the memories as they are; go on with `watch --from {oldest}`"
                    )
                    .into(),
                );
            }
            Failure::Call(Error::VersionMismatch { .. }) => Some("read it again with `hindsight get`"),
            Failure::Call(Error::NotFound { reason, .. }) if reason == "NAMESPACE_NOT_FOUND" => {
                Some("`hindsight namespaces` names those that there are")
            }
            Failure::Call(Error::Exhausted { reason, .. }) if reason == "DISK_FULL" => Some(
                "free space on the server's disk (`df -h` of its data directory), or `hindsight forget` what is not needed; \
                 the server takes writes again by itself",
            ),
            Failure::Unsound { .. } => Some(
                "nothing was changed; restore a backup with `hindsight backup restore`, or see with `hindsight repair` what can be kept",
            ),
            _ => None,
        };
        hint.map(Cow::Borrowed)
    }

    /// What is wrong with a request as a whole, if that is what went wrong.
    pub(crate) fn violations(&self) -> Option<Vec<Violation>> {
        match self {
            Failure::Call(Error::Invalid { violations, message, .. }) if violations.is_empty() => {
                Some(vec![Violation { field: "line".to_owned(), description: message.clone() }])
            }
            Failure::Call(Error::Invalid { violations, .. }) => Some(violations.clone()),
            _ => None,
        }
    }
}

/// The codes of `sysexits.h`, as `serve` has them.
fn of_storage(kind: StorageErrorKind) -> u8 {
    match kind {
        StorageErrorKind::Corrupt | StorageErrorKind::Replay => 65,
        StorageErrorKind::NotWritable => 73,
        StorageErrorKind::Io | StorageErrorKind::Full | StorageErrorKind::Poisoned => 74,
        StorageErrorKind::Refused => 78,
        StorageErrorKind::Closed | StorageErrorKind::Unstorable => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_error_has_its_code() {
        let (reason, message) = (String::new(), String::new());
        let call = |error| Failure::Call(error).exit_code();
        assert_eq!(call(Error::NotFound { reason: reason.clone(), message: message.clone() }), 3);
        assert_eq!(call(Error::Conflict { reason: reason.clone(), message: message.clone() }), 4);
        assert_eq!(call(Error::PermissionDenied { reason: reason.clone(), message: message.clone() }), 5);
        assert_eq!(call(Error::Deadline { timeout: std::time::Duration::from_secs(1) }), 6);
        assert_eq!(call(Error::Server { reason, message }), 1);
        assert_eq!(Failure::from(Invalid::one("content", "is empty")).exit_code(), 2);
        assert_eq!(Failure::LinesRefused { lines: 1 }.exit_code(), 7);
    }
}
