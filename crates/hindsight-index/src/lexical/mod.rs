//! Keyword search: BM25 over inverted lists, English, Chinese and code alike.
//!
//! A text's way: [`tokenise`] ([`tokeniser`], [`words`], [`pieces`], [`cjk`], [`stop`]) makes its terms, `LexicalIndex::set`
//! enters them in the lists ([`postings`]). A query's way: the same function makes its terms, [`KeywordQuery`] weighs
//! them by their rarity, [`search`] finds the best. What the query quotes ([`quote`]) is looked for word for word ([`phrase`]).
//!
//! Every statistic is exact at any moment, also after changes and deletions: the index keeps which terms each memory
//! stands under.

mod cjk;
mod phrase;
mod pieces;
mod postings;
mod query;
mod quote;
mod search;
mod stop;
mod stored;
mod text;
mod tokeniser;
mod words;

pub use phrase::Texts;
pub use query::{KeywordQuery, QueryTerm};
pub use search::KeywordSearch;
pub use text::each_text;
pub use tokeniser::{Token, tokenise};

pub(crate) use cjk::is_cjk;
pub(crate) use postings::{Posting, tf_of};
pub(crate) use quote::{each_quotation, is_of_word};
pub(crate) use stop::is_stop_word;
pub(crate) use tokeniser::normalise;

use crate::dictionary::Dictionary;
use crate::packed::PackedList;
use crate::{Ordinal, stats::LexicalStats};
use postings::Postings;

/// The terms of a text, one after the other.
#[derive(Default)]
struct TermRow {
    letters: String,
    /// Where each term ends.
    ends: Vec<usize>,
}

impl TermRow {
    fn push(&mut self, term: &str) {
        self.letters.push_str(term);
        self.ends.push(self.letters.len());
    }

    fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.letters.get(start..*end).unwrap_or_default())
    }
}

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
    /// Brings a memory's entry to a text, whatever it was before. `texts` hands the pieces of the text to the function
    /// it is given. Lists of terms that the memory held before and still holds are only touched where the frequency
    /// changed; terms that nobody holds any more are forgotten.
    pub fn set(&mut self, ordinal: Ordinal, texts: impl FnOnce(&mut dyn FnMut(&str))) {
        let mut terms = TermRow::default();
        texts(&mut |text| tokenise(text, &mut |token| terms.push(token.term)));
        let mut found = self.terms.intern_all(terms.iter());
        found.sort_unstable();
        let length = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let before = self.terms_of.get_mut(ordinal.index()).map(std::mem::take).unwrap_or_default();
        if let Some(last) = found.last().map(|last| *last as usize)
            && self.lists.len() <= last
        {
            self.lists.resize_with(last + 1, Postings::default);
        }
        for same in found.chunk_by(|a, b| a == b) {
            if let Some(list) = same.first().and_then(|term| self.lists.get_mut(*term as usize)) {
                list.set(ordinal, u32::try_from(same.len()).unwrap_or(u32::MAX));
            }
        }
        found.dedup();
        for term in before.iter().filter(|term| found.binary_search(term).is_err()) {
            self.leave(ordinal, term);
        }
        self.set_length(ordinal, length);
        if let Some(terms) = self.terms_of.get_mut(ordinal.index()) {
            *terms = PackedList::new(found);
        }
    }

    /// Takes a memory out.
    pub fn remove(&mut self, ordinal: Ordinal) {
        self.set(ordinal, |_| {});
    }

    fn leave(&mut self, ordinal: Ordinal, term: u32) {
        if let Some(list) = self.lists.get_mut(term as usize) {
            list.remove(ordinal);
            if list.len() == 0 {
                self.terms.remove(term);
            }
        }
    }

    fn set_length(&mut self, ordinal: Ordinal, length: u32) {
        if self.lengths.len() <= ordinal.index() {
            if length == 0 {
                return;
            }
            self.lengths.resize(ordinal.index() + 1, 0);
            self.terms_of.resize_with(ordinal.index() + 1, PackedList::default);
        }
        if let Some(place) = self.lengths.get_mut(ordinal.index()) {
            let before = std::mem::replace(place, length);
            self.docs = self.docs + u32::from(length > 0) - u32::from(before > 0);
            self.length_sum = self.length_sum + u64::from(length) - u64::from(before);
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

    /// The memories that hold a term.
    pub(crate) fn list(&self, term: &str) -> &[Posting] {
        self.terms.get(term).and_then(|term| self.lists.get(term as usize)).map_or(&[], Postings::as_slice)
    }
}

#[cfg(test)]
mod tests;
