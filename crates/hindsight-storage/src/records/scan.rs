//! Reads a whole record file in order, in large pieces, and believes nothing before it is checked.

use std::path::Path;

use hindsight_core::MemoryId;

use super::{
    Loaded, NamespaceId, RecordPosition, StoredFile,
    digest::record_digest,
    layout::{
        ENTRY_HEADER_BYTES, EntryHeader, EntryKind, FOOTER_BYTES, Footer, HEADER_BYTES, RecordFault,
        RecordFileHeader,
    },
    vectors::end_of,
};
use crate::{
    codec,
    error::{At, ReplayError, StorageError},
    io::{Io, IoFile, OpenMode, read_full_at},
};

/// Bytes of one read.
const CHUNK_BYTES: usize = 1 << 20;

/// Which file is expected; tools that are given a file by itself expect none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) store_id: u64,
    pub(super) namespace: NamespaceId,
    pub(super) number: u32,
}

impl Expected {
    pub(super) fn check(&self, found: RecordFileHeader) -> Result<(), RecordFault> {
        let is_it = found.store_id == self.store_id
            && found.namespace == self.namespace
            && found.number == self.number;
        if is_it { Ok(()) } else { Err(RecordFault::Place { found }) }
    }
}

/// Reads a record file by itself, without a manifest: every checksum in it, and the counts and the digest that its
/// footer names. Returns its header, and what a manifest would have to say of it.
///
/// # Errors
/// [`StorageError::CorruptRecords`] with file and offset, [`StorageError::Load`] when `each` refuses an entry, and
/// calls of the system that failed.
pub fn scan_file<I: Io>(
    io: &I,
    path: &Path,
    each: &mut dyn FnMut(Loaded) -> Result<(), ReplayError>,
) -> Result<(RecordFileHeader, StoredFile), StorageError> {
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    scan(&file, path, None, each)
}

/// As [`scan_file`], for an open file that should be the one that is expected.
pub(super) fn scan<F: IoFile>(
    file: &F,
    path: &Path,
    expected: Option<Expected>,
    each: &mut dyn FnMut(Loaded) -> Result<(), ReplayError>,
) -> Result<(RecordFileHeader, StoredFile), StorageError> {
    let mut counted = Footer::default();
    let (header, found) = walk(file, path, expected, &mut |position, entry, payload| {
        let RecordPosition { offset, .. } = position;
        let loaded = open_entry(position, entry, payload).map_err(|fault| corrupt(path, offset, fault))?;
        count(&mut counted, &loaded);
        each(loaded).map_err(|source| StorageError::Load { path: path.to_owned(), offset, source })
    })?;
    let footer = Footer { records: found.records, requests: found.requests, digest: found.digest };
    if footer != counted {
        return Err(corrupt(path, found.bytes.saturating_sub(FOOTER_BYTES as u64), RecordFault::Counts));
    }
    Ok((header, found))
}

