//! The bytes of a backup. They are described in `docs/disk-format.md`, section "Backup".

use hindsight_core::Lsn;

use super::{BackupError, BackupFault};
use crate::segment::LSN_MAX;
use crate::{frame::PAYLOAD_BYTES_MAX, records::NamespaceId};

/// The version of backups that this code writes, and the newest that it reads.
pub const BACKUP_VERSION: u32 = 1;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 56;
/// Bytes of the trailer.
pub const TRAILER_BYTES: usize = 68;
/// Bytes before each payload.
pub(super) const ENTRY_HEADER_BYTES: usize = 32;
/// Most bytes of a record file in one entry.
pub(super) const PIECE_BYTES_MAX: usize = 1 << 20;

const MAGIC: [u8; 8] = *b"HSbackup";
const END_MAGIC: [u8; 8] = *b"HSbckend";

/// What stands at the beginning of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupHeader {
    /// Which database it is of.
    pub store_id: u64,
    /// The newest batch in it.
    pub lsn: Lsn,
    /// Batches up to this one are in its record files; the later ones follow by themselves.
    pub checkpoint: Lsn,
    /// When it was begun, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// The number of the next new namespace.
    pub next_namespace: u32,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// Edits that make the manifest.
    Edits,
    /// A piece of a record file.
    Piece,
    /// A batch of the log.
    Batch,
    /// A piece of the erasure ledger.
    Ledger,
}

/// What stands before a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryHeader {
    pub(super) kind: EntryKind,
    /// Of a piece; 0 otherwise.
    pub(super) namespace: NamespaceId,
    /// The number of the file, of a piece; 0 otherwise.
    pub(super) file: u32,
    /// Where a piece begins in its file, or in the ledger; the LSN of a batch; 0 of edits.
    pub(super) position: u64,
    pub(super) payload_bytes: u32,
}

/// What stands at the end of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) entries: u64,
    pub(super) lsn: Lsn,
    /// Bytes before the trailer.
    pub(super) bytes: u64,
    /// The BLAKE3 of those.
    pub(super) blake3: [u8; 32],
}

impl BackupHeader {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &BACKUP_VERSION.to_le_bytes());
        put(16, &self.store_id.to_le_bytes());
        put(24, &self.lsn.0.to_le_bytes());
        put(32, &self.checkpoint.0.to_le_bytes());
        put(40, &self.created_ms.to_le_bytes());
        put(48, &self.next_namespace.to_le_bytes());
        let crc = crc_of(&[&bytes[..12], &bytes[16..]]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header; `bytes` may be all there is of the stream.
    pub(super) fn decode(bytes: &[u8]) -> Result<BackupHeader, BackupError> {
        let damaged = |fault| BackupError::Damaged { offset: 0, fault };
        if !bytes.starts_with(&MAGIC) {
            return Err(BackupError::NotABackup);
        }
        let head = bytes.first_chunk::<HEADER_BYTES>().ok_or(damaged(BackupFault::CutOff))?;
        if u32::from_le_bytes(field(head, 12)) != crc_of(&[&head[..12], &head[16..]]) {
            return Err(damaged(BackupFault::Header));
        }
        match u32::from_le_bytes(field(head, 8)) {
            BACKUP_VERSION => {}
            found => return Err(BackupError::Version { found }),
        }
        let (lsn, checkpoint) = (u64::from_le_bytes(field(head, 24)), u64::from_le_bytes(field(head, 32)));
        if lsn.max(checkpoint) > LSN_MAX {
            return Err(damaged(BackupFault::Header));
        }
        Ok(BackupHeader {
            store_id: u64::from_le_bytes(field(head, 16)),
            lsn: Lsn(lsn),
            checkpoint: Lsn(checkpoint),
            created_ms: u64::from_le_bytes(field(head, 40)),
            next_namespace: u32::from_le_bytes(field(head, 48)),
        })
    }
}

impl EntryHeader {
    pub(super) fn encode(&self, payload: &[u8]) -> [u8; ENTRY_HEADER_BYTES] {
        let mut head = [0; ENTRY_HEADER_BYTES];
        head[..4].copy_from_slice(&self.payload_bytes.to_le_bytes());
        head[8] = match self.kind {
            EntryKind::Edits => 1,
            EntryKind::Piece => 2,
            EntryKind::Batch => 3,
            EntryKind::Ledger => 4,
        };
        head[12..16].copy_from_slice(&self.namespace.0.to_le_bytes());
        head[16..20].copy_from_slice(&self.file.to_le_bytes());
        head[24..].copy_from_slice(&self.position.to_le_bytes());
        let crc = crc_of(&[&head[..4], &head[8..], payload]);
        head[4..8].copy_from_slice(&crc.to_le_bytes());
        head
    }

