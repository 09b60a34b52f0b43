//! The group of batches that the next commit will write. Bounded: past its limits appenders wait.
//!
//! A batch is taken only if its place in the segment is there on the disk already, so that the commit writes over bytes
//! that the file has: what is in memory and acknowledged later must not find the disk full.

use std::{
    mem,
    time::{Duration, Instant},
};

use hindsight_core::Lsn;

use super::{
    Stop,
    sync::{Condvar, Mutex},
};
use crate::{
    frame::{HEADER_BYTES, frame_bytes},
    options::LogOptions,
    segment::{SECTOR_BYTES, next_sector},
};

/// A buffer larger than this is given back to the system after its commit.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// Batches in the order of their numbers, laid out as the log will hold them, with room for each header.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) bytes: Vec<u8>,
    pub(super) frames: Vec<Slot>,
    pub(super) first_lsn: Lsn,
}

/// One batch of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// Where its frame begins in the group's bytes.
    pub(super) start: usize,
    /// Bytes of its payload.
    pub(super) payload_bytes: u32,
    pub(super) payload_crc: u32,
}

impl Group {
    pub(super) fn batches(&self) -> usize {
        self.frames.len()
    }

    fn push(&mut self, payload: &[u8], payload_crc: u32) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        self.bytes.extend_from_slice(payload);
        // The caller has checked the length against a limit far below 4 GiB.
        let payload_bytes = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        self.frames.push(Slot { start, payload_bytes, payload_crc });
    }

    fn clear(&mut self) {
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.frames.clear();
    }
}

/// How soon a batch has to be durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// Somebody waits for it: the next commit begins as soon as it can.
    #[default]
    Prompt,
    /// Nobody waits for it: its commit begins within [`LogOptions::relaxed_ms`], or with the next one that somebody waits for.
    Relaxed,
}

/// Why the committer woke up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Something is pending.
    Commit,
    /// Nothing was appended until the deadline.
    Quiet,
    /// The log takes nothing more.
    Stop,
}

/// The pending group, and who waits for it.
#[derive(Debug)]
pub(super) struct Pending {
    state: Mutex<State>,
    /// Wakes the committer.
    work: Condvar,
    /// Wakes appenders that found the group full.
    room: Condvar,
    bytes_max: usize,
    frames_max: usize,
    relaxed: Duration,
}

#[derive(Debug)]
struct State {
    group: Group,
    /// When the group's commit has to begin; now, if that is in the past. None when nothing is pending.
    due: Option<Due>,
    /// An empty group whose buffers are used again.
    spare: Group,
    next_lsn: Lsn,
    /// Behind everything that is written or pending, in bytes from the start of the segment; never less.
    cursor: u64,
    /// How far the segment reaches. No frame is taken that would end behind it.
    limit: u64,
    /// Whether another segment is being made, into which what is pending will go.
    is_frozen: bool,
    stop: Option<Stop>,
}

/// When a commit has to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Now,
    At(Instant),
}

impl State {
    /// A commit has to begin now. Returns whether that is news for the committer.
    fn hurry(&mut self) -> bool {
        self.due.replace(Due::Now) != Some(Due::Now)
    }

    /// Where a frame of a batch would end.
    fn end_of(&self, payload_bytes: usize) -> u64 {
        let start = if self.group.frames.is_empty() { next_sector(self.cursor) } else { self.cursor };
        start + frame_bytes(payload_bytes)
    }
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Push {
    /// It has a number and a place.
    Done(Lsn),
    /// As much as may wait is pending already.
    GroupFull,
    /// The segment is not long enough for it.
    NoRoom,
}

/// Where a frame would end, and what there is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) end: u64,
    pub(super) limit: u64,
    /// Whether anything is pending.
    pub(super) has_pending: bool,
}

impl Pending {
    /// Nothing is pending behind `last_lsn`, whose frame ends at `cursor` in a segment that reaches to `limit`.
    pub(super) fn new(last_lsn: Lsn, (cursor, limit): (u64, u64), options: &LogOptions) -> Pending {
        let state = State {
            group: Group::default(),
            due: None,
            spare: Group::default(),
            next_lsn: Lsn(last_lsn.0 + 1),
            cursor,
            limit,
            is_frozen: false,
            stop: None,
        };
        Pending {
            state: Mutex::new(state),
            work: Condvar::new(),
            room: Condvar::new(),
            bytes_max: options.pending_bytes_max,
            frames_max: options.pending_frames_max,
            relaxed: Duration::from_millis(options.relaxed_ms),
        }
    }

