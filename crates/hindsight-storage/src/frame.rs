//! The codec of one log frame. The bytes are described in `docs/disk-format.md`, section "Log frame".
//!
//! The header has a checksum of its own that covers the checksum of the payload. So a header can be believed
//! before its payload is read, and a scan over damaged bytes takes time in proportion to them.

use hindsight_core::Lsn;

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 40;
/// Largest payload of a frame, in bytes: 64 MiB.
pub const PAYLOAD_BYTES_MAX: u32 = 64 << 20;
/// The first bytes of every frame. Not zero: zeros mean that nothing was written here.
pub const MAGIC: [u8; 4] = *b"HSfr";

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// One atomic batch. It has an LSN of its own.
    Batch,
    /// Says how far the log is durable. Carries the LSN of the batch before it, and no payload.
    Marker,
    /// As a marker; the log was closed in order and everything before it is durable.
    CleanShutdown,
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// What the frame is.
    pub kind: FrameKind,
    /// The batch's own number; that of the newest batch before it for the other kinds.
    pub lsn: Lsn,
    /// The newest LSN that the writer knew to be durable when it built this frame: the witness.
    pub synced_lsn: Lsn,
    /// The header checksum of the frame before: the chain.
    pub prev_crc: u32,
    /// The CRC-32 of the payload.
    pub payload_crc: u32,
    /// Bytes of the payload, which follows the header.
    pub payload_bytes: u32,
}

/// Why bytes are not the frame that belongs at their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameFault {
    /// The file ends inside the frame.
    #[error("the file ends inside a frame")]
    CutOff,
    /// There are bytes, and they don't begin a frame.
    #[error("no frame begins here, and the bytes aren't zero")]
    Magic,
    /// The header's checksum is wrong.
    #[error("the header's checksum is wrong: computed {computed:#010x}, found {found:#010x}")]
    HeaderCrc {
        /// The checksum of the bytes read.
        computed: u32,
        /// The checksum that stands in them.
        found: u32,
    },
    /// The payload's checksum is wrong.
    #[error("the payload's checksum is wrong: computed {computed:#010x}, expected {expected:#010x}")]
    PayloadCrc {
        /// The checksum of the bytes read.
        computed: u32,
        /// The checksum that the header names.
        expected: u32,
    },
    /// A payload longer than any writer makes.
    #[error("a payload of {found} bytes: at most {PAYLOAD_BYTES_MAX}")]
    Length {
        /// The length that stands in the header.
        found: u32,
    },
    /// A kind of frame that this version does not know, or reserved bytes that aren't zero.
    #[error("frame kind {found}: expected 1, 2 or 3, and three zero bytes")]
    Kind {
        /// The number that stands in the header.
        found: u8,
    },
    /// A frame that is sound in itself, with another number than belongs here.
    #[error("the frame says lsn {found}")]
    Lsn {
        /// The number that stands in the header.
        found: Lsn,
    },
    /// A frame that is sound in itself and follows another frame than the one before it.
    #[error(
        "the frame follows another one: expected checksum {expected:#010x} of the frame before, found {found:#010x}"
    )]
    Chain {
        /// The header checksum of the frame before.
        expected: u32,
        /// What the header says.
        found: u32,
    },
    /// A frame that claims its own or a later batch to be durable already.
    #[error("the frame claims lsn {found} to be durable")]
    Witness {
        /// The claim.
        found: Lsn,
    },
    /// Zeros, with written bytes after them.
    #[error("zeros, with written bytes after them")]
    Hole,
}

impl FrameKind {
    const fn code(self) -> u8 {
        match self {
            FrameKind::Batch => 1,
            FrameKind::Marker => 2,
            FrameKind::CleanShutdown => 3,
        }
    }

    const fn from_code(code: u8) -> Option<FrameKind> {
        match code {
            1 => Some(FrameKind::Batch),
            2 => Some(FrameKind::Marker),
            3 => Some(FrameKind::CleanShutdown),
            _ => None,
        }
    }
}

