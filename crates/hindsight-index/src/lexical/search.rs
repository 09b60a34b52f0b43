//! The best memories for a query: BM25 over the lists of its terms, exact, without scoring every match.
//!
//! The lists are walked window by window of ordinals. Once `k` are found, lists whose terms together can't lift a memory
//! over the threshold are no longer walked, only asked about memories that others bring up (MaxScore, Turtle and Flood
//! 1995). The walk's sums are quick estimates with a known slack; whoever looks good enough is scored in full by the one
//! function that scores single memories too, so both give the same bits.

use hindsight_core::scoring::bm25::{B, K1, term_score, upper_bound};

use super::phrase::Phrase;
use super::postings::{Posting, seek, tf_of};
use super::{KeywordQuery, LexicalIndex};
use crate::top::{Ties, TopK};
use crate::{Ordinal, Scored, Selection};

/// Ordinals of one window; their sums stay in the first-level cache.
const WINDOW: usize = 4_096;
/// How many postings are walked in the time it takes to look one memory up in one list.
const LOOKUP_COST: usize = 16;

/// A query bound to the lists of one shelf.
#[derive(Debug, Clone)]
pub struct KeywordSearch<'a> {
    index: &'a LexicalIndex,
    query: &'a KeywordQuery,
    /// One list for each term of the query, in its order; empty where this shelf does not hold the term.
    lists: Vec<&'a [Posting]>,
    /// The lists of the words of each quotation.
    phrases: Vec<Vec<&'a [Posting]>>,
}

impl LexicalIndex {
    /// Binds a query to this index.
    #[must_use]
    pub fn search<'a>(&'a self, query: &'a KeywordQuery) -> KeywordSearch<'a> {
        let lists = query.terms().iter().map(|term| self.list(&term.term)).collect();
        let of_phrase = |phrase: &Phrase| phrase.terms.iter().map(|term| self.list(term)).collect();
        KeywordSearch { index: self, query, lists, phrases: query.phrases().iter().map(of_phrase).collect() }
    }
}

impl KeywordSearch<'_> {
    /// The quotations of the query, each with the lists of its words.
    pub(super) fn phrases(&self) -> impl Iterator<Item = (&Phrase, &[&[Posting]])> {
        self.query.phrases().iter().zip(self.phrases.iter().map(Vec::as_slice))
    }

    /// The score of one memory; none when it holds no term of the query.
    #[must_use]
    pub fn score(&self, ordinal: Ordinal) -> Option<f32> {
        self.sum(ordinal, self.lists.iter().map(|list| tf_of(list, ordinal)))
    }

    /// The score of a memory that holds the terms of the query this often.
    fn sum(&self, ordinal: Ordinal, frequencies: impl Iterator<Item = u32>) -> Option<f32> {
        let (length, mean) = (self.index.length(ordinal), self.query.mean_length());
        let mut sum = None;
        for (term, tf) in self.query.terms().iter().zip(frequencies) {
            if tf > 0 {
                *sum.get_or_insert(0.0) += term_score(term.idf, tf, length, mean);
            }
        }
        sum.map(single)
    }

    /// The words of the query that a memory holds, as the query spells them.
    #[must_use]
    pub fn matched_terms(&self, ordinal: Ordinal) -> Vec<String> {
        let terms = self.query.terms().iter().zip(&self.lists);
        terms.filter(|(_, list)| tf_of(list, ordinal) > 0).map(|(term, _)| term.surface.to_string()).collect()
    }

    /// The best `k` memories of the selection, best first. Memories that hold no term are not among them.
    pub(crate) fn top(&self, selection: &Selection, k: usize, ties: Ties<'_>) -> Vec<Scored> {
        let mut best = TopK::new(k, ties);
        let postings: usize = self.lists.iter().map(|list| list.len()).sum();
        if k == 0 || postings == 0 {
            return Vec::new();
        }
        if selection.len().saturating_mul(self.lists.len() * LOOKUP_COST) <= postings {
            self.look_up(selection, &mut best);
        } else {
            Walk::new(self).run(selection, &mut best);
        }
        best.finish()
    }

    /// Scores every memory of a selection. Both the selection and the lists ascend, so each list is read forwards once.
    fn look_up(&self, selection: &Selection, best: &mut TopK<'_>) {
        let mut places = vec![0_usize; self.lists.len()];
        for ordinal in selection.iter() {
            let frequencies = self.lists.iter().zip(&mut places).map(|(list, place)| {
                *place = seek(list, *place, ordinal);
                list.get(*place)
                    .filter(|posting| posting.ordinal() == ordinal)
                    .map_or(0, |posting| posting.tf())
            });
            if let Some(score) = self.sum(ordinal, frequencies) {
                best.push(ordinal, score);
            }
        }
    }

    fn offer(&self, ordinal: Ordinal, best: &mut TopK<'_>) {
        if let Some(score) = self.score(ordinal) {
            best.push(ordinal, score);
        }
    }
}