    /// The length that a header claims for its payload, to be believed only after [`EntryHeader::open`].
    pub(super) fn claimed_bytes(head: &[u8; ENTRY_HEADER_BYTES]) -> Result<u32, BackupFault> {
        let found = u32::from_le_bytes(field(head, 0));
        if found > PAYLOAD_BYTES_MAX { Err(BackupFault::Length { found }) } else { Ok(found) }
    }

    /// Reads the header of an entry whose payload was read.
    pub(super) fn open(head: &[u8; ENTRY_HEADER_BYTES], payload: &[u8]) -> Result<EntryHeader, BackupFault> {
        let (found, computed) =
            (u32::from_le_bytes(field(head, 4)), crc_of(&[&head[..4], &head[8..], payload]));
        if found != computed {
            return Err(BackupFault::Crc { computed, found });
        }
        let is_plain = head[9..12] == [0; 3] && head[20..24] == [0; 4];
        let kind = match head[8] {
            1 if is_plain => EntryKind::Edits,
            2 if is_plain => EntryKind::Piece,
            3 if is_plain => EntryKind::Batch,
            4 if is_plain => EntryKind::Ledger,
            found => return Err(BackupFault::Kind { found }),
        };
        Ok(EntryHeader {
            kind,
            namespace: NamespaceId(u32::from_le_bytes(field(head, 12))),
            file: u32::from_le_bytes(field(head, 16)),
            position: u64::from_le_bytes(field(head, 24)),
            payload_bytes: u32::from_le_bytes(field(head, 0)),
        })
    }
}

impl Trailer {
    pub(super) fn encode(&self) -> [u8; TRAILER_BYTES] {
        let mut bytes = [0; TRAILER_BYTES];
        bytes[..8].copy_from_slice(&END_MAGIC);
        bytes[8..16].copy_from_slice(&self.entries.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.lsn.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[32..64].copy_from_slice(&self.blake3);
        let crc = crc_of(&[&bytes[..64]]);
        bytes[64..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Whether this is how a trailer begins. No entry does: the length that these bytes would be is too large for one.
    pub(super) fn begins(head: &[u8]) -> bool {
        head.starts_with(&END_MAGIC)
    }

    pub(super) fn decode(bytes: &[u8; TRAILER_BYTES]) -> Result<Trailer, BackupFault> {
        if !Trailer::begins(bytes) || u32::from_le_bytes(field(bytes, 64)) != crc_of(&[&bytes[..64]]) {
            return Err(BackupFault::Trailer);
        }
        Ok(Trailer {
            entries: u64::from_le_bytes(field(bytes, 8)),
            lsn: Lsn(u64::from_le_bytes(field(bytes, 16))),
            bytes: u64::from_le_bytes(field(bytes, 24)),
            blake3: field(bytes, 32),
        })
    }
}

fn crc_of(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

fn field<const N: usize, const M: usize>(bytes: &[u8; M], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn golden() -> Vec<u8> {
        let header = BackupHeader {
            store_id: 0x1111_2222_3333_4444,
            lsn: Lsn(7),
            checkpoint: Lsn(6),
            created_ms: 1_764_493_200_000,
            next_namespace: 3,
        };
        let payload = "hello 你好".as_bytes();
        let entry = EntryHeader {
            kind: EntryKind::Piece,
            namespace: NamespaceId(2),
            file: 9,
            position: 4096,
            payload_bytes: u32::try_from(payload.len()).unwrap(),
        };
        let mut bytes = header.encode().to_vec();
        bytes.extend_from_slice(&entry.encode(payload));
        bytes.extend_from_slice(payload);
        let blake3 = *blake3::hash(&bytes).as_bytes();
        let trailer = Trailer { entries: 1, lsn: Lsn(7), bytes: bytes.len() as u64, blake3 };
        bytes.extend_from_slice(&trailer.encode());
        bytes
    }

    #[test]
    fn golden_bytes() {
        let expected = include_str!("../../tests/golden/backup.hex").split_whitespace().collect::<String>();
        assert_eq!(hex(&golden()), expected);
    }

    #[test]
    fn every_flipped_bit_of_header_and_trailer_is_noticed() {
        let bytes = golden();
        let header = bytes.first_chunk::<HEADER_BYTES>().unwrap();
        assert!(BackupHeader::decode(header).is_ok());
        for bit in 0..HEADER_BYTES * 8 {
            let mut bytes = *header;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(BackupHeader::decode(&bytes).is_err(), "bit {bit}");
        }
        let trailer = bytes.last_chunk::<TRAILER_BYTES>().unwrap();
        assert!(Trailer::decode(trailer).is_ok());
        for bit in 0..TRAILER_BYTES * 8 {
            let mut bytes = *trailer;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Trailer::decode(&bytes).is_err(), "bit {bit}");
        }
    }
}
