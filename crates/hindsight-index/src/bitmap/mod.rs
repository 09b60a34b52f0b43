//! Structured conditions: one set of memories per value ([`values`], [`set`]), times in buckets ([`time`]), and the
//! evaluation of a filter tree over them ([`select`]). The answer equals `Filter::matches` for every memory.

mod select;
mod set;
mod time;
mod values;

pub(crate) use values::Field;

use hindsight_core::{Memory, Timestamp};
use roaring::RoaringBitmap;

use crate::Ordinal;
use crate::dictionary::Dictionary;
use crate::hot::Hot;
use crate::packed::PackedList;
use set::{OrdinalSet, bitmap_bytes};
use time::TimeBuckets;
use values::{each_value, key};

/// The sets of one shelf.
#[derive(Debug, Default, Clone)]
pub(crate) struct BitmapIndex {
    /// Every memory of the shelf.
    live: RoaringBitmap,
    /// Those whose validity or expiry depends on the time.
    bounded: RoaringBitmap,
    /// Values with their field, and their numbers.
    values: Dictionary,
    /// The set of each value.
    sets: Vec<OrdinalSet>,
    /// The values of each memory.
    values_of: Vec<PackedList>,
    occurred: TimeBuckets,
    created: TimeBuckets,
}

impl BitmapIndex {
    /// Enters a memory that is not in the index.
    pub(crate) fn insert(&mut self, ordinal: Ordinal, memory: &Memory, hot: &Hot) {
        let slot = ordinal.get();
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
                set.insert(slot);
            }
        }
        if self.values_of.len() <= ordinal.index() {
            self.values_of.resize_with(ordinal.index() + 1, PackedList::default);
        }
        if let Some(place) = self.values_of.get_mut(ordinal.index()) {
            *place = PackedList::new(found);
        }
        self.live.insert(slot);
        if hot.is_bounded() {
            self.bounded.insert(slot);
        }
        self.occurred.insert(slot, hot.occurred_at.as_ms());
        self.created.insert(slot, hot.created_at.as_ms());
    }

    /// Takes a memory out; `hot` are the facts it was entered with.
    pub(crate) fn remove(&mut self, ordinal: Ordinal, hot: &Hot) {
        let slot = ordinal.get();
        let values = self.values_of.get_mut(ordinal.index()).map(std::mem::take).unwrap_or_default();
        for value in values.iter() {
            if let Some(set) = self.sets.get_mut(value as usize) {
                set.remove(slot);
                if set.is_empty() {
                    self.values.remove(value);
                }
            }
        }
        self.live.remove(slot);
        self.bounded.remove(slot);
        self.occurred.remove(slot, hot.occurred_at.as_ms());
        self.created.remove(slot, hot.created_at.as_ms());
    }

    /// Every memory of the shelf.
    pub(crate) fn live(&self) -> &RoaringBitmap {
        &self.live
    }

    /// The memories that are valid and not expired at `now`.
    pub(crate) fn current_at<'h>(
        &self,
        now: Timestamp,
        hot: &dyn Fn(u32) -> Option<&'h Hot>,
    ) -> RoaringBitmap {
        let over = |slot: &u32| hot(*slot).is_none_or(|hot| !hot.is_valid_at(now) || hot.is_expired_at(now));
        let mut current = self.live.clone();
        current -= self.bounded.iter().filter(over).collect::<RoaringBitmap>();
        current
    }

    /// The memories that have this value in this field.
    pub(crate) fn with(&self, field: Field, value: &str) -> RoaringBitmap {
        let mut found = RoaringBitmap::new();
        if let Some(set) = self.set(field, value) {
            set.add_to(&mut found);
        }
        found
    }

    /// The members of `among` that are in the same session as `ordinal`; nobody when it is in none.
    pub(crate) fn in_session_of(&self, ordinal: Ordinal, among: &RoaringBitmap) -> Vec<Ordinal> {
        let values = self.values_of.get(ordinal.index());
        let is_session = |value: &u32| self.values.word(*value).starts_with(char::from(Field::Session as u8));
        let session = values
            .and_then(|values| values.iter().find(is_session))
            .and_then(|value| self.sets.get(value as usize));
        session.map_or(Vec::new(), |session| {
            among.iter().filter(|slot| session.contains(*slot)).map(Ordinal).collect()
        })
    }

    fn set(&self, field: Field, value: &str) -> Option<&OrdinalSet> {
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
            + bitmap_bytes(&self.bounded)
            + self.occurred.bytes()
            + self.created.bytes()
    }
}
