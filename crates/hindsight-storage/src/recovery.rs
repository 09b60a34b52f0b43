//! What happens after a crash: reads the log, decides what is torn and what is damaged, then mends.
//!
//! It writes nothing before everything was validated. Two things can be wrong with the bytes at the place of the next
//! frame, and they look alike. A *torn tail* is a commit that never became durable: nobody was told it was, so it is
//! given up, and a copy of its bytes is kept. *Damage* is a batch that was durable once and can't be read: the log refuses to open, for
//! going on would lose it silently. A power cut may keep a later page and lose an earlier one, so a sound frame behind
//! a bad one proves nothing. What decides is the witness: every frame says which LSN was durable when it was built. If
//! a frame behind the bad place says that the missing batch was, it is damage.
//!
//! Reading order: [`recover`], then `replay.rs` (reading and judging), `witness.rs` (the scan), `torn.rs` (the copy).

mod replay;
mod torn;
pub(crate) mod witness;

use std::path::{Path, PathBuf};

use hindsight_core::Lsn;

use crate::{
    error::{At, IoFailure, StorageError},
    frame::FrameFault,
    io::{Io, uninterrupted},
    log::{DURABLE_FILE, DurableFile, Note, Tail},
    sabotage::{self, Sabotage},
    segment::{
        FRAMES_START, LogEnd, LogPlace, SegmentFault, is_unfinished_segment, parse_segment_name, segment_path,
    },
    space::Space,
};
use replay::{Replay, Replayed};
pub(crate) use torn::is_saved_tail;

/// Takes the replayed payloads, in order.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(Lsn, &[u8]) -> Result<(), StorageError>;

/// Is called once, when every payload was handed over: until it returned Ok nothing is written, so a sink may work through
/// them later.
pub(crate) type SinkEnd<'a> = &'a mut dyn FnMut() -> Result<(), StorageError>;

/// What is known of a log before it is read: the word of the last checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Floor {
    /// Batches up to this one are in record files; the log need not have them and they are not replayed.
    pub checkpoint_lsn: Lsn,
    /// Batches up to this one were durable: a log that ends before is not whole. At least `checkpoint_lsn`.
    pub durable_lsn: Lsn,
}

impl Floor {
    /// The floor of a checkpoint that knew of nothing newer.
    #[must_use]
    pub fn at(lsn: Lsn) -> Floor {
        Floor { checkpoint_lsn: lsn, durable_lsn: lsn }
    }
}

/// What recovery found and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The newest batch of the log. It and all before it are durable.
    pub last_lsn: Lsn,
    /// How many batches were replayed.
    pub batches: u64,
    /// How many segments the log has.
    pub segments: usize,
    /// Bytes of frames that were read.
    pub bytes_read: u64,
    /// Bytes of the batches that were replayed.
    pub bytes_replayed: u64,
    /// Whether the log was closed in order.
    pub clean_shutdown: bool,
    /// The commit that was given up, if there was one.
    pub torn: Option<TornTail>,
    /// Files that were removed because a crash had left them: unfinished, or no longer or never named by the manifest.
    pub removed: Vec<PathBuf>,
    /// How many files were ignored because their names mean nothing here.
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
    /// How many bytes were given up, up to the last that isn't zero.
    pub bytes: u64,
    /// Where a copy of them lies (the first 8 MiB).
    pub saved_to: PathBuf,
    /// What was wrong with the first of them.
    pub fault: FrameFault,
}

