//! A short ascending list of numbers in as few bytes as it needs: differences, seven bits to the byte.
//!
//! Each index keeps such a list per memory, of the words the memory stands under, so that a change or a deletion can
//! take it out of exactly those lists without knowing its old text.

/// An ascending list without repetitions. Immutable: a change of a memory replaces the list.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct PackedList(Box<[u8]>);

impl PackedList {
    /// Packs an ascending list without repetitions.
    pub(crate) fn new(ascending: impl IntoIterator<Item = u32>) -> Self {
        let mut bytes = Vec::new();
        let mut last = 0_u32;
        for number in ascending {
            let mut rest = number.wrapping_sub(last);
            last = number;
            while rest >= 0x80 {
                bytes.push((rest & 0x7f) as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push((rest & 0x7f) as u8);
        }
        PackedList(bytes.into_boxed_slice())
    }

    /// The numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let mut bytes = self.0.iter();
        let mut last = 0_u32;
        std::iter::from_fn(move || {
            let (mut difference, mut shift) = (0_u32, 0);
            loop {
                let byte = *bytes.next()?;
                difference |= u32::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
                shift += 7;
            }
            last = last.wrapping_add(difference);
            Some(last)
        })
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out(set in proptest::collection::btree_set(any::<u32>(), 0..200)) {
            let packed = PackedList::new(set.iter().copied());
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), set.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn near_numbers_take_a_byte_each() {
        assert_eq!(PackedList::new([3, 4, 90, 200]).bytes(), 4);
        assert_eq!(PackedList::new([]).bytes(), 0);
        assert_eq!(PackedList::new([0, u32::MAX]).iter().collect::<Vec<_>>(), [0, u32::MAX]);
    }
}
