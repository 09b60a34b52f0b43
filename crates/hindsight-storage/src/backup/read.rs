//! Reads a backup in order and believes nothing before it is checked. Memory is bounded by the largest entry that is
//! really there, whatever its header claims.

use std::{collections::VecDeque, io::Read};

use hindsight_core::Lsn;

use super::{
    BackupError, BackupFault, BackupHeader, BackupReport,
    layout::{ENTRY_HEADER_BYTES, EntryHeader, EntryKind, HEADER_BYTES, TRAILER_BYTES, Trailer},
};
use crate::{
    codec,
    erasure::check_ledger,
    manifest::ManifestState,
    records::{NamespaceId, StoredFile},
    recovery::Floor,
};

/// The next part of a backup. Everything about it was checked, but for the BLAKE3 of a file, which comes with its last
/// piece, and that of the whole, which comes with [`Part::End`].
pub(super) enum Part<'a> {
    /// Some edits of the manifest, or a piece of the erasure ledger; [`BackupReader::state`] and
    /// [`BackupReader::ledger`] have them.
    Edits,
    /// The next piece of a record file.
    Piece {
        namespace: NamespaceId,
        number: u32,
        /// Where it begins in the file.
        offset: u64,
        bytes: &'a [u8],
        /// Whether the file is complete with it, and the one that the manifest names.
        is_last: bool,
    },
    /// The next batch.
    Batch { lsn: Lsn, payload: &'a [u8] },
    /// The trailer fits, and nothing follows it.
    End(BackupReport),
}

/// A backup that is being read.
pub(super) struct BackupReader<R> {
    input: Counted<R>,
    header: BackupHeader,
    state: ManifestState,
    /// The erasure ledger, as far as it was read.
    ledger: Vec<u8>,
    /// The files that the manifest names and that have not come yet; none before the manifest is complete.
    files: Option<VecDeque<(NamespaceId, u32, StoredFile)>>,
    /// How much of the first of them has come, and its hash.
    piece_at: u64,
    file_hasher: blake3::Hasher,
    last: Lsn,
    entries: u64,
    files_read: u64,
    payload: Vec<u8>,
}

/// An entry whose checksum was right.
struct Entry {
    offset: u64,
    header: EntryHeader,
}

impl<R: Read> BackupReader<R> {
    /// Reads the header.
    pub(super) fn begin(from: R) -> Result<BackupReader<R>, BackupError> {
        let mut input = Counted { from, hasher: blake3::Hasher::new(), offset: 0 };
        let mut head = Vec::new();
        input.read_up_to(HEADER_BYTES, &mut head)?;
        let header = BackupHeader::decode(&head)?;
        if header.checkpoint > header.lsn {
            return Err(damaged(0, BackupFault::Floor));
        }
        Ok(BackupReader {
            input,
            header,
            state: ManifestState::default(),
            ledger: Vec::new(),
            files: None,
            piece_at: 0,
            file_hasher: blake3::Hasher::new(),
            last: header.checkpoint,
            entries: 0,
            files_read: 0,
            payload: Vec::new(),
        })
    }

    pub(super) fn header(&self) -> &BackupHeader {
        &self.header
    }

    /// What the manifest says, as far as it was read.
    pub(super) fn state(&self) -> &ManifestState {
        &self.state
    }

    /// The erasure ledger, complete once the first piece of a file has come; empty when there is none.
    pub(super) fn ledger(&self) -> &[u8] {
        &self.ledger
    }

