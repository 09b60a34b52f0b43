//! Reads the frames of one segment in order, in large pieces, believing nothing before it is checked.

use std::io;

use crate::{
    frame::{self, FrameFault, FrameHeader, HEADER_BYTES, MAGIC},
    io::{IoFile, read_full_at},
    segment::{FRAMES_START, next_sector},
};

/// Bytes of one read.
const CHUNK_BYTES: usize = 1 << 20;
static ZEROS: [u8; 4096] = [0; 4096];

/// What stands at the reader's place.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// A frame that is sound in itself, its header's checksum, its payload.
    Frame(FrameHeader, u32, &'a [u8]),
    /// Nothing was written here.
    End,
    /// Something was written here, and it is not a frame.
    Bad(FrameFault),
}

/// A reader over the frames of a segment.
pub(crate) struct FrameReader<'f, F> {
    file: &'f F,
    file_len: u64,
    salt: u64,
    buffer: Vec<u8>,
    /// Where the buffer begins in the file.
    buffer_start: u64,
    /// How much of the buffer has been consumed.
    consumed: usize,
}

impl<'f, F: IoFile> FrameReader<'f, F> {
    pub(crate) fn new(file: &'f F, salt: u64) -> io::Result<Self> {
        let file_len = file.len()?;
        Ok(FrameReader { file, file_len, salt, buffer: Vec::new(), buffer_start: FRAMES_START, consumed: 0 })
    }

    /// A reader that begins at `offset`, where a frame should.
    pub(crate) fn at(file: &'f F, salt: u64, offset: u64) -> io::Result<Self> {
        Ok(FrameReader { buffer_start: offset, ..FrameReader::new(file, salt)? })
    }

    /// Where the reader stands: after a frame, its end; after [`Step::Bad`], where the bad bytes begin.
    pub(crate) fn offset(&self) -> u64 {
        self.buffer_start + self.consumed as u64
    }

    pub(crate) fn file_len(&self) -> u64 {
        self.file_len
    }

    /// Reads the next frame. After anything but a frame the reader stays where it is.
    pub(crate) fn next(&mut self) -> io::Result<Step<'_>> {
        loop {
            let offset = self.offset();
            let head = self.peek(HEADER_BYTES)?;
            if head.starts_with(&MAGIC) {
                return self.frame();
            }
            let gap = usize::try_from(next_sector(offset) - offset).unwrap_or(0);
            if gap == 0 {
                return Ok(if is_zero(head) { Step::End } else { Step::Bad(FrameFault::Magic) });
            }
            // A commit begins on the next border; what lies between was never written.
            let gap_bytes = self.peek(gap)?;
            if !is_zero(gap_bytes) {
                return Ok(Step::Bad(FrameFault::Magic));
            }
            if gap_bytes.len() < gap {
                return Ok(Step::End);
            }
            self.consumed += gap;
        }
    }

    fn frame(&mut self) -> io::Result<Step<'_>> {
        let salt = self.salt;
        let left = self.file_len.saturating_sub(self.offset());
        let Some(head) = self.peek(HEADER_BYTES)?.first_chunk::<HEADER_BYTES>() else {
            return Ok(Step::Bad(FrameFault::CutOff));
        };
        let frame_bytes = match FrameHeader::decode(head, salt) {
            Ok((header, _)) => HEADER_BYTES + header.payload_bytes as usize,
            Err(fault) => return Ok(Step::Bad(fault)),
        };
        if frame_bytes as u64 > left {
            return Ok(Step::Bad(FrameFault::CutOff));
        }
        self.peek(frame_bytes)?;
        let start = self.consumed;
        let bytes = self.buffer.get(start..start + frame_bytes).unwrap_or_default();
        Ok(match frame::decode(bytes, salt) {
            Ok((header, crc, payload)) => {
                self.consumed += frame_bytes;
                Step::Frame(header, crc, payload)
            }
            Err(fault) => Step::Bad(fault),
        })
    }

    /// The payload of the frame that [`FrameReader::next`] just gave.
    pub(crate) fn payload(&self, header: &FrameHeader) -> &[u8] {
        let start = self.consumed.saturating_sub(header.payload_bytes as usize);
        self.buffer.get(start..self.consumed).unwrap_or_default()
    }

    /// Whether anything was written from the reader's place on; leaves the reader there.
    pub(crate) fn is_written_behind(&self) -> io::Result<bool> {
        let mut at = self.offset();
        let left = usize::try_from(self.file_len.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut chunk = vec![0; CHUNK_BYTES.min(left)];
        loop {
            let read = read_full_at(self.file, at, &mut chunk)?;
            let bytes = chunk.get(..read).unwrap_or_default();
            if !is_zero(bytes) {
                return Ok(true);
            }
            if read < chunk.len() || read == 0 {
                return Ok(false);
            }
            at += read as u64;
        }
    }

    /// The next bytes, at most `want`, fewer at the end of the file. Allocates no more than the file has.
    fn peek(&mut self, want: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.consumed < want {
            self.buffer.drain(..self.consumed);
            self.buffer_start += self.consumed as u64;
            self.consumed = 0;
            let held = self.buffer.len();
            let at = self.buffer_start + held as u64;
            let left = usize::try_from(self.file_len.saturating_sub(at)).unwrap_or(usize::MAX);
            self.buffer.resize(held + (want.max(CHUNK_BYTES) - held).min(left), 0);
            let read = read_full_at(self.file, at, self.buffer.get_mut(held..).unwrap_or_default())?;
            self.buffer.truncate(held + read);
        }
        let end = self.buffer.len().min(self.consumed + want);
        Ok(self.buffer.get(self.consumed..end).unwrap_or_default())
    }
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(ZEROS.len()).all(|chunk| ZEROS.starts_with(chunk))
}
