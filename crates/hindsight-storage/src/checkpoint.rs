//! Checkpoints: what changed goes from the log into record files, and the log is cut short.
//!
//! [`Storage::checkpoint`] is one function with numbered steps; a crash between any two of them, or inside one, is
//! safe. Until the manifest names a file, nobody reads it and the next start removes it; once it does, the file is
//! durable and holds nothing that a crash could take back. Writes go on meanwhile. The engine is the source: it knows
//! which namespaces changed, and in what state they are at one position of the log.
//!
//! Reading order: here, `round` (the files of a part of the namespaces), `sweep` (removing what is not needed).

mod round;
mod sweep;

use std::{
    io,
    sync::{Arc, atomic::Ordering},
};

use hindsight_core::{Lsn, MemoryId, Namespace, Record, Settings, Timestamp};

use crate::{
    erasure::Erasure,
    error::{IoFailure, StorageError, is_shortage},
    io::Io,
    manifest::{AppendError, Edit, EditFault, Manifest, StoredModel, StoredNamespace},
    records::{Digest, NamespaceId, RecordFiles, RecordPosition, SeenRequest},
    snapshot::NewSnapshot,
    store::Storage,
};
use round::Round;
pub(crate) use sweep::{Garbage, remove_orphans};

/// The engine, as a checkpoint sees it.
///
/// It has to mark a namespace as changed before it appends a batch, and to look at a namespace under its writer's lock:
/// so that every change up to the LSN that was durable when the checkpoint began is in what [`next`] hands over. A
/// namespace that a batch has dropped since need not be handed over, if [`floor`] keeps what led to its end in the log.
///
/// [`next`]: CheckpointSource::next
/// [`floor`]: CheckpointSource::floor
pub trait CheckpointSource {
    /// The next namespace that changed since it was stored last; `None` when there is none.
    fn next(&mut self) -> Option<NamespaceCheckpoint>;

    /// A namespace is stored: the manifest that names its files is durable. What was handed over needs not be handed
    /// over again, whatever becomes of the rest of the checkpoint.
    fn stored(&mut self, stored: StoredCheckpoint) {
        drop(stored);
    }

    /// The namespaces that a batch up to `checkpoint` dropped and that were not handed over: what the manifest has of them
    /// is from before that, also when they were written to since. Asked once, after the last [`CheckpointSource::next`].
    fn dropped(&mut self, checkpoint: Lsn) -> Vec<Namespace> {
        let _ = checkpoint;
        Vec::new()
    }

    /// The position up to which the log may be given up: `checkpoint`, or less where a namespace was not handed over because a
    /// later batch dropped it. Replay needs what came before that batch. Asked once, after the last
    /// [`CheckpointSource::next`].
    fn floor(&mut self, checkpoint: Lsn) -> Lsn {
        checkpoint
    }

    /// The purges up to `checkpoint` that were not handed over yet. Asked first of all: they are durable in the ledger
    /// before the log may lose them.
    fn erasures(&mut self, checkpoint: Lsn) -> Vec<Erasure> {
        let _ = checkpoint;
        Vec::new()
    }
}

/// A namespace at one position of the log, and what of it is not in record files yet.
#[derive(Debug, Clone)]
pub struct NamespaceCheckpoint {
    /// Its name.
    pub name: Namespace,
    /// The newest batch of the namespace, at which all of the following stands. The checkpoint waits until it is durable.
    pub applied: Lsn,
    /// When that batch was decided.
    pub last_at: Option<Timestamp>,
    /// How many records the namespace has, those of forgotten memories included.
    pub live: u64,
    /// How many of them are of forgotten memories.
    pub forgotten: u64,
    /// The digest of all of them.
    pub digest: Digest,
    /// The model of its vectors, once it has one.
    pub model: Option<StoredModel>,
    /// Its settings.
    pub settings: Settings,
    /// The records that changed since the namespace was stored, each with the batch of its newest change; with
    /// `rewrite` all there are.
    pub records: Vec<(Lsn, Arc<Record>)>,
    /// The request ids seen since the namespace was stored, in order; with `rewrite` all that are remembered.
    pub requests: Vec<SeenRequest>,
    /// Whether this is the whole namespace, so that its older files are dropped.
    pub rewrite: bool,
    /// What becomes of its index snapshot.
    pub snapshot: NewSnapshot,
}

