//! Words as numbers. A dictionary lives in memory and belongs to one index of one shelf; a number is given to a new word
//! when its owner is gone.

use compact_str::CompactString;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;

use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, unsound};

/// Words and their numbers, both ways. Words of up to 24 bytes stand in the table itself, without an allocation each.
#[derive(Debug, Default, Clone)]
pub(crate) struct Dictionary {
    /// The word of each number; empty where the number is free.
    words: Vec<CompactString>,
    /// Numbers in use, found by the hash of their word.
    numbers: HashTable<u32>,
    /// Numbers that were handed back.
    free: Vec<u32>,
}

fn hash(word: &str) -> u64 {
    FxBuildHasher.hash_one(word)
}

impl Dictionary {
    /// The number of a word that is known.
    pub(crate) fn get(&self, word: &str) -> Option<u32> {
        self.numbers.find(hash(word), |number| self.word(*number) == word).copied()
    }

    /// The number of a word, a new one if it is not known yet. `word` is not empty.
    pub(crate) fn intern(&mut self, word: &str) -> u32 {
        let hashed = hash(word);
        if let Some(number) = self.numbers.find(hashed, |number| self.word(*number) == word) {
            return *number;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.words.push(CompactString::default());
            #[expect(clippy::cast_possible_truncation, reason = "2^32 words would be 100 GB of words alone")]
            let last = (self.words.len() - 1) as u32;
            last
        });
        if let Some(place) = self.words.get_mut(number as usize) {
            *place = CompactString::from(word);
        }
        let words = &self.words;
        self.numbers
            .insert_unique(hashed, number, |other| words.get(*other as usize).map_or(0, |word| hash(word)));
        number
    }

    /// The numbers of words, in their order, with new ones for those that are not known yet. No word is empty. All are looked for
    /// before any is entered: a large dictionary lies beyond the cache, and so the processor waits for several words at once.
    pub(crate) fn intern_all<'w>(&mut self, words: impl Iterator<Item = &'w str> + Clone) -> Vec<u32> {
        let mut numbers: Vec<Option<u32>> = words.clone().map(|word| self.get(word)).collect();
        for (number, word) in numbers.iter_mut().zip(words) {
            number.get_or_insert_with(|| self.intern(word));
        }
        numbers.into_iter().flatten().collect()
    }

    /// Forgets a word; its number may be given to another.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some(place) = self.words.get_mut(number as usize) else { return };
        let word = std::mem::take(place);
        if let Ok(entry) = self.numbers.find_entry(hash(&word), |other| *other == number) {
            entry.remove();
            self.free.push(number);
        }
    }

    /// The word of a number; empty when the number is free.
    pub(crate) fn word(&self, number: u32) -> &str {
        self.words.get(number as usize).map_or("", CompactString::as_str)
    }

    /// How many numbers were ever given out.
    pub(crate) fn numbers(&self) -> u32 {
        u32::try_from(self.words.len()).unwrap_or(u32::MAX)
    }

    /// The word of each number, empty where it is free.
    pub(crate) fn save(&self, out: &mut Writer) {
        out.count(self.words.len());
        self.words.iter().for_each(|word| out.text(word));
    }

    /// What [`Dictionary::save`] wrote.
    pub(crate) fn load(from: &mut Reader<'_>) -> Result<Dictionary, SnapshotError> {
        let count = from.count(1)?;
        let mut words: Vec<CompactString> = Vec::with_capacity(count);
        for _ in 0..count {
            words.push(CompactString::from(from.text()?));
        }
        let (mut numbers, mut free) = (HashTable::with_capacity(count), Vec::new());
        for (number, word) in (0_u32..).zip(&words) {
            if word.is_empty() {
                free.push(number);
                continue;
            }
            let same = |other: &u32| words.get(*other as usize) == Some(word);
            if numbers.find(hash(word), same).is_some() {
                return Err(unsound("a word with two numbers"));
            }
            numbers.insert_unique(hash(word), number, |other| {
                words.get(*other as usize).map_or(0, |word| hash(word))
            });
        }
        free.reverse();
        Ok(Dictionary { words, numbers, free })
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let long: usize =
            self.words.iter().filter(|word| word.is_heap_allocated()).map(|word| word.capacity()).sum();
        self.words.capacity() * size_of::<CompactString>()
            + self.numbers.allocation_size()
            + self.free.capacity() * 4
            + long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_and_go() {
        let mut dictionary = Dictionary::default();
        let timeout = dictionary.intern("timeout");
        let chinese = dictionary.intern("花生");
        assert_eq!(dictionary.intern("timeout"), timeout);
        assert_eq!(dictionary.get("花生"), Some(chinese));
        dictionary.remove(timeout);
        dictionary.remove(timeout);
        assert_eq!(dictionary.get("timeout"), None);
        assert_eq!(dictionary.len(), 1);
        assert_eq!(dictionary.intern("a word that is longer than what fits in its place"), timeout);
        assert_eq!(dictionary.word(timeout), "a word that is longer than what fits in its place");
        assert_eq!(dictionary.word(chinese), "花生");
    }
}
