//! The bytes of a record file. They are described in `docs/disk-format.md`, section "Record file".

use hindsight_core::Lsn;

use super::{Digest, NamespaceId};
use crate::{codec::CodecError, frame::PAYLOAD_BYTES_MAX};

/// The version of record files that this code writes, and the newest that it reads.
pub const RECORD_FILE_VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 40;
pub(super) const ENTRY_HEADER_BYTES: usize = 36;
pub(super) const FOOTER_BYTES: usize = 44;

const MAGIC: [u8; 8] = *b"HSrecord";
const END_MAGIC: [u8; 8] = *b"HSrecend";

/// What stands at the beginning of a record file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordFileHeader {
    /// Which database it belongs to.
    pub store_id: u64,
    /// Goes into the checksum of every entry of this file.
    pub salt: u64,
    /// Which namespace it belongs to; also the folder's name.
    pub namespace: NamespaceId,
    /// Which file of the namespace it is; also its name.
    pub number: u32,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// An after-image of a memory.
    Record,
    /// A request id that was seen.
    Request,
}

/// What stands before an entry's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryHeader {
    pub(super) kind: EntryKind,
    /// The id of the memory as a number; 0 for a request.
    pub(super) key: u128,
    pub(super) lsn: Lsn,
    pub(super) payload_bytes: u32,
}

/// What stands at the end of a record file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Footer {
    pub(super) records: u64,
    pub(super) requests: u64,
    pub(super) digest: Digest,
}

/// Why a file is not the record file that belongs at its place, or bytes not the entry.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// The magic number or the checksum of the header is wrong.
    #[error("the header is damaged")]
    BadHeader,
    /// Written by a newer version.
    #[error("version {found}: at most {RECORD_FILE_VERSION} can be read")]
    Version {
        /// The version that stands in the header.
        found: u32,
    },
    /// The header belongs to another file.
    #[error("the header says file {} of namespace {} of database {:016x}", found.number, found.namespace, found.store_id)]
    Place {
        /// What stands in the header.
        found: RecordFileHeader,
    },
    /// The file ends inside an entry, or before the place that was asked for.
    #[error("the file ends inside an entry")]
    CutOff,
    /// A payload longer than any writer makes.
    #[error("a payload of {found} bytes: at most {PAYLOAD_BYTES_MAX}")]
    Length {
        /// The length that stands in the entry.
        found: u32,
    },
    /// The entry's checksum is wrong.
    #[error("the entry's checksum is wrong: computed {computed:#010x}, found {found:#010x}")]
    Crc {
        /// The checksum of the bytes read.
        computed: u32,
        /// The checksum that stands in them.
        found: u32,
    },
    /// A kind of entry that this version does not know, or reserved bytes that aren't zero.
    #[error("entry kind {found}: expected 1 or 2, and three zero bytes")]
    Kind {
        /// The number that stands in the entry.
        found: u8,
    },
    /// The place of an entry that is no record.
    #[error("the entry is no record")]
    NotARecord,
    /// The record is another memory's, or another namespace's, than the entry says.
    #[error("the record is that of another memory than the entry says")]
    Key,
    /// The payload has a right checksum and does not decode.
    #[error("the payload can't be decoded")]
    Payload(#[from] CodecError),
    /// The end of the file is not that of a record file.
    #[error("the footer is damaged")]
    BadFooter,
    /// The footer counts other entries than there are.
    #[error("the footer counts other entries than there are")]
    Counts,
    /// The file is not the one that the manifest names.
    #[error("the file is not the one that the manifest names: its BLAKE3 or its counts differ")]
    NotInManifest,
    /// The file is longer or shorter than the manifest says.
    #[error("the file has {found} bytes and the manifest says {expected}")]
    FileLength {
        /// What the manifest says.
        expected: u64,
        /// What there is.
        found: u64,
    },
}

impl RecordFileHeader {
    /// The bytes of the header.
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &RECORD_FILE_VERSION.to_le_bytes());
        put(16, &self.store_id.to_le_bytes());
        put(24, &self.salt.to_le_bytes());
        put(32, &self.namespace.0.to_le_bytes());
        put(36, &self.number.to_le_bytes());
        let crc = header_crc(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header.
    ///
    /// # Errors
    /// [`RecordFault::BadHeader`] or [`RecordFault::Version`].
    pub(super) fn decode(bytes: &[u8]) -> Result<RecordFileHeader, RecordFault> {
        let head = bytes.first_chunk::<HEADER_BYTES>().ok_or(RecordFault::BadHeader)?;
        if head[..8] != MAGIC || u32::from_le_bytes(field(head, 12)) != header_crc(head) {
            return Err(RecordFault::BadHeader);
        }
        match u32::from_le_bytes(field(head, 8)) {
            RECORD_FILE_VERSION => {}
            found => return Err(RecordFault::Version { found }),
        }
        Ok(RecordFileHeader {
            store_id: u64::from_le_bytes(field(head, 16)),
            salt: u64::from_le_bytes(field(head, 24)),
            namespace: NamespaceId(u32::from_le_bytes(field(head, 32))),
            number: u32::from_le_bytes(field(head, 36)),
        })
    }
}

