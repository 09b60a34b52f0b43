//! Where a new memory meets those that it may repeat or contradict: the marks of the active memories, by mark.

use hindsight_core::likeness::Marks;
use rustc_hash::FxHashMap;

use crate::Ordinal;
use crate::bitmap::OrdinalSet;

/// The marks of one shelf.
#[derive(Debug, Default, Clone)]
pub struct MeetingIndex {
    holders: FxHashMap<u32, OrdinalSet>,
    /// The marks of each memory, ascending.
    held: Vec<Box<[u32]>>,
}

impl MeetingIndex {
    /// Brings a memory's marks to these, ascending, whatever they were before.
    pub(crate) fn set(&mut self, ordinal: Ordinal, marks: Vec<u32>) {
        if self.held.len() <= ordinal.index() {
            if marks.is_empty() {
                return;
            }
            self.held.resize_with(ordinal.index() + 1, Box::default);
        }
        let Some(place) = self.held.get_mut(ordinal.index()) else { return };
        let before = std::mem::replace(place, marks.into_boxed_slice());
        let now: &[u32] = place;
        for mark in before.iter().filter(|mark| now.binary_search(mark).is_err()) {
            if let Some(holders) = self.holders.get_mut(mark) {
                holders.remove(ordinal.get());
                if holders.is_empty() {
                    self.holders.remove(mark);
                }
            }
        }
        for mark in now.iter().filter(|mark| before.binary_search(mark).is_err()) {
            self.holders.entry(*mark).or_default().insert(ordinal.get());
        }
    }

    /// Takes a memory out.
    pub(crate) fn remove(&mut self, ordinal: Ordinal) {
        self.set(ordinal, Vec::new());
    }

    /// The memories that may say the same, ascending; of each mark the `most` that were entered last.
    #[must_use]
    pub fn same(&self, marks: &Marks, most: usize) -> Vec<Ordinal> {
        in_order(self.holders_of(&marks.same, most).collect())
    }

    /// The memories that may be contradicted, ascending; of each mark, and of each group of marks, at most `most`.
    #[must_use]
    pub fn met(&self, marks: &Marks, most: usize) -> Vec<Ordinal> {
        let mut met: Vec<Ordinal> = self.holders_of(&marks.sought, most).collect();
        for group in &marks.rarest {
            let Some(holders) = self.rarest(group) else { continue };
            let holds_all = |slot: &u32| {
                group.iter().all(|mark| self.holders.get(mark).is_some_and(|all| all.contains(*slot)))
            };
            met.extend(holders.iter().filter(holds_all).take(most).map(Ordinal));
        }
        in_order(met)
    }

    fn holders_of<'a>(&'a self, marks: &'a [u32], most: usize) -> impl Iterator<Item = Ordinal> + 'a {
        let holders = marks.iter().filter_map(|mark| self.holders.get(mark));
        holders.flat_map(move |holders| holders.newest(most).map(Ordinal))
    }

    /// The smallest set of holders in a group of marks; none where nobody holds one of them.
    fn rarest(&self, group: &[u32]) -> Option<&OrdinalSet> {
        let holders: Option<Vec<&OrdinalSet>> = group.iter().map(|mark| self.holders.get(mark)).collect();
        holders?.into_iter().min_by_key(|holders| holders.len())
    }

    /// Every mark with the memories that hold it, in no order.
    pub(crate) fn holders(&self) -> impl Iterator<Item = (u32, &OrdinalSet)> {
        self.holders.iter().map(|(mark, holders)| (*mark, holders))
    }

    /// Of the holders of each mark, and the marks of each memory, ascending: the same said twice.
    pub(crate) fn of_parts(
        holders: impl Iterator<Item = (u32, OrdinalSet)>,
        held: Vec<Box<[u32]>>,
    ) -> MeetingIndex {
        MeetingIndex { holders: holders.collect(), held }
    }

    /// Estimated bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.holders.capacity() * (size_of::<(u32, OrdinalSet)>() + 1)
            + self.holders.values().map(OrdinalSet::bytes).sum::<usize>()
            + self.held.capacity() * size_of::<Box<[u32]>>()
            + self.held.iter().map(|marks| marks.len() * 4).sum::<usize>()
    }
}

fn in_order(mut met: Vec<Ordinal>) -> Vec<Ordinal> {
    met.sort_unstable();
    met.dedup();
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeking(sought: &[u32], rarest: &[&[u32]]) -> Marks {
        let rarest = rarest.iter().map(|group| group.to_vec()).collect();
        Marks { held: Vec::new(), same: sought.to_vec(), sought: sought.to_vec(), rarest }
    }

    #[test]
    fn w6_who_holds_what_is_sought_is_met() {
        let mut index = MeetingIndex::default();
        index.set(Ordinal(0), vec![1, 5]);
        index.set(Ordinal(3), vec![1, 7]);
        index.set(Ordinal(4), vec![7]);
        let met = |index: &MeetingIndex, marks: &Marks, most| {
            index.met(marks, most).into_iter().map(Ordinal::get).collect::<Vec<_>>()
        };
        assert_eq!(met(&index, &seeking(&[1, 9], &[]), 10), [0, 3]);
        assert_eq!(met(&index, &seeking(&[1], &[]), 1), [3]);
        assert_eq!(index.same(&seeking(&[1], &[]), 10), [Ordinal(0), Ordinal(3)]);
        assert_eq!(met(&index, &seeking(&[], &[&[1, 7]]), 10), [3], "only 3 holds both");
        assert_eq!(met(&index, &seeking(&[], &[&[5, 7]]), 10), [0_u32; 0], "nobody holds both");
        assert_eq!(met(&index, &seeking(&[], &[&[5, 9]]), 10), [0_u32; 0], "nobody holds 9");
        index.set(Ordinal(0), vec![5]);
        index.remove(Ordinal(4));
        assert_eq!(met(&index, &seeking(&[1, 7], &[]), 10), [3]);
        index.remove(Ordinal(3));
        index.remove(Ordinal(0));
        assert!(index.holders.is_empty());
    }
}
