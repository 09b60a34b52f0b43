//! What the directory holds, in 32 bytes: compared at every open with what the manifest expects.

use hindsight_core::{Lsn, MemoryId};

use super::place::{KEY_BYTES, MemoryKey, PLACE_BYTES, position_to_bytes};
use crate::records::RecordPosition;

/// How far the directory is, how much it holds, and a digest of all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The checkpoint whose record files it describes.
    pub lsn: Lsn,
    /// How many memories it knows.
    pub records: u64,
    /// The sum modulo 2^128 of the hashes of all entries: the order in which they came does not matter, and a change
    /// costs the same however many there are.
    pub digest: u128,
}

const VERSION: u8 = 2;
pub(super) const STAMP_BYTES: usize = 33;

impl Stamp {
    /// The stamp of a directory without any entry.
    pub const EMPTY: Stamp = Stamp { lsn: Lsn(0), records: 0, digest: 0 };

    /// Takes the change of one entry in: where the memory lay before, and where it lies now, in the same namespace.
    ///
    /// The numbers wrap, so that taking an entry away always undoes adding it; a directory in which they don't fit
    /// its entries is found by adding these up.
    pub fn replace(&mut self, id: MemoryId, old: Option<RecordPosition>, new: Option<RecordPosition>) {
        if let Some(old) = old {
            self.records = self.records.wrapping_sub(1);
            self.digest = self.digest.wrapping_sub(hash_of_entry(id, old));
        }
        if let Some(new) = new {
            self.records = self.records.wrapping_add(1);
            self.digest = self.digest.wrapping_add(hash_of_entry(id, new));
        }
    }

    pub(super) fn to_bytes(self) -> [u8; STAMP_BYTES] {
        let mut bytes = [VERSION; STAMP_BYTES];
        bytes[1..9].copy_from_slice(&self.lsn.0.to_le_bytes());
        bytes[9..17].copy_from_slice(&self.records.to_le_bytes());
        bytes[17..].copy_from_slice(&self.digest.to_le_bytes());
        bytes
    }

    /// None for bytes of another version, too: such a directory is rebuilt.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Stamp> {
        let (&VERSION, rest) = bytes.split_first()? else { return None };
        let (lsn, rest) = rest.split_first_chunk::<8>()?;
        let (records, digest) = rest.split_first_chunk::<8>()?;
        Some(Stamp {
            lsn: Lsn(u64::from_le_bytes(*lsn)),
            records: u64::from_le_bytes(*records),
            digest: u128::from_le_bytes(digest.try_into().ok()?),
        })
    }
}

fn hash_of_entry(id: MemoryId, position: RecordPosition) -> u128 {
    let mut bytes = [0; KEY_BYTES + PLACE_BYTES];
    bytes[..KEY_BYTES].copy_from_slice(&MemoryKey::of(id, position).to_bytes());
    bytes[KEY_BYTES..].copy_from_slice(&position_to_bytes(position));
    hash(&bytes)
}

/// The first 128 bits of BLAKE3.
pub(super) fn hash(bytes: &[u8]) -> u128 {
    let hash = blake3::hash(bytes);
    let first = hash.as_bytes().first_chunk::<16>();
    first.map_or(0, |first| u128::from_le_bytes(*first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::NamespaceId;

    fn entry(number: u64) -> (MemoryId, RecordPosition) {
        let position = RecordPosition { namespace: NamespaceId(1), file: 1, offset: number * 100 };
        (MemoryId::from_u128(number.into()), position)
    }

    #[test]
    fn the_order_of_changes_does_not_matter_and_undoing_them_undoes_the_stamp() {
        let (mut up, mut down) = (Stamp::EMPTY, Stamp::EMPTY);
        for number in 0..10 {
            let (id, position) = entry(number);
            up.replace(id, None, Some(position));
            let (id, position) = entry(9 - number);
            down.replace(id, None, Some(position));
        }
        assert_eq!(up, down);
        assert_eq!(up.records, 10);
        let (id, position) = entry(4);
        let moved = RecordPosition { file: 2, ..position };
        up.replace(id, Some(position), Some(moved));
        assert_ne!(up.digest, down.digest);
        up.replace(id, Some(moved), Some(position));
        assert_eq!(up, down);
        for number in 0..10 {
            let (id, position) = entry(number);
            up.replace(id, Some(position), None);
        }
        assert_eq!(up, Stamp::EMPTY);
    }

    #[test]
    fn entries_that_swap_places_have_another_digest() {
        let ((a, at_a), (b, at_b)) = (entry(1), entry(2));
        let (mut right, mut swapped) = (Stamp::EMPTY, Stamp::EMPTY);
        right.replace(a, None, Some(at_a));
        right.replace(b, None, Some(at_b));
        swapped.replace(a, None, Some(at_b));
        swapped.replace(b, None, Some(at_a));
        assert_eq!(right.records, swapped.records);
        let elsewhere = RecordPosition { namespace: NamespaceId(2), ..at_a };
        let mut moved = right;
        moved.replace(a, Some(at_a), Some(elsewhere));
        assert_ne!(right.digest, moved.digest);
        assert_ne!(right.digest, swapped.digest);
    }

    #[test]
    fn bytes_and_back() {
        let stamp = Stamp { lsn: Lsn(7), records: 8, digest: u128::MAX / 3 };
        let bytes = stamp.to_bytes();
        assert_eq!(Stamp::from_bytes(&bytes), Some(stamp));
        let mut newer = bytes;
        newer[0] = 3;
        for bad in [&[][..], &bytes[..32], &[&bytes[..], &[0]].concat(), &newer] {
            assert_eq!(Stamp::from_bytes(bad), None);
        }
    }
}
