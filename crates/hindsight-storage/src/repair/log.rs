//! What of the log can be proved: every batch whose frame is sound and that is known to have been durable, or that stands
//! before any damage.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hindsight_core::{Batch, Lsn};

use super::{
    Damaged,
    report::{BadBytes, Fate, LsnRange, RepairedFile},
};
use crate::{
    codec,
    error::{At, StorageError},
    frame::{FrameHeader, FrameKind, HEADER_BYTES},
    inspect::{Found, Frames, read_range},
    io::{Io, IoFile, OpenMode},
    log::Note,
    recovery::witness,
    segment::{FRAMES_START, LogEnd, SEGMENT_HEADER_BYTES, SegmentFault, parse_segment_name, read_header},
    store::LOG_DIR,
};

/// The log as far as it can be read.
#[derive(Debug, Default)]
pub(super) struct FoundLog {
    /// Every batch, whether record files have it, too, or not.
    pub(super) batches: BTreeMap<Lsn, Batch>,
    /// The newest batch that is known to have been durable.
    pub(super) durable: Lsn,
    /// The first batch of the first segment; `None` without segments.
    pub(super) first: Option<Lsn>,
    /// Whether a segment is missing behind the last one, so that nobody knows how far the log went.
    pub(super) has_open_end: bool,
    pub(super) files: Vec<RepairedFile>,
    /// The last segment that can't be read at all.
    beheaded: Option<Lsn>,
}

/// A segment of this database.
struct Named<F> {
    path: PathBuf,
    file: F,
    first: Lsn,
    salt: u64,
    /// Where the segment before it ends; `None` when its header is damaged.
    prev: Option<LogEnd>,
}

impl FoundLog {
    pub(super) fn read<I: Io>(damaged: &Damaged<'_, I>) -> Result<FoundLog, StorageError> {
        let noted = Note::read(damaged.io, &damaged.dir.join(LOG_DIR), damaged.store_id)?;
        let durable = damaged.floor().durable_lsn.max(noted.synced_lsn);
        let mut log = FoundLog { durable, ..FoundLog::default() };
        let segments = log.segments(damaged)?;
        log.first = segments.first().map(|segment| segment.first);
        log.has_open_end = match segments.last() {
            Some(last) => last.first < noted.last_segment || log.beheaded > Some(last.first),
            None => damaged.has_manifest() || log.beheaded.is_some(),
        };
        for (at, segment) in segments.iter().enumerate() {
            let next = segments.get(at + 1);
            // A segment is made only after everything before it is durable.
            log.durable = log.durable.max(Lsn(segment.first.0.saturating_sub(1)));
            log.segment(damaged, segment, next)?;
        }
        Ok(log)
    }

    /// The batches that are missing between the checkpoint and the newest durable one.
    pub(super) fn lost(&self, checkpoint: Lsn) -> Vec<LsnRange> {
        let mut lost = Vec::new();
        let mut expected = checkpoint.0.saturating_add(1);
        let kept = self.batches.range(Lsn(expected)..).map(|(lsn, _)| lsn.0);
        for lsn in kept.chain([self.durable.0.saturating_add(1)]) {
            if lsn > expected {
                lost.push(LsnRange { from: expected, to: Some(lsn - 1) });
            }
            expected = expected.max(lsn.saturating_add(1));
        }
        if self.has_open_end {
            let newest = self.batches.last_key_value().map_or(Lsn(0), |(lsn, _)| *lsn);
            let from = newest.max(self.durable).max(checkpoint).0.saturating_add(1);
            lost.push(LsnRange { from, to: None });
        }
        lost
    }

    /// The segments that belong to this database, in order.
    fn segments<I: Io>(&mut self, damaged: &Damaged<'_, I>) -> Result<Vec<Named<I::File>>, StorageError> {
        let (io, dir) = (damaged.io, damaged.dir.join(LOG_DIR));
        let names = damaged.list(&dir)?;
        let mut found: Vec<Named<I::File>> = Vec::new();
        for (named, path) in names.iter().filter_map(|name| Some((parse_segment_name(name)?, dir.join(name))))
        {
            let file = io.open(&path, OpenMode::Read).at("open", &path)?;
            let header = read_header(&file).at("read", &path)?;
            let (first, salt, prev) = match header {
                Ok(header) if header.store_id != damaged.store_id => {
                    self.tell(damaged, &path, Fate::Foreign, 0, Vec::new(), "it belongs to another database");
                    continue;
                }
                Ok(header) => (header.first_lsn, header.salt, Some(header.prev)),
                Err(fault @ SegmentFault::Version { .. }) => {
                    return Err(StorageError::CorruptSegment { path, lsn: named, fault });
                }
                Err(_) => match salt_of(&file).at("read", &path)? {
                    Some(salt) => (named, salt, None),
                    None => {
                        let bytes = file.len().at("read", &path)?;
                        if witness::scan(&file, 0, 0).at("read", &path)?.written_end
                            <= SEGMENT_HEADER_BYTES as u64
                        {
                            self.tell(damaged, &path, Fate::Lost, 0, Vec::new(), "nothing stands in it");
                            continue;
                        }
                        self.beheaded = self.beheaded.max(Some(named));
                        let note =
                            "its header is damaged, and without it no frame can be told from other bytes";
                        let bad = vec![BadBytes { offset: 0, bytes }];
                        self.tell(damaged, &path, Fate::Lost, 0, bad, note);
                        self.durable = self.durable.max(Lsn(named.0.saturating_sub(1)));
                        continue;
                    }
                },
            };
            if first == Lsn(0) {
                continue;
            }
            found.push(Named { path, file, first, salt, prev });
        }
        // Of two copies the one with the right name comes first.
        found.sort_by_key(|segment| {
            let is_misnamed = segment.path.file_name().and_then(parse_segment_name) != Some(segment.first);
            (segment.first, is_misnamed)
        });
        found.dedup_by_key(|segment| segment.first);
        Ok(found)
    }

