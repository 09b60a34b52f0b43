//! Writing the trail.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::{
    AUDIT_FOLDER, Anchor, AuditError, Entry, Event, FILE_BYTES_MAX, failed, files, key_or_new, path_of,
};
use crate::file;

/// The trail of one data directory, at its end. One process writes it: the one that has the directory.
#[derive(Debug)]
pub struct Trail {
    folder: PathBuf,
    key: [u8; 32],
    /// The file that is written, and its length.
    file: Option<(File, u64)>,
    next: u64,
    last: blake3::Hash,
    file_bytes_max: u64,
    /// Whether the last write may have left part of a line.
    torn: bool,
}

impl Trail {
    /// Opens the trail of the data directory `data`, or begins one. Half a line at its end, which a crash leaves, is cut off.
    ///
    /// # Errors
    /// When a file can't be read or made.
    pub fn open(data: &Path) -> Result<Trail, AuditError> {
        Trail::open_with(data, FILE_BYTES_MAX)
    }

    pub(super) fn open_with(data: &Path, file_bytes_max: u64) -> Result<Trail, AuditError> {
        let folder = data.join(AUDIT_FOLDER);
        let key = key_or_new(data)?;
        file::make_folder(&folder).map_err(failed("make", &folder))?;
        let mut trail = Trail {
            folder,
            key,
            file: None,
            next: 1,
            last: blake3::Hash::from_bytes([0; 32]),
            file_bytes_max,
            torn: false,
        };
        // The newest file may hold no whole line; then the one before says where the trail is.
        for (first, path) in files(&trail.folder)?.into_iter().rev() {
            if trail.resume(first, &path).map_err(failed("read", &path))? {
                break;
            }
        }
        Ok(trail)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Goes on after the last whole line of a file; whether there is one.
    fn resume(&mut self, first: u64, path: &Path) -> io::Result<bool> {
        let bytes = std::fs::read(path)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let last = bytes[..whole].split(|byte| *byte == b'\n').rev().find(|line| !line.is_empty());
        // What can't be read is left as it is, for `verify` to tell; the trail goes on in a new file.
        let Some(entry) = last.map(serde_json::from_slice::<Entry>).transpose().ok().flatten() else {
            self.next = self.next.max(first + u64::from(!bytes.is_empty()));
            return Ok(false);
        };
        self.next = self.next.max(entry.seq + 1);
        self.last = blake3::Hash::from_hex(&entry.hash).unwrap_or(self.last);
        let length = u64::try_from(whole).unwrap_or(u64::MAX);
        let mut options = OpenOptions::new();
        let mut file = file::private(options.write(true)).open(path)?;
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        if self.file.is_none() && length < self.file_bytes_max && self.next == entry.seq + 1 {
            self.file = Some((file, length));
        }
        Ok(true)
    }

    /// Writes events down, in their order. They outlive the end of the process; [`Trail::sync`] lets them outlive that of the
    /// machine.
    ///
    /// # Errors
    /// When they can't be written; then none of them counts as written.
    pub fn append(&mut self, events: impl IntoIterator<Item = Event>) -> Result<(), AuditError> {
        let (mut bytes, mut next, mut last) = (Vec::new(), self.next, self.last);
        for event in events {
            let entry = Entry::new(&self.key, next, event, &last);
            last = blake3::Hash::from_hex(&entry.hash).unwrap_or(last);
            next += 1;
            let end = bytes.len();
            if serde_json::to_writer(&mut bytes, &entry).is_err() {
                // Texts and numbers always become JSON.
                bytes.truncate(end);
            }
            bytes.push(b'\n');
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let path = self.folder.clone();
        self.write(&bytes).map_err(failed("write to", &path))?;
        (self.next, self.last) = (next, last);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let full = self.file.as_ref().is_none_or(|(_, length)| *length >= self.file_bytes_max);
        if full {
            if let Some((file, _)) = &self.file {
                file.sync_data()?;
            }
            let path = path_of(&self.folder, self.next);
            let mut options = OpenOptions::new();
            let file = file::private(options.write(true).create(true).truncate(true)).open(path)?;
            file::sync_folder(&self.folder)?;
            self.file = Some((file, 0));
        }
        let Some((file, length)) = &mut self.file else { return Ok(()) };
        if self.torn {
            file.set_len(*length)?;
            file.seek(SeekFrom::Start(*length))?;
            self.torn = false;
        }
        if let Err(error) = file.write_all(bytes) {
            self.torn = true;
            return Err(error);
        }
        *length += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    /// The answer of the system.
    pub fn sync(&self) -> Result<(), AuditError> {
        match &self.file {
            Some((file, _)) => file.sync_data().map_err(failed("sync", &self.folder)),
            None => Ok(()),
        }
    }

    /// Where the trail is: to be written down elsewhere. None before the first entry.
    #[must_use]
    pub fn head(&self) -> Option<Anchor> {
        (self.next > 1).then(|| Anchor { seq: self.next - 1, hash: self.last.to_hex().to_string() })
    }
}
