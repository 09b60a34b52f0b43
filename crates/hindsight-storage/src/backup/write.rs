//! Takes a backup of an open database.

use std::{io::Write, path::PathBuf};

use hindsight_core::Lsn;

use super::{
    BackupError, BackupHeader, BackupReport,
    layout::{EntryHeader, EntryKind, PIECE_BYTES_MAX, Trailer},
};
use crate::{
    codec,
    error::{At, StorageError},
    frame::FrameKind,
    io::{Io, IoFile, OpenMode, read_full_at},
    manifest::{Edit, ManifestState},
    records::{NamespaceId, Pin, RecordFault, StoredFile, record_path},
    segment::{SegmentHeader, parse_segment_name, read_header},
    store::{LOG_DIR, Storage},
    walk::{Walk, Walked},
};

/// Edits of one entry.
const EDITS_MAX: usize = 4_096;

/// What a backup was promised before its first byte: a state of the files, and the log from there to an LSN.
struct Source<I: Io> {
    state: ManifestState,
    lsn: Lsn,
    segments: Vec<OpenSegment<I::File>>,
    /// The erasure ledger; empty when nothing was ever purged.
    ledger: Vec<u8>,
    /// Keeps the files of `state` where they are.
    _pin: Pin<I>,
}

struct OpenSegment<F> {
    path: PathBuf,
    header: SegmentHeader,
    file: F,
}

impl<I: Io> Storage<I> {
    /// Writes a backup: everything up to the newest durable batch. Writes and checkpoints go on meanwhile. Take a
    /// checkpoint before, so that there is little of the log in it; it is right in any case, also after a failure of
    /// the log or on a full disk.
    ///
    /// # Errors
    /// [`BackupError::Write`] when `out` fails; [`BackupError::Storage`] when the database can't be read or is damaged.
    /// What was written so far is no backup then.
    pub fn backup(&self, out: &mut dyn Write) -> Result<BackupReport, BackupError> {
        let source = self.backup_source()?;
        let created_ms = self.records().io().now_ms();
        let header = BackupHeader {
            store_id: self.format().store_id,
            lsn: source.lsn,
            checkpoint: source.state.floor.checkpoint_lsn,
            created_ms,
            next_namespace: source.state.next_namespace,
        };
        let mut stream = Stream { out, hasher: blake3::Hasher::new(), bytes: 0, entries: 0 };
        stream.put(&header.encode())?;
        for (at, piece) in source.ledger.chunks(PIECE_BYTES_MAX).enumerate() {
            let offset = (at * PIECE_BYTES_MAX) as u64;
            stream.entry(EntryKind::Ledger, (NamespaceId(0), 0), offset, piece)?;
        }
        manifest(&mut stream, &source.state)?;
        let files = self.backup_files(&mut stream, &source.state)?;
        let batches = batches(&mut stream, &header, &source.segments)?;
        let (bytes, entries) = (stream.bytes, stream.entries);
        let blake3 = *stream.hasher.finalize().as_bytes();
        stream.put(&Trailer { entries, lsn: header.lsn, bytes, blake3 }.encode())?;
        stream.out.flush().map_err(BackupError::Write)?;
        Ok(BackupReport {
            store_id: header.store_id,
            lsn: header.lsn,
            created_ms,
            entries,
            files,
            batches,
            bytes: stream.bytes,
            blake3: *stream.hasher.finalize().as_bytes(),
        })
    }

    /// Takes hold of everything while no checkpoint can take it away.
    fn backup_source(&self) -> Result<Source<I>, StorageError> {
        let checkpointer = self.checkpointer.lock();
        let pin = self.records().pin();
        let mut state = self.records().state().read().clone();
        // Whatever is named by the manifest was durable in the log before it was named.
        let lsn = self.synced_lsn().max(state.floor.durable_lsn);
        state.floor.durable_lsn = lsn;
        // The directory is not in a backup: what is restored makes its own.
        state.directory = None;
        let segments = self.backup_segments(state.floor.checkpoint_lsn, lsn)?;
        // What it names is in the log up to here, or was. Later purges are in the batches, or not in the backup.
        let ledger = self.ledger.lock().encoded_up_to(lsn)?;
        drop(checkpointer);
        Ok(Source { state, lsn, segments, ledger, _pin: pin })
    }

    /// The segments that hold the batches after `checkpoint` up to `lsn`.
    fn backup_segments(&self, checkpoint: Lsn, lsn: Lsn) -> Result<Vec<OpenSegment<I::File>>, StorageError> {
        if lsn <= checkpoint {
            return Ok(Vec::new());
        }
        let (io, dir) = (self.records().io(), self.dir().join(LOG_DIR));
        let names = io.list(&dir).at("list", &dir)?;
        let mut named: Vec<_> =
            names.iter().filter_map(|name| Some((parse_segment_name(name)?, dir.join(name)))).collect();
        named.sort_unstable();
        let begun = named.partition_point(|(first_lsn, _)| first_lsn.0 <= checkpoint.0 + 1);
        let wanted = named.drain(begun.saturating_sub(1)..).filter(|(first_lsn, _)| *first_lsn <= lsn);
        let mut segments = Vec::new();
        for (first_lsn, path) in wanted {
            let file = io.open(&path, OpenMode::Read).at("open", &path)?;
            let header = read_header(&file).at("read", &path)?;
            let header = header.map_err(|fault| StorageError::CorruptSegment {
                path: path.clone(),
                lsn: first_lsn,
                fault,
            })?;
            segments.push(OpenSegment { path, header, file });
        }
        Ok(segments)
    }

