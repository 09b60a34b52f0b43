//! The answer to a recall: hits, each with the reason why it stands where it stands (R11). And what a write is answered
//! about the memories that it met.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Lsn, Memory, MemoryId, Prohibition, RecallId, Relation, Timestamp};

/// One part of a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// Which signal: `vector`, `keyword`, `window`, `entity`, `neighbour`, `importance`, `recency`.
    pub name: String,
    /// As measured: a cosine, a BM25 score, days of age.
    pub raw: f64,
    /// The same on the common scale, 0–1.
    pub normalized: f64,
    /// Its share of the base.
    pub weight: f64,
    /// `normalized · weight`: what it adds to the base.
    pub contribution: f64,
}

impl Part {
    /// A part with its contribution worked out.
    #[must_use]
    pub fn new(name: &str, raw: f64, normalized: f64, weight: f64) -> Part {
        Part { name: name.to_owned(), raw, normalized, weight, contribution: normalized * weight }
    }
}

/// How a score came about: `score = Σ contribution · confidence · source_weight · transient · unused`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Breakdown {
    /// The parts of the base.
    pub parts: Vec<Part>,
    /// Effective confidence, at most 1.5.
    pub confidence: f64,
    /// The source's trust.
    pub source_weight: f64,
    /// 0.5 for a failure that passes by itself, else 1.
    pub transient: f64,
    /// Below 1 when it was often returned and never used.
    pub unused: f64,
    /// The product.
    pub score: f64,
    /// The words of the query that its text holds.
    pub matched_terms: Vec<String>,
    /// What the query names and how it leads to this memory: `peanuts`, or `peanuts → allergic to → user` over a hop.
    pub path: Vec<String>,
}

/// One memory that a recall returned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// Its rank is by this, highest first.
    pub score: f64,
    /// How alike it is to the query in itself, 0–1, whatever the other candidates are: `min_score` is held against this.
    pub similarity: f64,
    /// Days since it happened; negative for what is yet to come.
    pub age_days: f64,
    /// Why it has its score.
    pub breakdown: Breakdown,
    /// How often it was confirmed: by the same said again, and by the hits that collapsed into it.
    pub verified_count: u32,
    /// Older memories that say the same, which it stands for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collapsed: Vec<MemoryId>,
    /// With an `as_of` of what was known: it was changed after that time, and is shown as it is today.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_since: bool,
}

/// The span of time that the words of a query named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedWindow {
    /// The words, such as "last week".
    pub words: String,
    /// Its first moment.
    pub from: Timestamp,
    /// The first moment after it.
    pub to: Timestamp,
}

/// What a recall returned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recalled {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// What feedback on this recall names; none where it only looked, or found nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_id: Option<RecallId>,
    /// The log position that the answer reflects: all of it, nothing beyond.
    pub revision: Lsn,
    /// How many memories the filter allowed.
    pub allowed: u64,
    /// How many candidates were left out by `top_k`, `min_score` and `token_budget`.
    pub omitted: u64,
    /// How many that would have been returned were held back, by what they advise against.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub held_back: BTreeMap<Prohibition, u64>,
    /// The hits for a prompt, with `as_text` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How many tokens that text is likely to cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_tokens: Option<u64>,
    /// The span of time that the query's words named, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<NamedWindow>,
    /// How the answer was found, as a tree of lines; with `explain` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// A memory that a write met (W7).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbor {
    /// The memory.
    pub id: MemoryId,
    /// The cosine of both contents, −1–1; absent where one of them has no vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// How it stands to the new one.
    pub relation: Relation,
    /// Which property of what both speak of, as `subject / attribute`; empty where no claim says so.
    pub about: String,
    /// What it says of it: a value, or the beginning of its text.
    pub old: String,
    /// What the new one says of it.
    pub new: String,
}
