//! Puts groups into segments. The only place that writes or syncs the log.

use std::{path::Path, sync::Arc};

use hindsight_core::Lsn;

use super::{DurableFile, Stop, pending::Group, times::SyncTimes};
use crate::{
    error::{At, IoFailure},
    frame::{FrameHeader, FrameKind, HEADER_BYTES, payload_crc},
    io::{Io, IoFile, fill_with_zeros, uninterrupted, write_all_at},
    segment::{BeginError, FRAMES_START, LogEnd, LogPlace, Segment, next_sector},
    space::Space,
};

/// While it is written to without a pause, it is noted how far the log is durable whenever so many bytes of frames have
/// come.
const NOTE_EVERY_BYTES: u64 = 1 << 20;

/// Where the log goes on after recovery.
#[derive(Debug)]
pub(crate) struct Tail<F> {
    pub(crate) segment: Segment<F>,
    /// Where it is noted how far the log is durable.
    pub(crate) durable: DurableFile<F>,
    /// Where its last frame ends, or its first one begins.
    pub(crate) end: LogEnd,
    /// The newest batch; it is durable.
    pub(crate) last_lsn: Lsn,
    /// The newest durable LSN that a frame of the log names.
    pub(crate) witnessed: Lsn,
    /// Whether the last frame says that the log was closed in order.
    pub(crate) is_closed: bool,
}

/// The end of the log, ready to be written.
pub(super) struct Writer<I: Io> {
    io: Arc<I>,
    place: LogPlace,
    tail: Tail<I::File>,
    /// Whether a frame was written that no sync has covered.
    is_dirty: bool,
    /// Where the frames ended when it was last noted how far the log is durable.
    noted_at: u64,
    stop: Option<Stop>,
    times: Arc<SyncTimes>,
}

impl<I: Io> Writer<I> {
    pub(super) fn new(io: Arc<I>, place: LogPlace, tail: Tail<I::File>, times: Arc<SyncTimes>) -> Writer<I> {
        let noted_at = tail.end.offset;
        Writer { io, place, tail, is_dirty: false, noted_at, stop: None, times }
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

    /// Makes a group durable: one write and one sync. Its place is there on the disk already. Returns the newest durable
    /// batch.
    pub(super) fn commit(&mut self, group: &mut Group, space: &Space<I>) -> Result<Lsn, IoFailure> {
        let last_lsn = Lsn(group.first_lsn.0 + group.frames.len() as u64 - 1);
        self.seal(group);
        space.overwrite(|| self.write(&group.bytes))?;
        // IMPORTANT: nothing of the group is acknowledged before this returned Ok.
        self.sync()?;
        self.tail.last_lsn = last_lsn;
        Ok(last_lsn)
    }

    /// Writes the headers of a group's frames into it.
    fn seal(&mut self, group: &mut Group) {
        for (at, slot) in group.frames.iter().enumerate() {
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
        }
        self.tail.witnessed = self.tail.last_lsn;
    }

    /// Writes at the next sector border, so that tearing this write can't harm what is durable already.
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoFailure> {
        let start = next_sector(self.tail.end.offset);
        if start - self.noted_at >= NOTE_EVERY_BYTES {
            self.tail.durable.note_synced(self.tail.last_lsn)?;
            self.noted_at = start;
        }
        let segment = &mut self.tail.segment;
        self.is_dirty = true;
        self.tail.is_closed = false;
        write_all_at(&segment.file, start, bytes).at("write", &segment.path)?;
        self.tail.end.offset = start + bytes.len() as u64;
        segment.allocated = segment.allocated.max(self.tail.end.offset);
        Ok(())
    }

    /// How far the segment reaches.
    pub(super) fn allocated(&self) -> u64 {
        self.tail.segment.allocated
    }

    /// Whether the segment has a batch. One without takes a batch of any length: a new segment in its place would have
    /// its name.
    pub(super) fn has_batch(&self) -> bool {
        self.tail.segment.header.first_lsn <= self.tail.last_lsn
    }

    /// Fills the segment with zeros up to `to`. How far it came counts also when it fails.
    pub(super) fn grow(&mut self, to: u64) -> Result<(), IoFailure> {
        let segment = &mut self.tail.segment;
        // IMPORTANT: the sector in which the file ends may hold a durable frame. Writing into it again could tear that.
        segment.allocated = next_sector(segment.allocated);
        fill_with_zeros(&segment.file, &mut segment.allocated, to).at("write", &segment.path)
    }

    fn sync(&mut self) -> Result<(), IoFailure> {
        let segment = &self.tail.segment;
        let synced = self.times.of(|| uninterrupted(|| segment.file.sync_data()));
        synced.at("sync", &segment.path)?;
        self.is_dirty = false;
        Ok(())
    }

    /// Begins a new segment of at least `least` bytes. Returns why it is shorter than it should be, if it is.
    /// IMPORTANT: the old one is durable to its end before the new one gets its name; recovery takes a bad frame that is
    /// followed by a segment for damage.
    pub(super) fn rotate(&mut self, least: u64, space: &Space<I>) -> Result<Option<IoFailure>, BeginError> {
        if self.is_dirty {
            self.sync().map_err(BeginError::Unknown)?;
        }
        let next_lsn = Lsn(self.tail.last_lsn.0 + 1);
        let begun = self.place.begin(self.io.as_ref(), next_lsn, self.tail.end, least)?;
        self.tail.segment = begun.segment;
        self.tail.end.offset = FRAMES_START;
        self.noted_at = FRAMES_START;
        // IMPORTANT: the new segment is noted durably before it takes a batch: without it, the log must not pass for whole.
        let durable = &mut self.tail.durable;
        space.overwrite(|| durable.note_segment(next_lsn)).map_err(BeginError::Unknown)?;
        durable.sync().map_err(BeginError::Unknown)?;
        Ok(begun.shortage)
    }

    /// Whether the last segment lies wholly at or below `lsn` and has at least `bytes_min` bytes of frames.
    pub(super) fn can_retire(&self, lsn: Lsn, bytes_min: u64) -> bool {
        let bytes = self.tail.end.offset.saturating_sub(FRAMES_START);
        self.has_batch() && self.tail.last_lsn <= lsn && bytes >= bytes_min
    }

    pub(super) fn first_lsn(&self) -> Lsn {
        self.tail.segment.header.first_lsn
    }

    /// Whether the last frame says that the log was closed in order.
    pub(super) fn is_marked_closed(&self) -> bool {
        self.tail.is_closed
    }

    /// Makes the note durable that the log was closed in order.
    pub(super) fn close(&mut self) -> Result<(), IoFailure> {
        self.sync()?;
        self.tail.is_closed = true;
        Ok(())
    }

    /// A frame without a payload and without a number of its own. Its place is there already.
    pub(super) fn write_note(&mut self, kind: FrameKind) -> Result<(), IoFailure> {
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
        // Before the frame: no marker is due where there is one, and then nothing else would note it.
        self.tail.durable.note_synced(last_lsn)?;
        self.write(&bytes)?;
        self.tail.end.crc = crc;
        self.tail.witnessed = last_lsn;
        self.noted_at = self.tail.end.offset;
        Ok(())
    }
}
