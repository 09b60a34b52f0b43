//! The set of memories behind one value: a short list while it is short, a bitmap beyond.

use roaring::RoaringBitmap;
use smallvec::SmallVec;

/// A set of this size and below is a list: most tags, sessions and hours have few members, and an empty bitmap costs more.
const LIST_MAX: usize = 32;

/// A set of slots.
#[derive(Debug, Clone)]
pub(crate) enum OrdinalSet {
    /// Ascending.
    List(SmallVec<[u32; 4]>),
    /// More than [`LIST_MAX`], or a little less after removals.
    Bitmap(RoaringBitmap),
}

impl Default for OrdinalSet {
    fn default() -> Self {
        OrdinalSet::List(SmallVec::new())
    }
}

impl OrdinalSet {
    /// A set of an ascending list; `None` where it does not ascend.
    pub(crate) fn of_list(ascending: impl ExactSizeIterator<Item = u32>) -> Option<Self> {
        if ascending.len() > LIST_MAX {
            return RoaringBitmap::from_sorted_iter(ascending).ok().map(OrdinalSet::Bitmap);
        }
        let list: SmallVec<[u32; 4]> = ascending.collect();
        list.is_sorted_by(|a, b| a < b).then_some(OrdinalSet::List(list))
    }

    /// Adds a slot.
    pub(crate) fn insert(&mut self, slot: u32) {
        match self {
            OrdinalSet::Bitmap(bitmap) => {
                bitmap.insert(slot);
            }
            OrdinalSet::List(list) => {
                let Err(at) = list.binary_search(&slot) else { return };
                list.insert(at, slot);
                if list.len() > LIST_MAX {
                    *self = OrdinalSet::Bitmap(list.iter().copied().collect());
                }
            }
        }
    }

    /// Takes a slot out. A bitmap that has become half as small as a list may be becomes one.
    pub(crate) fn remove(&mut self, slot: u32) {
        match self {
            OrdinalSet::List(list) => {
                if let Ok(at) = list.binary_search(&slot) {
                    list.remove(at);
                }
            }
            OrdinalSet::Bitmap(bitmap) => {
                bitmap.remove(slot);
                if bitmap.len() <= LIST_MAX as u64 / 2 {
                    *self = OrdinalSet::List(bitmap.iter().collect());
                }
            }
        }
    }

    /// How many members it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            OrdinalSet::List(list) => list.len(),
            OrdinalSet::Bitmap(bitmap) => usize::try_from(bitmap.len()).unwrap_or(usize::MAX),
        }
    }

    /// Whether nobody is left.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            OrdinalSet::List(list) => list.is_empty(),
            OrdinalSet::Bitmap(bitmap) => bitmap.is_empty(),
        }
    }

    /// Whether a slot is in it.
    pub(crate) fn contains(&self, slot: u32) -> bool {
        match self {
            OrdinalSet::List(list) => list.binary_search(&slot).is_ok(),
            OrdinalSet::Bitmap(bitmap) => bitmap.contains(slot),
        }
    }

    /// Its members, ascending.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            OrdinalSet::List(list) => Box::new(list.iter().copied()),
            OrdinalSet::Bitmap(bitmap) => Box::new(bitmap.iter()),
        }
    }

    /// Its highest members, at most so many, descending.
    pub(crate) fn newest(&self, most: usize) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            OrdinalSet::List(list) => Box::new(list.iter().rev().copied().take(most)),
            OrdinalSet::Bitmap(bitmap) => Box::new(bitmap.iter().rev().take(most)),
        }
    }

    /// Adds its members to `all`.
    pub(crate) fn add_to(&self, all: &mut RoaringBitmap) {
        match self {
            OrdinalSet::List(list) => all.extend(list.iter().copied()),
            OrdinalSet::Bitmap(bitmap) => *all |= bitmap,
        }
    }

    /// Adds those of its members that are in `within` too to `all`.
    pub(crate) fn add_shared_to(&self, all: &mut RoaringBitmap, within: &RoaringBitmap) {
        match self {
            OrdinalSet::List(list) => all.extend(list.iter().copied().filter(|slot| within.contains(*slot))),
            OrdinalSet::Bitmap(bitmap) => *all |= bitmap & within,
        }
    }

    /// How many of its members are in `within` too.
    pub(crate) fn shared_with(&self, within: &RoaringBitmap) -> usize {
        match self {
            OrdinalSet::List(list) => list.iter().filter(|slot| within.contains(**slot)).count(),
            OrdinalSet::Bitmap(bitmap) => {
                usize::try_from(bitmap.intersection_len(within)).unwrap_or(usize::MAX)
            }
        }
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            OrdinalSet::List(list) => {
                if list.spilled() {
                    list.capacity() * size_of::<u32>()
                } else {
                    0
                }
            }
            OrdinalSet::Bitmap(bitmap) => bitmap_bytes(bitmap),
        }
    }
}

/// Estimated bytes of a bitmap on the heap.
pub(crate) fn bitmap_bytes(bitmap: &RoaringBitmap) -> usize {
    let statistics = bitmap.statistics();
    let containers = statistics.n_containers as usize * 48;
    let values = statistics.n_bytes_array_containers
        + statistics.n_bytes_run_containers
        + statistics.n_bytes_bitset_containers;
    containers + usize::try_from(values).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_is_a_set(steps in proptest::collection::vec((prop::bool::weighted(0.6), 0_u32..90), 0..300)) {
            let (mut set, mut model) = (OrdinalSet::default(), BTreeSet::new());
            for (put, slot) in steps {
                if put {
                    set.insert(slot);
                    model.insert(slot);
                } else {
                    set.remove(slot);
                    model.remove(&slot);
                }
            }
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(set.newest(7).collect::<Vec<_>>(), model.iter().rev().take(7).copied().collect::<Vec<_>>());
            prop_assert_eq!(set.is_empty(), model.is_empty());
            prop_assert!((0..90).all(|slot| set.contains(slot) == model.contains(&slot)));
            let mut all: RoaringBitmap = [1_000].into_iter().collect();
            set.add_to(&mut all);
            prop_assert_eq!(all.len(), model.len() as u64 + 1);
            let within: RoaringBitmap = (0..90).step_by(4).collect();
            let mut shared = RoaringBitmap::new();
            set.add_shared_to(&mut shared, &within);
            let expected = model.iter().copied().filter(|slot| slot % 4 == 0).collect::<Vec<_>>();
            prop_assert_eq!(set.shared_with(&within), expected.len());
            prop_assert_eq!(shared.iter().collect::<Vec<_>>(), expected);
        }
    }
}
