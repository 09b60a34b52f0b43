//! A backup of everything, while everything goes on.

use std::io::Write;

use hindsight_storage::BackupReport;
use hindsight_storage::io::Io;

use crate::engine::EngineOver;
use crate::error::EngineError;

impl<I: Io> EngineOver<I> {
    /// Writes a backup: the state at the newest durable position of the log, which the report names. A checkpoint is
    /// taken before, so that little of the log is in it. When none can be taken (the disk is full, a write failed) the
    /// backup is taken all the same: it is needed most then.
    ///
    /// # Errors
    /// When `out` fails, or what is stored can't be read; then what was written is no backup.
    pub fn backup(&self, out: &mut dyn Write) -> Result<BackupReport, EngineError> {
        if self.health().is_ok()
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "no checkpoint before the backup: it will hold more of the log"
            );
        }
        Ok(self.storage.backup(out)?)
    }
}
