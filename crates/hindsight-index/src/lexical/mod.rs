//! Keyword search: BM25 over inverted lists, English, Chinese and code alike.
//!
//! A text's way: [`tokenise`] ([`tokeniser`], [`words`], [`pieces`], [`cjk`], [`stop`]) makes its terms, `LexicalIndex::insert`
//! enters them in the lists ([`postings`]). A query's way: the same function makes its terms, [`KeywordQuery`] weighs
//! them by their rarity, [`search`] finds the best.
//!
//! Every statistic is exact at any moment, also after changes and deletions: the index keeps which terms each memory
//! stands under.

mod cjk;
mod pieces;
mod postings;
mod query;
mod search;
mod stop;
mod text;
mod tokeniser;
mod words;

pub use query::{KeywordQuery, QueryTerm};
pub use search::KeywordSearch;
pub use text::each_text;
pub use tokeniser::{Token, tokenise};

use crate::dictionary::Dictionary;
use crate::packed::PackedList;
use crate::{Ordinal, stats::LexicalStats};
use postings::{Posting, Postings};

/// The inverted lists of one shelf.
#[derive(Debug, Default, Clone)]
pub struct LexicalIndex {
    /// Terms and their numbers.
    terms: Dictionary,
    /// The list of each term.
    lists: Vec<Postings>,
    /// The terms of each memory.
    terms_of: Vec<PackedList>,
    /// Terms of each memory's text, repetitions included; 0 where there is none.
    lengths: Vec<u32>,
    /// Memories that have text.
    docs: u32,
    /// Sum of `lengths`.
    length_sum: u64,
}

impl LexicalIndex {
    /// Enters a memory that is not in the index. `texts` hands its pieces of text to the function it is given.
    pub fn insert(&mut self, ordinal: Ordinal, texts: impl FnOnce(&mut dyn FnMut(&str))) {
        let mut found: Vec<u32> = Vec::new();
        let terms = &mut self.terms;
        texts(&mut |text| tokenise(text, &mut |token| found.push(terms.intern(token.term))));
        if found.is_empty() {
            return;
        }
        found.sort_unstable();
        if self.lists.len() < found.last().map_or(0, |last| *last as usize + 1) {
            self.lists.resize_with(found.last().map_or(0, |last| *last as usize + 1), Postings::default);
        }
        for same in found.chunk_by(|a, b| a == b) {
            if let Some(list) = same.first().and_then(|term| self.lists.get_mut(*term as usize)) {
                list.insert(ordinal, u32::try_from(same.len()).unwrap_or(u32::MAX));
            }
        }
        if self.lengths.len() <= ordinal.index() {
            self.lengths.resize(ordinal.index() + 1, 0);
            self.terms_of.resize_with(ordinal.index() + 1, PackedList::default);
        }
        let length = u32::try_from(found.len()).unwrap_or(u32::MAX);
        found.dedup();
        if let (Some(place), Some(terms)) =
            (self.lengths.get_mut(ordinal.index()), self.terms_of.get_mut(ordinal.index()))
        {
            *place = length;
            *terms = PackedList::new(found);
        }
        self.docs += 1;
        self.length_sum += u64::from(length);
    }

    /// Takes a memory out. Terms that nobody holds any more are forgotten.
    pub fn remove(&mut self, ordinal: Ordinal) {
        let Some(terms) = self.terms_of.get_mut(ordinal.index()) else { return };
        for term in std::mem::take(terms).iter() {
            if let Some(list) = self.lists.get_mut(term as usize) {
                list.remove(ordinal);
                if list.len() == 0 {
                    self.terms.remove(term);
                }
            }
        }
        if let Some(length) = self.lengths.get_mut(ordinal.index())
            && *length > 0
        {
            self.docs -= 1;
            self.length_sum -= u64::from(std::mem::take(length));
        }
    }

    /// How many memories have text.
    #[must_use]
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Terms of all texts together.
    #[must_use]
    pub fn length_sum(&self) -> u64 {
        self.length_sum
    }

    /// How many memories hold a term.
    #[must_use]
    pub fn df(&self, term: &str) -> u32 {
        u32::try_from(self.list(term).len()).unwrap_or(u32::MAX)
    }

    /// How many terms a memory's text has, repetitions included.
    #[must_use]
    pub fn length(&self, ordinal: Ordinal) -> u32 {
        self.lengths.get(ordinal.index()).copied().unwrap_or(0)
    }

    /// Counts and estimated bytes.
    #[must_use]
    pub fn stats(&self) -> LexicalStats {
        let postings = self.lists.iter().map(|list| u64::from(list.len())).sum();
        let lists: usize = self.lists.iter().map(Postings::bytes).sum();
        let forward: usize = self.terms_of.iter().map(PackedList::bytes).sum();
        let columns = self.lists.capacity() * size_of::<Postings>()
            + self.terms_of.capacity() * size_of::<PackedList>()
            + self.lengths.capacity() * size_of::<u32>();
        LexicalStats {
            docs: self.docs,
            terms: self.terms.len(),
            postings,
            length_sum: self.length_sum,
            bytes: self.terms.bytes() + lists + forward + columns,
        }
    }

    fn list(&self, term: &str) -> &[Posting] {
        self.terms.get(term).and_then(|term| self.lists.get(term as usize)).map_or(&[], Postings::as_slice)
    }
}

#[cfg(test)]
mod tests;
