//! The inverted list of one term: which memories hold it, and how often.
//!
//! One posting is 32 bits: 26 of ordinal, 6 of frequency, so that sorting by value sorts by ordinal. Up to four postings
//! stand in the list itself: most terms are rare, and an allocation each would cost more than the postings.

use smallvec::SmallVec;

use crate::Ordinal;

/// Bits of a posting that hold the frequency.
const TF_BITS: u32 = 6;
/// The largest frequency that is kept apart: beyond it BM25 has long been saturated (63 counts 98 % of what any more would).
pub(crate) const TF_MAX: u32 = (1 << TF_BITS) - 1;

/// One memory that holds a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting(u32);

impl Posting {
    fn new(ordinal: Ordinal, tf: u32) -> Self {
        Posting(ordinal.0 << TF_BITS | tf.clamp(1, TF_MAX))
    }

    /// The memory's slot.
    pub(crate) const fn ordinal(self) -> Ordinal {
        Ordinal(self.0 >> TF_BITS)
    }

    /// Both in one number.
    pub(super) const fn packed(self) -> u32 {
        self.0
    }

    pub(super) const fn of_packed(packed: u32) -> Self {
        Posting(packed)
    }

    /// How often it holds the term, at most [`TF_MAX`].
    pub(crate) const fn tf(self) -> u32 {
        self.0 & TF_MAX
    }
}

/// The memories that hold one term, by ascending ordinal.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Postings(SmallVec<[Posting; 4]>);

impl Postings {
    /// Adds a memory, or brings its frequency up to date. Cheap at the end, where new memories come.
    pub(crate) fn set(&mut self, ordinal: Ordinal, tf: u32) {
        let posting = Posting::new(ordinal, tf);
        if self.0.last().is_none_or(|last| last.ordinal() < ordinal) {
            self.0.push(posting);
            return;
        }
        let at = self.0.partition_point(|other| other.ordinal() < ordinal);
        match self.0.get_mut(at) {
            Some(held) if held.ordinal() == ordinal => *held = posting,
            _ => self.0.insert(at, posting),
        }
    }

    /// Takes a memory out.
    pub(crate) fn remove(&mut self, ordinal: Ordinal) {
        if let Ok(at) = self.0.binary_search_by_key(&ordinal, |posting| posting.ordinal()) {
            self.0.remove(at);
            if self.0.spilled() && self.0.len() * 4 < self.0.capacity() {
                self.0.shrink_to_fit();
            }
        }
    }

    /// A list that is one: ascending, of slots below `slots`.
    pub(super) fn of_list(list: SmallVec<[Posting; 4]>, slots: u32) -> Option<Postings> {
        let is_one = list.is_sorted_by(|a, b| a.ordinal() < b.ordinal())
            && list.iter().all(|posting| posting.tf() > 0)
            && list.last().is_none_or(|last| last.ordinal().get() < slots);
        is_one.then_some(Postings(list))
    }

    /// The list.
    pub(crate) fn as_slice(&self) -> &[Posting] {
        &self.0
    }

    /// How many memories hold the term.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        if self.0.spilled() { self.0.capacity() * size_of::<Posting>() } else { 0 }
    }
}

/// How often a memory holds the term of a list; 0 when it does not.
pub(crate) fn tf_of(postings: &[Posting], ordinal: Ordinal) -> u32 {
    match postings.binary_search_by_key(&ordinal, |posting| posting.ordinal()) {
        Ok(at) => postings.get(at).map_or(0, |posting| posting.tf()),
        Err(_) => 0,
    }
}

/// The first position at or after `from` whose ordinal is not below `ordinal`, found by leaps that double.
pub(crate) fn seek(postings: &[Posting], from: usize, ordinal: Ordinal) -> usize {
    let rest = postings.get(from..).unwrap_or_default();
    let mut leap = 1;
    while rest.get(leap - 1).is_some_and(|posting| posting.ordinal() < ordinal) {
        leap *= 2;
    }
    let window = rest.get(leap / 2..leap.min(rest.len())).unwrap_or_default();
    from + leap / 2 + window.partition_point(|posting| posting.ordinal() < ordinal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_list_is_a_sorted_map(steps in proptest::collection::vec((any::<bool>(), 0_u32..60, 1_u32..200), 0..200)) {
            let mut list = Postings::default();
            let mut model = std::collections::BTreeMap::new();
            for (put, slot, tf) in steps {
                if put {
                    list.set(Ordinal(slot), tf);
                    model.insert(slot, tf.min(TF_MAX));
                } else {
                    list.remove(Ordinal(slot));
                    model.remove(&slot);
                }
            }
            let held: Vec<_> = list.as_slice().iter().map(|posting| (posting.ordinal().0, posting.tf())).collect();
            prop_assert_eq!(&held, &model.iter().map(|(slot, tf)| (*slot, *tf)).collect::<Vec<_>>());
            for slot in 0..61 {
                prop_assert_eq!(tf_of(list.as_slice(), Ordinal(slot)), model.get(&slot).copied().unwrap_or(0));
                for from in 0..=held.len() {
                    let expected = (from..held.len()).find(|at| held[*at].0 >= slot).unwrap_or(held.len());
                    prop_assert_eq!(seek(list.as_slice(), from, Ordinal(slot)), expected);
                }
            }
        }
    }

    #[test]
    fn a_short_list_costs_no_allocation() {
        let mut list = Postings::default();
        for slot in 0..4 {
            list.set(Ordinal(slot), 1);
        }
        assert_eq!(list.bytes(), 0);
        assert!(size_of::<Postings>() <= 24);
        assert_eq!(Posting::new(Ordinal(Ordinal::LIMIT - 1), 63).ordinal(), Ordinal(Ordinal::LIMIT - 1));
    }
}
