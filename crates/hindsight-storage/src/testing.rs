//! A disk in memory that keeps apart what was written and what is durable, fails on request, and loses power.
//!
//! Every call is counted. A test runs a workload once to learn how many calls it makes, then again for each of them:
//! with [`MemIo::inject`] the call fails, with [`MemIo::cut_power_at`] it and all later ones do. [`MemIo::after_crash`]
//! is the disk that the next start finds: each 512-byte sector that no sync covered is old, new, zero, garbage or
//! shorn, each change of a folder happened or did not, all of it decided by a seed.

mod disk;
#[cfg(test)]
pub(crate) mod logs;
#[cfg(test)]
pub(crate) mod stores;

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;

use crate::io::{Io, IoFile, OpenMode};
use disk::Disk;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The call answers this error number. A write may have written a part of its bytes; a failed sync marks the
    /// pages clean without writing them, as Linux does.
    Errno(i32),
    /// A write writes half of its bytes and says so. Other calls are not touched.
    ShortWrite,
    /// A read, write or sync is interrupted before it did anything. Other calls are not touched.
    Interrupted,
}

/// Which call goes wrong, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The number of the call, from 0.
    pub at_call: u64,
    /// What goes wrong.
    pub kind: FaultKind,
    /// Whether all later calls go wrong, too.
    pub is_sticky: bool,
}

/// How often the calls that cost time were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All calls.
    pub calls: u64,
    /// Calls of `pwrite`.
    pub writes: u64,
    /// Calls of `sync_data`.
    pub data_syncs: u64,
    /// Calls of `sync_data`, `sync_all`, `sync_dir` and `sync_fs`.
    pub syncs: u64,
    /// Syncs that failed.
    pub failed_syncs: u64,
    /// Writes over bytes that the file had, which failed.
    pub failed_overwrites: u64,
    /// Syncs of a file after one of it had failed.
    pub syncs_after_failure: u64,
}

/// The disk. Clones are the same disk.
#[derive(Clone)]
pub struct MemIo(Arc<Mutex<Disk>>);

/// An open file of the disk.
pub struct MemFile {
    disk: Arc<Mutex<Disk>>,
    inode: u64,
    handle: u64,
}

impl std::fmt::Debug for MemIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemIo").field("counts", &self.counts()).finish()
    }
}

impl std::fmt::Debug for MemFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemFile").field("inode", &self.inode).finish_non_exhaustive()
    }
}

impl MemIo {
    /// An empty disk; the seed decides its random numbers.
    #[must_use]
    pub fn new(seed: u64) -> MemIo {
        MemIo(Arc::new(Mutex::new(Disk::new(seed))))
    }

    /// How often what was called.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.0.lock().counts
    }

    /// Makes one call, or it and all later ones, go wrong.
    pub fn inject(&self, fault: Fault) {
        self.0.lock().fault = Some(fault);
    }

    /// Everything works again.
    pub fn heal(&self) {
        self.0.lock().fault = None;
    }

    /// Call number `call` and all later ones fail and do nothing: the machine is off.
    pub fn cut_power_at(&self, call: u64) {
        self.0.lock().power_cut_at = Some(call);
    }

    /// Every later `sync_data` takes this long, as on a real disk.
    pub fn set_sync_time(&self, time: Duration) {
        self.0.lock().sync_time = time;
    }

    /// Others fill the disk up, or make room: so many bytes are free from now on.
    pub fn set_free(&self, free: u64) {
        self.0.lock().set_free(free);
    }

    /// Bytes that are free.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.0.lock().free()
    }

    /// Sets the clock, in milliseconds since the Unix epoch.
    pub fn set_now_ms(&self, now_ms: u64) {
        self.0.lock().now_ms = now_ms;
    }

    /// The disk as the machine finds it after a power cut now. This disk is not changed.
    #[must_use]
    pub fn after_crash(&self, seed: u64) -> MemIo {
        MemIo(Arc::new(Mutex::new(self.0.lock().after_crash(seed))))
    }

    /// The disk as the next process finds it when this one is killed: everything written is there, in the cache.
    #[must_use]
    pub fn after_kill(&self) -> MemIo {
        MemIo(Arc::new(Mutex::new(self.0.lock().after_kill())))
    }

    /// The content of a file as a reader sees it.
    #[must_use]
    pub fn read_file(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.lock().content(path)
    }

    /// Puts a file on the disk, durably.
    pub fn put_file(&self, path: &Path, bytes: &[u8]) {
        self.0.lock().put_durably(path, bytes);
    }

    /// Every file with its content, sorted by path.
    #[must_use]
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.0.lock().files()
    }
}

impl Io for MemIo {
    type File = MemFile;

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<MemFile> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        let (inode, handle) = disk.open(path, mode)?;
        Ok(MemFile { disk: Arc::clone(&self.0), inode, handle })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        disk.rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        disk.unlink(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.counts.syncs += 1;
        disk.call(true).inspect_err(|error| {
            disk.counts.failed_syncs += u64::from(error.kind() != io::ErrorKind::Interrupted);
        })?;
        disk.sync_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        disk.list(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        disk.create_dir_all(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        disk.create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        disk.remove_dir(path)
    }

    fn file_len(&self, path: &Path) -> io::Result<u64> {
        let mut disk = self.0.lock();
        disk.call(false)?;
        disk.file_len(path)
    }

    fn now_ms(&self) -> u64 {
        self.0.lock().now_ms
    }

    fn random(&self) -> io::Result<u64> {
        Ok(self.0.lock().random.next())
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        Ok(self.0.lock().free())
    }

    fn total_bytes(&self, _path: &Path) -> io::Result<u64> {
        Ok(disk::CAPACITY)
    }
}

impl IoFile for MemFile {
    fn pwrite(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.disk.lock().pwrite(self.inode, offset, bytes)
    }

    fn pread(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut disk = self.disk.lock();
        disk.call(true)?;
        Ok(disk.pread(self.inode, offset, bytes))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.call(false)?;
        disk.set_len(self.inode, len);
        Ok(())
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.call(false)?;
        disk.allocate(self.inode, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        let time = self.disk.lock().sync_time;
        if !time.is_zero() {
            std::thread::sleep(time);
        }
        let mut disk = self.disk.lock();
        disk.counts.data_syncs += 1;
        disk.sync(self.inode)
    }

    fn sync_all(&self) -> io::Result<()> {
        self.disk.lock().sync(self.inode)
    }

    fn sync_fs(&self) -> io::Result<()> {
        self.disk.lock().sync_fs()
    }

    fn len(&self) -> io::Result<u64> {
        let mut disk = self.disk.lock();
        disk.call(false)?;
        Ok(disk.len(self.inode))
    }

    fn drop_cache(&self) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.call(false)?;
        disk.drop_cache(self.inode);
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut disk = self.disk.lock();
        disk.call(false)?;
        Ok(disk.try_lock(self.inode, self.handle))
    }
}

impl Drop for MemFile {
    fn drop(&mut self) {
        self.disk.lock().unlock(self.inode, self.handle);
    }
}

#[cfg(test)]
mod tests;