    fn segment<I: Io>(
        &mut self,
        damaged: &Damaged<'_, I>,
        segment: &Named<I::File>,
        next: Option<&Named<I::File>>,
    ) -> Result<(), StorageError> {
        let Named { path, file, first, salt, prev } = segment;
        let limit = next.and_then(|next| next.prev).map_or(u64::MAX, |end| end.offset);
        let next_first = next.map_or(Lsn(u64::MAX), |next| next.first);
        let mut frames = Frames::begin(file, *salt, FRAMES_START).at("read", path)?;
        let mut before = Some((Lsn(first.0 - 1), prev.map_or(0, |prev| prev.crc)));
        let mut bad: Vec<BadBytes> = Vec::new();
        let mut behind: Vec<(Lsn, Batch)> = Vec::new();
        // What stands in this very file for what was durable in it.
        let mut proved = Lsn(0);
        let (mut last, mut kept) = (Lsn(first.0 - 1), 0);
        let has_header = prev.is_some();
        loop {
            let (offset, bytes, header, crc) = match frames.next().at("read", path)? {
                Found::End => break,
                Found::Damaged { offset, .. } if offset >= limit => break,
                Found::Damaged { offset, bytes, .. } => {
                    bad.push(BadBytes { offset, bytes: bytes.min(limit - offset) });
                    before = None;
                    continue;
                }
                Found::Frame { offset, bytes, header, crc } => (offset, bytes, header, crc),
            };
            if offset + bytes > limit || header.lsn >= next_first {
                break;
            }
            let is_first = offset == FRAMES_START && !has_header;
            let belongs = belongs(&header, before, last, is_first);
            let batch = codec::decode_batch(frames.payload(&header)).ok();
            if !belongs || (header.kind == FrameKind::Batch && batch.is_none()) {
                bad.push(BadBytes { offset, bytes });
                before = None;
                continue;
            }
            before = Some((header.lsn, crc));
            last = header.lsn;
            proved = proved.max(header.synced_lsn);
            if let Some(batch) = batch.filter(|_| header.kind == FrameKind::Batch) {
                if bad.is_empty() {
                    kept += 1;
                    self.batches.insert(header.lsn, batch);
                } else {
                    behind.push((header.lsn, batch));
                }
            }
        }
        self.durable = self.durable.max(proved);
        if next.is_some_and(|next| next.prev.is_some()) {
            proved = proved.max(Lsn(next_first.0 - 1));
        }
        // IMPORTANT: behind damage, only what is known to have been durable here. The rest may have been given up by a
        // start, and its numbers given to other batches.
        for (lsn, batch) in behind.into_iter().filter(|(lsn, _)| *lsn <= proved) {
            kept += 1;
            self.batches.insert(lsn, batch);
        }
        let fate = if bad.is_empty() && has_header { Fate::Kept } else { Fate::Partly };
        let note = match (has_header, bad.is_empty()) {
            (false, _) => "its header is damaged",
            (true, false) => "some of its frames are damaged",
            (true, true) => "",
        };
        self.tell(damaged, path, fate, kept, bad, note);
        Ok(())
    }

    fn tell<I: Io>(
        &mut self,
        damaged: &Damaged<'_, I>,
        path: &Path,
        fate: Fate,
        kept: u64,
        bad: Vec<BadBytes>,
        note: &str,
    ) {
        let (path, note) = (damaged.below(path), note.to_owned());
        self.files.push(RepairedFile { path, fate, kept, lost: 0, bad, note });
    }
}

/// Whether a frame belongs behind the one before it, and, behind damage, at least to a later batch. The first frame of a
/// segment whose header is damaged is held against nothing.
fn belongs(header: &FrameHeader, before: Option<(Lsn, u32)>, last: Lsn, is_first: bool) -> bool {
    let follows = before.is_none_or(|(last, crc)| {
        header.check_place(last, if is_first { header.prev_crc } else { crc }).is_ok()
    });
    follows && if header.kind == FrameKind::Batch { header.lsn > last } else { header.lsn >= last }
}

/// The salt of a segment whose header is damaged, once the first frame proves it; one wrong bit in it is found.
fn salt_of<F: IoFile>(file: &F) -> std::io::Result<Option<u64>> {
    let head = read_range(file, 0, SEGMENT_HEADER_BYTES as u64)?;
    let frame = read_range(file, FRAMES_START, HEADER_BYTES as u64)?;
    let read = head.get(24..32).and_then(|bytes| bytes.first_chunk()).copied().map(u64::from_le_bytes);
    let (Some(read), Some(frame)) = (read, frame.first_chunk::<HEADER_BYTES>()) else { return Ok(None) };
    let flips = (0..64).map(|bit| read ^ 1 << bit);
    Ok(std::iter::once(read).chain(flips).find(|salt| FrameHeader::decode(frame, *salt).is_ok()))
}