/// As [`scan`], for who wants to know where the records lie and not what they say: none is decoded. Every checksum is
/// checked; that the digest in the footer is that of the records follows from the BLAKE3 in the manifest.
pub(super) fn scan_places<F: IoFile>(
    file: &F,
    path: &Path,
    expected: Expected,
    each: &mut dyn FnMut(MemoryId, RecordPosition),
) -> Result<StoredFile, StorageError> {
    let (_, found) = walk(file, path, Some(expected), &mut |position, entry, _| {
        if entry.kind == EntryKind::Record {
            each(MemoryId::from_u128(entry.key), position);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Is shown where an entry lies, its header and its payload; the checksum was right.
type Visit<'a> = dyn FnMut(RecordPosition, &EntryHeader, &[u8]) -> Result<(), StorageError> + 'a;

/// Visits every entry of a file, in order. Returns its header, and what it is, with the counts and the digest that its
/// footer names.
fn walk<F: IoFile>(
    file: &F,
    path: &Path,
    expected: Option<Expected>,
    each: &mut Visit<'_>,
) -> Result<(RecordFileHeader, StoredFile), StorageError> {
    let mut reader = Reader::new(file).at("read", path)?;
    let head = reader.take(HEADER_BYTES).at("read", path)?;
    let header = RecordFileHeader::decode(head).map_err(|fault| corrupt(path, 0, fault))?;
    if let Some(expected) = expected {
        expected.check(header).map_err(|fault| corrupt(path, 0, fault))?;
    }
    let footer_at = reader.len.saturating_sub(FOOTER_BYTES as u64);
    while reader.offset() < footer_at {
        let offset = reader.offset();
        let room = usize::try_from(footer_at - offset).unwrap_or(usize::MAX);
        let entry = reader.entry(room).at("read", path)?.map_err(|fault| corrupt(path, offset, fault))?;
        let (entry, payload) =
            EntryHeader::open(header.salt, entry).map_err(|fault| corrupt(path, offset, fault))?;
        let position = RecordPosition { namespace: header.namespace, file: header.number, offset };
        each(position, &entry, payload)?;
    }
    let offset = reader.offset();
    let foot = reader.take(FOOTER_BYTES).at("read", path)?;
    let footer = Footer::decode(header.salt, foot).map_err(|fault| corrupt(path, offset, fault))?;
    let Footer { records, requests, digest } = footer;
    let (bytes, blake3) = (reader.len, *reader.hasher.finalize().as_bytes());
    Ok((header, StoredFile { bytes, blake3, records, requests, digest }))
}

fn corrupt(path: &Path, offset: u64, fault: RecordFault) -> StorageError {
    StorageError::CorruptRecords { path: path.to_owned(), offset, fault }
}

/// Decodes an entry whose checksum was right.
pub(super) fn open_entry(
    position: RecordPosition,
    entry: &EntryHeader,
    payload: &[u8],
) -> Result<Loaded, RecordFault> {
    match entry.kind {
        EntryKind::Record => {
            let record = codec::decode_record(payload)?;
            if record.memory.id != MemoryId::from_u128(entry.key) {
                return Err(RecordFault::Key);
            }
            Ok(Loaded::Record { position, lsn: entry.lsn, record, end: end_of(position.offset, payload) })
        }
        EntryKind::Request => Ok(Loaded::Request(codec::decode_request(payload, entry.lsn)?)),
    }
}

fn count(footer: &mut Footer, loaded: &Loaded) {
    match loaded {
        Loaded::Record { lsn, record, .. } => {
            footer.records += 1;
            footer.digest.add(record_digest(record.memory.id, record.memory.version, *lsn));
        }
        Loaded::Request(_) => footer.requests += 1,
    }
}

/// Hands out a file's bytes in order, each once, and hashes them.
struct Reader<'f, F> {
    file: &'f F,
    len: u64,
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
    /// Where the buffer begins in the file.
    start: u64,
    consumed: usize,
}

impl<'f, F: IoFile> Reader<'f, F> {
    fn new(file: &'f F) -> std::io::Result<Self> {
        let len = file.len()?;
        Ok(Reader { file, len, hasher: blake3::Hasher::new(), buffer: Vec::new(), start: 0, consumed: 0 })
    }

    fn offset(&self) -> u64 {
        self.start + self.consumed as u64
    }

    /// The next entry, header and payload; it has to end within the next `room` bytes.
    fn entry(&mut self, room: usize) -> std::io::Result<Result<&[u8], RecordFault>> {
        let head = self.peek(ENTRY_HEADER_BYTES.min(room))?;
        let Some(head) = head.first_chunk::<ENTRY_HEADER_BYTES>() else {
            return Ok(Err(RecordFault::CutOff));
        };
        let bytes = match EntryHeader::claimed_bytes(head) {
            Ok(payload_bytes) => ENTRY_HEADER_BYTES + payload_bytes,
            Err(fault) => return Ok(Err(fault)),
        };
        if bytes > room {
            return Ok(Err(RecordFault::CutOff));
        }
        self.take(bytes).map(Ok)
    }

    /// The next bytes, at most `want`, fewer at the end of the file.
    fn take(&mut self, want: usize) -> std::io::Result<&[u8]> {
        let len = self.peek(want)?.len();
        let from = self.consumed;
        self.consumed += len;
        Ok(self.buffer.get(from..self.consumed).unwrap_or_default())
    }

    /// Allocates no more than the file has.
    fn peek(&mut self, want: usize) -> std::io::Result<&[u8]> {
        if self.buffer.len() - self.consumed < want {
            self.buffer.drain(..self.consumed);
            self.start += self.consumed as u64;
            self.consumed = 0;
            let held = self.buffer.len();
            let at = self.start + held as u64;
            let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
            self.buffer.resize(held + (want.max(CHUNK_BYTES) - held).min(left), 0);
            let fresh = self.buffer.get_mut(held..).unwrap_or_default();
            let read = read_full_at(self.file, at, fresh)?;
            self.buffer.truncate(held + read);
            self.hasher.update(self.buffer.get(held..).unwrap_or_default());
        }
        let end = self.buffer.len().min(self.consumed + want);
        Ok(self.buffer.get(self.consumed..end).unwrap_or_default())
    }
}
