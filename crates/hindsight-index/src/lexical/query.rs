//! A query's words, weighed by how rare they are where they will be looked for.

use compact_str::CompactString;
use hindsight_core::scoring::bm25::{idf, upper_bound};

use super::phrase::Phrase;
use super::{LexicalIndex, tokenise};

/// Most terms of a query that are looked for: the rarest ones.
const TERMS_MAX: usize = 128;

/// One term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// What the index compares.
    pub term: CompactString,
    /// How the query spells it.
    pub surface: CompactString,
    /// How rare it is, as BM25 has it.
    pub idf: f64,
}

/// A query as keyword search understands it. It holds the statistics of the shelves it was made for, so the scores of
/// several shelves can be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct KeywordQuery {
    terms: Vec<QueryTerm>,
    phrases: Vec<Phrase>,
    mean_length: f64,
}

impl KeywordQuery {
    /// Analyses a text against the statistics of all `indexes` together. Terms that none of them holds are left out.
    #[must_use]
    pub fn new(text: &str, indexes: &[&LexicalIndex]) -> Self {
        let mut found: Vec<(CompactString, CompactString)> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        tokenise(text, &mut |token| {
            if seen.insert(CompactString::from(token.term)) {
                found.push((token.term.into(), token.surface.into()));
            }
        });
        let docs = indexes.iter().map(|index| index.docs()).sum();
        let length_sum: u64 = indexes.iter().map(|index| index.length_sum()).sum();
        let rarity = |term: &str| {
            let df: u32 = indexes.iter().map(|index| index.df(term)).sum();
            (df > 0).then(|| idf(df, docs))
        };
        let mut terms: Vec<QueryTerm> = Vec::new();
        for (term, surface) in found {
            terms.extend(rarity(&term).map(|idf| QueryTerm { idf, term, surface }));
        }
        let phrases = Phrase::of(text, rarity);
        if terms.len() > TERMS_MAX {
            terms.sort_by(|a, b| b.idf.total_cmp(&a.idf));
            terms.truncate(TERMS_MAX);
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
        let mean_length = if docs == 0 { 0.0 } else { length_sum as f64 / f64::from(docs) };
        KeywordQuery { terms, phrases, mean_length }
    }

    /// Its terms, in the order of the text, each once.
    #[must_use]
    pub fn terms(&self) -> &[QueryTerm] {
        &self.terms
    }

    /// Whether no memory can match: it has no words, only stop words, or only words that nobody holds.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The most that any text could score, word for word what is quoted among it; 0 when nobody holds a term.
    #[must_use]
    pub fn bound(&self) -> f64 {
        let words = upper_bound(self.terms.iter().map(|term| term.idf).sum());
        words + self.phrases.iter().map(|phrase| phrase.bonus).sum::<f64>()
    }

    /// Its quotations.
    pub(super) fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    /// Mean number of terms of a text, over the shelves it was made for.
    pub(crate) fn mean_length(&self) -> f64 {
        self.mean_length
    }
}
