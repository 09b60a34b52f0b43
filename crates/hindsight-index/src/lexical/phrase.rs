//! Quotations of a query, to be found word for word.
//!
//! The lists know which words a memory holds, not in which order. So who holds all words of a quotation is read off the
//! lists, and whether it holds them as quoted off its text, which the caller hands over. Who does scores more, by half of
//! what the quotation's words weigh: as if another term, half as rare as they are together, stood in its text once.

use compact_str::CompactString;

use super::each_quotation;
use super::postings::{Posting, tf_of};
use super::quote::is_of_word;
use super::{KeywordSearch, tokenise};
use crate::entity::fold;
use crate::top::{Ties, TopK};
use crate::{Ordinal, Scored, Selection};

/// Hands over the texts of a memory, one at a time.
pub type Texts<'a> = &'a dyn Fn(Ordinal, &mut dyn FnMut(&str));

/// Most quotations of a query that are looked for.
const PHRASES_MAX: usize = 8;
/// Longest quotation, in characters: a longer one is a text, not a phrase.
const PHRASE_CHARS_MAX: usize = 256;
/// What holding a quotation word for word adds, as a share of the rarity of its words.
const BONUS: f64 = 0.5;
/// Of those that hold all words of a quotation so many are read, the best by BM25.
const READ_MAX: usize = 256;

/// A quotation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Phrase {
    /// As it is looked for in a folded text.
    folded: String,
    /// As the query spells it.
    surface: CompactString,
    /// Its terms, each once; who lacks one does not hold it.
    pub(super) terms: Vec<CompactString>,
    /// What holding it adds.
    pub(super) bonus: f64,
}

impl Phrase {
    /// The quotations of a text. `idf` weighs a term, and knows nothing of one that nobody holds.
    pub(super) fn of(text: &str, idf: impl Fn(&str) -> Option<f64>) -> Vec<Phrase> {
        let mut found: Vec<Phrase> = Vec::new();
        each_quotation(text, &mut |quoted| {
            if found.len() < PHRASES_MAX
                && quoted.chars().take(PHRASE_CHARS_MAX + 1).count() <= PHRASE_CHARS_MAX
            {
                found.extend(Phrase::new(quoted, &idf).filter(|phrase| !found.contains(phrase)));
            }
        });
        found
    }

    fn new(quoted: &str, idf: impl Fn(&str) -> Option<f64>) -> Option<Phrase> {
        let mut terms: Vec<CompactString> = Vec::new();
        tokenise(quoted, &mut |token| terms.push(token.term.into()));
        terms.sort_unstable();
        terms.dedup();
        let rarity = terms.iter().map(|term| idf(term)).sum::<Option<f64>>().filter(|sum| *sum > 0.0)?;
        // "support group," is the phrase without the comma, which belongs to the sentence around it.
        let folded = fold(quoted).trim_matches(is_of_sentence).to_owned();
        (!folded.is_empty()).then(|| Phrase { folded, surface: quoted.into(), terms, bonus: BONUS * rarity })
    }

    /// Whether a text holds it word for word, apart from case, spaces and the forms of characters.
    fn stands_in(&self, text: &str) -> bool {
        let text = fold(text);
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(&self.folded)) {
            let (begin, end) = (from + at, from + at + self.folded.len());
            if is_apart(&text, begin) && is_apart(&text, end) {
                return true;
            }
            from = begin + self.folded.chars().next().map_or(1, char::len_utf8);
        }
        false
    }
}

fn is_of_sentence(character: char) -> bool {
    matches!(character, ',' | '.' | '!' | '?' | ';' | ':' | '。' | '、' | '…' | ' ')
}

/// Whether no word of a script that parts its words goes on across this place.
fn is_apart(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    let after = text.get(at..).and_then(|after| after.chars().next());
    !(before.is_some_and(is_of_word) && after.is_some_and(is_of_word))
}

