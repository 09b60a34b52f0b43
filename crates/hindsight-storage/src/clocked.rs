//! The machine's files, with the machine's clock or with one that is set by hand: memories live for months, and whoever
//! wants to see what becomes of them (a rehearsal, a test) does not wait for that.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::io::{Io, OpenMode};
use crate::real::{RealFile, RealIo};

/// What tells the time. Clones are the same clock.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Arc<AtomicU64>>);

impl Clock {
    /// A clock that stands still until it is set. `now_ms` counts milliseconds since the Unix epoch.
    #[must_use]
    pub fn by_hand(now_ms: u64) -> Clock {
        Clock(Some(Arc::new(AtomicU64::new(now_ms))))
    }

    /// Sets a clock that is set by hand, forward or back. The machine's own clock is not touched.
    pub fn set_ms(&self, now_ms: u64) {
        if let Some(hand) = &self.0 {
            hand.store(now_ms, Ordering::SeqCst);
        }
    }

    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.0.as_ref().map_or_else(|| RealIo.now_ms(), |hand| hand.load(Ordering::SeqCst))
    }

    /// Microseconds since any moment; a clock that is set by hand moves only by that.
    #[must_use]
    pub fn elapsed_us(&self) -> u64 {
        let hand = self.0.as_ref().map(|hand| hand.load(Ordering::SeqCst).saturating_mul(1_000));
        hand.unwrap_or_else(|| RealIo.elapsed_us())
    }
}

/// The machine's own files, and a [`Clock`].
#[derive(Debug, Clone, Default)]
pub struct ClockedIo {
    clock: Clock,
}

impl ClockedIo {
    /// The machine's files with this clock.
    #[must_use]
    pub fn new(clock: Clock) -> ClockedIo {
        ClockedIo { clock }
    }
}

impl Io for ClockedIo {
    type File = RealFile;

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<RealFile> {
        RealIo.open(path, mode)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealIo.rename(from, to)
    }
    fn unlink(&self, path: &Path) -> io::Result<()> {
        RealIo.unlink(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealIo.sync_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        RealIo.list(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        RealIo.create_dir_all(path)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealIo.create_dir(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealIo.remove_dir(path)
    }
    fn file_len(&self, path: &Path) -> io::Result<u64> {
        RealIo.file_len(path)
    }
    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }
    fn elapsed_us(&self) -> u64 {
        self.clock.elapsed_us()
    }
    fn random(&self) -> io::Result<u64> {
        RealIo.random()
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        RealIo.free_bytes(path)
    }
    fn total_bytes(&self, path: &Path) -> io::Result<u64> {
        RealIo.total_bytes(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_set_by_hand_stands_still_and_the_machines_own_can_not_be_set() {
        let clock = Clock::by_hand(1_000);
        let io = ClockedIo::new(clock.clone());
        assert_eq!((io.now_ms(), io.now_ms()), (1_000, 1_000));
        clock.set_ms(5);
        assert_eq!(io.now_ms(), 5);
        let own = Clock::default();
        own.set_ms(5);
        assert!(own.now_ms() > 1_600_000_000_000);
    }
}
