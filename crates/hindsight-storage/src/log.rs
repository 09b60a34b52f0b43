//! The write-ahead log: batches go in, get a number, and become durable together.
//!
//! Life of a batch: [`Log::append`] gives it the next LSN and puts it into the pending group (`pending.rs`). One
//! commit takes the whole group, writes it with one call and syncs it with one call (`writer.rs`), then says how far
//! the log is durable (`progress.rs`), which wakes everybody who waits. The committer (`committer.rs`) does that in a
//! thread whenever something is pending; a test calls [`Log::commit_step`] instead and decides the order itself.
//!
//! A batch gets its number only when its place is there on the disk (`room.rs`): a full disk refuses batches, and changes
//! nothing about those that were taken.
//!
//! After a sync failed, or a write over a place that was there, what is on disk can't be known: the kernel may have marked
//! lost pages clean, and the next sync would answer Ok. So the log is poisoned for good: nothing is written, synced or
//! acknowledged again.

mod committer;
mod durable;
mod pending;
mod progress;
mod room;
mod segments;
mod sync;
mod times;
mod writer;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use hindsight_core::Lsn;

use crate::{
    error::{At, IoFailure, StorageError},
    frame::{FrameKind, PAYLOAD_BYTES_MAX, frame_bytes, payload_crc},
    io::Io,
    options::LogOptions,
    recovery::{self, Floor, Recovered, Sink, SinkEnd},
    segment::LogPlace,
    space::{Space, Urgency},
};
pub(crate) use durable::{DURABLE_FILE, DurableFile, Note};
pub use pending::Pace;
use pending::{Pending, Push};
use progress::Progress;
pub use segments::DroppedSegments;
use sync::Mutex;
use times::SyncTimes;
pub use times::{SYNC_BOUNDS_US, SyncCounts};
pub(crate) use writer::Tail;
use writer::Writer;

/// Why the log takes nothing more.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    Closed,
    Poisoned(IoFailure),
}

impl From<Stop> for StorageError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Closed => StorageError::Closed,
            Stop::Poisoned(failure) => StorageError::Poisoned(failure),
        }
    }
}

/// What a commit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// How many batches became durable.
    pub batches: usize,
    /// The newest durable batch.
    pub synced_lsn: Lsn,
    /// Whether the log itself does not say yet that this batch is durable; see [`Log::witness_step`].
    pub is_witness_due: bool,
}

/// The log of one data directory. Dropping it stops its thread and gives up what was not committed.
#[derive(Debug)]
pub struct Log<I: Io> {
    shared: Arc<Shared<I>>,
    committer: Mutex<Option<JoinHandle<()>>>,
}

/// What appenders, waiters and the committer share.
///
/// Locks are taken in the order writer, pending; the state of `progress` is the innermost.
struct Shared<I: Io> {
    options: LogOptions,
    space: Arc<Space<I>>,
    pending: Pending,
    progress: Progress,
    /// Held during a commit: at most one runs at a time.
    writer: Mutex<Writer<I>>,
    has_committer: AtomicBool,
    times: Arc<SyncTimes>,
    /// Bytes of all batches that were replayed or appended.
    logged_bytes: AtomicU64,
}

impl<I: Io> std::fmt::Debug for Shared<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("progress", &self.progress).finish_non_exhaustive()
    }
}

impl<I: Io> Log<I> {
    /// Opens the log in `dir`, which exists, and hands every batch above the checkpoint to `sink`, in order.
    ///
    /// # Errors
    /// Those of recovery ([`StorageError::Corrupt`] and its kin; the disk is unchanged then), those of `sink`, and
    /// calls of the system that failed.
    pub fn open(
        io: Arc<I>,
        dir: &Path,
        store_id: u64,
        options: LogOptions,
        floor: Floor,
        sink: Sink<'_>,
    ) -> Result<(Log<I>, Recovered), StorageError> {
        let space = Arc::new(Space::without_reserve(&io, dir));
        let place = LogPlace { dir: dir.to_owned(), store_id, options };
        Log::open_in(io, place, space, floor, sink, &mut || Ok(()))
    }

    /// As [`Log::open`], with the room that there is.
    pub(crate) fn open_in(
        io: Arc<I>,
        place: LogPlace,
        space: Arc<Space<I>>,
        floor: Floor,
        sink: Sink<'_>,
        end: SinkEnd<'_>,
    ) -> Result<(Log<I>, Recovered), StorageError> {
        let (tail, recovered) = recovery::recover(io.as_ref(), &place, &space, floor, sink, end)?;
        let options = place.options.clone();
        let last_lsn = tail.last_lsn;
        let times = Arc::new(SyncTimes::new());
        let shared = Shared {
            pending: Pending::new(last_lsn, (tail.end.offset, tail.segment.allocated), &options),
            space,
            progress: Progress::new(last_lsn),
            writer: Mutex::new(Writer::new(io, place, tail, Arc::clone(&times))),
            has_committer: AtomicBool::new(false),
            times,
            logged_bytes: AtomicU64::new(recovered.bytes_replayed),
            options,
        };
        Ok((Log { shared: Arc::new(shared), committer: Mutex::new(None) }, recovered))
    }

