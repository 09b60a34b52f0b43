//! Whether a namespace is whole: a number that stands for a set of records, whatever their order.

use hindsight_core::{Lsn, MemoryId};

/// The digest of a set of records: the sum, modulo 2^128, of what [`record_digest`] says of each. So it can be kept up
/// to date one change at a time: take away the old image, add the new one.
///
/// It guards against records that are missing, twice or outdated by mistake or damage, not against somebody who
/// makes up records; the bytes have checksums of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest(u128);

impl Digest {
    /// The digest that a number stands for.
    #[must_use]
    pub const fn from_u128(value: u128) -> Digest {
        Digest(value)
    }

    /// The digest as a number.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// One more record.
    pub const fn add(&mut self, record: u128) {
        self.0 = self.0.wrapping_add(record);
    }

    /// One record less.
    pub const fn remove(&mut self, record: u128) {
        self.0 = self.0.wrapping_sub(record);
    }
}

/// What one record adds to a digest: the first 16 bytes, little endian, of the BLAKE3 of its id (16 bytes), its version
/// (8 bytes) and the LSN of the batch that changed it last (8 bytes), all little endian.
#[must_use]
pub fn record_digest(id: MemoryId, version: u64, lsn: Lsn) -> u128 {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&id.as_u128().to_le_bytes());
    bytes[16..24].copy_from_slice(&version.to_le_bytes());
    bytes[24..].copy_from_slice(&lsn.0.to_le_bytes());
    let hash = blake3::hash(&bytes);
    let mut first = [0; 16];
    first.copy_from_slice(&hash.as_bytes()[..16]);
    u128::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest(records: &[(u128, u64, u64)]) -> Digest {
        let mut digest = Digest::default();
        for (id, version, lsn) in records {
            digest.add(record_digest(MemoryId::from_u128(*id), *version, Lsn(*lsn)));
        }
        digest
    }

    #[test]
    fn golden_value() {
        let found = record_digest(MemoryId::from_u128(1), 2, Lsn(3));
        assert_eq!(format!("{found:032x}"), include_str!("../../tests/golden/record_digest.hex").trim());
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter_and_every_record_does(
            records in proptest::collection::vec((any::<u128>(), any::<u64>(), any::<u64>()), 1..40),
            swap: (prop::sample::Index, prop::sample::Index), at: prop::sample::Index,
        ) {
            let whole = digest(&records);
            let mut shuffled = records.clone();
            shuffled.swap(swap.0.index(records.len()), swap.1.index(records.len()));
            shuffled.reverse();
            prop_assert_eq!(digest(&shuffled), whole);
            let (id, version, lsn) = shuffled.swap_remove(at.index(records.len()));
            prop_assert_ne!(digest(&shuffled), whole);
            let one = record_digest(MemoryId::from_u128(id), version, Lsn(lsn));
            let mut without = whole;
            without.remove(one);
            prop_assert_eq!(digest(&shuffled), without);
            let other = record_digest(MemoryId::from_u128(id), version ^ 1, Lsn(lsn));
            without.add(other);
            prop_assert_ne!(without, whole);
        }
    }
}
