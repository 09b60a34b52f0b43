//! Keys and values of the directory, and their bytes (`docs/disk-format.md`, section "Directory").

use hindsight_core::MemoryId;

use crate::records::{NamespaceId, RecordPosition};

/// A memory of this database. Ids are unique within a namespace only: an export that is imported twice has the same
/// ids in two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryKey {
    /// The namespace it belongs to.
    pub namespace: NamespaceId,
    /// Its id there.
    pub id: MemoryId,
}

/// The first byte of every key that is an entry's.
pub(super) const TAG: u8 = b'p';
/// The first byte after those of all entries.
pub(super) const TAG_END: u8 = TAG + 1;
pub(super) const KEY_BYTES: usize = 21;
pub(super) const PLACE_BYTES: usize = 12;

impl MemoryKey {
    /// The key of a memory that lies there.
    #[must_use]
    pub fn of(id: MemoryId, position: RecordPosition) -> MemoryKey {
        MemoryKey { namespace: position.namespace, id }
    }

    /// The smallest key that is larger; none for the largest.
    #[must_use]
    pub fn successor(self) -> Option<MemoryKey> {
        match self.id.as_u128().checked_add(1) {
            Some(id) => Some(MemoryKey { namespace: self.namespace, id: MemoryId::from_u128(id) }),
            None => {
                let namespace = NamespaceId(self.namespace.0.checked_add(1)?);
                Some(MemoryKey { namespace, id: MemoryId::from_u128(0) })
            }
        }
    }

    /// Big endian, so that bytes sort as keys do.
    pub(super) fn to_bytes(self) -> [u8; KEY_BYTES] {
        let mut bytes = [TAG; KEY_BYTES];
        bytes[1..5].copy_from_slice(&self.namespace.0.to_be_bytes());
        bytes[5..].copy_from_slice(&self.id.as_u128().to_be_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<MemoryKey> {
        let (&[TAG, n1, n2, n3, n4], id) = bytes.split_first_chunk::<5>()? else { return None };
        let id = u128::from_be_bytes(id.try_into().ok()?);
        Some(MemoryKey {
            namespace: NamespaceId(u32::from_be_bytes([n1, n2, n3, n4])),
            id: MemoryId::from_u128(id),
        })
    }
}

/// The value of a key: file and offset. The namespace stands in the key.
pub(super) fn position_to_bytes(position: RecordPosition) -> [u8; PLACE_BYTES] {
    let mut bytes = [0; PLACE_BYTES];
    bytes[..4].copy_from_slice(&position.file.to_le_bytes());
    bytes[4..].copy_from_slice(&position.offset.to_le_bytes());
    bytes
}

pub(super) fn position_from_bytes(namespace: NamespaceId, bytes: &[u8]) -> Option<RecordPosition> {
    let (file, offset) = bytes.split_first_chunk::<4>()?;
    Some(RecordPosition {
        namespace,
        file: u32::from_le_bytes(*file),
        offset: u64::from_le_bytes(offset.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(namespace: u32, id: u128) -> MemoryKey {
        MemoryKey { namespace: NamespaceId(namespace), id: MemoryId::from_u128(id) }
    }

    #[test]
    fn bytes_and_back_in_the_same_order() {
        let keys =
            [key(0, 0), key(0, u128::MAX), key(1, 0), key(1, 256), key(256, 1), key(u32::MAX, u128::MAX)];
        assert!(keys.is_sorted());
        assert!(keys.map(MemoryKey::to_bytes).is_sorted());
        for key in keys {
            assert_eq!(MemoryKey::from_bytes(&key.to_bytes()), Some(key));
        }
        let position = RecordPosition { namespace: NamespaceId(3), file: 7, offset: u64::MAX - 1 };
        assert_eq!(position_from_bytes(NamespaceId(3), &position_to_bytes(position)), Some(position));
    }

    #[test]
    fn other_bytes_are_no_key_and_no_place() {
        let good = key(1, 2).to_bytes();
        let mut tagged_otherwise = good;
        tagged_otherwise[0] = b's';
        for bad in [&[][..], &good[..20], &[&good[..], &[0]].concat(), &tagged_otherwise] {
            assert_eq!(MemoryKey::from_bytes(bad), None);
        }
        for bad in [&[][..], &[0; 11], &[0; 13]] {
            assert_eq!(position_from_bytes(NamespaceId(1), bad), None);
        }
    }

    #[test]
    fn successors() {
        assert_eq!(key(1, 2).successor(), Some(key(1, 3)));
        assert_eq!(key(1, u128::MAX).successor(), Some(key(2, 0)));
        assert_eq!(key(u32::MAX, u128::MAX).successor(), None);
    }
}