    /// Numbers a batch and puts it into the group, if there is room for it.
    pub(super) fn try_push(&self, payload: &[u8], payload_crc: u32, pace: Pace) -> Result<Push, Stop> {
        let mut state = self.state.lock();
        if let Some(stop) = &state.stop {
            return Err(stop.clone());
        }
        if self.is_full(&state.group, payload.len()) {
            return Ok(Push::GroupFull);
        }
        let end = state.end_of(payload.len());
        if state.is_frozen || end > state.limit {
            return Ok(Push::NoRoom);
        }
        state.cursor = end;
        let lsn = state.next_lsn;
        state.next_lsn = Lsn(lsn.0 + 1);
        if state.group.frames.is_empty() {
            state.group.first_lsn = lsn;
        }
        state.group.push(payload, payload_crc);
        let is_news = match pace {
            Pace::Prompt => state.hurry(),
            Pace::Relaxed if state.due.is_some() => false,
            Pace::Relaxed => {
                state.due = Some(Due::At(Instant::now() + self.relaxed));
                true
            }
        };
        drop(state);
        if is_news {
            self.work.notify_one();
        }
        Ok(Push::Done(lsn))
    }

    /// Whether batches are taken at all.
    pub(super) fn check_open(&self) -> Result<(), Stop> {
        self.state.lock().stop.clone().map_or(Ok(()), Err)
    }

    /// Where a batch would go.
    pub(super) fn place_of(&self, payload_bytes: usize) -> Place {
        let state = self.state.lock();
        let (end, limit) = (state.end_of(payload_bytes), state.limit);
        Place { end, limit, has_pending: !state.group.frames.is_empty() }
    }

    /// Makes room for a frame without a payload before what is pending. False when there is none.
    pub(super) fn place_note(&self) -> bool {
        let mut state = self.state.lock();
        let cursor =
            if state.group.frames.is_empty() { state.end_of(0) } else { state.cursor + SECTOR_BYTES };
        let has_room = cursor <= state.limit;
        if has_room {
            state.cursor = cursor;
        }
        has_room
    }

    /// The segment reaches further now.
    pub(super) fn set_limit(&self, limit: u64) {
        self.state.lock().limit = limit;
    }

    /// How much room is left, in bytes, and where it begins.
    pub(super) fn room(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.limit.saturating_sub(state.cursor), state.cursor)
    }

    /// Takes no batch until the next segment is there, or will not be. Returns the bytes that are pending.
    pub(super) fn freeze(&self) -> u64 {
        let mut state = self.state.lock();
        state.is_frozen = true;
        state.group.bytes.len() as u64
    }

    /// The segment before goes on.
    pub(super) fn unfreeze(&self) {
        self.state.lock().is_frozen = false;
    }

    /// What is pending, and what comes, goes into another segment, from `start` on.
    pub(super) fn move_to(&self, start: u64, limit: u64) {
        let mut state = self.state.lock();
        state.cursor = start + state.group.bytes.len() as u64;
        state.limit = limit;
        state.is_frozen = false;
    }

    pub(super) fn next_lsn(&self) -> Lsn {
        self.state.lock().next_lsn
    }

    /// An empty group takes any batch, so that the largest one is not refused for ever.
    fn is_full(&self, group: &Group, payload_bytes: usize) -> bool {
        let bytes = group.bytes.len() + HEADER_BYTES + payload_bytes;
        !group.frames.is_empty() && (group.frames.len() >= self.frames_max || bytes > self.bytes_max)
    }

    /// Blocks until a commit has taken the group or the log takes nothing more.
    pub(super) fn wait_for_room(&self) {
        let mut state = self.state.lock();
        let group = state.group.first_lsn;
        if !state.group.frames.is_empty() && state.hurry() {
            self.work.notify_one();
        }
        while state.stop.is_none() && !state.group.frames.is_empty() && state.group.first_lsn == group {
            self.room.wait(&mut state);
        }
    }

    /// Takes the whole group for a commit; `None` when nothing is pending.
    pub(super) fn take(&self) -> Option<Group> {
        let mut state = self.state.lock();
        if state.group.frames.is_empty() {
            return None;
        }
        let spare = mem::take(&mut state.spare);
        let group = mem::replace(&mut state.group, spare);
        state.due = None;
        drop(state);
        self.room.notify_all();
        Some(group)
    }

    /// Gives the buffers of a committed group back.
    pub(super) fn recycle(&self, mut group: Group) {
        group.clear();
        self.state.lock().spare = group;
    }

    /// Takes nothing more, and wakes everybody. The first reason stays, but a failure outweighs an orderly end,
    /// and with it the group is dropped: it will never be written.
    pub(super) fn stop(&self, stop: Stop) {
        let mut state = self.state.lock();
        if matches!(stop, Stop::Poisoned(_)) {
            state.group.clear();
            state.due = None;
        }
        if !matches!(state.stop, Some(Stop::Poisoned(_))) {
            state.stop = Some(stop);
        }
        drop(state);
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Blocks the committer until there is something to do.
    pub(super) fn wait_for_work(&self, deadline: Option<Instant>) -> Work {
        let mut state = self.state.lock();
        loop {
            if state.stop.is_some() {
                return Work::Stop;
            }
            let (until, then) = match (state.due, deadline) {
                (Some(Due::Now), _) => return Work::Commit,
                (Some(Due::At(at)), _) => (at, Work::Commit),
                (None, Some(deadline)) => (deadline, Work::Quiet),
                (None, None) => {
                    self.work.wait(&mut state);
                    continue;
                }
            };
            if Instant::now() >= until {
                return then;
            }
            self.work.wait_until(&mut state, until);
        }
    }
}