impl KeywordSearch<'_> {
    /// The score of one memory with what it gains by quotations; none when it holds no term of the query.
    #[must_use]
    pub fn score_quoting(&self, ordinal: Ordinal, texts: Texts<'_>) -> Option<f32> {
        Some(self.lifted(ordinal, self.score(ordinal)?, texts))
    }

    fn lifted(&self, ordinal: Ordinal, score: f32, texts: Texts<'_>) -> f32 {
        let bonus: f64 = self.quoted(ordinal, texts).map(|phrase| phrase.bonus).sum();
        #[expect(clippy::cast_possible_truncation, reason = "a bonus is far from the ends of f32")]
        let bonus = bonus as f32;
        score + bonus
    }

    /// The quotations of the query that a memory holds word for word, as the query spells them, in quotation marks.
    #[must_use]
    pub fn quotations(&self, ordinal: Ordinal, texts: Texts<'_>) -> Vec<String> {
        self.quoted(ordinal, texts).map(|phrase| format!("\"{}\"", phrase.surface)).collect()
    }

    fn quoted(&self, ordinal: Ordinal, texts: Texts<'_>) -> impl Iterator<Item = &Phrase> {
        let stands = move |phrase: &Phrase| {
            let mut stands = false;
            texts(ordinal, &mut |text| stands = stands || phrase.stands_in(text));
            stands
        };
        let holds = move |lists: &[&[Posting]]| lists.iter().all(|list| tf_of(list, ordinal) > 0);
        self.phrases().filter(move |(phrase, lists)| holds(lists) && stands(phrase)).map(|(phrase, _)| phrase)
    }

    /// The best `k` of the selection with what they gain by quotations. Of a quotation whose words very many hold
    /// together, the best by the words alone are read.
    pub(crate) fn top_quoting(
        &self,
        selection: &Selection,
        k: usize,
        ties: Ties<'_>,
        texts: Texts<'_>,
    ) -> Vec<Scored> {
        let mut found = self.top(selection, k, ties);
        if self.phrases().next().is_none() {
            return found;
        }
        for (_, lists) in self.phrases() {
            let shortest = lists.iter().min_by_key(|list| list.len()).copied().unwrap_or_default();
            let mut best = TopK::new(READ_MAX, ties);
            for posting in shortest {
                let ordinal = posting.ordinal();
                if selection.contains(ordinal)
                    && lists.iter().all(|list| tf_of(list, ordinal) > 0)
                    && let Some(score) = self.score(ordinal)
                {
                    best.push(ordinal, score);
                }
            }
            found.extend(best.finish());
        }
        found.sort_unstable_by_key(|one| one.ordinal);
        found.dedup_by_key(|one| one.ordinal);
        let mut best = TopK::new(k, ties);
        for one in found {
            best.push(one.ordinal, self.lifted(one.ordinal, one.score, texts));
        }
        best.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KeywordQuery, LexicalIndex};
    use super::*;

    const TEXTS: [&str; 6] = [
        "the group offers support to everyone",
        "Caroline went to the Support  Group.",
        "a support groupie",
        "我对花生过敏",
        "花生不多，过敏的人不少，对花生酱也过敏",
        "group group support support support, a group of support",
    ];
    const NEWEST: Ties<'static> = &|ordinal: Ordinal| ordinal.0 as u128;

    fn index() -> LexicalIndex {
        let mut index = LexicalIndex::default();
        for (slot, text) in (0..).zip(TEXTS) {
            index.set(Ordinal(slot), |take| take(text));
        }
        index
    }

    fn read(ordinal: Ordinal, take: &mut dyn FnMut(&str)) {
        take(TEXTS[ordinal.index()]);
    }

    fn ask(query: &str, k: usize) -> Vec<(u32, bool)> {
        let index = index();
        let query = KeywordQuery::new(query, &[&index]);
        let search = index.search(&query);
        let all: Selection = (0..6).map(Ordinal).collect();
        let found = search.top_quoting(&all, k, NEWEST, &read);
        let lifted = |one: &Scored| {
            assert_eq!(search.score_quoting(one.ordinal, &read), Some(one.score));
            let gained = search.score(one.ordinal) != Some(one.score);
            assert_eq!(gained, !search.quotations(one.ordinal, &read).is_empty());
            (one.ordinal.get(), gained)
        };
        found.iter().map(lifted).collect()
    }

    #[test]
    fn r2_who_holds_a_quotation_word_for_word_comes_first() {
        assert_eq!(ask("support group", 1), [(5, false)], "by words alone another one is first");
        assert_eq!(ask("the \"support group,\"", 2), [(1, true), (5, false)]);
        assert_eq!(ask("“花生过敏”", 2), [(3, true), (4, false)]);
        assert_eq!(ask("‘Support group’", 1), [(1, true)], "found though BM25 alone would not bring it");
    }

    #[test]
    fn what_nobody_holds_and_what_is_no_phrase_adds_nothing() {
        assert_eq!(ask("\"group zebra\"", 1), [(5, false)]);
        assert_eq!(ask("\"the of\" group", 1), [(5, false)]);
        assert_eq!(ask("\"\" group", 1), [(5, false)]);
        assert!(ask("\"zebra\"", 3).is_empty());
    }

    #[test]
    fn a_phrase_ends_where_a_word_ends_and_overlaps_are_seen() {
        let phrase = Phrase::new("a b a", |_| Some(1.0)).unwrap();
        assert!(phrase.stands_in("xa b a b a") && !phrase.stands_in("xa b ab a"));
        assert!(Phrase::new("E1042", |_| Some(1.0)).unwrap().stands_in("error e1042: late"));
        assert!(!Phrase::new("E104", |_| Some(1.0)).unwrap().stands_in("error e1042"));
        assert!(Phrase::new("过敏", |_| Some(1.0)).unwrap().stands_in("对花生过敏吗"));
        let long = "word ".repeat(60);
        assert!(Phrase::of(&format!("\"{long}\""), |_| Some(1.0)).is_empty());
        let many: String = (0..20).map(|number| format!("\"word {number}\" ")).collect();
        assert_eq!(Phrase::of(&many, |_| Some(1.0)).len(), PHRASES_MAX);
    }

    #[test]
    fn the_bound_is_never_passed() {
        let index = index();
        let query = KeywordQuery::new("\"support group\" for the group \"花生过敏\"", &[&index]);
        let search = index.search(&query);
        for slot in 0..6 {
            let score = search.score_quoting(Ordinal(slot), &read).unwrap_or(0.0);
            assert!(f64::from(score) <= query.bound(), "{slot}");
        }
    }
}
