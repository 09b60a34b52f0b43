//! Makes room in the log before a batch gets its number, and finds out when a full disk has room again.

use super::{Shared, Stop, writer::Writer};
use crate::{
    error::{IoFailure, StorageError, is_full, is_shortage},
    frame::{FrameKind, frame_bytes},
    io::Io,
    segment::{BeginError, FRAMES_START},
    space::Urgency,
};

/// Whether there is room now.
enum Room {
    Made,
    /// The system is short of something; the log is as it was.
    Short(IoFailure),
}

impl<I: Io> Shared<I> {
    /// Makes room for a batch: at the end of the segment, or in a new one. Waits for a commit that is under way. Who
    /// comes first may take the room, so the caller asks again.
    ///
    /// # Errors
    /// [`StorageError::DiskFull`]; [`StorageError::Io`] when the system is short of something else;
    /// [`StorageError::Poisoned`], [`StorageError::Closed`].
    pub(super) fn make_room(&self, payload_bytes: usize, urgency: Urgency) -> Result<(), StorageError> {
        let mut writer = self.writer.lock();
        writer.check_open()?;
        loop {
            let failure = match self.try_room(&mut writer, payload_bytes)? {
                Room::Made => return Ok(()),
                Room::Short(failure) => failure,
            };
            if !is_full(&failure.source) {
                return Err(failure.into());
            }
            self.space.note_full(&failure);
            if urgency == Urgency::Ordinary || !self.space.release() {
                return Err(self.space.refusal().unwrap_or_else(|| failure.into()));
            }
        }
    }

    fn try_room(&self, writer: &mut Writer<I>, payload_bytes: usize) -> Result<Room, Stop> {
        let place = self.pending.place_of(payload_bytes);
        if place.end <= place.limit {
            return Ok(Room::Made);
        }
        let is_free_to_grow = !writer.has_batch() && !place.has_pending;
        if place.end <= self.options.segment_bytes || is_free_to_grow {
            let to = self.ahead_of(place.end).max(place.end);
            return self.grow(writer, to, place.end);
        }
        self.rotate(writer, FRAMES_START + frame_bytes(payload_bytes))
    }

    /// Lets the segment reach up to `to`; it is enough if it reaches up to `least`.
    fn grow(&self, writer: &mut Writer<I>, to: u64, least: u64) -> Result<Room, Stop> {
        let grown = writer.grow(to);
        self.pending.set_limit(writer.allocated());
        match grown {
            Ok(()) => Ok(Room::Made),
            Err(failure) if !is_shortage(&failure.source) => Err(self.poison(writer, failure)),
            Err(failure) if writer.allocated() >= least => {
                self.note_shortage(&failure);
                Ok(Room::Made)
            }
            Err(failure) => Ok(Room::Short(failure)),
        }
    }

    /// Ends the segment with what is pending, and begins another.
    fn rotate(&self, writer: &mut Writer<I>, least: u64) -> Result<Room, Stop> {
        self.pending.freeze();
        self.commit(writer)?;
        match writer.rotate(least, &self.space) {
            Ok(shortage) => {
                self.pending.move_to(FRAMES_START, writer.allocated());
                if let Some(failure) = shortage {
                    self.note_shortage(&failure);
                }
                Ok(Room::Made)
            }
            Err(BeginError::Unchanged(failure)) if is_shortage(&failure.source) => {
                self.pending.unfreeze();
                Ok(Room::Short(failure))
            }
            Err(BeginError::Unchanged(failure) | BeginError::Unknown(failure)) => {
                Err(self.poison(writer, failure))
            }
        }
    }

    /// Writes a frame without a payload. False when there is no room for it: such a frame can be left out. What a failed
    /// write left of it, the next one replaces.
    pub(super) fn note(&self, writer: &mut Writer<I>, kind: FrameKind) -> Result<bool, Stop> {
        if !self.make_room_for_note(writer)? {
            return Ok(false);
        }
        match writer.write_note(kind) {
            Ok(()) => Ok(true),
            Err(failure) if is_shortage(&failure.source) => {
                self.note_shortage(&failure);
                Ok(false)
            }
            Err(failure) => Err(self.poison(writer, failure)),
        }
    }

    fn make_room_for_note(&self, writer: &mut Writer<I>) -> Result<bool, Stop> {
        if self.pending.place_note() {
            return Ok(true);
        }
        let to = writer.allocated() + self.options.preallocate_bytes.max(FRAMES_START);
        match self.grow(writer, to, to)? {
            Room::Made => {}
            Room::Short(failure) => self.note_shortage(&failure),
        }
        Ok(self.pending.place_note())
    }

    /// Lets the segment reach further before it has to, so that no appender waits for that.
    pub(super) fn grow_ahead(&self, writer: &mut Writer<I>) -> Result<(), Stop> {
        let (room, cursor) = self.pending.room();
        let to = self.ahead_of(cursor);
        if room < self.options.preallocate_bytes / 2 && to > writer.allocated() && !self.space.is_low() {
            match self.grow(writer, to, to)? {
                Room::Made => {}
                Room::Short(failure) => self.note_shortage(&failure),
            }
        }
        Ok(())
    }

    /// As far as a segment reaches ahead of `end`.
    fn ahead_of(&self, end: u64) -> u64 {
        (end + self.options.preallocate_bytes).min(self.options.segment_bytes)
    }

    fn note_shortage(&self, failure: &IoFailure) {
        if is_full(&failure.source) {
            self.space.note_full(failure);
        }
    }

    /// Looks whether a full disk has room again: not what the system says is free counts, but whether the segment can
    /// grow and the reserve be filled. A quota or a limit of a file's size is no matter of free space.
    pub(super) fn space_step(&self) -> Result<bool, Stop> {
        if !self.space.is_low() || !self.space.has_room() {
            return Ok(false);
        }
        let mut writer = self.writer.lock();
        writer.check_open()?;
        let (_, cursor) = self.pending.room();
        let to = self.ahead_of(cursor);
        if to > writer.allocated() && matches!(self.grow(&mut writer, to, to)?, Room::Short(_)) {
            return Ok(false);
        }
        drop(writer);
        Ok(self.space.end())
    }
}
