//! Ordinals: the small numbers by which every index of a shelf speaks of a memory.
//!
//! A bitmap of 128-bit ids would not be a bitmap. So each shelf numbers its memories from 0, hands a number back
//! when its memory leaves, and gives it to the next one. Nothing outside a shelf may keep an ordinal across a change.

use hashbrown::HashTable;
use hindsight_core::MemoryId;
use roaring::RoaringBitmap;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;

use crate::error::IndexError;
use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, unsound};

/// The slot of a memory within its shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ordinal(pub(crate) u32);

impl Ordinal {
    /// How many slots a shelf has. A posting packs an ordinal and a term frequency into 32 bits, which leaves 26 for this.
    pub const LIMIT: u32 = 1 << 26;

    /// The slot as a number, from 0.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The slot as a position in a column.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The two-way map between the ids of a shelf's memories and their slots.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ordinals {
    /// The id in each slot; what stands in a free slot has no meaning.
    ids: Vec<MemoryId>,
    /// Taken slots, found by the hash of their id. A table of slots alone costs a sixth of a map from id to slot.
    slots: HashTable<u32>,
    /// Slots that were handed back; the last one is given out first.
    free: Vec<u32>,
}

fn hash(id: MemoryId) -> u64 {
    FxBuildHasher.hash_one(id.as_u128())
}

impl Ordinals {
    /// The slot of a memory, if the shelf holds it.
    pub(crate) fn of(&self, id: MemoryId) -> Option<Ordinal> {
        let slot = self.slots.find(hash(id), |slot| self.ids.get(*slot as usize) == Some(&id))?;
        Some(Ordinal(*slot))
    }

    /// The memory in a slot that is taken. For a slot that was never given out: the lowest id there is.
    pub(crate) fn id(&self, ordinal: Ordinal) -> MemoryId {
        self.ids.get(ordinal.index()).copied().unwrap_or(MemoryId::from_u128(0))
    }

    /// How many memories the shelf holds.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the shelf holds no memory.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The slot of a memory, a new one if it has none yet.
    ///
    /// # Errors
    /// [`IndexError::Full`] when all slots are taken.
    pub(crate) fn take(&mut self, id: MemoryId) -> Result<Ordinal, IndexError> {
        if let Some(ordinal) = self.of(id) {
            return Ok(ordinal);
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => u32::try_from(self.ids.len())
                .ok()
                .filter(|next| *next < Ordinal::LIMIT)
                .ok_or(IndexError::Full)?,
        };
        match self.ids.get_mut(slot as usize) {
            Some(place) => *place = id,
            None => self.ids.push(id),
        }
        let ids = &self.ids;
        self.slots.insert_unique(hash(id), slot, |taken| ids.get(*taken as usize).map_or(0, |id| hash(*id)));
        Ok(Ordinal(slot))
    }

    /// Hands a memory's slot back and says which it was.
    pub(crate) fn release(&mut self, id: MemoryId) -> Option<Ordinal> {
        let entry = self.slots.find_entry(hash(id), |slot| self.ids.get(*slot as usize) == Some(&id)).ok()?;
        let (slot, _) = entry.remove();
        self.free.push(slot);
        Some(Ordinal(slot))
    }

    /// The id in each slot, 0 where `live` does not have it.
    pub(crate) fn save(&self, out: &mut Writer, live: &RoaringBitmap) {
        for (slot, id) in (0..).zip(&self.ids) {
            out.u128(if live.contains(slot) { id.as_u128() } else { 0 });
        }
    }

    /// How many slots were ever given out.
    pub(crate) fn slots(&self) -> u32 {
        u32::try_from(self.ids.len()).unwrap_or(u32::MAX)
    }

    /// What [`Ordinals::save`] wrote of `slots` slots. Of the free ones the lowest is given out first.
    pub(crate) fn load(
        from: &mut Reader<'_>,
        slots: u32,
        live: &RoaringBitmap,
    ) -> Result<Ordinals, SnapshotError> {
        let mut ids = Vec::with_capacity(slots as usize);
        for _ in 0..slots {
            ids.push(MemoryId::from_u128(from.u128()?));
        }
        let mut table = HashTable::with_capacity(usize::try_from(live.len()).unwrap_or(usize::MAX));
        for slot in live {
            let Some(id) = ids.get(slot as usize) else { return Err(unsound("a slot beyond the last")) };
            if table.find(hash(*id), |other: &u32| ids.get(*other as usize) == Some(id)).is_some() {
                return Err(unsound("a memory in two slots"));
            }
            table.insert_unique(hash(*id), slot, |taken| ids.get(*taken as usize).map_or(0, |id| hash(*id)));
        }
        let free = (0..slots).rev().filter(|slot| !live.contains(*slot)).collect();
        Ok(Ordinals { ids, slots: table, free })
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.ids.capacity() * size_of::<MemoryId>() + self.slots.allocation_size() + self.free.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_slot_goes_to_the_next_memory() {
        let mut ordinals = Ordinals::default();
        let id = MemoryId::from_u128;
        assert_eq!(ordinals.take(id(7)).unwrap(), Ordinal(0));
        assert_eq!(ordinals.take(id(9)).unwrap(), Ordinal(1));
        assert_eq!(ordinals.take(id(7)).unwrap(), Ordinal(0), "taking again changes nothing");
        assert_eq!(ordinals.release(id(7)), Some(Ordinal(0)));
        assert_eq!(ordinals.release(id(7)), None);
        assert_eq!(ordinals.of(id(7)), None);
        assert_eq!(ordinals.take(id(3)).unwrap(), Ordinal(0));
        assert_eq!((ordinals.id(Ordinal(0)), ordinals.id(Ordinal(1))), (id(3), id(9)));
        assert_eq!(ordinals.len(), 2);
    }

    #[test]
    fn many_ids_stay_apart() {
        let mut ordinals = Ordinals::default();
        for n in 0..5_000_u128 {
            ordinals.take(MemoryId::from_u128(n << 64)).unwrap();
        }
        for n in (0..5_000_u128).step_by(2) {
            ordinals.release(MemoryId::from_u128(n << 64)).unwrap();
        }
        for n in 0..5_000_u32 {
            let found = ordinals.of(MemoryId::from_u128(u128::from(n) << 64));
            assert_eq!(found, (n % 2 == 1).then_some(Ordinal(n)));
        }
    }
}