    /// Gives a batch its number and puts it into the next commit. It is durable when [`Log::synced`] says so.
    /// Waits when as much as the options allow is pending already.
    ///
    /// # Errors
    /// [`StorageError::TooLarge`], [`StorageError::DiskFull`], [`StorageError::Poisoned`], [`StorageError::Closed`], and
    /// [`StorageError::Io`] when the system is short of something else; the batch has no number then.
    pub fn append(&self, payload: &[u8]) -> Result<Lsn, StorageError> {
        self.append_as(payload, Urgency::Ordinary, Pace::Prompt)
    }

    /// As [`Log::append`]; `urgency` says whether it may use up the reserve of a full disk, `pace` how soon it has to be
    /// durable.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub fn append_as(&self, payload: &[u8], urgency: Urgency, pace: Pace) -> Result<Lsn, StorageError> {
        let bytes_max = PAYLOAD_BYTES_MAX as usize;
        if payload.len() > bytes_max {
            return Err(StorageError::TooLarge { bytes: payload.len(), bytes_max });
        }
        let crc = payload_crc(payload);
        loop {
            if urgency == Urgency::Ordinary
                && let Some(refusal) = self.shared.space.refusal()
            {
                self.shared.pending.check_open()?;
                return Err(refusal);
            }
            match self.shared.pending.try_push(payload, crc, pace)? {
                Push::Done(lsn) => {
                    self.shared.logged_bytes.fetch_add(frame_bytes(payload.len()), Ordering::Relaxed);
                    return Ok(lsn);
                }
                Push::NoRoom => self.shared.make_room(payload.len(), urgency)?,
                Push::GroupFull if self.shared.has_committer.load(Ordering::Acquire) => {
                    self.shared.pending.wait_for_room();
                }
                // Nobody else would make room.
                Push::GroupFull => {
                    self.commit_step()?;
                }
            }
        }
    }

    /// Writes and syncs everything that is pending. Waits for a commit that is under way.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] when this or an earlier write or sync failed; [`StorageError::Closed`].
    pub fn commit_step(&self) -> Result<Committed, StorageError> {
        Ok(self.shared.commit_step()?)
    }

    /// Writes into the log how far it is durable, if no frame says so yet. Needs no sync: it makes the time short in
    /// which a damaged commit could be taken for a torn one.
    ///
    /// # Errors
    /// As [`Log::commit_step`].
    pub fn witness_step(&self) -> Result<(), StorageError> {
        Ok(self.shared.witness_step()?)
    }

    /// The newest durable batch; 0 when there is none. Can be read after a failure, too.
    #[must_use]
    pub fn synced_lsn(&self) -> Lsn {
        self.shared.progress.synced_lsn()
    }

    /// The number that the next batch will have, if no other thread appends first.
    #[must_use]
    pub fn next_lsn(&self) -> Lsn {
        self.shared.pending.next_lsn()
    }

    /// The newest batch that was appended, durable or not; 0 when there is none.
    #[must_use]
    pub fn newest_lsn(&self) -> Lsn {
        Lsn(self.next_lsn().0 - 1)
    }

    /// Blocks until a batch is durable.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] or [`StorageError::Closed`] when it never will be, as far as can be known.
    pub fn wait_synced(&self, lsn: Lsn) -> Result<(), StorageError> {
        Ok(self.shared.progress.wait_blocking(lsn)?)
    }

    /// Whether a batch is durable or may still become so.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] or [`StorageError::Closed`] when it never will be, as far as can be known.
    pub fn check_possible(&self, lsn: Lsn) -> Result<(), StorageError> {
        Ok(self.shared.progress.is_possible(lsn)?)
    }

    /// As [`Log::wait_synced`]; commits itself when there is no committer that would. A batch that was not appended
    /// is not waited for: then this returns when everything that was is durable.
    ///
    /// # Errors
    /// As [`Log::wait_synced`].
    pub fn wait_synced_or_commit(&self, lsn: Lsn) -> Result<(), StorageError> {
        let lsn = lsn.min(self.newest_lsn());
        while self.synced_lsn() < lsn {
            if self.shared.has_committer.load(Ordering::Acquire) {
                return self.wait_synced(lsn);
            }
            self.commit_step()?;
        }
        Ok(())
    }

    /// Waits until a batch is durable.
    ///
    /// # Errors
    /// As [`Log::wait_synced`].
    pub async fn synced(&self, lsn: Lsn) -> Result<(), StorageError> {
        Ok(self.shared.progress.wait(lsn).await?)
    }

    /// The failure that ended all writing, if there was one.
    #[must_use]
    pub fn poison(&self) -> Option<IoFailure> {
        self.shared.progress.poison()
    }

    /// Takes ordinary batches again if the disk was full and has room. Returns whether it takes them now and did not
    /// before.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] when a write failed, now or earlier; [`StorageError::Closed`].
    pub fn space_step(&self) -> Result<bool, StorageError> {
        Ok(self.shared.space_step()?)
    }

    /// Why ordinary batches are refused, while the disk is full.
    #[must_use]
    pub fn refusal(&self) -> Option<StorageError> {
        self.shared.space.refusal()
    }

    /// Bytes of all batches that were replayed when the log was opened, or appended since.
    #[must_use]
    pub fn logged_bytes(&self) -> u64 {
        self.shared.logged_bytes.load(Ordering::Relaxed)
    }

    /// The syncs since the log was opened. Waits for none of them.
    #[must_use]
    pub fn sync_counts(&self) -> SyncCounts {
        self.shared.times.counts()
    }

    /// Whether the log takes writes.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] or [`StorageError::Closed`].
    pub fn check_open(&self) -> Result<(), StorageError> {
        Ok(self.shared.writer.lock().check_open()?)
    }

    /// Ends all writing because of a failure elsewhere in the data directory after which nobody knows what is durable.
    pub(crate) fn poison_by(&self, failure: IoFailure) -> StorageError {
        let mut writer = self.shared.writer.lock();
        self.shared.poison(&mut writer, failure).into()
    }

    /// Starts the thread that commits whatever is pending. A second call does nothing.
    ///
    /// # Errors
    /// [`StorageError::Io`] when the system starts no thread.
    pub fn spawn_committer(&self) -> Result<(), StorageError> {
        let mut committer = self.committer.lock();
        if committer.is_none() {
            let shared = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name("log-committer".to_owned());
            let dir = shared.writer.lock().dir().to_owned();
            self.shared.has_committer.store(true, Ordering::Release);
            match builder.spawn(move || committer::run(&shared)).at("start the committer of", &dir) {
                Ok(handle) => *committer = Some(handle),
                Err(failure) => {
                    self.shared.has_committer.store(false, Ordering::Release);
                    return Err(failure.into());
                }
            }
        }
        Ok(())
    }

    /// Commits what is pending, notes in the log that it was closed in order, and stops. A second call does nothing.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] when a write or sync failed.
    pub fn close(&self) -> Result<(), StorageError> {
        self.shared.pending.stop(Stop::Closed);
        self.join_committer();
        let result = self.shared.close();
        self.shared.progress.stop(Stop::Closed);
        Ok(result?)
    }

    fn join_committer(&self) {
        if let Some(handle) = self.committer.lock().take()
            && handle.join().is_err()
        {
            tracing::error!("the log's committer thread panicked");
        }
        self.shared.has_committer.store(false, Ordering::Release);
    }
}