    fn backup_files(&self, stream: &mut Stream<'_>, state: &ManifestState) -> Result<u64, BackupError> {
        let mut count = 0;
        let mut buffer = vec![0; PIECE_BYTES_MAX];
        for namespace in state.namespaces.values() {
            for (number, stored) in &namespace.files {
                self.backup_file(stream, (namespace.id, *number, stored), &mut buffer)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// A damaged file must not get into a backup: it would take the place of one that is whole.
    fn backup_file(
        &self,
        stream: &mut Stream<'_>,
        (namespace, number, stored): (NamespaceId, u32, &StoredFile),
        buffer: &mut [u8],
    ) -> Result<(), BackupError> {
        let path = record_path(self.records().ns(), namespace, number);
        let corrupt = |offset, fault| StorageError::CorruptRecords { path: path.clone(), offset, fault };
        let file = match self.records().io().open(&path, OpenMode::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(StorageError::MissingFile { path }.into());
            }
            result => result.at("open", &path)?,
        };
        let found = file.len().at("read", &path)?;
        if found != stored.bytes {
            let fault = RecordFault::FileLength { expected: stored.bytes, found };
            return Err(corrupt(found.min(stored.bytes), fault).into());
        }
        let mut hasher = blake3::Hasher::new();
        let mut offset = 0;
        while offset < stored.bytes {
            let read = read_full_at(&file, offset, buffer).at("read", &path)?;
            let piece = buffer.get(..read).unwrap_or_default();
            if piece.is_empty() {
                return Err(corrupt(offset, RecordFault::CutOff).into());
            }
            hasher.update(piece);
            stream.entry(EntryKind::Piece, (namespace, number), offset, piece)?;
            offset += read as u64;
        }
        if *hasher.finalize().as_bytes() != stored.blake3 {
            return Err(corrupt(0, RecordFault::NotInManifest).into());
        }
        Ok(())
    }
}

fn manifest(stream: &mut Stream<'_>, state: &ManifestState) -> Result<(), BackupError> {
    // What is derived of the files is made anew from them.
    let mut edits = state.image().filter(|edit| !matches!(edit, Edit::SetSnapshot { .. })).peekable();
    while edits.peek().is_some() {
        let batch: Vec<Edit> = edits.by_ref().take(EDITS_MAX).collect();
        let payload = codec::encode_edits(&batch).map_err(StorageError::Unencodable)?;
        stream.entry(EntryKind::Edits, (NamespaceId(0), 0), 0, &payload)?;
    }
    Ok(())
}

/// The batches after the checkpoint, up to the LSN of the backup. Behind that one the log may be being written.
fn batches<F: IoFile>(
    stream: &mut Stream<'_>,
    header: &BackupHeader,
    segments: &[OpenSegment<F>],
) -> Result<u64, BackupError> {
    let mut last = header.checkpoint;
    for (at, OpenSegment { path, header: segment, file }) in segments.iter().enumerate() {
        let limit = segments.get(at + 1).map(|next| next.header.prev.offset);
        let mut walk = Walk::begin(file, segment, limit).at("read", path)?;
        while last < header.lsn {
            match walk.next().at("read", path)? {
                Walked::Frame(frame) => {
                    if frame.kind == FrameKind::Batch && frame.lsn > last {
                        stream.entry(
                            EntryKind::Batch,
                            (NamespaceId(0), 0),
                            frame.lsn.0,
                            walk.payload(&frame),
                        )?;
                        last = frame.lsn;
                    }
                }
                Walked::End => break,
                Walked::Bad { offset, fault } => {
                    let (path, lsn, durable_lsn) = (path.clone(), Lsn(walk.last().0 + 1), header.lsn);
                    return Err(StorageError::Corrupt { path, offset, lsn, durable_lsn, fault }.into());
                }
            }
        }
    }
    if last < header.lsn {
        let path = segments.last().map(|segment| segment.path.clone()).unwrap_or_default();
        return Err(StorageError::LogTooShort { path, last_lsn: last, durable_lsn: header.lsn }.into());
    }
    Ok(last.0 - header.checkpoint.0)
}

/// The bytes on their way out: counted and hashed.
struct Stream<'a> {
    out: &'a mut dyn Write,
    hasher: blake3::Hasher,
    bytes: u64,
    entries: u64,
}

impl Stream<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        self.out.write_all(bytes).map_err(BackupError::Write)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn entry(
        &mut self,
        kind: EntryKind,
        (namespace, file): (NamespaceId, u32),
        position: u64,
        payload: &[u8],
    ) -> Result<(), BackupError> {
        // Pieces have at most 1 MiB, and everything else was in a frame once.
        let payload_bytes = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let header = EntryHeader { kind, namespace, file, position, payload_bytes };
        self.put(&header.encode(payload))?;
        self.put(payload)?;
        self.entries += 1;
        Ok(())
    }
}
