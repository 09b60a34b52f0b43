//! The directory of an open database, while it is being opened, once it is, and when it has failed.

use std::sync::Arc;

use parking_lot::RwLock;

use super::{Directory, MemoryKey, Stamp};
use crate::records::RecordPosition;

/// The directory, if there is one that can be asked.
///
/// It answers only while the manifest names the very stamp that it has: whoever changes the record files without
/// telling it makes it silent, not wrong.
#[derive(Default)]
pub(crate) struct Slot(RwLock<Option<Ready>>);

/// A directory that holds what the record files hold.
#[derive(Clone)]
struct Ready {
    directory: Arc<dyn Directory>,
    stamp: Stamp,
    /// What it will be once the checkpoint that is being taken has told it. Its entries of namespaces that the checkpoint
    /// does not store are the same before and after.
    next: Option<Stamp>,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stamp = self.0.read().as_ref().map(|ready| ready.stamp);
        f.debug_struct("Slot").field("stamp", &stamp).finish_non_exhaustive()
    }
}

impl Slot {
    /// From now on it is asked.
    pub(crate) fn fill(&self, directory: Arc<dyn Directory>, stamp: Stamp) {
        *self.0.write() = Some(Ready { directory, stamp, next: None });
    }

    /// It is asked no more; sled closes its files when the last call has ended.
    pub(crate) fn clear(&self) {
        let before = self.0.write().take();
        drop(before);
    }

    /// Gives the directory up because it failed, or said what is not so. The record files are as they were.
    pub(crate) fn distrust(&self, why: &(dyn std::error::Error + 'static)) {
        let before = self.0.write().take();
        if before.is_some() {
            tracing::warn!(
                error = why,
                "the directory is out of use until the next start, which makes it anew; memories of namespaces that are not loaded are read by loading them"
            );
        }
    }

    /// Whether it can be asked, for a manifest that names this stamp.
    pub(crate) fn is_ready(&self, named: Option<Stamp>) -> bool {
        self.0.read().as_ref().is_some_and(|ready| ready.fits(named))
    }

    /// Where a memory lies, if that can be told.
    pub(crate) fn find(&self, key: MemoryKey, named: Option<Stamp>) -> Option<RecordPosition> {
        let ready = self.0.read().clone().filter(|ready| ready.fits(named))?;
        ready.directory.get(key).unwrap_or_else(|error| {
            self.distrust(&error);
            None
        })
    }

    /// The directory for who changes it, if it has what the manifest says.
    pub(crate) fn to_change(&self, named: Option<Stamp>) -> Option<Arc<dyn Directory>> {
        let ready = self.0.read().clone()?;
        if named != Some(ready.stamp) {
            self.distrust(&Missed);
            return None;
        }
        Some(ready.directory)
    }

    /// The manifest is about to name another stamp, or `None`: it will not after all.
    pub(crate) fn announce(&self, next: Option<Stamp>) {
        if let Some(ready) = self.0.write().as_mut() {
            ready.next = next;
        }
    }

    /// It has what the manifest names now.
    pub(crate) fn arrived(&self, stamp: Stamp) {
        if let Some(ready) = self.0.write().as_mut() {
            (ready.stamp, ready.next) = (stamp, None);
        }
    }
}

impl Ready {
    fn fits(&self, named: Option<Stamp>) -> bool {
        named.is_some() && (named == Some(self.stamp) || named == self.next)
    }
}

/// Record files changed and the directory was not told.
#[derive(Debug, thiserror::Error)]
#[error("the record files changed and the directory was not told")]
struct Missed;

/// What the directory said is not what the record files hold.
#[derive(Debug, thiserror::Error)]
#[error("the directory says that memory {} of namespace {} lies at byte {} of record file {}, and it does not", key.id, key.namespace, position.offset, position.file)]
pub(crate) struct Misled {
    pub(crate) key: MemoryKey,
    pub(crate) position: RecordPosition,
}
