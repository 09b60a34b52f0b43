//! Entries side by side. One key with its value costs sled about ten times what an entry takes, so a value holds up to
//! [`BLOCK_ENTRIES_MAX`] of them, ascending, under the key of the first (`docs/disk-format.md`, section "Directory").

use hindsight_core::MemoryId;

use super::place::{MemoryKey, PLACE_BYTES, position_from_bytes, position_to_bytes};
use crate::records::{NamespaceId, RecordPosition};

/// Most entries of a block. A change of one entry writes its block anew, so it is not many.
pub(super) const BLOCK_ENTRIES_MAX: usize = 32;

const ID_BYTES: usize = 16;
const ROW_BYTES: usize = ID_BYTES + PLACE_BYTES;

/// Where the memories of a block lie, by ascending id.
pub(super) type Rows = Vec<(MemoryId, RecordPosition)>;

/// The entries of a block, unless its bytes are none: no whole rows, out of order, or of another key.
pub(super) fn from_bytes(key: MemoryKey, bytes: &[u8]) -> Option<Rows> {
    let (rows, rest) = bytes.as_chunks::<ROW_BYTES>();
    if !rest.is_empty() {
        return None;
    }
    let rows: Rows = rows.iter().map(|row| entry(key.namespace, row)).collect::<Option<_>>()?;
    let is_block = rows.first()?.0 == key.id && rows.is_sorted_by(|(one, _), (next, _)| one < next);
    is_block.then_some(rows)
}

fn entry(namespace: NamespaceId, row: &[u8; ROW_BYTES]) -> Option<(MemoryId, RecordPosition)> {
    let (id, position) = row.split_first_chunk::<ID_BYTES>()?;
    Some((MemoryId::from_u128(u128::from_be_bytes(*id)), position_from_bytes(namespace, position)?))
}

/// The bytes of a block with these entries.
pub(super) fn to_bytes(rows: &[(MemoryId, RecordPosition)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * ROW_BYTES);
    for (id, position) in rows {
        bytes.extend_from_slice(&id.as_u128().to_be_bytes());
        bytes.extend_from_slice(&position_to_bytes(*position));
    }
    bytes
}

/// Parts entries into blocks. Where all that is new came behind what was there, more will, and the blocks are full;
/// elsewhere they have room.
pub(super) fn parted(
    rows: &[(MemoryId, RecordPosition)],
    is_appended: bool,
) -> impl Iterator<Item = &[(MemoryId, RecordPosition)]> {
    let blocks = rows.len().div_ceil(BLOCK_ENTRIES_MAX).max(1);
    let each = if is_appended { BLOCK_ENTRIES_MAX } else { rows.len().div_ceil(blocks).max(1) };
    rows.chunks(each)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: impl IntoIterator<Item = u64>) -> Rows {
        let place = |offset| RecordPosition { namespace: NamespaceId(3), file: 7, offset };
        ids.into_iter().map(|id| (MemoryId::from_u128(id.into()), place(id * 64))).collect()
    }

    fn key(id: u128) -> MemoryKey {
        MemoryKey { namespace: NamespaceId(3), id: MemoryId::from_u128(id) }
    }

    #[test]
    fn bytes_and_back_and_no_others() {
        let bytes = to_bytes(&rows([5, 6, 900]));
        assert_eq!(from_bytes(key(5), &bytes), Some(rows([5, 6, 900])));
        for (of, bad) in [
            (key(5), &bytes[..bytes.len() - 1]),
            (key(5), &[][..]),
            (key(6), &bytes[..]),
            (key(6), &to_bytes(&rows([6, 5]))),
            (key(6), &to_bytes(&rows([6, 6]))),
        ] {
            assert_eq!(from_bytes(of, bad), None, "{bad:?}");
        }
    }

    #[test]
    fn what_is_appended_is_packed_and_what_comes_between_leaves_room() {
        let lengths =
            |count, is_appended| parted(&rows(0..count), is_appended).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(70, true), [32, 32, 6]);
        assert_eq!(lengths(70, false), [24, 24, 22]);
        assert_eq!(lengths(32, false), [32]);
        assert_eq!(lengths(33, false), [17, 16]);
        assert_eq!(lengths(0, false), [0; 0]);
    }
}
