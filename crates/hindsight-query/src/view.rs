//! What a namespace must be able to answer, at one log position, for a recall to run on it.

use hindsight_core::explain::Barrier;
use hindsight_core::scoring::confidence::Standing;
use hindsight_core::{
    AsOf, Axis, Embedding, Filter, Kind, Lsn, Memory, MemoryId, SourceKind, Status, Timestamp,
};

/// Who may be returned, apart from the ranking.
#[derive(Debug, Clone, Copy)]
pub struct Allowed<'a> {
    /// The structured conditions.
    pub filter: &'a Filter,
    /// The time at which "last 7 days" is judged, and validity and expiry where there is no `as_of`.
    pub now: Timestamp,
    /// The past time at which validity and expiry are judged.
    pub as_of: Option<AsOf>,
    /// The agent that asks.
    pub agent: Option<&'a str>,
    /// Whether archived memories may be returned.
    pub include_archived: bool,
    /// Whether superseded, expired and no longer valid memories may be returned, and rules that are not active.
    pub include_history: bool,
}

/// The fixed-size facts about a memory that ranking needs. Its content is not loaded for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// The memory.
    pub id: MemoryId,
    /// What it is.
    pub kind: Kind,
    /// How its task ended.
    pub status: Option<Status>,
    /// Where it came from.
    pub source: SourceKind,
    /// 0–1.
    pub importance: f32,
    /// 0–1.
    pub confidence: f32,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// When it was last of use.
    pub useful_at: Timestamp,
    /// How often it was used.
    pub used_count: u32,
    /// How often it was returned.
    pub access_count: u32,
    /// Since when it is unchanged, where nothing ever spoke for it: never returned, used or confirmed.
    pub idle_since: Option<Timestamp>,
    /// Whether it is a failure that passes by itself.
    pub transient_failure: bool,
}

impl Facts {
    /// What effective confidence looks at.
    #[must_use]
    pub fn standing(&self, now: Timestamp) -> Standing {
        Standing {
            kind: self.kind,
            status: self.status,
            confidence: share(self.confidence),
            used_count: self.used_count,
            age_days: self.useful_at.days_until(now),
        }
    }
}

/// A share of 0–1 as it was meant: an f32 of 0.2 is 0.2, and not 0.20000000298.
#[must_use]
pub fn share(value: f32) -> f64 {
    (f64::from(value) * 1e6).round() / 1e6
}

/// Which way the nearest vectors were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VectorWay {
    /// Every vector of the set was looked at.
    #[default]
    Scan,
    /// A walk through the graph was begun and given up; then as [`VectorWay::Scan`].
    GaveUp,
    /// A walk through the graph: one of the nearest can be missing.
    Graph {
        /// Candidates that it brought, at most.
        ef: usize,
        /// Vectors that the graph was built from.
        covered: usize,
        /// Memories of the set that it does not know; they were scanned.
        newer: usize,
    },
}

/// One namespace at one log position. Every answer but [`ReadView::vector_top`] through a graph is exact, and all come in a
/// fixed order, so that the same question over the same data gets the same answer bit for bit (R17).
pub trait ReadView {
    /// A handle on one memory, small and ordered.
    type Id: Copy + Ord;
    /// An exact set of memories.
    type Set;
    /// A query text, analysed by the same rules as the indexed texts.
    type Terms;
    /// A query vector, prepared for comparing.
    type Vector;
    /// What a query names: people, things, codes.
    type Entities;