impl EntryHeader {
    /// Fills in the header before a payload: `entry` is room for the header, then the payload.
    pub(super) fn seal(&self, salt: u64, entry: &mut [u8]) {
        let Some((head, payload)) = entry.split_first_chunk_mut::<ENTRY_HEADER_BYTES>() else { return };
        head[..4].copy_from_slice(&self.payload_bytes.to_le_bytes());
        head[8..16].copy_from_slice(&self.lsn.0.to_le_bytes());
        head[16..32].copy_from_slice(&self.key.to_le_bytes());
        head[32] = match self.kind {
            EntryKind::Record => 1,
            EntryKind::Request => 2,
        };
        head[33..].fill(0);
        let crc = entry_crc(salt, head, payload);
        head[4..8].copy_from_slice(&crc.to_le_bytes());
    }

    /// The length that a header claims for its payload, to be believed only after [`EntryHeader::open`].
    pub(super) fn claimed_bytes(head: &[u8; ENTRY_HEADER_BYTES]) -> Result<usize, RecordFault> {
        let found = u32::from_le_bytes(field(head, 0));
        if found > PAYLOAD_BYTES_MAX { Err(RecordFault::Length { found }) } else { Ok(found as usize) }
    }

    /// Reads an entry, of which `entry` has exactly the bytes.
    pub(super) fn open(salt: u64, entry: &[u8]) -> Result<(EntryHeader, &[u8]), RecordFault> {
        let (head, payload) = entry.split_first_chunk::<ENTRY_HEADER_BYTES>().ok_or(RecordFault::CutOff)?;
        let (found, computed) = (u32::from_le_bytes(field(head, 4)), entry_crc(salt, head, payload));
        if found != computed {
            return Err(RecordFault::Crc { computed, found });
        }
        let kind = match (head[32], &head[33..]) {
            (1, [0, 0, 0]) => EntryKind::Record,
            (2, [0, 0, 0]) => EntryKind::Request,
            (found, _) => return Err(RecordFault::Kind { found }),
        };
        let header = EntryHeader {
            kind,
            key: u128::from_le_bytes(field(head, 16)),
            lsn: Lsn(u64::from_le_bytes(field(head, 8))),
            payload_bytes: u32::from_le_bytes(field(head, 0)),
        };
        Ok((header, payload))
    }
}

impl Footer {
    pub(super) fn encode(&self, salt: u64) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        bytes[..8].copy_from_slice(&END_MAGIC);
        bytes[8..16].copy_from_slice(&self.records.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.requests.to_le_bytes());
        bytes[24..40].copy_from_slice(&self.digest.as_u128().to_le_bytes());
        let crc = salted_crc(salt, &[&bytes[..40]]);
        bytes[40..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn decode(salt: u64, bytes: &[u8]) -> Result<Footer, RecordFault> {
        let foot: &[u8; FOOTER_BYTES] = bytes.try_into().map_err(|_| RecordFault::BadFooter)?;
        if foot[..8] != END_MAGIC || u32::from_le_bytes(field(foot, 40)) != salted_crc(salt, &[&foot[..40]]) {
            return Err(RecordFault::BadFooter);
        }
        Ok(Footer {
            records: u64::from_le_bytes(field(foot, 8)),
            requests: u64::from_le_bytes(field(foot, 16)),
            digest: Digest::from_u128(u128::from_le_bytes(field(foot, 24))),
        })
    }
}

fn header_crc(bytes: &[u8; HEADER_BYTES]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..12]);
    hasher.update(&bytes[16..]);
    hasher.finalize()
}

fn entry_crc(salt: u64, head: &[u8; ENTRY_HEADER_BYTES], payload: &[u8]) -> u32 {
    salted_crc(salt, &[&head[..4], &head[8..], payload])
}

/// The salt comes first, so that bytes of another file, or bytes a client made up, never pass.
fn salted_crc(salt: u64, parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&salt.to_le_bytes());
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

fn field<const N: usize, const M: usize>(bytes: &[u8; M], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}