/// A list on its walk.
struct Cursor<'a> {
    list: &'a [Posting],
    at: usize,
    idf: f64,
    /// The most that this list and all lists before it can add to a score.
    bound_sum: f32,
}

/// One walk over all lists of a search.
struct Walk<'a> {
    search: &'a KeywordSearch<'a>,
    /// The lists by ascending weight.
    cursors: Vec<Cursor<'a>>,
    /// What the walking lists add to each memory of the window, up to [`SLACK`].
    sums: Box<[f32]>,
}

/// By how much, as a share, a sum of the walk may miss the true one: 128 f32 additions and a formula in another order
/// stay a tenth of this apart.
const SLACK: f32 = 1e-4;

impl<'a> Walk<'a> {
    fn new(search: &'a KeywordSearch<'a>) -> Self {
        let terms = search.query.terms().iter().zip(&search.lists).filter(|(_, list)| !list.is_empty());
        let mut cursors: Vec<Cursor<'_>> =
            terms.map(|(term, list)| Cursor { list, at: 0, idf: term.idf, bound_sum: 0.0 }).collect();
        cursors.sort_by(|a, b| a.idf.total_cmp(&b.idf));
        let mut idf_sum = 0.0;
        for cursor in &mut cursors {
            idf_sum += cursor.idf;
            cursor.bound_sum = single(upper_bound(idf_sum)) * (1.0 + SLACK);
        }
        Walk { search, cursors, sums: vec![0.0; WINDOW].into_boxed_slice() }
    }

    fn run(&mut self, selection: &Selection, best: &mut TopK<'_>) {
        loop {
            let resting =
                self.cursors.iter().take_while(|cursor| cursor.bound_sum < best.threshold()).count();
            let Some(start) = self.next_window(resting) else { return };
            self.fill(start, resting);
            let missing = resting
                .checked_sub(1)
                .and_then(|last| self.cursors.get(last))
                .map_or(0.0, |last| last.bound_sum);
            // What a sum must reach for its memory to be looked at: a little less than what would be enough.
            let needed =
                |best: &TopK<'_>| ((best.threshold() - missing) * (1.0 - SLACK)).max(f32::MIN_POSITIVE);
            for (group, sums) in self.sums.chunks(16).enumerate() {
                // Most groups hold nobody; this test compiles to a few vector instructions.
                let cut = needed(best);
                if !sums.iter().fold(false, |any, sum| any | (*sum >= cut)) {
                    continue;
                }
                for (lane, sum) in sums.iter().enumerate() {
                    let ordinal = slot(start + group * 16 + lane);
                    if *sum >= needed(best) && selection.contains(ordinal) {
                        self.search.offer(ordinal, best);
                    }
                }
            }
        }
    }

    /// Where the next window begins that one of the walking lists has a posting in.
    fn next_window(&self, resting: usize) -> Option<usize> {
        let next = self.cursors.get(resting..)?.iter().filter_map(|cursor| cursor.list.get(cursor.at));
        next.map(|posting| posting.ordinal().index() / WINDOW * WINDOW).min()
    }

    /// Sums what the walking lists add in the window from `start`.
    fn fill(&mut self, start: usize, resting: usize) {
        let index = self.search.index;
        let (fixed, by_length) = (single(K1 * (1.0 - B)), single(K1 * B / self.search.query.mean_length()));
        self.sums.fill(0.0);
        for cursor in self.cursors.iter_mut().skip(resting) {
            let weight = single(cursor.idf * (K1 + 1.0));
            cursor.at = seek(cursor.list, cursor.at, slot(start));
            for posting in cursor.list.get(cursor.at..).unwrap_or_default() {
                let Some(sum) = self.sums.get_mut(posting.ordinal().index() - start) else { break };
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a length this long is rounded, within the slack"
                )]
                let (tf, length) = (posting.tf() as f32, index.length(posting.ordinal()) as f32);
                *sum += weight * tf / (tf + fixed + by_length * length);
                cursor.at += 1;
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "weights and scores are far from the ends of f32")]
fn single(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, reason = "ordinals end at 2^26")]
fn slot(index: usize) -> Ordinal {
    Ordinal(index as u32)
}
