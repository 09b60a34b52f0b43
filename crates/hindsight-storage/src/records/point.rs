//! One record, read by its position.

use std::path::{Path, PathBuf};

use hindsight_core::{Lsn, MemoryId, Record};

use super::{
    Loaded, RecordPosition,
    layout::{ENTRY_HEADER_BYTES, EntryHeader, FOOTER_BYTES, HEADER_BYTES, RecordFault, RecordFileHeader},
    scan::{Expected, open_entry},
};
use crate::{
    error::{At, StorageError},
    io::{Io, IoFile, OpenMode, read_full_at},
};

/// Bytes of the first read: nearly every record with one vector fits, so that it takes one call.
const GUESS_BYTES: usize = 8 << 10;

/// An open record file.
#[derive(Debug)]
pub(super) struct RecordFile<F> {
    file: F,
    path: PathBuf,
    salt: u64,
    /// Where the entries end.
    entries_end: u64,
}

impl<F: IoFile> RecordFile<F> {
    /// Opens a file of which the manifest says that it is `expected` and has this length.
    pub(super) fn open<I: Io<File = F>>(
        io: &I,
        path: &Path,
        expected: Expected,
        bytes: u64,
    ) -> Result<RecordFile<F>, StorageError> {
        let file = io.open(path, OpenMode::Read).at("open", path)?;
        let mut head = [0; HEADER_BYTES];
        let read = read_full_at(&file, 0, &mut head).at("read", path)?;
        let header = RecordFileHeader::decode(head.get(..read).unwrap_or_default())
            .and_then(|header| expected.check(header).map(|()| header))
            .map_err(|fault| StorageError::CorruptRecords { path: path.to_owned(), offset: 0, fault })?;
        let entries_end = bytes.saturating_sub(FOOTER_BYTES as u64);
        Ok(RecordFile { file, path: path.to_owned(), salt: header.salt, entries_end })
    }

    pub(super) fn read(&self, position: RecordPosition) -> Result<(MemoryId, Lsn, Record), StorageError> {
        let offset = position.offset;
        let corrupt = |fault| StorageError::CorruptRecords { path: self.path.clone(), offset, fault };
        let room = usize::try_from(self.entries_end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; GUESS_BYTES.min(room)];
        let read = read_full_at(&self.file, offset, &mut bytes).at("read", &self.path)?;
        bytes.truncate(read);
        let head = bytes.first_chunk::<ENTRY_HEADER_BYTES>().ok_or(RecordFault::CutOff).map_err(corrupt)?;
        let entry_bytes = ENTRY_HEADER_BYTES + EntryHeader::claimed_bytes(head).map_err(corrupt)?;
        if entry_bytes > room {
            return Err(corrupt(RecordFault::CutOff));
        }
        if entry_bytes > read {
            bytes.resize(entry_bytes, 0);
            let rest = bytes.get_mut(read..).unwrap_or_default();
            let more = read_full_at(&self.file, offset + read as u64, rest).at("read", &self.path)?;
            bytes.truncate(read + more);
        }
        let entry = bytes.get(..entry_bytes).ok_or(RecordFault::CutOff).map_err(corrupt)?;
        let (entry, payload) = EntryHeader::open(self.salt, entry).map_err(corrupt)?;
        match open_entry(position, &entry, payload).map_err(corrupt)? {
            Loaded::Record { lsn, record, .. } => Ok((record.memory.id, lsn, record)),
            Loaded::Request(_) => Err(corrupt(RecordFault::NotARecord)),
        }
    }
}
