//! The group of batches that the next commit will write. Bounded: past its limits appenders wait.

use std::{mem, time::Instant};

use hindsight_core::Lsn;
use parking_lot::{Condvar, Mutex};

use super::Stop;
use crate::{frame::HEADER_BYTES, options::LogOptions};

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

impl Slot {
    /// Where its frame ends in the group's bytes.
    pub(super) fn end(&self) -> usize {
        self.start + HEADER_BYTES + self.payload_bytes as usize
    }
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
}

#[derive(Debug)]
struct State {
    group: Group,
    /// An empty group whose buffers are used again.
    spare: Group,
    next_lsn: Lsn,
    stop: Option<Stop>,
}

impl Pending {
    pub(super) fn new(last_lsn: Lsn, options: &LogOptions) -> Pending {
        let next_lsn = Lsn(last_lsn.0 + 1);
        let state = State { group: Group::default(), spare: Group::default(), next_lsn, stop: None };
        Pending {
            state: Mutex::new(state),
            work: Condvar::new(),
            room: Condvar::new(),
            bytes_max: options.pending_bytes_max,
            frames_max: options.pending_frames_max,
        }
    }

    /// Numbers a batch and puts it into the group; `None` when the group is full.
    pub(super) fn try_push(&self, payload: &[u8], payload_crc: u32) -> Result<Option<Lsn>, Stop> {
        let mut state = self.state.lock();
        if let Some(stop) = &state.stop {
            return Err(stop.clone());
        }
        if self.is_full(&state.group, payload.len()) {
            return Ok(None);
        }
        let lsn = state.next_lsn;
        state.next_lsn = Lsn(lsn.0 + 1);
        if state.group.frames.is_empty() {
            state.group.first_lsn = lsn;
        }
        state.group.push(payload, payload_crc);
        drop(state);
        self.work.notify_one();
        Ok(Some(lsn))
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
            if !state.group.frames.is_empty() {
                return Work::Commit;
            }
            match deadline {
                Some(deadline) if Instant::now() >= deadline => return Work::Quiet,
                Some(deadline) => {
                    self.work.wait_until(&mut state, deadline);
                }
                None => self.work.wait(&mut state),
            }
        }
    }
}
