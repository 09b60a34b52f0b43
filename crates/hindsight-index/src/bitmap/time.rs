//! Memories by time: one set per hour, one per day, one per 32 days. A range is whole buckets, the largest that fit, and
//! two ragged edges of less than an hour whose members are asked one by one.

use std::collections::BTreeMap;

use hindsight_core::time::HOUR_MS;
use roaring::RoaringBitmap;

use super::set::OrdinalSet;

/// Widths of the buckets in milliseconds, widest first. Each is a multiple of the next.
const WIDTHS: [i64; 3] = [32 * 24 * HOUR_MS, 24 * HOUR_MS, HOUR_MS];

/// A column of times, in buckets.
#[derive(Debug, Default, Clone)]
pub(crate) struct TimeBuckets {
    levels: [BTreeMap<i64, OrdinalSet>; 3],
}

impl TimeBuckets {
    /// The buckets of each width, widest first, by their number.
    pub(super) fn levels(&self) -> &[BTreeMap<i64, OrdinalSet>; 3] {
        &self.levels
    }

    pub(super) fn of_levels(levels: [BTreeMap<i64, OrdinalSet>; 3]) -> Self {
        TimeBuckets { levels }
    }

    /// Enters a memory at a time in milliseconds.
    pub(crate) fn insert(&mut self, slot: u32, at_ms: i64) {
        for (level, width) in self.levels.iter_mut().zip(WIDTHS) {
            level.entry(at_ms.div_euclid(width)).or_default().insert(slot);
        }
    }

    /// Takes a memory out that was entered at this time.
    pub(crate) fn remove(&mut self, slot: u32, at_ms: i64) {
        for (level, width) in self.levels.iter_mut().zip(WIDTHS) {
            let bucket = at_ms.div_euclid(width);
            if let Some(set) = level.get_mut(&bucket) {
                set.remove(slot);
                if set.is_empty() {
                    level.remove(&bucket);
                }
            }
        }
    }

    /// The memories from `from_ms` on and before `to_ms`, of all or of those in `within`. `time_of` tells the exact time of
    /// a member.
    pub(crate) fn range(
        &self,
        from_ms: i64,
        to_ms: i64,
        within: Option<&RoaringBitmap>,
        time_of: TimeOf<'_>,
    ) -> RoaringBitmap {
        let mut found = RoaringBitmap::new();
        let mut range = Range { levels: &self.levels, within, time_of, found: &mut found };
        range.cover(0, from_ms, to_ms);
        found
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let sets = self.levels.iter().flat_map(BTreeMap::values);
        sets.map(|set| size_of::<(i64, OrdinalSet)>() * 3 / 2 + set.bytes()).sum()
    }
}

/// How a range asks for the exact time of a slot.
pub(crate) type TimeOf<'a> = &'a dyn Fn(u32) -> Option<i64>;

/// A range being collected.
struct Range<'a> {
    levels: &'a [BTreeMap<i64, OrdinalSet>; 3],
    within: Option<&'a RoaringBitmap>,
    time_of: TimeOf<'a>,
    found: &'a mut RoaringBitmap,
}

impl Range<'_> {
    /// Collects a piece from the buckets of a level that lie inside it, and what is left of it from the finer levels.
    fn cover(&mut self, level: usize, from: i64, to: i64) {
        if from >= to {
            return;
        }
        let (Some(buckets), Some(width)) = (self.levels.get(level), WIDTHS.get(level)) else {
            return self.edge(from, to);
        };
        let first = from.div_euclid(*width) + i64::from(from.rem_euclid(*width) != 0);
        let end = to.div_euclid(*width);
        if first >= end {
            return self.cover(level + 1, from, to);
        }
        for (_, set) in buckets.range(first..end) {
            match self.within {
                Some(within) => set.add_shared_to(self.found, within),
                None => set.add_to(self.found),
            }
        }
        self.cover(level + 1, from, first * width);
        self.cover(level + 1, end * width, to);
    }

    /// A piece that holds no whole hour: at most two hours have a share in it.
    fn edge(&mut self, from: i64, to: i64) {
        let [.., hours] = self.levels;
        let (within, time_of) = (self.within, self.time_of);
        let inside = |slot: &u32| {
            within.is_none_or(|within| within.contains(*slot))
                && time_of(*slot).is_some_and(|at| from <= at && at < to)
        };
        for (_, set) in hours.range(from.div_euclid(HOUR_MS)..=(to - 1).div_euclid(HOUR_MS)) {
            self.found.extend(set.iter().filter(inside));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_core::{Timestamp, time::DAY_MS};
    use proptest::prelude::*;

    /// Times around a few days, bucket borders among them, also before 1970.
    fn times() -> impl Strategy<Value = i64> {
        let offset = prop_oneof![
            Just(0),
            Just(-1),
            Just(1),
            -3 * HOUR_MS..3 * HOUR_MS,
            Just(HOUR_MS),
            -40 * DAY_MS..40 * DAY_MS
        ];
        (prop::sample::select(vec![-33 * DAY_MS, 0, 20_000 * DAY_MS, 20_000 * DAY_MS + 7 * HOUR_MS]), offset)
            .prop_map(|(base, offset)| base + offset)
    }

    proptest! {
        #[test]
        fn a_range_is_a_comparison(
            held in prop::collection::vec(times(), 0..80), from in times(), to in times(), gone in 0_usize..10,
        ) {
            let mut buckets = TimeBuckets::default();
            let held: Vec<(u32, i64)> = (0..).zip(held).collect();
            for (slot, at) in &held {
                buckets.insert(*slot, *at);
            }
            for (slot, at) in held.iter().take(gone) {
                buckets.remove(*slot, *at);
            }
            let time_of = |slot: u32| held.get(slot as usize).map(|(_, at)| *at);
            let found = buckets.range(from, to, None, &time_of);
            let odd: RoaringBitmap = (1..80).step_by(2).collect();
            prop_assert_eq!(buckets.range(from, to, Some(&odd), &time_of), &found & &odd);
            let expected = held.iter().skip(gone).filter(|(_, at)| from <= *at && *at < to).map(|(slot, _)| *slot);
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_is_left_of_what_was_taken_out() {
        let mut buckets = TimeBuckets::default();
        buckets.insert(3, 5 * HOUR_MS);
        buckets.remove(3, 5 * HOUR_MS);
        assert_eq!(buckets.bytes(), 0);
    }

    #[test]
    fn the_ends_of_time_are_in_range() {
        let mut buckets = TimeBuckets::default();
        let ends = [Timestamp::MIN.as_ms(), Timestamp::MAX.as_ms()];
        buckets.insert(0, ends[0]);
        buckets.insert(1, ends[1]);
        let found = buckets.range(i64::MIN, i64::MAX, None, &|slot| ends.get(slot as usize).copied());
        assert_eq!(found.len(), 2);
    }
}
