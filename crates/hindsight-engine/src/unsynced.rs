//! Answers that may not be shown yet.

use std::sync::Arc;

use hindsight_core::Lsn;
use hindsight_storage::Storage;
use hindsight_storage::io::Io;

use crate::error::EngineError;

/// An answer that reflects the log up to a position which may not be durable yet. Its value can be had only by
/// waiting for the sync, so that nobody acts on what a crash could take back (invariant 4); where a namespace's durability
/// is async, only for as much of it as was promised.
#[must_use = "the value is in here, and it is nobody's until the log is synced"]
pub struct Unsynced<T, I: Io = hindsight_storage::ClockedIo> {
    value: T,
    lsn: Lsn,
    shown_after: Lsn,
    storage: Arc<Storage<Arc<I>>>,
}

impl<T, I: Io> Unsynced<T, I> {
    pub(crate) fn new(value: T, lsn: Lsn, shown_after: Lsn, storage: &Arc<Storage<Arc<I>>>) -> Self {
        Unsynced { value, lsn, shown_after, storage: Arc::clone(storage) }
    }

    /// The same answer in another shape.
    pub(crate) fn map<U>(self, shape: impl FnOnce(T) -> U) -> Unsynced<U, I> {
        let Unsynced { value, lsn, shown_after, storage } = self;
        Unsynced { value: shape(value), lsn, shown_after, storage }
    }

    /// The position that it reflects.
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// The position that has to be synced before it may be shown.
    pub fn shown_after(&self) -> Lsn {
        self.shown_after
    }

    /// Waits for the sync on this thread.
    ///
    /// # Errors
    /// When the log fails before it is synced that far: then nothing is known of the answer's durability.
    pub fn wait(self) -> Result<T, EngineError> {
        self.storage.wait_synced(self.shown_after)?;
        self.check()?;
        Ok(self.value)
    }

    /// Waits for the sync without holding a thread.
    ///
    /// # Errors
    /// As [`Unsynced::wait`].
    pub async fn synced(self) -> Result<T, EngineError> {
        self.storage.synced(self.shown_after).await?;
        self.check()?;
        Ok(self.value)
    }

    /// What is not durable and never will be is not shown, whatever the namespace's durability (D5).
    fn check(&self) -> Result<(), EngineError> {
        if self.shown_after < self.lsn {
            self.storage.log().check_possible(self.lsn)?;
        }
        Ok(())
    }
}

impl<T, I: Io> std::fmt::Debug for Unsynced<T, I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unsynced").field("lsn", &self.lsn).finish_non_exhaustive()
    }
}
