//! The inverted lists of a shelf as bytes: terms, the list of each, and how long the texts are.

use roaring::RoaringBitmap;
use smallvec::SmallVec;

use super::postings::{Posting, Postings};
use super::{LexicalIndex, PackedList};
use crate::Ordinal;
use crate::dictionary::Dictionary;
use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, lists, unsound};

impl LexicalIndex {
    pub(crate) fn save(&self, out: &mut Writer, live: &RoaringBitmap) {
        self.terms.save(out);
        for term in 0..self.terms.numbers() {
            let list = self.lists.get(term as usize).map_or(&[][..], Postings::as_slice);
            out.short(u32::try_from(list.len()).unwrap_or(u32::MAX));
            list.iter().for_each(|posting| out.u32(posting.packed()));
        }
        live.iter().for_each(|slot| out.short(self.length(Ordinal(slot))));
    }

    pub(crate) fn load(
        from: &mut Reader<'_>,
        slots: u32,
        live: &RoaringBitmap,
    ) -> Result<LexicalIndex, SnapshotError> {
        let terms = Dictionary::load(from)?;
        let mut postings: Vec<Postings> = Vec::with_capacity(terms.numbers() as usize);
        for _ in 0..terms.numbers() {
            let count = from.short_count(4)?;
            let list: SmallVec<[Posting; 4]> = from.numbers(count)?.map(Posting::of_packed).collect();
            postings.push(Postings::of_list(list, slots).ok_or(unsound("the list of a term"))?);
        }
        let slots_of =
            postings.iter().map(|list| list.as_slice().iter().map(|posting| posting.ordinal().get()));
        let terms_of = lists::invert(slots, slots_of, |terms| PackedList::new(terms.iter().copied()));
        let mut lengths = vec![0; slots as usize];
        for slot in live {
            if let Some(place) = lengths.get_mut(slot as usize) {
                *place = from.short()?;
            }
        }
        let docs = lengths.iter().filter(|length| **length > 0).count();
        let length_sum = lengths.iter().map(|length| u64::from(*length)).sum();
        let docs = u32::try_from(docs).unwrap_or(u32::MAX);
        Ok(LexicalIndex { terms, lists: postings, terms_of, lengths, docs, length_sum })
    }
}
