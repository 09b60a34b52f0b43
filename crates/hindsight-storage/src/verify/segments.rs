//! The log: each segment by itself, and each held against the one before it.

use std::{io, path::PathBuf};

use hindsight_core::Lsn;

use super::{Checker, FileState, Whole, manifests::padding_is_zero};
use crate::{
    codec,
    error::{At, StorageError},
    frame::{FrameFault, FrameKind},
    io::{Io, OpenMode},
    log::{DURABLE_FILE, Note},
    recovery::{is_saved_tail, witness},
    segment::{
        LogEnd, SEGMENT_HEADER_BYTES, SegmentFault, SegmentHeader, is_unfinished_segment, parse_segment_name,
        read_header, segment_path,
    },
    store::LOG_DIR,
    walk::{Walk, Walked},
};

/// A segment whose header was read.
struct Named<F> {
    path: PathBuf,
    first_lsn: Lsn,
    file: F,
    header: Result<SegmentHeader, SegmentFault>,
}

/// Where the segment before ends; not known behind damage.
type Before = Option<(Lsn, LogEnd)>;

impl<I: Io> Checker<'_, I> {
    pub(super) fn segments(&mut self) -> Result<(), StorageError> {
        let dir = self.dir.join(LOG_DIR);
        let names = match self.io.list(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            result => result.at("list", &dir)?,
        };
        let mut segments = Vec::new();
        for name in names {
            let path = dir.join(&name);
            if let Some(first_lsn) = parse_segment_name(&name) {
                let file = self.io.open(&path, OpenMode::Read).at("open", &path)?;
                let header = read_header(&file).at("read", &path)?;
                segments.push(Named { path, first_lsn, file, header });
            } else if is_unfinished_segment(&name) {
                self.tell(&path, FileState::Leftover, "was never finished");
            } else if name == DURABLE_FILE {
                let is_torn = Note::is_torn(self.io, &dir, self.store_id.unwrap_or(0))?;
                let state = if is_torn { FileState::Torn } else { FileState::Ok };
                self.tell(&path, state, "how far the log is durable; made anew by the next start");
            } else if is_saved_tail(&name) {
                self.tell(&path, FileState::Ok, "a copy of a commit that was given up");
            } else {
                self.tell(&path, FileState::Unknown, "no part of a database");
            }
        }
        segments.sort_unstable_by_key(|segment| segment.first_lsn);
        let noted = match self.store_id {
            Some(store_id) => Note::read(self.io, &dir, store_id)?,
            None => Note::default(),
        };
        let floor = &mut self.state.floor;
        floor.durable_lsn = floor.durable_lsn.max(noted.synced_lsn);
        let checkpoint = floor.checkpoint_lsn;
        let begun = segments.partition_point(|segment| segment.first_lsn.0 <= checkpoint.0 + 1);
        for outdated in segments.drain(..begun.saturating_sub(1)) {
            self.tell(&outdated.path, FileState::Leftover, "everything in it is in record files");
        }
        let mut before: Before = None;
        for at in 0..segments.len() {
            let Some(segment) = segments.get(at) else { break };
            let is_noted = segment.first_lsn <= noted.last_segment;
            before = self.segment(segment, at == 0, before, (segments.get(at + 1), is_noted))?;
        }
        let is_missing = segments.iter().all(|segment| segment.first_lsn < noted.last_segment)
            && (noted != Note::default() || self.has_manifest);
        if is_missing {
            let lsn = noted.last_segment.max(Lsn(self.report.last_lsn + 1));
            let missing = StorageError::MissingSegment { path: segment_path(&dir, lsn), lsn };
            self.tell(&segment_path(&dir, lsn), FileState::Wrong, missing);
        }
        let (last_lsn, durable_lsn) = (Lsn(self.report.last_lsn), self.state.floor.durable_lsn);
        if last_lsn < durable_lsn && self.report.is_sound() {
            let error = StorageError::LogTooShort { path: dir.clone(), last_lsn, durable_lsn };
            self.tell(&dir, FileState::Wrong, error);
        }
        Ok(())
    }

    fn segment(
        &mut self,
        segment: &Named<I::File>,
        is_first: bool,
        before: Before,
        (next, is_noted): (Option<&Named<I::File>>, bool),
    ) -> Result<Before, StorageError> {
        let Named { path, first_lsn, file, .. } = segment;
        let wrong = |fault| StorageError::CorruptSegment { path: path.clone(), lsn: *first_lsn, fault };
        let header = match &segment.header {
            Ok(header) => header,
            Err(_) if next.is_none() && !is_noted && self.is_empty_leftover(segment)? => {
                self.tell(path, FileState::Leftover, "was never written to");
                return Ok(None);
            }
            Err(fault) => return self.tell_wrong(path, wrong(*fault)).map(|()| None),
        };
        if let Err(fault) = self.place(header, *first_lsn, is_first, before) {
            return self.tell_wrong(path, wrong(fault)).map(|()| None);
        }
        if !padding_is_zero(self.io, path, SEGMENT_HEADER_BYTES as u64)? {
            self.tell(path, FileState::Wrong, "the page of its header is not zero behind it");
            return Ok(None);
        }
        let link = next.and_then(|next| Some((next.first_lsn, next.header.as_ref().ok()?.prev)));
        let mut walk = Walk::begin(file, header, link.map(|(_, end)| end.offset)).at("read", path)?;
        let (mut count, mut undecodable) = (0_u64, None);
        let bad = loop {
            match walk.next().at("read", path)? {
                Walked::End => break None,
                Walked::Bad { offset, fault } => break Some((offset, fault)),
                Walked::Frame(frame) if frame.kind == FrameKind::Batch => {
                    count += 1;
                    if let Err(source) = codec::decode_batch(walk.payload(&frame)) {
                        undecodable.get_or_insert(StorageError::Undecodable { lsn: frame.lsn, source });
                    }
                }
                Walked::Frame(_) => {}
            }
        };
        self.report.last_lsn = self.report.last_lsn.max(walk.last().0);
        let note = format!("{count} batches, lsn {first_lsn} to {}", walk.last());
        if let Some(error) = undecodable {
            return self.tell_wrong(path, error).map(|()| None);
        }
        if let Some(bad) = bad {
            return self.bad(segment, header, &walk, bad, next.is_some(), &note).map(|()| None);
        }
        // A next segment that says that this one ends elsewhere, and this one is sound to its end: batches are missing.
        if let Some((_, end)) = link.filter(|(first, end)| (walk.last().0 + 1, walk.end()) != (first.0, *end))
        {
            let text = format!("{note}, and the next segment says that it ends at byte {}", end.offset);
            self.tell(path, FileState::Wrong, text);
            return Ok(None);
        }
        self.tell(path, FileState::Ok, note);
        Ok(Some((walk.last(), walk.end())))
    }

    /// Torn or damaged: the rule of recovery.
    fn bad(
        &mut self,
        segment: &Named<I::File>,
        header: &SegmentHeader,
        walk: &Walk<'_, I::File>,
        (offset, fault): (u64, FrameFault),
        has_next: bool,
        note: &str,
    ) -> Result<(), StorageError> {
        let Named { path, file, .. } = segment;
        let scan = witness::scan(file, offset, header.salt).at("read", path)?;
        let durable_lsn = scan.synced_lsn.max(walk.witnessed()).max(self.state.floor.durable_lsn);
        let lsn = Lsn(walk.last().0 + 1);
        if has_next || durable_lsn >= lsn {
            let error = StorageError::Corrupt { path: path.clone(), offset, lsn, durable_lsn, fault };
            self.tell(path, FileState::Wrong, Whole(&error));
        } else {
            self.tell(
                path,
                FileState::Torn,
                format_args!("{note}, then a commit at byte {offset} that never became durable"),
            );
        }
        Ok(())
    }

    fn place(
        &self,
        header: &SegmentHeader,
        first_lsn: Lsn,
        is_first: bool,
        before: Before,
    ) -> Result<(), SegmentFault> {
        if header.first_lsn != first_lsn {
            return Err(SegmentFault::Name { found: header.first_lsn });
        }
        if let Some(expected) = self.store_id.filter(|store_id| *store_id != header.store_id) {
            return Err(SegmentFault::OtherStore { expected, found: header.store_id });
        }
        // As in recovery: older segments may be gone, but only those that a checkpoint covers, and no batch has the number 0.
        let covered = self.state.floor.checkpoint_lsn.0.min(first_lsn.0.saturating_sub(1));
        if is_first && first_lsn.0 != covered + 1 {
            return Err(SegmentFault::Gap { expected: Lsn(covered + 1) });
        }
        match before {
            Some((last, _)) if first_lsn.0 != last.0 + 1 => {
                Err(SegmentFault::Gap { expected: Lsn(last.0 + 1) })
            }
            Some((_, end)) if header.prev != end => Err(SegmentFault::Chain),
            _ => Ok(()),
        }
    }

    /// A last segment that got its name and nothing else; see recovery.
    fn is_empty_leftover(&self, segment: &Named<I::File>) -> Result<bool, StorageError> {
        let is_one = !matches!(segment.header, Err(SegmentFault::Version { .. }))
            && self.state.floor.durable_lsn < segment.first_lsn;
        let scan = witness::scan(&segment.file, 0, 0).at("read", &segment.path)?;
        Ok(is_one && scan.written_end <= SEGMENT_HEADER_BYTES as u64)
    }
}