/// What a checkpoint made of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCheckpoint {
    /// Its name.
    pub name: Namespace,
    /// Its number.
    pub id: NamespaceId,
    /// The batch at which it was stored.
    pub applied: Lsn,
    /// Where the records that were handed over lie now.
    pub positions: Vec<(MemoryId, RecordPosition)>,
    /// Whether its older files are gone, and with them all other positions.
    pub rewritten: bool,
    /// Whether an index snapshot of this position was written.
    pub snapshot: bool,
}

/// What a checkpoint did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckpointReport {
    /// Everything up to this batch is in record files.
    pub checkpoint: Lsn,
    /// How many namespaces were stored.
    pub namespaces: usize,
    /// How many records were written.
    pub records: u64,
    /// How many bytes of record files were written.
    pub bytes: u64,
    /// How many index snapshots were written.
    pub snapshots: usize,
    /// How many bytes of index snapshots were written.
    pub snapshot_bytes: u64,
    /// How many record files were removed.
    pub files_removed: usize,
    /// How many log segments were removed.
    pub segments_removed: usize,
    /// How many files could not be removed; the next checkpoint or start tries again.
    pub unremoved: usize,
}

/// What does not fit in what a checkpoint was given: a mistake of its source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnfitCheckpoint {
    /// A namespace came twice.
    #[error("namespace {name} came twice")]
    Twice {
        /// The namespace.
        name: Namespace,
    },
    /// The namespace is older than what is stored of it, or newer than the log.
    #[error("namespace {name} is at lsn {applied}: expected {from} to {to}")]
    Position {
        /// The namespace.
        name: Namespace,
        /// Where it says it is.
        applied: Lsn,
        /// Where it is stored.
        from: Lsn,
        /// The newest batch of the log.
        to: Lsn,
    },
    /// A record belongs to another namespace, or to a batch after the namespace's.
    #[error("memory {id} at lsn {lsn} is no part of namespace {name} at its lsn")]
    Record {
        /// The namespace.
        name: Namespace,
        /// The memory.
        id: MemoryId,
        /// The batch that it is said to come from.
        lsn: Lsn,
    },
    /// The records of a rewrite are not the whole namespace.
    #[error("namespace {name} has {live} records, and {records} came to be rewritten, or others")]
    Incomplete {
        /// The namespace.
        name: Namespace,
        /// How many it has.
        live: u64,
        /// How many came.
        records: u64,
    },
    /// The manifest does not take it.
    #[error("the manifest does not take it")]
    Edit(#[from] EditFault),
}

/// What one checkpoint at a time works with.
#[derive(Debug)]
pub(crate) struct Checkpointer<I: Io> {
    pub(crate) manifest: Manifest<I>,
    /// What an earlier checkpoint could not remove.
    pub(crate) garbage: Garbage,
}