    /// The next part. After an error or the end there is none.
    pub(super) fn next(&mut self) -> Result<Part<'_>, BackupError> {
        let Some(Entry { offset, header }) = self.entry()? else {
            return self.end().map(Part::End);
        };
        self.take(&header).map_err(|fault| damaged(offset, fault))?;
        let EntryHeader { namespace, file: number, position, .. } = header;
        Ok(match header.kind {
            EntryKind::Edits | EntryKind::Ledger => Part::Edits,
            // `take` has gone on to the next file if this one is complete.
            EntryKind::Piece => Part::Piece {
                namespace,
                number,
                offset: position,
                bytes: &self.payload,
                is_last: self.piece_at == 0,
            },
            EntryKind::Batch => Part::Batch { lsn: Lsn(position), payload: &self.payload },
        })
    }

    /// Reads an entry into `payload`; `None` when the trailer begins, whose first bytes are in `payload` then.
    fn entry(&mut self) -> Result<Option<Entry>, BackupError> {
        let (offset, before) = (self.input.offset, self.input.hasher.clone());
        self.payload.clear();
        self.input.read_up_to(ENTRY_HEADER_BYTES, &mut self.payload)?;
        if Trailer::begins(&self.payload) {
            // The trailer names the hash of what comes before it.
            self.input.hasher = before;
            return Ok(None);
        }
        let fail = |fault| damaged(offset, fault);
        let head = *self.payload.first_chunk::<ENTRY_HEADER_BYTES>().ok_or(fail(BackupFault::CutOff))?;
        let bytes = EntryHeader::claimed_bytes(&head).map_err(fail)? as usize;
        self.payload.clear();
        self.input.read_up_to(bytes, &mut self.payload)?;
        if self.payload.len() < bytes {
            return Err(fail(BackupFault::CutOff));
        }
        let header = EntryHeader::open(&head, &self.payload).map_err(fail)?;
        self.entries += 1;
        Ok(Some(Entry { offset, header }))
    }

    /// Holds an entry against everything before it.
    fn take(&mut self, header: &EntryHeader) -> Result<(), BackupFault> {
        match header.kind {
            EntryKind::Edits if self.files.is_some() => {
                Err(BackupFault::Order { what: "an edit of the manifest" })
            }
            EntryKind::Edits => {
                let change = self.state.check(&codec::decode_edits(&self.payload)?)?;
                self.state.carry_out(change);
                Ok(())
            }
            EntryKind::Ledger => {
                let is_next = self.files.is_none() && header.position == self.ledger.len() as u64;
                if !is_next || self.payload.is_empty() {
                    return Err(BackupFault::Order { what: "this piece of the erasure ledger" });
                }
                self.ledger.extend_from_slice(&self.payload);
                Ok(())
            }
            EntryKind::Piece => {
                self.manifest_is_complete()?;
                self.take_piece(header)
            }
            EntryKind::Batch => {
                self.manifest_is_complete()?;
                if self.files.as_ref().is_some_and(|files| !files.is_empty()) {
                    return Err(BackupFault::Order { what: "a batch before the last record file" });
                }
                let (expected, found) = (Lsn(self.last.0.saturating_add(1)), Lsn(header.position));
                if found != expected || found > self.header.lsn {
                    return Err(BackupFault::Batch { expected, found });
                }
                codec::decode_batch(&self.payload)?;
                self.last = found;
                Ok(())
            }
        }
    }

    fn take_piece(&mut self, header: &EntryHeader) -> Result<(), BackupFault> {
        const WHAT: BackupFault = BackupFault::Order { what: "this piece of a record file" };
        let files = self.files.get_or_insert_default();
        let (namespace, number, stored) = *files.front().ok_or(WHAT)?;
        let end = self.piece_at.saturating_add(self.payload.len() as u64);
        let is_next =
            (header.namespace, header.file) == (namespace, number) && header.position == self.piece_at;
        if !is_next || self.payload.is_empty() || end > stored.bytes {
            return Err(WHAT);
        }
        self.file_hasher.update(&self.payload);
        self.piece_at = end;
        if end == stored.bytes {
            if *self.file_hasher.finalize().as_bytes() != stored.blake3 {
                return Err(BackupFault::File { namespace, number });
            }
            files.pop_front();
            self.file_hasher.reset();
            self.piece_at = 0;
            self.files_read += 1;
        }
        Ok(())
    }

    /// The first entry that is no edit ends the manifest: now it is known which files have to come.
    fn manifest_is_complete(&mut self) -> Result<(), BackupFault> {
        if self.files.is_some() {
            return Ok(());
        }
        let BackupHeader { store_id, checkpoint, lsn, next_namespace, .. } = self.header;
        if !self.ledger.is_empty() {
            check_ledger(&self.ledger, store_id).map_err(BackupFault::Ledger)?;
        }
        let is_beyond = self.state.namespaces.values().any(|namespace| namespace.applied > lsn);
        if self.state.floor != (Floor { checkpoint_lsn: checkpoint, durable_lsn: lsn })
            || next_namespace < self.state.next_namespace
            || is_beyond
        {
            return Err(BackupFault::Floor);
        }
        self.state.next_namespace = next_namespace;
        let files = self.state.namespaces.values().flat_map(|namespace| {
            namespace.files.iter().map(|(number, stored)| (namespace.id, *number, *stored))
        });
        self.files = Some(files.collect());
        Ok(())
    }

    /// Reads the rest of the trailer, and what must not be behind it.
    fn end(&mut self) -> Result<BackupReport, BackupError> {
        let blake3 = *self.input.hasher.finalize().as_bytes();
        let offset = self.input.offset - self.payload.len() as u64;
        let fail = |fault| damaged(offset, fault);
        self.input.hasher.update(&self.payload);
        let missing = TRAILER_BYTES.saturating_sub(self.payload.len());
        self.input.read_up_to(missing, &mut self.payload)?;
        let bytes = self.payload.first_chunk::<TRAILER_BYTES>().ok_or(fail(BackupFault::CutOff))?;
        let found = Trailer::decode(bytes).map_err(fail)?;
        self.manifest_is_complete().map_err(fail)?;
        let is_whole = self.files.as_ref().is_none_or(VecDeque::is_empty) && self.last == self.header.lsn;
        let expected = Trailer { entries: self.entries, lsn: self.last, bytes: offset, blake3: found.blake3 };
        if !is_whole || found != expected {
            return Err(fail(BackupFault::Trailer));
        }
        if found.blake3 != blake3 {
            return Err(fail(BackupFault::Hash));
        }
        let report = BackupReport {
            store_id: self.header.store_id,
            lsn: self.header.lsn,
            created_ms: self.header.created_ms,
            entries: self.entries,
            files: self.files_read,
            batches: self.last.0 - self.header.checkpoint.0,
            bytes: self.input.offset,
            blake3: *self.input.hasher.finalize().as_bytes(),
        };
        self.payload.clear();
        self.input.read_up_to(1, &mut self.payload)?;
        if self.payload.is_empty() { Ok(report) } else { Err(fail(BackupFault::Trailing)) }
    }
}

fn damaged(offset: u64, fault: BackupFault) -> BackupError {
    BackupError::Damaged { offset, fault }
}

/// Counts and hashes what is read.
struct Counted<R> {
    from: R,
    hasher: blake3::Hasher,
    offset: u64,
}

impl<R: Read> Counted<R> {
    /// Puts the next `want` bytes behind what `into` has, fewer at the end. Allocates in proportion to what there is.
    fn read_up_to(&mut self, want: usize, into: &mut Vec<u8>) -> Result<(), BackupError> {
        let held = into.len();
        let read = (&mut self.from).take(want as u64).read_to_end(into).map_err(BackupError::Read)?;
        self.hasher.update(into.get(held..).unwrap_or_default());
        self.offset += read as u64;
        Ok(())
    }
}
