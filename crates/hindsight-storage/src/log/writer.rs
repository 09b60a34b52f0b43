//! Puts groups into segments. The only place that writes or syncs the log.

use std::{ops::Range, path::Path, sync::Arc};

use hindsight_core::Lsn;

use super::{Stop, pending::Group};
use crate::{
    error::{At, IoFailure},
    frame::{FrameHeader, FrameKind, HEADER_BYTES, payload_crc},
    io::{Io, IoFile, uninterrupted, write_all_at},
    segment::{FRAMES_START, LogEnd, LogPlace, Segment, fill_with_zeros, next_sector},
};

/// Where the log goes on after recovery.
#[derive(Debug)]
pub(crate) struct Tail<F> {
    pub(crate) segment: Segment<F>,
    /// Where its last frame ends, or its first one begins.
    pub(crate) end: LogEnd,
    /// The newest batch; it is durable.
    pub(crate) last_lsn: Lsn,
    /// The newest durable LSN that a frame of the log names.
    pub(crate) witnessed: Lsn,
    /// Whether the last frame says that the log was closed in order.
    pub(crate) is_closed: bool,
}

/// Why no new segment was begun.
pub(super) enum RetireError {
    /// The log is as it was.
    Unchanged(IoFailure),
    /// Nobody knows what is durable.
    Unknown(IoFailure),
}

/// The end of the log, ready to be written.
pub(super) struct Writer<I: Io> {
    io: Arc<I>,
    place: LogPlace,
    tail: Tail<I::File>,
    /// Whether a frame was written that no sync has covered.
    is_dirty: bool,
    stop: Option<Stop>,
}

impl<I: Io> Writer<I> {
    pub(super) fn new(io: Arc<I>, place: LogPlace, tail: Tail<I::File>) -> Writer<I> {
        Writer { io, place, tail, is_dirty: false, stop: None }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.place.dir
    }

    pub(super) fn io(&self) -> Arc<I> {
        Arc::clone(&self.io)
    }

    /// The newest durable batch.
    pub(super) fn synced_lsn(&self) -> Lsn {
        self.tail.last_lsn
    }

    /// Whether no frame says yet how far the log is durable.
    pub(super) fn is_witness_due(&self) -> bool {
        self.tail.witnessed < self.tail.last_lsn
    }