impl<I: Io> Drop for Log<I> {
    fn drop(&mut self) {
        self.shared.pending.stop(Stop::Closed);
        self.join_committer();
        self.shared.progress.stop(Stop::Closed);
    }
}

impl<I: Io> Shared<I> {
    fn commit_step(&self) -> Result<Committed, Stop> {
        let mut writer = self.writer.lock();
        writer.check_open()?;
        let batches = self.commit(&mut writer)?;
        self.grow_ahead(&mut writer)?;
        let (synced_lsn, is_witness_due) = (writer.synced_lsn(), writer.is_witness_due());
        Ok(Committed { batches, synced_lsn, is_witness_due })
    }

    /// Makes what is pending durable. Returns how many batches that were.
    fn commit(&self, writer: &mut Writer<I>) -> Result<usize, Stop> {
        let Some(mut group) = self.pending.take() else { return Ok(0) };
        let batches = group.batches();
        match writer.commit(&mut group, &self.space) {
            Ok(synced_lsn) => {
                self.progress.publish(synced_lsn);
                self.pending.recycle(group);
                Ok(batches)
            }
            Err(failure) => Err(self.poison(writer, failure)),
        }
    }

    fn witness_step(&self) -> Result<(), Stop> {
        let mut writer = self.writer.lock();
        writer.check_open()?;
        if writer.is_witness_due() {
            self.note(&mut writer, FrameKind::Marker)?;
        }
        Ok(())
    }

    fn close(&self) -> Result<(), Stop> {
        if self.writer.lock().is_closed() {
            return Ok(());
        }
        self.commit_step()?;
        let mut writer = self.writer.lock();
        if !writer.is_marked_closed() {
            if self.note(&mut writer, FrameKind::CleanShutdown)? {
                writer.close().map_err(|failure| self.poison(&mut writer, failure))?;
            } else {
                // Everything is durable all the same.
                tracing::warn!("no room on the disk to note that the log was closed in order");
            }
        }
        writer.stop(Stop::Closed);
        Ok(())
    }

    /// Ends all writing.
    fn poison(&self, writer: &mut Writer<I>, failure: IoFailure) -> Stop {
        tracing::error!(error = %failure, source = %failure.source, synced_lsn = %writer.synced_lsn(), "the log is poisoned");
        let stop = Stop::Poisoned(failure);
        // IMPORTANT: the writer first, so that nobody who is woken below can cause another write or sync.
        writer.stop(stop.clone());
        self.pending.stop(stop.clone());
        self.progress.stop(stop.clone());
        stop
    }
}

#[cfg(test)]
mod schedules;
#[cfg(test)]
mod tests;
