//! Writes one record file from beginning to end.

use std::path::{Path, PathBuf};

use hindsight_core::{Lsn, Record};

use super::{
    SeenRequest, StoredFile,
    digest::record_digest,
    layout::{ENTRY_HEADER_BYTES, EntryHeader, EntryKind, Footer, RecordFileHeader},
};
use crate::{
    codec,
    error::{At, IoFailure, StorageError},
    frame::PAYLOAD_BYTES_MAX,
    io::{Io, IoFile, OpenMode, write_all_at},
};

/// Bytes that are gathered for one write.
const BUFFER_BYTES: usize = 256 << 10;

/// A record file that is being written. It is not synced and has a temporary name; both are the caller's to change.
pub(crate) struct RecordWriter<F> {
    file: F,
    path: PathBuf,
    salt: u64,
    buffer: Vec<u8>,
    /// How much of the file lies before the buffer.
    written: u64,
    hasher: blake3::Hasher,
    footer: Footer,
}

impl<F: IoFile> RecordWriter<F> {
    pub(crate) fn create<I: Io<File = F>>(
        io: &I,
        path: &Path,
        header: &RecordFileHeader,
    ) -> Result<RecordWriter<F>, IoFailure> {
        let file = io.open(path, OpenMode::CreateEmpty).at("create", path)?;
        Ok(RecordWriter {
            file,
            path: path.to_owned(),
            salt: header.salt,
            buffer: header.encode().to_vec(),
            written: 0,
            hasher: blake3::Hasher::new(),
            footer: Footer::default(),
        })
    }

    /// Adds a record. Returns where it begins and where it ends, in bytes from the start of the file.
    ///
    /// # Errors
    /// [`StorageError::Io`]; [`StorageError::Unencodable`] and [`StorageError::TooLarge`], which no record has that
    /// was in a batch.
    pub(crate) fn record(&mut self, lsn: Lsn, record: &Record) -> Result<(u64, u64), StorageError> {
        let id = record.memory.id;
        let place =
            self.entry(EntryKind::Record, id.as_u128(), lsn, |bytes| codec::encode_record(record, bytes))?;
        self.footer.records += 1;
        self.footer.digest.add(record_digest(id, record.memory.version, lsn));
        Ok(place)
    }

    /// Adds a request.
    ///
    /// # Errors
    /// As [`RecordWriter::record`].
    pub(crate) fn request(&mut self, request: &SeenRequest) -> Result<(), StorageError> {
        self.entry(EntryKind::Request, 0, request.lsn, |bytes| codec::encode_request(request, bytes))?;
        self.footer.requests += 1;
        Ok(())
    }

    fn entry(
        &mut self,
        kind: EntryKind,
        key: u128,
        lsn: Lsn,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), codec::CodecError>,
    ) -> Result<(u64, u64), StorageError> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; ENTRY_HEADER_BYTES]);
        encode(&mut self.buffer).map_err(StorageError::Unencodable)?;
        let bytes = self.buffer.len() - start - ENTRY_HEADER_BYTES;
        let bytes_max = PAYLOAD_BYTES_MAX as usize;
        let payload_bytes = u32::try_from(bytes).ok().filter(|bytes| *bytes <= PAYLOAD_BYTES_MAX);
        let payload_bytes = payload_bytes.ok_or(StorageError::TooLarge { bytes, bytes_max })?;
        let header = EntryHeader { kind, key, lsn, payload_bytes };
        header.seal(self.salt, self.buffer.get_mut(start..).unwrap_or_default());
        let (offset, end) = (self.written + start as u64, self.written + self.buffer.len() as u64);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok((offset, end))
    }

    fn flush(&mut self) -> Result<(), IoFailure> {
        write_all_at(&self.file, self.written, &self.buffer).at("write", &self.path)?;
        self.hasher.update(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the rest. Nothing is synced yet.
    pub(crate) fn finish(mut self) -> Result<(F, StoredFile), IoFailure> {
        let footer = self.footer.encode(self.salt);
        self.buffer.extend_from_slice(&footer);
        self.flush()?;
        let Footer { records, requests, digest } = self.footer;
        let blake3 = *self.hasher.finalize().as_bytes();
        Ok((self.file, StoredFile { bytes: self.written, blake3, records, requests, digest }))
    }
}
