//! The seam between storage and the machine: files, folders, time and randomness.
//!
//! Everything above it goes through [`Io`], so that tests can run the same code on a disk that loses, tears
//! or refuses writes. [`crate::RealIo`] is the machine; `testing::MemIo` is the disk that misbehaves.

use std::{ffi::OsString, io, path::Path};

/// How a file is opened. New files are readable by their owner only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing file, to read.
    Read,
    /// An existing file, to read and write.
    ReadWrite,
    /// A file to read and write, made when it is missing.
    CreateOrOpen,
    /// A new empty file to read and write; an old one of that name loses its content.
    CreateEmpty,
}

/// Files, folders, time and randomness. A change of a folder (create, rename, unlink) is durable only after
/// [`Io::sync_dir`] of it, the bytes of a file only after a sync of the file.
pub trait Io: Send + Sync + 'static {
    /// An open file.
    type File: IoFile;

    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Self::File>;
    /// Gives a file another name, replacing what has that name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Takes a name away.
    fn unlink(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// The names in a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>>;
    /// Makes a folder and its missing parents, for their owner only, each durable in its parent.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes one folder, for its owner only, if it is not there. Its name is durable only after a sync of its parent.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Takes the name of an empty folder away.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// The length of a file in bytes.
    fn file_len(&self, path: &Path) -> io::Result<u64>;
    /// Milliseconds since the Unix epoch. May step back; no order may come from it.
    fn now_ms(&self) -> u64;
    /// Microseconds since any moment, to measure how long something takes: never steps back. Nothing may be decided by it. On
    /// a machine whose time is made up, it is that time.
    fn elapsed_us(&self) -> u64 {
        self.now_ms().saturating_mul(1_000)
    }
    /// 64 random bits that a client of the database can't guess.
    fn random(&self) -> io::Result<u64>;
    /// Bytes that can still be written on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
    /// Bytes that the file system of `path` has in all.
    fn total_bytes(&self, path: &Path) -> io::Result<u64>;
}

/// Shared by who needs its clock besides the storage that runs on it.
impl<I: Io> Io for std::sync::Arc<I> {
    type File = I::File;

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Self::File> {
        I::open(self, path, mode)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        I::rename(self, from, to)
    }
    fn unlink(&self, path: &Path) -> io::Result<()> {
        I::unlink(self, path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        I::sync_dir(self, path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        I::list(self, path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        I::create_dir_all(self, path)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        I::create_dir(self, path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        I::remove_dir(self, path)
    }
    fn file_len(&self, path: &Path) -> io::Result<u64> {
        I::file_len(self, path)
    }
    fn now_ms(&self) -> u64 {
        I::now_ms(self)
    }
    fn elapsed_us(&self) -> u64 {
        I::elapsed_us(self)
    }
    fn random(&self) -> io::Result<u64> {
        I::random(self)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        I::free_bytes(self, path)
    }
    fn total_bytes(&self, path: &Path) -> io::Result<u64> {
        I::total_bytes(self, path)
    }
}

/// An open file, addressed by offset: there is no cursor that two users could share.
pub trait IoFile: Send + Sync + 'static {
    /// Writes at an offset; may write less than asked. Past the end the file grows, a gap reads as zeros.
    fn pwrite(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Reads at an offset; 0 at the end of the file.
    fn pread(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;
    /// Cuts or extends the file.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Extends the file to `len` bytes of zeros, for which the file system sets space aside. A file that is longer stays
    /// as it is; when this fails a part may have been set aside.
    fn allocate(&self, len: u64) -> io::Result<()>;
    /// Makes content and length durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes content, length and all other attributes durable.
    fn sync_all(&self) -> io::Result<()>;
    /// Makes everything durable that was written to the file system of this file: contents, lengths, names. One call
    /// in place of thousands. Tells of every write that failed since this file was opened, whichever file it was to.
    fn sync_fs(&self) -> io::Result<()>;
    /// The length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether the file is empty.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Drops clean pages from the cache, so that the next read comes from the disk itself.
    fn drop_cache(&self) -> io::Result<()>;
    /// Takes the advisory lock of the file, which lasts until the file is closed; false when another has it.
    fn try_lock(&self) -> io::Result<bool>;
}

/// Writes all of `bytes`. Short writes and interruptions are no errors: the rest is written again.
pub(crate) fn write_all_at<F: IoFile>(file: &F, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.pwrite(offset, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                offset += written as u64;
                bytes = bytes.get(written..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes zeros from `filled` to `to`. `filled` tells how far it came, also when it fails.
pub(crate) fn fill_with_zeros<F: IoFile>(file: &F, filled: &mut u64, to: u64) -> io::Result<()> {
    static ZEROS: [u8; 256 << 10] = [0; 256 << 10];
    while *filled < to {
        let len = usize::try_from(to - *filled).unwrap_or(usize::MAX).min(ZEROS.len());
        match file.pwrite(*filled, ZEROS.get(..len).unwrap_or_default()) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => *filled += written as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads until `bytes` is full or the file ends; returns how many bytes were read.
pub(crate) fn read_full_at<F: IoFile>(file: &F, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.pread(offset + filled as u64, rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads a whole small file.
///
/// # Errors
/// Besides those of the file: `FileTooLarge` past `len_max` bytes, so that a wrong file can't fill the memory.
pub(crate) fn read_small<F: IoFile>(file: &F, len_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len_max + 1];
    let read = read_full_at(file, 0, &mut bytes)?;
    if read > len_max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    bytes.truncate(read);
    Ok(bytes)
}

/// Repeats a call that a signal interrupted. Only an interruption is repeated: a sync that *failed* must never
/// be called again, because the kernel has marked the lost pages clean and would answer Ok.
pub(crate) fn uninterrupted(mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