/// Reads the log of `place` and hands every batch above the checkpoint to `sink`. Returns where the log goes on.
pub(crate) fn recover<I: Io>(
    io: &I,
    place: &LogPlace,
    space: &Space<I>,
    floor: Floor,
    sink: Sink<'_>,
    end: SinkEnd<'_>,
) -> Result<(Tail<I::File>, Recovered), StorageError> {
    let mut listing = Listing::read(io, &place.dir)?;
    let outdated = listing.take_outdated(floor.checkpoint_lsn);
    let noted = Note::read(io, &place.dir, place.store_id)?;
    let floor = Floor { durable_lsn: floor.durable_lsn.max(noted.synced_lsn), ..floor };
    listing.check_last(&place.dir, noted.last_segment)?;
    let replayed = Replay::new(io, place, floor, sink).run(&listing.segments)?;
    end()?;
    let Replayed { mut report, segment, end, witnessed, empty } = replayed;
    report.ignored = listing.ignored;
    if let Some(path) = empty.as_ref().filter(|path| **path == segment_path(&place.dir, noted.last_segment)) {
        // It had its header when it was noted.
        let (path, fault) = (path.clone(), SegmentFault::NoHeader);
        return Err(StorageError::CorruptSegment { path, lsn: noted.last_segment, fault });
    }

    // From here on the disk is written: everything above is validated.
    space.make_way();
    if let (Some(segment), Some(torn)) = (&segment, &report.torn) {
        tracing::warn!(lsn = %torn.lsn, path = %torn.path.display(), offset = torn.offset, bytes = torn.bytes, saved_to = %torn.saved_to.display(), fault = %torn.fault, "gave up a commit that never became durable");
        torn::save_aside(io, &place.dir, &segment.file, torn)?;
    }
    report.removed = empty.into_iter().chain(listing.unfinished).chain(outdated).collect();
    let next_lsn = Lsn(report.last_lsn.0 + 1);
    for path in &report.removed {
        // IMPORTANT: a log is never without a segment. One that takes the place of an empty one replaces it.
        if segment.is_some() || *path != segment_path(&place.dir, next_lsn) {
            io.unlink(path).at("remove", path)?;
        }
    }
    // A crash may have come between the naming of the last segment and the sync of its name.
    uninterrupted(|| io.sync_dir(&place.dir)).at("sync", &place.dir)?;
    let (segment, end) = match segment {
        Some(segment) if report.torn.is_none() || sabotage::has(Sabotage::GoOnInTornSegment) => {
            (segment, end)
        }
        // IMPORTANT: what is torn stays as it is, and the log goes on in a new segment that says where the old one
        // ends. Cutting it off in place would rewrite a sector that holds sound frames; appending behind it would
        // make the new frames unreadable.
        segment => {
            // A segment without a batch has the name of the new one, which takes its place.
            let replaced = segment.filter(|segment| segment.header.first_lsn == next_lsn);
            report.segments += usize::from(replaced.is_none());
            let segment = place.create(io, next_lsn, replaced.map_or(end, |segment| segment.header.prev))?;
            let end = LogEnd { offset: FRAMES_START, crc: segment.header.prev.crc };
            (segment, end)
        }
    };
    let note = Note { last_segment: segment.header.first_lsn, synced_lsn: report.last_lsn };
    let durable = DurableFile::open(io, &place.dir, place.store_id, note)?;
    let tail = Tail {
        segment,
        durable,
        end,
        last_lsn: report.last_lsn,
        witnessed,
        is_closed: report.clean_shutdown,
    };
    Ok((tail, report))
}

/// The files of a log folder.
struct Listing {
    /// First LSN and path of each segment, in order.
    segments: Vec<(Lsn, PathBuf)>,
    unfinished: Vec<PathBuf>,
    ignored: usize,
}

impl Listing {
    /// Takes out the segments that lie wholly at or below the checkpoint: it was about to remove them, or had and the
    /// removal was not durable. There may be gaps between them.
    fn take_outdated(&mut self, checkpoint_lsn: Lsn) -> Vec<PathBuf> {
        let begun = self.segments.partition_point(|(first_lsn, _)| first_lsn.0 <= checkpoint_lsn.0 + 1);
        self.segments.drain(..begun.saturating_sub(1)).map(|(_, path)| path).collect()
    }

    /// Whether the newest segment that was noted is there.
    fn check_last(&self, dir: &Path, noted: Lsn) -> Result<(), StorageError> {
        let is_there = noted == Lsn(0) || self.segments.iter().any(|(first_lsn, _)| *first_lsn >= noted);
        let (path, lsn) = (segment_path(dir, noted), noted);
        if is_there { Ok(()) } else { Err(StorageError::MissingSegment { path, lsn }) }
    }

    fn read<I: Io>(io: &I, dir: &Path) -> Result<Listing, IoFailure> {
        let mut listing = Listing { segments: Vec::new(), unfinished: Vec::new(), ignored: 0 };
        let mut first_ignored = None;
        for name in io.list(dir).at("list", dir)? {
            if let Some(first_lsn) = parse_segment_name(&name) {
                listing.segments.push((first_lsn, dir.join(name)));
            } else if is_unfinished_segment(&name) {
                listing.unfinished.push(dir.join(name));
            } else if !torn::is_saved_tail(&name) && name != DURABLE_FILE {
                listing.ignored += 1;
                first_ignored.get_or_insert(name);
            }
        }
        listing.segments.sort_unstable();
        if let Some(name) = first_ignored {
            tracing::warn!(dir = %dir.display(), count = listing.ignored, first = ?name, "ignored files that are no part of the log");
        }
        Ok(listing)
    }
}

#[cfg(test)]
mod tests;
