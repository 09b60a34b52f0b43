//! Room on the disk: when it runs out, who still gets some, and when there is enough again.
//!
//! A file in the data directory, the reserve, holds space for bad days. When a call finds no room the disk is taken for
//! full: what stores something new is refused before it touches memory or log. What makes less of what is stored, and
//! checkpoints, may use up the reserve. Once enough is free the reserve is filled again, and writes are taken.
//! The threshold is far above what one call needs, so that a disk at its border does not go back and forth.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use crate::{
    error::{At, IoFailure, StorageError, is_full, is_shortage},
    io::{Io, IoFile, OpenMode},
    store::StorageOptions,
};

/// The name of the reserve.
pub(crate) const RESERVE_FILE: &str = "reserve";
/// What is kept back is at most this part of the disk.
const RESERVE_SHARE: u64 = 16;
/// And what must be free before writes are taken again is at most this part.
const RECOVERY_SHARE: u64 = 8;
/// Where a file may not have so many bytes, a reserve of a half, a quarter … is kept; no smaller one.
const RESERVE_BYTES_MIN: u64 = 1 << 20;
/// What a start may have to write: the copy of a torn commit, a segment, a manifest.
const START_BYTES: u64 = 16 << 20;

/// Who asks for room in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// It stores something new: refused while the disk is full.
    Ordinary,
    /// It makes less of what is stored, or ends something: it may use up the reserve.
    Urgent,
}

/// The room of one data directory.
#[derive(Debug)]
pub(crate) struct Space<I: Io> {
    io: Arc<I>,
    dir: PathBuf,
    path: PathBuf,
    /// Bytes that must be free before writes are taken again, beside what the reserve lacks.
    recovery_bytes: u64,
    is_low: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Bytes that the reserve should have.
    wanted: u64,
    /// Bytes that it has.
    held: u64,
    /// The call that found no room.
    cause: Option<IoFailure>,
}

impl<I: Io> Space<I> {
    /// Looks at the disk and at the reserve, and changes nothing.
    pub(crate) fn of(io: &Arc<I>, dir: &Path, options: &StorageOptions) -> Result<Space<I>, IoFailure> {
        let path = dir.join(RESERVE_FILE);
        let total = io.total_bytes(dir).at("ask for the size of the disk of", dir)?;
        let held = match io.file_len(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            result => result.at("read", &path)?,
        };
        let wanted = options.reserve_bytes.min(total / RESERVE_SHARE);
        let recovery_bytes = (2 * options.log.segment_bytes).min(total / RECOVERY_SHARE);
        let state = Mutex::new(State { wanted, held, cause: None });
        Ok(Space {
            io: Arc::clone(io),
            dir: dir.to_owned(),
            path,
            recovery_bytes,
            is_low: AtomicBool::new(false),
            state,
        })
    }

    /// Room without a reserve, for a log by itself.
    pub(crate) fn without_reserve(io: &Arc<I>, dir: &Path) -> Space<I> {
        Space {
            io: Arc::clone(io),
            dir: dir.to_owned(),
            path: dir.join(RESERVE_FILE),
            recovery_bytes: 0,
            is_low: AtomicBool::new(false),
            state: Mutex::new(State { wanted: 0, held: 0, cause: None }),
        }
    }

    /// Whether the disk is taken for full.
    pub(crate) fn is_low(&self) -> bool {
        self.is_low.load(Ordering::Acquire)
    }

    /// Why ordinary writes are refused; `None` while they are not.
    pub(crate) fn refusal(&self) -> Option<StorageError> {
        if !self.is_low() {
            return None;
        }
        let state = self.state.lock();
        let needed_bytes = self.needed(&state);
        let failure = state.cause.clone()?;
        Some(StorageError::DiskFull { path: self.dir.clone(), needed_bytes, failure })
    }

