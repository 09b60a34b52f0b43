//! The machine itself: POSIX files, the system clock, the kernel's random numbers.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt},
    path::Path,
    sync::OnceLock,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use rustix::fs::{Advice, FallocateFlags, FlockOperation, fadvise, fallocate, flock, statvfs, syncfs};

use crate::io::{Io, IoFile, OpenMode, fill_with_zeros};

/// The machine's own files and clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealIo;

impl Io for RealIo {
    type File = RealFile;

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<RealFile> {
        let mut options = OpenOptions::new();
        options.read(true).mode(0o600);
        match mode {
            OpenMode::Read => {}
            OpenMode::ReadWrite => {
                options.write(true);
            }
            OpenMode::CreateOrOpen => {
                options.write(true).create(true);
            }
            OpenMode::CreateEmpty => {
                options.write(true).create(true).truncate(true);
            }
        }
        options.open(path).map(RealFile)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let mut names = fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let parent = match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => return Ok(()),
        };
        // A parent that is there and still can't take the folder (such as /proc) must not be tried again.
        if !parent.is_dir() && parent.symlink_metadata().is_err() {
            self.create_dir_all(parent)?;
        }
        match fs::DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => return Ok(()),
            Err(error) => return Err(error),
        }
        match self.sync_dir(parent) {
            // A parent that may be written but not read can't be opened to be synced.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            result => result,
        }
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        match fs::DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            result => result,
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn file_len(&self, path: &Path) -> io::Result<u64> {
        fs::metadata(path).map(|metadata| metadata.len())
    }

    fn now_ms(&self) -> u64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
    }

    fn elapsed_us(&self) -> u64 {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        u64::try_from(BEGUN.get_or_init(Instant::now).elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn random(&self) -> io::Result<u64> {
        Ok(getrandom::u64()?)
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let stat = statvfs(path)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    fn total_bytes(&self, path: &Path) -> io::Result<u64> {
        let stat = statvfs(path)?;
        Ok(stat.f_blocks.saturating_mul(stat.f_frsize))
    }
}

/// An open file of the machine.
#[derive(Debug)]
pub struct RealFile(File);

impl IoFile for RealFile {
    fn pwrite(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }

    fn pread(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        match fallocate(&self.0, FallocateFlags::empty(), 0, len) {
            // A file system that can't set space aside gives it to what is written.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                fill_with_zeros(self, &mut self.len()?, len)
            }
            result => Ok(result?),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    /// Linux 5.8 and later tell of failed write-back here, as often as a descriptor asks (`errseq_t` of the superblock).
    fn sync_fs(&self) -> io::Result<()> {
        Ok(syncfs(&self.0)?)
    }

    fn len(&self) -> io::Result<u64> {
        self.0.metadata().map(|metadata| metadata.len())
    }

    fn drop_cache(&self) -> io::Result<()> {
        Ok(fadvise(&self.0, 0, None, Advice::DontNeed)?)
    }

    fn try_lock(&self) -> io::Result<bool> {
        match flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}
