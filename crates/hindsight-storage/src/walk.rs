//! The frames of one log segment, each held against the one before, by readers that change nothing: backups and
//! `verify`. What the segment's own header says of its beginning is believed; whoever has the segment before it compares.

use std::io;

use hindsight_core::Lsn;

use crate::{
    frame::{FrameFault, FrameHeader, FrameKind},
    io::IoFile,
    reader::{FrameReader, Step},
    segment::{FRAMES_START, LogEnd, SegmentHeader},
};

/// What stands at the walker's place.
#[derive(Debug)]
pub(crate) enum Walked {
    /// The frame that belongs there. Its payload is [`Walk::payload`].
    Frame(FrameHeader),
    /// The frames end here.
    End,
    /// The bytes from `offset` on are not what belongs there.
    Bad {
        /// Where they begin.
        offset: u64,
        /// What is wrong with them.
        fault: FrameFault,
    },
}

/// A walk over a segment.
pub(crate) struct Walk<'f, F> {
    reader: FrameReader<'f, F>,
    /// Where the frames end, if the next segment says so: what lies behind was given up by a recovery.
    limit: Option<u64>,
    last: Lsn,
    end: LogEnd,
    witnessed: Lsn,
}

impl<'f, F: IoFile> Walk<'f, F> {
    pub(crate) fn begin(file: &'f F, header: &SegmentHeader, limit: Option<u64>) -> io::Result<Walk<'f, F>> {
        let last = Lsn(header.first_lsn.0.saturating_sub(1));
        let end = LogEnd { offset: FRAMES_START, crc: header.prev.crc };
        Ok(Walk { reader: FrameReader::new(file, header.salt)?, limit, last, end, witnessed: Lsn(0) })
    }

    /// Goes on behind the frame that ends at `end`, up to which `last` was the newest batch.
    pub(crate) fn resume(
        file: &'f F,
        header: &SegmentHeader,
        last: Lsn,
        end: LogEnd,
    ) -> io::Result<Walk<'f, F>> {
        let reader = FrameReader::at(file, header.salt, end.offset)?;
        Ok(Walk { reader, limit: None, last, end, witnessed: Lsn(0) })
    }

    /// Goes to the next frame. After anything but a frame there is none.
    pub(crate) fn next(&mut self) -> io::Result<Walked> {
        if self.limit == Some(self.end.offset) {
            return Ok(Walked::End);
        }
        let before = self.reader.offset();
        let (header, crc) = match self.reader.next()? {
            Step::Frame(header, crc, _) => (header, crc),
            Step::Bad(fault) => return Ok(Walked::Bad { offset: self.reader.offset(), fault }),
            Step::End => return self.at_end(before),
        };
        let frame_end = self.reader.offset();
        let offset = frame_end - crate::frame::frame_bytes(header.payload_bytes as usize);
        if let Err(fault) = header.check_place(self.last, self.end.crc) {
            return Ok(Walked::Bad { offset, fault });
        }
        if header.kind == FrameKind::Batch {
            self.last = header.lsn;
        }
        self.witnessed = self.witnessed.max(header.synced_lsn);
        self.end = LogEnd { offset: frame_end, crc };
        Ok(Walked::Frame(header))
    }

    fn at_end(&self, offset: u64) -> io::Result<Walked> {
        let is_hole = self.reader.is_written_behind()?;
        Ok(if is_hole { Walked::Bad { offset, fault: FrameFault::Hole } } else { Walked::End })
    }

    /// The payload of the frame that [`Walk::next`] just gave.
    pub(crate) fn payload(&self, header: &FrameHeader) -> &[u8] {
        self.reader.payload(header)
    }

    /// The newest batch so far.
    pub(crate) fn last(&self) -> Lsn {
        self.last
    }

    /// Where the last frame ends, and its checksum.
    pub(crate) fn end(&self) -> LogEnd {
        self.end
    }

    /// The newest durable LSN that a frame so far names.
    pub(crate) fn witnessed(&self) -> Lsn {
        self.witnessed
    }
}
