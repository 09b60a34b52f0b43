//! Reads the segments in order, hands over the batches, and judges what can't be read.

use std::path::{Path, PathBuf};

use hindsight_core::Lsn;

use super::{Floor, Recovered, Sink, TornTail, torn, witness};
use crate::{
    error::{At, StorageError},
    frame::{FrameFault, FrameHeader, FrameKind, frame_bytes},
    io::{Io, IoFile, OpenMode, uninterrupted},
    reader::{FrameReader, Step},
    sabotage::{self, Sabotage},
    segment::{
        FRAMES_START, LogEnd, LogPlace, SEGMENT_HEADER_BYTES, Segment, SegmentFault, SegmentHeader,
        read_header,
    },
};

/// What was read.
pub(super) struct Replayed<F> {
    pub(super) report: Recovered,
    /// The last segment that has a header.
    pub(super) segment: Option<Segment<F>>,
    /// Where its last sound frame ends.
    pub(super) end: LogEnd,
    /// The newest durable LSN that any frame names.
    pub(super) witnessed: Lsn,
    /// A last segment that got its name and nothing else.
    pub(super) empty: Option<PathBuf>,
}

/// The state of a replay: everything that the next frame is held against.
pub(super) struct Replay<'a, I: Io> {
    io: &'a I,
    place: &'a LogPlace,
    floor: Floor,
    sink: Sink<'a>,
    replayed: Replayed<I::File>,
}

/// A segment whose header was read.
struct Opened<F> {
    file: F,
    path: PathBuf,
    first_lsn: Lsn,
    header: Result<SegmentHeader, SegmentFault>,
}

/// What the frames of a segment end with.
enum Place {
    /// The frames end here and nothing follows.
    End,
    /// The bytes from `offset` on are not what belongs there.
    Bad { offset: u64, fault: FrameFault },
}

impl<'a, I: Io> Replay<'a, I> {
    pub(super) fn new(io: &'a I, place: &'a LogPlace, floor: Floor, sink: Sink<'a>) -> Self {
        let replayed = Replayed {
            report: Recovered::default(),
            segment: None,
            end: LogEnd::default(),
            witnessed: Lsn(0),
            empty: None,
        };
        Replay { io, place, floor, sink, replayed }
    }

    /// Reads every segment, given by first LSN and path.
    pub(super) fn run(mut self, segments: &[(Lsn, PathBuf)]) -> Result<Replayed<I::File>, StorageError> {
        if let Some((first_lsn, _)) = segments.first() {
            // Older segments may have been dropped, but only those that a checkpoint covers.
            let last = Lsn(first_lsn.0.saturating_sub(1));
            self.replayed.report.last_lsn = last.min(self.floor.checkpoint_lsn);
        }
        let mut next = segments.first().map(|named| self.open(named, segments.len() == 1)).transpose()?;
        for at in 1..=segments.len() {
            let Some(current) = next else { break };
            next = segments.get(at).map(|named| self.open(named, at + 1 == segments.len())).transpose()?;
            self.segment(current, next.as_ref())?;
        }
        let last_lsn = self.replayed.report.last_lsn;
        let durable_lsn = self.floor.durable_lsn;
        if last_lsn < durable_lsn {
            let path = self.place.dir.clone();
            return Err(StorageError::LogTooShort { path, last_lsn, durable_lsn });
        }
        Ok(self.replayed)
    }

    fn open(
        &self,
        (first_lsn, path): &(Lsn, PathBuf),
        is_last: bool,
    ) -> Result<Opened<I::File>, StorageError> {
        let file = self.io.open(path, OpenMode::ReadWrite).at("open", path)?;
        if is_last {
            // What a killed process left in the page cache is not durable yet, and after a failed sync the cache
            // holds pages that the disk never got. So: sync, forget the cache, and believe only the disk. Segments
            // before the last were synced before their successor was made.
            uninterrupted(|| file.sync_data()).at("sync", path)?;
            file.drop_cache().at("read", path)?;
        }
        let header = read_header(&file).at("read", path)?;
        Ok(Opened { file, path: path.clone(), first_lsn: *first_lsn, header })
    }

    fn segment(
        &mut self,
        current: Opened<I::File>,
        next: Option<&Opened<I::File>>,
    ) -> Result<(), StorageError> {
        let header = match current.header {
            Ok(header) => header,
            Err(fault) => return self.without_header(current, fault, next.is_none()),
        };
        let Opened { file, path, first_lsn, .. } = current;
        if let Err(fault) = self.check_header(&header, first_lsn) {
            return Err(StorageError::CorruptSegment { path, lsn: self.expected(), fault });
        }
        let limit = next.and_then(|next| next.header.as_ref().ok()).map(|header| header.prev.offset);
        self.replayed.end = LogEnd { offset: FRAMES_START, crc: header.prev.crc };
        let mut reader = FrameReader::new(&file, header.salt).at("read", &path)?;
        if let Place::Bad { offset, fault } = self.frames(&mut reader, &path, limit)? {
            let torn =
                self.judge(&file, header.salt, &path, (offset, fault), next.map(|next| next.first_lsn))?;
            self.replayed.report.torn = Some(torn);
        }
        self.replayed.report.segments += 1;
        let allocated = reader.file_len();
        self.replayed.segment = Some(Segment { file, path, header, allocated });
        Ok(())
    }