    /// A call found no room.
    pub(crate) fn note_full(&self, failure: &IoFailure) {
        let mut state = self.state.lock();
        if state.cause.is_none() {
            let needed_bytes = self.needed(&state);
            tracing::warn!(error = %failure, source = %failure.source, needed_bytes, "the disk is full: writes are refused until there is room");
        }
        state.cause = Some(failure.clone());
        self.is_low.store(true, Ordering::Release);
    }

    /// Writes over a place that is there already. A file system that writes elsewhere needs room even for this: then once
    /// more, with the reserve at hand. The same bytes at the same place again change nothing about what may be there.
    ///
    /// # Errors
    /// Those of the second try, or of another kind than want of space.
    pub(crate) fn overwrite(
        &self,
        mut write: impl FnMut() -> Result<(), IoFailure>,
    ) -> Result<(), IoFailure> {
        match write() {
            Err(failure) if is_shortage(&failure.source) => {
                self.note_full(&failure);
                self.release();
                write()
            }
            result => result,
        }
    }

    /// Gives the reserve away. Returns whether there was any.
    pub(crate) fn release(&self) -> bool {
        let mut state = self.state.lock();
        if state.held == 0 {
            return false;
        }
        // Its name stays: the folder might have no room for it later.
        let cut = self.io.open(&self.path, OpenMode::ReadWrite).and_then(|file| file.set_len(0));
        match cut {
            Ok(()) => {
                tracing::warn!(bytes = state.held, "the reserve on the disk is used up for what can't wait");
                state.held = 0;
                true
            }
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "the reserve on the disk can't be given away");
                false
            }
        }
    }

    /// A start is about to write, and must not fail for what the reserve has.
    pub(crate) fn make_way(&self) {
        if self.io.free_bytes(&self.dir).is_ok_and(|free| free < START_BYTES) {
            self.release();
        }
    }

    /// Fills the reserve at a start. On a disk without room for it writes are refused from the beginning: they would
    /// take what is left from those that can't wait.
    ///
    /// # Errors
    /// Calls of the system that failed for another reason.
    pub(crate) fn begin(&self) -> Result<(), IoFailure> {
        let filled = self.fill(&mut self.state.lock());
        match filled {
            Err(failure) if is_full(&failure.source) => {
                self.note_full(&failure);
                Ok(())
            }
            result => result,
        }
    }

    /// Whether so much is free that writes could be taken again.
    pub(crate) fn has_room(&self) -> bool {
        let needed = self.needed(&self.state.lock());
        self.io.free_bytes(&self.dir).is_ok_and(|free| free > needed)
    }

    /// Fills the reserve again and takes writes. Returns whether it did.
    pub(crate) fn end(&self) -> bool {
        let mut state = self.state.lock();
        if let Err(failure) = self.fill(&mut state) {
            state.cause = Some(failure);
            return false;
        }
        state.cause = None;
        self.is_low.store(false, Ordering::Release);
        tracing::info!("the disk has room again: writes are taken");
        true
    }

    fn needed(&self, state: &State) -> u64 {
        self.recovery_bytes + state.wanted.saturating_sub(state.held)
    }

    fn fill(&self, state: &mut State) -> Result<(), IoFailure> {
        if state.held == state.wanted {
            return Ok(());
        }
        let file = self.io.open(&self.path, OpenMode::CreateOrOpen).at("create", &self.path)?;
        if state.held > state.wanted {
            file.set_len(state.wanted).at("cut", &self.path)?;
            state.held = state.wanted;
        }
        while state.held < state.wanted {
            let Err(failure) = file.allocate(state.wanted).at("set space aside in", &self.path) else {
                state.held = state.wanted;
                break;
            };
            // What was set aside of it is worth more as free space.
            file.set_len(0).at("cut", &self.path)?;
            state.held = 0;
            let is_too_long = failure.source.kind() == io::ErrorKind::FileTooLarge;
            if !is_too_long || state.wanted / 2 < RESERVE_BYTES_MIN {
                return Err(failure);
            }
            state.wanted /= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
