//! The sets of a shelf as bytes: values, the set of each, and the buckets of times.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::time::TimeBuckets;
use super::{BitmapIndex, OrdinalSet};
use crate::dictionary::Dictionary;
use crate::packed::PackedList;
use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, lists, unsound};

impl BitmapIndex {
    pub(crate) fn save(&self, out: &mut Writer) {
        self.values.save(out);
        lists::save_sets(out, &self.sets, self.values.numbers());
        for buckets in [&self.occurred, &self.created, &self.begins, &self.ends] {
            buckets.save(out);
        }
    }

    pub(crate) fn load(
        from: &mut Reader<'_>,
        slots: u32,
        live: RoaringBitmap,
    ) -> Result<BitmapIndex, SnapshotError> {
        let values = Dictionary::load(from)?;
        let sets = lists::load_sets(from, values.numbers(), slots)?;
        let values_of = lists::invert(slots, sets.iter().map(OrdinalSet::iter), |values| {
            PackedList::new(values.iter().copied())
        });
        Ok(BitmapIndex {
            live,
            values,
            sets,
            values_of,
            occurred: TimeBuckets::load(from, slots)?,
            created: TimeBuckets::load(from, slots)?,
            begins: TimeBuckets::load(from, slots)?,
            ends: TimeBuckets::load(from, slots)?,
        })
    }
}

impl TimeBuckets {
    /// Each level, the widest first: how many buckets, then the number of each with its set, in their order.
    fn save(&self, out: &mut Writer) {
        for level in self.levels() {
            out.count(level.len());
            for (bucket, set) in level {
                out.i64(*bucket);
                lists::save_set(out, set);
            }
        }
    }

    fn load(from: &mut Reader<'_>, slots: u32) -> Result<TimeBuckets, SnapshotError> {
        let mut levels: [BTreeMap<i64, OrdinalSet>; 3] = Default::default();
        for level in &mut levels {
            let count = from.count(9)?;
            let mut buckets = Vec::with_capacity(count);
            for _ in 0..count {
                let bucket = from.i64()?;
                if buckets.last().is_some_and(|(last, _)| *last >= bucket) {
                    return Err(unsound("the order of times"));
                }
                buckets.push((bucket, lists::load_set(from, slots)?));
            }
            *level = buckets.into_iter().collect();
        }
        Ok(TimeBuckets::of_levels(levels))
    }
}