    /// The log position.
    fn revision(&self) -> Lsn;
    /// The exact set of memories that may be returned.
    fn allowed(&self, allowed: &Allowed<'_>) -> Self::Set;
    /// The handle on a memory of `set`, which `allowed` gave; or what keeps it out. The same steps decide as for the set.
    ///
    /// # Errors
    /// What keeps it out.
    fn place(&self, set: &Self::Set, allowed: &Allowed<'_>, id: MemoryId) -> Result<Self::Id, Barrier>;
    /// The earliest time at which any memory that the agent may see counts; none when there is no memory.
    fn first_at(&self, axis: Axis, agent: Option<&str>) -> Option<Timestamp>;
    /// How many memories are in a set.
    fn count(&self, set: &Self::Set) -> u64;
    /// Prepares a query vector. It is of the namespace's dimension; the caller has checked.
    fn prepare(&self, query: &Embedding) -> Self::Vector;
    /// The memories of `set` nearest to `query` by cosine, best first, at most `limit`; a memory counts once, with its best
    /// vector. The view may go through a graph, unless `exact` is asked for, and says which way it went.
    fn vector_top(
        &self,
        set: &Self::Set,
        query: &Self::Vector,
        limit: usize,
        exact: bool,
    ) -> (Vec<(Self::Id, f32)>, VectorWay);
    /// The cosine of a memory's best vector; absent when it has none.
    fn vector_score(&self, id: Self::Id, query: &Self::Vector) -> Option<f32>;
    /// Analyses a query text.
    fn analyse(&self, text: &str) -> Self::Terms;
    /// The most that any text could score for these terms; 0 when none of them is known.
    fn keyword_bound(&self, terms: &Self::Terms) -> f64;
    /// The memories of `set` that match `terms` best by BM25 and by what is quoted, best first, at most `limit`.
    fn keyword_top(&self, set: &Self::Set, terms: &Self::Terms, limit: usize) -> Vec<(Self::Id, f32)>;
    /// The BM25 score of one memory, and more where it holds word for word what the query quotes; 0 when it holds no term.
    fn keyword_score(&self, id: Self::Id, terms: &Self::Terms) -> f32;
    /// The words of the query that a memory's text holds, as they were asked for, and the quotations that it holds word for
    /// word, in quotation marks.
    fn matched_terms(&self, id: Self::Id, terms: &Self::Terms) -> Vec<String>;
    /// What a query text names, by the namespace's own names and by shape, and the names beside it. Links between names
    /// are read off the memories of `set` alone: nothing that may not be returned shows through.
    fn entities(&self, set: &Self::Set, text: &str) -> Self::Entities;
    /// The names found, the rarest first; none when the query names nothing that is known.
    fn entity_names(&self, entities: &Self::Entities) -> Vec<String>;
    /// The memories of `set` that name most of it, best first, at most `limit`. A name of a crowd brings none.
    fn entity_top(&self, set: &Self::Set, entities: &Self::Entities, limit: usize) -> Vec<(Self::Id, f32)>;
    /// The share of what the query names that one memory names, or lies beside, 0–1.
    fn entity_score(&self, id: Self::Id, entities: &Self::Entities) -> f64;
    /// How what the query names leads to a memory.
    fn entity_paths(&self, id: Self::Id, entities: &Self::Entities) -> Vec<String>;
    /// The memories of `set` that happened in `from..to`, newest first, at most `limit`.
    fn happened_between(
        &self,
        set: &Self::Set,
        from: Timestamp,
        to: Timestamp,
        limit: usize,
    ) -> Vec<Self::Id>;
    /// The newest memories of `set`, newest first, at most `limit`.
    fn newest(&self, set: &Self::Set, limit: usize) -> Vec<Self::Id>;
    /// The memories of `set` right before and right after this one in its session, at most `within_ms` away.
    fn neighbours(&self, set: &Self::Set, id: Self::Id, within_ms: i64) -> Vec<Self::Id>;
    /// The facts about a memory.
    fn facts(&self, id: Self::Id) -> Facts;
    /// The memory itself. Absent only when `id` is not of this view.
    fn memory(&self, id: Self::Id) -> Option<&Memory>;
    /// The vector of its content, of unit length; absent when it has none.
    fn content_vector(&self, id: Self::Id) -> Option<&[f32]>;
    /// Whether a memory was changed after the time that is asked for, so that it may have said something else then.
    fn changed_since(&self, id: Self::Id, as_of: AsOf) -> bool;
}
