//! Goes over the frames of a file, and on behind damage.

use std::io;

use super::read_range;
use crate::{
    frame::{FrameFault, FrameHeader, HEADER_BYTES, MAGIC, frame_bytes},
    io::IoFile,
    reader::{FrameReader, Step},
};

/// Bytes of one look for the next frame behind damage.
const LOOK_BYTES: u64 = 1 << 20;

/// What stands at a place.
pub(crate) enum Found {
    /// A frame that is sound in itself.
    Frame { offset: u64, bytes: u64, header: FrameHeader, crc: u32 },
    /// Bytes that are none.
    Damaged { offset: u64, bytes: u64, fault: FrameFault },
    /// Nothing more was written.
    End,
}

/// The frames of a file.
pub(crate) struct Frames<'f, F> {
    file: &'f F,
    salt: u64,
    /// None behind damage after which no frame follows.
    reader: Option<FrameReader<'f, F>>,
}

impl<'f, F: IoFile> Frames<'f, F> {
    pub(crate) fn begin(file: &'f F, salt: u64, from: u64) -> io::Result<Frames<'f, F>> {
        Ok(Frames { file, salt, reader: Some(FrameReader::at(file, salt, from)?) })
    }

    pub(crate) fn next(&mut self) -> io::Result<Found> {
        let Some(reader) = &mut self.reader else { return Ok(Found::End) };
        let before = reader.offset();
        let (offset, fault) = match reader.next()? {
            Step::Frame(header, crc, _) => {
                let bytes = frame_bytes(header.payload_bytes as usize);
                return Ok(Found::Frame { offset: reader.offset() - bytes, bytes, header, crc });
            }
            Step::Bad(fault) => (reader.offset(), fault),
            Step::End => match reader.is_written_behind()? {
                true => (before, FrameFault::Hole),
                false => return Ok(Found::End),
            },
        };
        let next = self.next_frame(offset, fault)?;
        let bytes = next.unwrap_or(self.file.len()?).saturating_sub(offset);
        self.reader = next.map(|next| FrameReader::at(self.file, self.salt, next)).transpose()?;
        Ok(Found::Damaged { offset, bytes, fault })
    }

    /// The payload of the frame that [`Frames::next`] just gave.
    pub(crate) fn payload(&self, header: &FrameHeader) -> &[u8] {
        self.reader.as_ref().map_or(&[], |reader| reader.payload(header))
    }

    /// Where frames go on behind the damage at `offset`.
    fn next_frame(&self, offset: u64, fault: FrameFault) -> io::Result<Option<u64>> {
        // The header is sound, so its length is right: the next frame follows the payload.
        if let FrameFault::PayloadCrc { .. } = fault
            && let Some(head) = read_range(self.file, offset, HEADER_BYTES as u64)?.first_chunk()
            && let Ok((header, _)) = FrameHeader::decode(head, self.salt)
        {
            return Ok(Some(offset + frame_bytes(header.payload_bytes as usize)));
        }
        let mut from = offset + 1;
        loop {
            let window = read_range(self.file, from, LOOK_BYTES)?;
            let found = window.windows(HEADER_BYTES).position(|head| {
                let head = head.first_chunk().filter(|_| head.starts_with(&MAGIC));
                head.is_some_and(|head| FrameHeader::decode(head, self.salt).is_ok())
            });
            if let Some(at) = found {
                return Ok(Some(from + at as u64));
            }
            if window.len() < HEADER_BYTES {
                return Ok(None);
            }
            // A header may lie across the border of two looks.
            from += (window.len() - HEADER_BYTES + 1) as u64;
        }
    }
}