impl FrameHeader {
    /// The bytes of the header in a segment with this salt, and their checksum.
    #[must_use]
    pub fn encode(&self, salt: u64) -> ([u8; HEADER_BYTES], u32) {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &self.payload_crc.to_le_bytes());
        put(12, &self.prev_crc.to_le_bytes());
        put(16, &self.lsn.0.to_le_bytes());
        put(24, &self.synced_lsn.0.to_le_bytes());
        put(32, &self.payload_bytes.to_le_bytes());
        put(36, &[self.kind.code()]);
        let crc = header_crc(salt, &bytes);
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        (bytes, crc)
    }

    /// Reads a header, with its checksum.
    ///
    /// # Errors
    /// The [`FrameFault`] that these 40 bytes alone show.
    pub fn decode(bytes: &[u8; HEADER_BYTES], salt: u64) -> Result<(FrameHeader, u32), FrameFault> {
        if bytes[..4] != MAGIC {
            return Err(FrameFault::Magic);
        }
        let (found, computed) = (u32::from_le_bytes(field(bytes, 4)), header_crc(salt, bytes));
        if found != computed {
            return Err(FrameFault::HeaderCrc { computed, found });
        }
        let code = bytes[36];
        let kind = FrameKind::from_code(code)
            .filter(|_| bytes[37..] == [0; 3])
            .ok_or(FrameFault::Kind { found: code })?;
        let payload_bytes = u32::from_le_bytes(field(bytes, 32));
        if payload_bytes > PAYLOAD_BYTES_MAX {
            return Err(FrameFault::Length { found: payload_bytes });
        }
        let header = FrameHeader {
            kind,
            lsn: Lsn(u64::from_le_bytes(field(bytes, 16))),
            synced_lsn: Lsn(u64::from_le_bytes(field(bytes, 24))),
            prev_crc: u32::from_le_bytes(field(bytes, 12)),
            payload_crc: u32::from_le_bytes(field(bytes, 8)),
            payload_bytes,
        };
        Ok((header, computed))
    }

    /// Checks that this header belongs after the batch `last` and a frame with checksum `prev_crc`.
    ///
    /// # Errors
    /// [`FrameFault::Lsn`], [`FrameFault::Chain`] or [`FrameFault::Witness`].
    pub fn check_place(&self, last: Lsn, prev_crc: u32) -> Result<(), FrameFault> {
        let lsn = match self.kind {
            FrameKind::Batch => Lsn(last.0.saturating_add(1)),
            FrameKind::Marker | FrameKind::CleanShutdown => last,
        };
        if self.lsn != lsn {
            Err(FrameFault::Lsn { found: self.lsn })
        } else if self.prev_crc != prev_crc {
            Err(FrameFault::Chain { expected: prev_crc, found: self.prev_crc })
        } else if self.synced_lsn > last {
            Err(FrameFault::Witness { found: self.synced_lsn })
        } else {
            Ok(())
        }
    }
}

/// Bytes of a frame with a payload of this length.
pub(crate) const fn frame_bytes(payload_bytes: usize) -> u64 {
    (HEADER_BYTES + payload_bytes) as u64
}

/// The checksum of a payload.
#[must_use]
pub fn payload_crc(payload: &[u8]) -> u32 {
    crc32fast::hash(payload)
}

/// Reads one whole frame from the start of `bytes`: its header, the header's checksum, its payload.
///
/// # Errors
/// The [`FrameFault`] that these bytes alone show; arbitrary bytes neither panic nor allocate.
pub fn decode(bytes: &[u8], salt: u64) -> Result<(FrameHeader, u32, &[u8]), FrameFault> {
    let (head, rest) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(FrameFault::CutOff)?;
    let (header, crc) = FrameHeader::decode(head, salt)?;
    let payload = rest.get(..header.payload_bytes as usize).ok_or(FrameFault::CutOff)?;
    let computed = payload_crc(payload);
    if computed != header.payload_crc {
        return Err(FrameFault::PayloadCrc { computed, expected: header.payload_crc });
    }
    Ok((header, crc, payload))
}

/// The salt comes first, so that bytes of another segment, or bytes a client made up, never pass.
fn header_crc(salt: u64, bytes: &[u8; HEADER_BYTES]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&salt.to_le_bytes());
    hasher.update(&bytes[..4]);
    hasher.update(&bytes[8..]);
    hasher.finalize()
}

fn field<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

#[cfg(test)]
mod tests;