    /// A last segment in which no frame was ever written is left over from a crash while it was made. Any other one
    /// without a header had one once.
    fn without_header(
        &mut self,
        current: Opened<I::File>,
        fault: SegmentFault,
        is_last: bool,
    ) -> Result<(), StorageError> {
        let Opened { file, path, first_lsn, .. } = current;
        let is_leftover = matches!(fault, SegmentFault::NoHeader | SegmentFault::BadHeader)
            && is_last
            && first_lsn == self.expected()
            && self.floor.durable_lsn < first_lsn
            && witness::scan(&file, 0, 0).at("read", &path)?.written_end <= SEGMENT_HEADER_BYTES as u64;
        if is_leftover {
            self.replayed.empty = Some(path);
            return Ok(());
        }
        Err(StorageError::CorruptSegment { path, lsn: self.expected(), fault })
    }

    fn check_header(&self, header: &SegmentHeader, first_lsn: Lsn) -> Result<(), SegmentFault> {
        let is_first = self.replayed.segment.is_none();
        if header.first_lsn != first_lsn {
            Err(SegmentFault::Name { found: header.first_lsn })
        } else if header.store_id != self.place.store_id {
            Err(SegmentFault::OtherStore { expected: self.place.store_id, found: header.store_id })
        } else if first_lsn != self.expected() {
            Err(SegmentFault::Gap { expected: self.expected() })
        } else if !is_first && header.prev != self.replayed.end {
            Err(SegmentFault::Chain)
        } else {
            Ok(())
        }
    }

    /// Reads frames until there is none, or up to `limit`: what lies behind it was given up by an earlier recovery.
    fn frames(
        &mut self,
        reader: &mut FrameReader<'_, I::File>,
        path: &Path,
        limit: Option<u64>,
    ) -> Result<Place, StorageError> {
        loop {
            if limit == Some(self.replayed.end.offset) {
                return Ok(Place::End);
            }
            let offset = reader.offset();
            match reader.next().at("read", path)? {
                Step::Frame(header, crc, payload) => {
                    if let Err(fault) =
                        header.check_place(self.replayed.report.last_lsn, self.replayed.end.crc)
                    {
                        return Ok(Place::Bad { offset, fault });
                    }
                    if header.kind == FrameKind::Batch {
                        self.batch(header.lsn, payload)?;
                    }
                    self.accept(&header, LogEnd { offset: reader.offset(), crc });
                }
                Step::Bad(fault) => return Ok(Place::Bad { offset: reader.offset(), fault }),
                Step::End => {
                    let is_hole = reader.is_written_behind().at("read", path)?;
                    let offset = reader.offset();
                    return Ok(if is_hole {
                        Place::Bad { offset, fault: FrameFault::Hole }
                    } else {
                        Place::End
                    });
                }
            }
        }
    }

    fn batch(&mut self, lsn: Lsn, payload: &[u8]) -> Result<(), StorageError> {
        self.replayed.report.last_lsn = lsn;
        if lsn > self.floor.checkpoint_lsn || sabotage::has(Sabotage::CountTwice) {
            self.replayed.report.batches += 1;
            self.replayed.report.bytes_replayed += frame_bytes(payload.len());
            (self.sink)(lsn, payload)?;
        }
        Ok(())
    }

    fn accept(&mut self, header: &FrameHeader, end: LogEnd) {
        let replayed = &mut self.replayed;
        replayed.report.bytes_read += end.offset - replayed.end.offset;
        replayed.report.clean_shutdown = header.kind == FrameKind::CleanShutdown;
        replayed.end = end;
        replayed.witnessed = replayed.witnessed.max(header.synced_lsn);
    }

    /// Torn or damaged? Torn only if nothing says that the missing batch was durable.
    fn judge(
        &self,
        file: &I::File,
        salt: u64,
        path: &Path,
        (offset, fault): (u64, FrameFault),
        next_first: Option<Lsn>,
    ) -> Result<TornTail, StorageError> {
        let lsn = self.expected();
        let scan = witness::scan(file, offset, salt).at("read", path)?;
        // A segment is made only after the one before it is durable to its end.
        let by_successor = next_first.map_or(Lsn(0), |first| Lsn(first.0.saturating_sub(1)));
        let durable_lsn =
            scan.synced_lsn.max(self.replayed.witnessed).max(self.floor.durable_lsn).max(by_successor);
        if next_first.is_some() || durable_lsn >= lsn {
            return Err(StorageError::Corrupt { path: path.to_owned(), offset, lsn, durable_lsn, fault });
        }
        let bytes = scan.written_end.saturating_sub(offset);
        Ok(TornTail {
            lsn,
            path: path.to_owned(),
            offset,
            bytes,
            saved_to: torn::saved_path(&self.place.dir, lsn),
            fault,
        })
    }

    fn expected(&self) -> Lsn {
        Lsn(self.replayed.report.last_lsn.0 + 1)
    }
}
