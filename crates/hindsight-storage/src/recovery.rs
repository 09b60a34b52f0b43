//! What happens after a crash: reads the log, decides what is torn and what is damaged, then mends.
//!
//! It writes nothing before everything was validated. Two things can be wrong with the bytes at the place of the next
//! frame, and they look alike. A *torn tail* is a commit that never became durable: nobody was told it was, it is set
//! aside and cut off. *Damage* is a batch that was durable once and can't be read: the log refuses to open, for going
//! on would lose it silently. A power cut may keep a later page and lose an earlier one, so a sound frame behind a bad
//! one proves nothing. What decides is the witness: every frame says which LSN was durable when it was built. If any
//! frame behind the bad place says that the missing batch was, it is damage.
//!
//! Reading order: [`recover`], then `replay.rs` (reading and judging), `witness.rs` (the scan), `torn.rs` (mending).

mod replay;
mod torn;
mod witness;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use hindsight_core::Lsn;

use crate::{
    error::{At, IoFailure, StorageError},
    frame::FrameFault,
    io::{Io, IoFile, uninterrupted},
    log::{LogPlace, Tail},
    segment::{self, SegmentHeader, is_unfinished_segment, parse_segment_name, segment_path},
};

pub(crate) use replay::Sink;

/// What recovery found and did.
#[derive(Debug, Clone, Default)]
pub struct Recovered {
    /// The newest batch of the log. It and all before it are durable.
    pub last_lsn: Lsn,
    /// How many batches were replayed.
    pub batches: u64,
    /// How many segments the log has.
    pub segments: usize,
    /// Bytes of frames that were read.
    pub bytes_read: u64,
    /// Whether the log was closed in order.
    pub clean_shutdown: bool,
    /// The commit that was cut off, if there was one.
    pub torn: Option<TornTail>,
    /// Unfinished files that were removed.
    pub removed: Vec<PathBuf>,
    /// How many files with names of no meaning here were ignored.
    pub ignored: usize,
}

/// A commit that was not durable when the process or the machine stopped. No batch of it was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The first batch that is not there.
    pub lsn: Lsn,
    /// The segment.
    pub path: PathBuf,
    /// Where the torn bytes began, in bytes from the start of the file.
    pub offset: u64,
    /// How many bytes were cut off, up to the last that isn't zero.
    pub bytes: u64,
    /// Where a copy of them lies (its first 8 MiB).
    pub saved_to: PathBuf,
    /// What was wrong with the first of them.
    pub fault: FrameFault,
}

/// Reads the log of `place` and hands every batch above `checkpoint_lsn` to `sink`, in order. Everything up to
/// `checkpoint_lsn` is known to be durable. Returns where the log goes on.
pub(crate) fn recover<I: Io>(
    io: &I,
    place: &LogPlace,
    checkpoint_lsn: Lsn,
    sink: Sink<'_>,
) -> Result<(Tail<I::File>, Recovered), StorageError> {
    let listing = Listing::read(io, &place.dir)?;
    let mut replay = replay::Replay::new(io, place, checkpoint_lsn, sink);
    let read = replay.all(&listing.segments)?;
    let mut report = replay.into_report();
    report.ignored = listing.ignored;

    // From here on the disk is written; everything above is validated.
    let tail = match read.tail {
        Some((file, segment)) => {
            if let Some(torn) = &segment.torn {
                torn::save_aside(io, &place.dir, &file, torn)?;
                torn::cut_off(&file, torn, segment.tail.end)?;
            }
            report.torn = segment.torn;
            let allocated = file.len().at("measure", &segment.path)?;
            Some(Tail { file, allocated, ..segment.tail.with_file_pending() })
        }
        None => None,
    };
    for path in read.empty.into_iter().chain(listing.unfinished) {
        io.unlink(&path).at("remove", &path)?;
        report.removed.push(path);
    }
    todo!()
}