    pub(super) fn check_open(&self) -> Result<(), Stop> {
        self.stop.clone().map_or(Ok(()), Err)
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.stop, Some(Stop::Closed))
    }

    pub(super) fn stop(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// Makes a group durable: one write and one sync, or one of each per segment it reaches into. Calls `synced`
    /// with the newest durable LSN after each sync.
    pub(super) fn commit(&mut self, group: &mut Group, synced: impl Fn(Lsn)) -> Result<(), IoFailure> {
        let mut next = 0;
        while next < group.frames.len() {
            let first_lsn = Lsn(group.first_lsn.0 + next as u64);
            let frames = next..next + self.frames_that_fit(group, next);
            if frames.is_empty() {
                self.rotate(first_lsn)?;
                continue;
            }
            next = frames.end;
            let last_lsn = Lsn(group.first_lsn.0 + next as u64 - 1);
            let bytes = self.seal(group, frames);
            self.write(group.bytes.get(bytes).unwrap_or_default())?;
            // IMPORTANT: nothing of the group is acknowledged before this returned Ok.
            self.sync()?;
            self.tail.last_lsn = last_lsn;
            synced(last_lsn);
        }
        Ok(())
    }

    /// How many frames of a group, from `from` on, the segment has room for. A segment without a batch takes one of
    /// any length: a new segment in its place would have its name.
    fn frames_that_fit(&self, group: &Group, from: usize) -> usize {
        let room = self.place.options.segment_bytes.saturating_sub(next_sector(self.tail.end.offset));
        let frames = group.frames.get(from..).unwrap_or_default();
        let start = frames.first().map_or(0, |slot| slot.start);
        let count = frames.partition_point(|slot| (slot.end() - start) as u64 <= room);
        let has_batch = self.tail.segment.header.first_lsn <= self.tail.last_lsn;
        if has_batch { count } else { count.max(1) }
    }

    /// Writes the headers of some frames of a group into it. Returns where the frames lie in its bytes.
    fn seal(&mut self, group: &mut Group, frames: Range<usize>) -> Range<usize> {
        let mut bytes = 0..0;
        for at in frames.clone() {
            let Some(slot) = group.frames.get(at) else { break };
            let header = FrameHeader {
                kind: FrameKind::Batch,
                lsn: Lsn(group.first_lsn.0 + at as u64),
                synced_lsn: self.tail.last_lsn,
                prev_crc: self.tail.end.crc,
                payload_crc: slot.payload_crc,
                payload_bytes: slot.payload_bytes,
            };
            let (head, crc) = header.encode(self.tail.segment.header.salt);
            if let Some(place) = group.bytes.get_mut(slot.start..slot.start + HEADER_BYTES) {
                place.copy_from_slice(&head);
            }
            self.tail.end.crc = crc;
            bytes = if at == frames.start { slot.start..slot.end() } else { bytes.start..slot.end() };
        }
        self.tail.witnessed = self.tail.last_lsn;
        bytes
    }

    /// Writes at the next sector border, so that tearing this write can't harm what is durable already.
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoFailure> {
        let segment = &mut self.tail.segment;
        let start = next_sector(self.tail.end.offset);
        self.is_dirty = true;
        self.tail.is_closed = false;
        write_all_at(&segment.file, start, bytes).at("write", &segment.path)?;
        let end = start + bytes.len() as u64;
        self.tail.end.offset = end;
        if end > segment.allocated {
            let to =
                (end + self.place.options.preallocate_bytes).min(self.place.options.segment_bytes).max(end);
            fill_with_zeros(&segment.file, end, to).at("write", &segment.path)?;
            segment.allocated = to;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), IoFailure> {
        let segment = &self.tail.segment;
        uninterrupted(|| segment.file.sync_data()).at("sync", &segment.path)?;
        self.is_dirty = false;
        Ok(())
    }

    /// Begins a new segment. IMPORTANT: the old one is durable to its end before the new one gets its name;
    /// recovery takes a bad frame that is followed by a segment for damage.
    fn rotate(&mut self, first_lsn: Lsn) -> Result<(), IoFailure> {
        if self.is_dirty {
            self.sync()?;
        }
        self.tail.segment = self.place.create(self.io.as_ref(), first_lsn, self.tail.end)?;
        self.tail.end.offset = FRAMES_START;
        Ok(())
    }

    /// Begins a new segment if the last one lies wholly at or below `lsn` and has at least `bytes_min` bytes of frames.
    /// Returns whether it did.
    pub(super) fn retire(&mut self, lsn: Lsn, bytes_min: u64) -> Result<bool, RetireError> {
        let first_lsn = self.tail.segment.header.first_lsn;
        let has_batch = first_lsn <= self.tail.last_lsn;
        let bytes = self.tail.end.offset.saturating_sub(FRAMES_START);
        if !has_batch || self.tail.last_lsn > lsn || bytes < bytes_min {
            return Ok(false);
        }
        if self.is_dirty {
            self.sync().map_err(RetireError::Unknown)?;
        }
        let next_lsn = Lsn(self.tail.last_lsn.0 + 1);
        let unnamed =
            self.place.prepare(self.io.as_ref(), next_lsn, self.tail.end).map_err(RetireError::Unchanged)?;
        self.tail.segment = self.place.publish(self.io.as_ref(), unnamed).map_err(RetireError::Unknown)?;
        self.tail.end.offset = FRAMES_START;
        Ok(true)
    }

    pub(super) fn first_lsn(&self) -> Lsn {
        self.tail.segment.header.first_lsn
    }

    /// Writes how far the log is durable, unless a frame says so already.
    pub(super) fn witness(&mut self) -> Result<(), IoFailure> {
        if self.is_witness_due() { self.write_note(FrameKind::Marker) } else { Ok(()) }
    }

    /// Notes that the log was closed in order, durably.
    pub(super) fn close(&mut self) -> Result<(), IoFailure> {
        if !self.tail.is_closed {
            self.write_note(FrameKind::CleanShutdown)?;
            self.sync()?;
            self.tail.is_closed = true;
        }
        self.stop = Some(Stop::Closed);
        Ok(())
    }

    /// A frame without a payload and without a number of its own.
    fn write_note(&mut self, kind: FrameKind) -> Result<(), IoFailure> {
        let last_lsn = self.tail.last_lsn;
        let header = FrameHeader {
            kind,
            lsn: last_lsn,
            synced_lsn: last_lsn,
            prev_crc: self.tail.end.crc,
            payload_crc: payload_crc(&[]),
            payload_bytes: 0,
        };
        let (bytes, crc) = header.encode(self.tail.segment.header.salt);
        self.write(&bytes)?;
        self.tail.end.crc = crc;
        self.tail.witnessed = last_lsn;
        Ok(())
    }
}
