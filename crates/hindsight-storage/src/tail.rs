//! Reads durable batches out of the log while it is being written, and while checkpoints remove its oldest segments.
//!
//! A reader is a position and nothing else: no file stays open between two reads, so that a segment that was removed is
//! gone. It is given what is durable and nothing behind that. Where the log does not reach back to its position it is told
//! so, with the oldest position from which it could go on: nothing is passed over in silence.

use std::{io, path::PathBuf};

use hindsight_core::Lsn;

use crate::{
    error::{At, IoFailure, StorageError},
    frame::FrameKind,
    io::{Io, OpenMode},
    segment::{LogEnd, parse_segment_name, read_header},
    store::{LOG_DIR, Storage},
    walk::{Walk, Walked},
};

/// How often a read begins anew because the segment was removed between listing the folder and opening it.
const ATTEMPTS_MAX: usize = 16;

/// Where a reader of the log stands: everything up to a batch is behind it.
#[derive(Debug, Clone, Default)]
pub struct LogCursor {
    last: Lsn,
    /// Where the next frame is looked for; unknown to a reader that has read nothing.
    place: Option<Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    /// The first batch of the segment.
    segment: Lsn,
    /// Where the last frame that was read ends.
    end: LogEnd,
}

impl LogCursor {
    /// A reader to which everything after `lsn` is new.
    #[must_use]
    pub fn after(lsn: Lsn) -> LogCursor {
        LogCursor { last: lsn, place: None }
    }

    /// The newest batch that is behind it.
    #[must_use]
    pub fn last(&self) -> Lsn {
        self.last
    }
}

/// How much one read gives at most; a single batch is given whatever its length.
#[derive(Debug, Clone, Copy)]
pub struct ReadMost {
    /// Batches.
    pub batches: usize,
    /// Bytes of batches.
    pub bytes: usize,
}

/// Why the log can't be read on.
#[derive(Debug, thiserror::Error)]
pub enum TailError {
    /// Batches that would come next are not in the log any more.
    #[error("the log begins after lsn {oldest}: what came before is in record files only")]
    GivenUp {
        /// The oldest position after which everything is still there.
        oldest: Lsn,
    },
    /// The log can't be read, or is damaged.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl From<IoFailure> for TailError {
    fn from(failure: IoFailure) -> Self {
        TailError::Storage(failure.into())
    }
}

impl<I: Io> Storage<I> {
    /// The oldest position after which the log has everything.
    ///
    /// # Errors
    /// When the folder of the log can't be listed.
    pub fn log_begins_after(&self) -> Result<Lsn, StorageError> {
        let first = self.log_segments()?.first().map(|(first_lsn, _)| Lsn(first_lsn.0.saturating_sub(1)));
        Ok(first.unwrap_or_else(|| self.synced_lsn()))
    }

    /// Hands durable batches after the cursor to `each`, in order, and moves the cursor behind them.
    ///
    /// # Errors
    /// [`TailError::GivenUp`] when the log does not reach back to the cursor; the cursor is where it was. When the log
    /// can't be read or is damaged; then the cursor is behind what was handed over.
    pub fn read_log(
        &self,
        cursor: &mut LogCursor,
        most: ReadMost,
        each: &mut dyn FnMut(Lsn, &[u8]),
    ) -> Result<(), TailError> {
        // IMPORTANT: first of all. A segment is there before a batch of it is durable, so the folder that is listed after
        // this has every batch up to here, or none of the oldest.
        let synced = self.synced_lsn();
        let mut left = most;
        let mut attempts = 0;
        while cursor.last < synced && left.batches > 0 && left.bytes > 0 {
            let segments = self.log_segments()?;
            let at = segments.partition_point(|(first_lsn, _)| first_lsn.0 <= cursor.last.0 + 1);
            let Some((segment, path)) = at.checked_sub(1).and_then(|at| segments.get(at)) else {
                let oldest = segments.first().map_or(synced, |(first, _)| Lsn(first.0.saturating_sub(1)));
                return Err(TailError::GivenUp { oldest });
            };
            let until = segments.get(at).map_or(synced, |(next, _)| Lsn(next.0 - 1)).min(synced);
            let file = match self.records().io().open(path, OpenMode::Read) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS_MAX => {
                    attempts += 1;
                    continue;
                }
                result => result.at("open", path)?,
            };
            self.read_segment((*segment, path, &file), until, cursor, &mut left, each)?;
        }
        Ok(())
    }

    /// Reads one segment up to the batch `until`, which is in it.
    fn read_segment(
        &self,
        (segment, path, file): (Lsn, &PathBuf, &I::File),
        until: Lsn,
        cursor: &mut LogCursor,
        left: &mut ReadMost,
        each: &mut dyn FnMut(Lsn, &[u8]),
    ) -> Result<(), TailError> {
        let header = read_header(file).at("read", path)?.map_err(|fault| StorageError::CorruptSegment {
            path: path.clone(),
            lsn: segment,
            fault,
        })?;
        let mut walk = match cursor.place.filter(|place| place.segment == segment) {
            Some(place) => Walk::resume(file, &header, cursor.last, place.end),
            None => Walk::begin(file, &header, None),
        }
        .at("read", path)?;
        while walk.last() < until && left.batches > 0 && left.bytes > 0 {
            let fault = match walk.next().at("read", path)? {
                Walked::Frame(frame) => {
                    if frame.kind == FrameKind::Batch && frame.lsn > cursor.last {
                        let payload = walk.payload(&frame);
                        each(frame.lsn, payload);
                        left.batches -= 1;
                        left.bytes = left.bytes.saturating_sub(payload.len());
                        cursor.last = frame.lsn;
                        cursor.place = Some(Place { segment, end: walk.end() });
                    }
                    continue;
                }
                Walked::End => (walk.end().offset, crate::frame::FrameFault::CutOff),
                Walked::Bad { offset, fault } => (offset, fault),
            };
            let (path, lsn, durable_lsn) = (path.clone(), Lsn(walk.last().0 + 1), self.synced_lsn());
            return Err(
                StorageError::Corrupt { path, offset: fault.0, lsn, durable_lsn, fault: fault.1 }.into()
            );
        }
        Ok(())
    }

    /// The segments of the log by their first batch, in order.
    fn log_segments(&self) -> Result<Vec<(Lsn, PathBuf)>, StorageError> {
        let dir = self.dir().join(LOG_DIR);
        let names = self.records().io().list(&dir).at("list", &dir)?;
        let mut segments: Vec<_> =
            names.iter().filter_map(|name| Some((parse_segment_name(name)?, dir.join(name)))).collect();
        segments.sort_unstable();
        Ok(segments)
    }
}

#[cfg(test)]
mod tests;
