//! Structured conditions: one set of memories per value ([`values`], [`set`]), times in buckets ([`time`]), and the
//! evaluation of a filter tree over them ([`select`]). The answer equals `Filter::matches` for every memory.

mod select;
mod set;
mod stored;
mod time;
mod values;

pub(crate) use set::OrdinalSet;
pub(crate) use values::Field;

use hindsight_core::{Memory, Timestamp};
use roaring::RoaringBitmap;

use crate::Ordinal;
use crate::dictionary::Dictionary;
use crate::hot::Hot;
use crate::packed::PackedList;
use set::bitmap_bytes;
use time::TimeBuckets;
use values::{each_value, key};

/// The sets of one shelf.
#[derive(Debug, Default, Clone)]
pub(crate) struct BitmapIndex {
    /// Every memory of the shelf.
    live: RoaringBitmap,
    /// Values with their field, and their numbers.
    values: Dictionary,
    /// The set of each value.
    sets: Vec<OrdinalSet>,
    /// The values of each memory.
    values_of: Vec<PackedList>,
    occurred: TimeBuckets,
    created: TimeBuckets,
    /// Where validity begins, for those that have a beginning.
    begins: TimeBuckets,
    /// Where validity or life in recall ends, for those that have an end.
    ends: TimeBuckets,
}

/// The times of a memory that stand in buckets, in milliseconds.
fn times(hot: &Hot) -> [Option<i64>; 4] {
    let all = [Some(hot.occurred_at), Some(hot.created_at), hot.valid_from(), hot.ends_at()];
    all.map(|time| time.map(Timestamp::as_ms))
}

impl BitmapIndex {
    /// Brings a memory's entries to what it says now; `before` are the facts it was entered with, if it was.
    pub(crate) fn set(&mut self, ordinal: Ordinal, memory: &Memory, before: Option<&Hot>, now: &Hot) {
        let mut found: Vec<u32> = Vec::new();
        each_value(memory, &mut |field, value| found.push(self.values.intern(&key(field, value))));
        found.sort_unstable();
        found.dedup();
        for value in &found {
            let at = *value as usize;
            if self.sets.len() <= at {
                self.sets.resize_with(at + 1, OrdinalSet::default);
            }
            if let Some(set) = self.sets.get_mut(at) {
                set.insert(ordinal.get());
            }
        }
        if self.values_of.len() <= ordinal.index() {
            self.values_of.resize_with(ordinal.index() + 1, PackedList::default);
        }
        self.leave_all_but(ordinal, &found);
        if let Some(place) = self.values_of.get_mut(ordinal.index()) {
            *place = PackedList::new(found);
        }
        self.live.insert(ordinal.get());
        self.move_in_time(ordinal, before, Some(now));
    }

    /// Takes a memory out; `before` are the facts it was entered with.
    pub(crate) fn remove(&mut self, ordinal: Ordinal, before: &Hot) {
        self.leave_all_but(ordinal, &[]);
        self.live.remove(ordinal.get());
        self.move_in_time(ordinal, Some(before), None);
    }

    /// Takes a memory out of the sets it was in, except of those it stays in. Values that nobody has any more are forgotten.
    fn leave_all_but(&mut self, ordinal: Ordinal, stays: &[u32]) {
        let values = self.values_of.get_mut(ordinal.index()).map(std::mem::take).unwrap_or_default();
        for value in values.iter().filter(|value| stays.binary_search(value).is_err()) {
            if let Some(set) = self.sets.get_mut(value as usize) {
                set.remove(ordinal.get());
                if set.is_empty() {
                    self.values.remove(value);
                }
            }
        }
    }

    fn move_in_time(&mut self, ordinal: Ordinal, before: Option<&Hot>, now: Option<&Hot>) {
        let (before, now) = (before.map(times).unwrap_or_default(), now.map(times).unwrap_or_default());
        let buckets = [&mut self.occurred, &mut self.created, &mut self.begins, &mut self.ends];
        for ((buckets, before), now) in buckets.into_iter().zip(before).zip(now) {
            if before == now {
                continue;
            }
            if let Some(before) = before {
                buckets.remove(ordinal.get(), before);
            }
            if let Some(now) = now {
                buckets.insert(ordinal.get(), now);
            }
        }
    }

    /// Every memory of the shelf.
    pub(crate) fn live(&self) -> &RoaringBitmap {
        &self.live
    }

    /// The memories that have this value in this field.
    pub(crate) fn with(&self, field: Field, value: &str) -> RoaringBitmap {
        let mut found = RoaringBitmap::new();
        if let Some(set) = self.members(field, value) {
            set.add_to(&mut found);
        }
        found
    }

    /// The memories of the session that `ordinal` is in; none when it is in none.
    pub(crate) fn session_of(&self, ordinal: Ordinal) -> Option<&OrdinalSet> {
        let values = self.values_of.get(ordinal.index())?;
        let is_session = |value: &u32| self.values.word(*value).starts_with(char::from(Field::Session as u8));
        self.sets.get(values.iter().find(is_session)? as usize)
    }

    fn members(&self, field: Field, value: &str) -> Option<&OrdinalSet> {
        self.sets.get(self.values.get(&key(field, value))? as usize)
    }

    /// How many distinct values there are.
    pub(crate) fn values(&self) -> usize {
        self.values.len()
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let sets: usize = self.sets.iter().map(OrdinalSet::bytes).sum();
        let forward: usize = self.values_of.iter().map(PackedList::bytes).sum();
        self.values.bytes()
            + sets
            + forward
            + self.sets.capacity() * size_of::<OrdinalSet>()
            + self.values_of.capacity() * size_of::<PackedList>()
            + bitmap_bytes(&self.live)
            + self.occurred.bytes()
            + self.created.bytes()
            + self.begins.bytes()
            + self.ends.bytes()
    }
}