impl<I: Io> Storage<I> {
    /// Puts into record files what `source` says has changed, and drops what the log has of it. One at a time: a
    /// second caller waits. Writes go on meanwhile; without a committer thread it commits them itself.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] when a sync, or a write that should not fail, failed now or earlier: nothing is
    /// written any more until a restart. [`StorageError::Io`] when the system is short of something, such as space:
    /// nothing has changed, apart from the namespaces for which `stored` was called. [`StorageError::Unfit`] when
    /// `source` contradicts itself; [`StorageError::Closed`].
    pub fn checkpoint(&self, source: &mut dyn CheckpointSource) -> Result<CheckpointReport, StorageError> {
        let mut checkpointer = self.checkpointer.lock();
        let Checkpointer { manifest, garbage } = &mut *checkpointer;
        let (files, log) = (self.records(), self.log());

        // 1. Choose C. Whatever was logged before it is durable now, and `source` holds it.
        log.check_open()?;
        let logged = log.logged_bytes();
        let checkpoint = log.synced_lsn();
        let mut report = CheckpointReport { checkpoint, ..CheckpointReport::default() };
        self.begin_erasures(source, checkpoint)?;
        loop {
            // 2. Take from the source as many changed namespaces as one round may have, and
            // 3. write their files under temporary names, sync them, name them, sync the names.
            let mut round = Round::new(files, log);
            let is_last = match round.write(source) {
                Ok(is_last) => is_last,
                Err(error) => {
                    round.discard();
                    return Err(self.settle(error));
                }
            };
            let newest = log.newest_lsn();
            if let Err(error) = round.publish() {
                round.discard();
                return Err(self.settle(error));
            }
            // 4. Wait until the log is durable up to the newest batch that `source` can have known: no file that is named
            // may hold, and no C may presuppose, what a crash could take back.
            log.wait_synced_or_commit(newest)?;
            // 5. Name the files in the manifest, in one batch, with C if everything up to it is in there now.
            let before = files.state().read().floor;
            let durable = log.synced_lsn();
            let lsn = if is_last { source.floor(checkpoint) } else { before.checkpoint_lsn };
            let lsn = lsn.clamp(before.checkpoint_lsn, checkpoint.max(before.checkpoint_lsn));
            report.checkpoint = lsn;
            let dropped = if is_last { stored(files, &source.dropped(checkpoint)) } else { Vec::new() };
            let mut edits = round.take_edits();
            edits.extend(dropped.iter().map(|namespace| Edit::DropNamespace { id: namespace.id }));
            // Without this a server at rest would write for ever.
            let is_idle = edits.is_empty() && lsn == before.checkpoint_lsn;
            edits.push(Edit::Checkpoint { lsn, durable });
            // The same batch names what the directory is to be; it is told once the batch is durable.
            let update = self.plan_update(&mut edits, round.stored(), &dropped, checkpoint);
            let appended = if is_idle { Ok(()) } else { manifest.append(&edits) };
            self.end_update(update, appended.is_ok());
            if let Err(error) = appended {
                let AppendError::Unknown(failure) = error else {
                    // The batch is certainly not there, so nothing depends on the files.
                    round.discard();
                    return Err(error.into_storage());
                };
                return Err(log.poison_by(failure));
            }
            round.tell(source, &mut report);
            // 6. Remove what nothing names any more: the files that were replaced, and
            garbage.add_files(files, round.outdated());
            garbage.add_snapshots(files, round.outdated_snapshots());
            garbage.add_namespaces(files, &dropped);
            garbage.sweep(files, round.handle(), &mut report).map_err(|failure| log.poison_by(failure))?;
            if is_last {
                break;
            }
        }
        // the log segments that lie wholly at or below C, or below what the source still needs of the log.
        let dropped = log.drop_segments_up_to(report.checkpoint)?;
        report.segments_removed = dropped.removed;
        report.unremoved = dropped.left + garbage.len();
        self.checkpointed_bytes.store(logged, Ordering::Relaxed);
        Ok(report)
    }

    /// Poisons, unless nothing is uncertain.
    pub(crate) fn settle(&self, error: StorageError) -> StorageError {
        match error {
            StorageError::Io(failure) if !is_harmless(&failure) => self.log().poison_by(failure),
            StorageError::Poisoned(failure) => self.log().poison_by(failure),
            error => error,
        }
    }
}

/// Those of the namespaces that are stored.
fn stored<I: Io>(files: &RecordFiles<I>, names: &[Namespace]) -> Vec<StoredNamespace> {
    names.iter().filter_map(|name| files.namespace(name)).collect()
}

/// Whether a failure before anything was synced leaves everything as it was, and may pass by itself.
fn is_harmless(IoFailure { source, .. }: &IoFailure) -> bool {
    is_shortage(source) || source.kind() == io::ErrorKind::Interrupted
}

#[cfg(test)]
mod tests;
