//! How an engine is opened, and what it found.

use std::fmt;
use std::time::Duration;

use hindsight_core::Lsn;

/// How to open a data directory.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How the log is kept.
    pub storage: hindsight_storage::StorageOptions,
}

/// What opening a data directory found.
#[derive(Debug, Clone)]
pub struct OpenReport {
    /// Namespaces.
    pub namespaces: usize,
    /// Memories, without the forgotten ones; of a namespace that lies in record files as many as these hold, whatever the
    /// log changed since.
    pub memories: u64,
    /// The newest batch of the log.
    pub last_lsn: Lsn,
    /// How long the replay took.
    pub replay: Duration,
    /// What the log's recovery found and did.
    pub recovered: hindsight_storage::Recovered,
}

impl fmt::Display for OpenReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenReport { namespaces, memories, last_lsn, replay, .. } = self;
        write!(
            f,
            "{memories} memories in {namespaces} namespaces at lsn {last_lsn}, replayed in {} ms",
            replay.as_millis()
        )
    }
}
