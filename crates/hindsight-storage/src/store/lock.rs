//! The LOCK file: one process at a time. The lock is the kernel's, so it ends with the process however that ends;
//! the text in the file only tells a second process whom to name.

use std::path::Path;

use super::cannot_create;
use crate::{
    error::{At, StorageError},
    io::{Io, IoFile, OpenMode, read_small, write_all_at},
};

/// The file's name.
pub(crate) const FILE_NAME: &str = "LOCK";
const FILE_BYTES_MAX: usize = 4096;

/// Who has a data directory open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// When it took the lock, in milliseconds since the Unix epoch.
    pub since_ms: u64,
}

/// The lock of a data directory, held until it is dropped.
#[derive(Debug)]
pub(crate) struct DirLock<F> {
    _file: F,
}

impl<F: IoFile> DirLock<F> {
    /// As [`DirLock::take`], and changes nothing: the file is not written, and not made where it is missing. Nobody
    /// has the directory then.
    pub(crate) fn hold<I: Io<File = F>>(io: &I, dir: &Path) -> Result<Option<DirLock<F>>, StorageError> {
        let path = dir.join(FILE_NAME);
        let file = match io.open(&path, OpenMode::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            result => result.at("open", &path)?,
        };
        if !file.try_lock().at("lock", &path)? {
            let holder = read_small(&file, FILE_BYTES_MAX).ok().and_then(|bytes| Holder::parse(&bytes));
            return Err(StorageError::Locked { path, holder });
        }
        Ok(Some(DirLock { _file: file }))
    }

    pub(super) fn take<I: Io<File = F>>(io: &I, dir: &Path) -> Result<DirLock<F>, StorageError> {
        let path = dir.join(FILE_NAME);
        let file = io.open(&path, OpenMode::CreateOrOpen).map_err(|error| cannot_create(&path, error))?;
        if !file.try_lock().at("lock", &path)? {
            let holder = read_small(&file, FILE_BYTES_MAX).ok().and_then(|bytes| Holder::parse(&bytes));
            return Err(StorageError::Locked { path, holder });
        }
        let holder = Holder { pid: std::process::id(), since_ms: io.now_ms() };
        file.set_len(0).at("cut", &path)?;
        write_all_at(&file, 0, holder.to_text().as_bytes()).at("write", &path)?;
        Ok(DirLock { _file: file })
    }
}

impl Holder {
    fn to_text(self) -> String {
        format!("pid {}\nsince_ms {}\n", self.pid, self.since_ms)
    }

    fn parse(bytes: &[u8]) -> Option<Holder> {
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        let pid = lines.next()?.strip_prefix("pid ")?.parse().ok()?;
        let since_ms = lines.next()?.strip_prefix("since_ms ")?.parse().ok()?;
        Some(Holder { pid, since_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let holder = Holder { pid: 4711, since_ms: 1_700_000_000_000 };
        assert_eq!(Holder::parse(holder.to_text().as_bytes()), Some(holder));
        for junk in [&b""[..], b"4711", b"pid x\nsince_ms 1\n", b"\xff"] {
            assert_eq!(Holder::parse(junk), None);
        }
    }
}
