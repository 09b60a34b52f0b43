//! The channels side by side: each brings its best, and every candidate is then scored on every channel.

use std::collections::{BTreeMap, BTreeSet};

use hindsight_core::scoring::bm25;

use crate::plan::{Channel, NEIGHBOUR_MS, Plan, window_score};
use crate::timing::Watch;
use crate::view::{Facts, ReadView};

/// One candidate, scored on every channel of the plan.
#[derive(Debug, Clone)]
pub struct Candidate<Id> {
    /// The handle on the memory.
    pub id: Id,
    /// What ranking needs of it.
    pub facts: Facts,
    /// What each channel of the plan measured, in the plan's order; absent when a channel does not know it.
    pub raw: Vec<Option<f64>>,
    /// What stands beside it in its session.
    pub neighbours: Vec<Id>,
    /// How alike it is to the query in itself, 0–1.
    pub similarity: f64,
    /// What `min_score` is held against: its similarity, or half that of the best neighbour that was found beside it.
    pub support: f64,
}

/// What a neighbour's likeness to the query is worth beside one's own: an answer need not repeat the question, but what
/// stands beside a weak find is weaker.
const SUPPORT_OF_NEIGHBOUR: f64 = 0.5;

/// What the channels look for.
pub struct Question<V: ReadView> {
    /// Its vector, prepared.
    pub vector: Option<V::Vector>,
    /// Its text, analysed, without the time words.
    pub terms: V::Terms,
    /// The most that any text could score for the terms.
    pub bound: f64,
    /// What its text names.
    pub entities: V::Entities,
    /// The share of the query that those names are, 0–1, by the weight of their words.
    pub names_share: f64,
}

/// Collects candidates in the order of their handles, so that the result does not depend on which channel was first.
pub(crate) fn collect<V: ReadView>(
    view: &V,
    set: &V::Set,
    plan: &mut Plan,
    question: &Question<V>,
    watch: &Watch<'_>,
) -> Vec<Candidate<V::Id>> {
    let mut ids = BTreeSet::new();
    for channel in plan.channels.clone() {
        let found = match (&channel, &question.vector) {
            (Channel::Vector { limit, .. }, Some(vector)) => {
                let (nearest, way) = view.vector_top(set, vector, *limit, plan.exact);
                plan.way = Some(way);
                ids_of(&nearest)
            }
            _ => bring(view, set, plan, &channel, question),
        };
        plan.found.push(found.len());
        plan.times.channels.push(watch.lap());
        ids.extend(found);
    }
    // What stands beside a find in its session becomes a candidate too: an answer often follows what was said before it.
    let mut beside: BTreeMap<V::Id, Vec<V::Id>> = BTreeMap::new();
    if plan.neighbour_weight > 0.0 {
        for id in ids.clone() {
            let neighbours = view.neighbours(set, id, NEIGHBOUR_MS);
            ids.extend(neighbours.iter().copied());
            beside.insert(id, neighbours);
        }
    }
    plan.candidates = ids.len();
    plan.times.neighbours = watch.lap();
    let neighbours_of = |id: V::Id| match beside.remove(&id) {
        Some(neighbours) => neighbours,
        None if plan.neighbour_weight > 0.0 => view.neighbours(set, id, NEIGHBOUR_MS),
        None => Vec::new(),
    };
    let mut neighbours_of = neighbours_of;
    let mut candidates: Vec<Candidate<V::Id>> =
        ids.into_iter().map(|id| score(view, plan, question, id, neighbours_of(id))).collect();
    support(&mut candidates);
    plan.times.scores = watch.lap();
    candidates
}

/// Adds a memory that no channel found, scored like the others, to see where it would stand.
pub fn add<V: ReadView>(
    view: &V,
    set: &V::Set,
    plan: &Plan,
    question: &Question<V>,
    id: V::Id,
    candidates: &mut Vec<Candidate<V::Id>>,
) {
    let Err(at) = candidates.binary_search_by(|candidate| candidate.id.cmp(&id)) else { return };
    let looks = plan.neighbour_weight > 0.0;
    let neighbours = if looks { view.neighbours(set, id, NEIGHBOUR_MS) } else { Vec::new() };
    candidates.insert(at, score(view, plan, question, id, neighbours));
    support(candidates);
}

/// Works out what `min_score` is held against. Candidates stand in the order of their handles.
fn support<Id: Copy + Ord>(candidates: &mut [Candidate<Id>]) {
    let similarity_of = |id: &Id| {
        let at = candidates.binary_search_by(|candidate| candidate.id.cmp(id)).ok()?;
        candidates.get(at).map(|candidate| candidate.similarity)
    };
    let best = |candidate: &Candidate<Id>| {
        candidate.neighbours.iter().filter_map(similarity_of).fold(0.0, f64::max) * SUPPORT_OF_NEIGHBOUR
    };
    let beside: Vec<f64> = candidates.iter().map(best).collect();
    for (candidate, beside) in candidates.iter_mut().zip(beside) {
        candidate.support = candidate.similarity.max(beside);
    }
}

fn ids_of<'a, Id: Copy + 'a>(found: impl IntoIterator<Item = &'a (Id, f32)>) -> Vec<Id> {
    found.into_iter().map(|(id, _)| *id).collect()
}

fn bring<V: ReadView>(
    view: &V,
    set: &V::Set,
    plan: &Plan,
    channel: &Channel,
    question: &Question<V>,
) -> Vec<V::Id> {
    let limit = channel.limit();
    match (channel, &plan.window) {
        (Channel::Keyword { .. }, _) => ids_of(&view.keyword_top(set, &question.terms, limit)),
        (Channel::Window { .. }, Some(window)) => view.happened_between(set, window.from, window.to, limit),
        (Channel::Entity { .. }, _) => ids_of(&view.entity_top(set, &question.entities, limit)),
        (Channel::Newest { .. }, _) => view.newest(set, limit),
        (Channel::Vector { .. } | Channel::Window { .. }, _) => Vec::new(),
    }
}

fn score<V: ReadView>(
    view: &V,
    plan: &Plan,
    question: &Question<V>,
    id: V::Id,
    neighbours: Vec<V::Id>,
) -> Candidate<V::Id> {
    let facts = view.facts(id);
    let mut similarity: f64 = 0.0;
    let raw = plan
        .channels
        .iter()
        .map(|channel| match (channel, &question.vector, &plan.window) {
            (Channel::Vector { .. }, Some(vector), _) => {
                let cosine = view.vector_score(id, vector).map(f64::from);
                similarity = similarity.max(cosine.unwrap_or(0.0));
                cosine
            }
            (Channel::Keyword { .. }, _, _) => {
                let bm25 = f64::from(view.keyword_score(id, &question.terms));
                similarity = similarity.max(if question.bound > 0.0 { bm25 / question.bound } else { 0.0 });
                Some(bm25)
            }
            (Channel::Window { .. }, _, Some(window)) => {
                Some(window_score(window, facts.occurred_at.as_ms()))
            }
            (Channel::Entity { .. }, _, _) => {
                // A name counts as a word that stands once in a text of mean length, or as far as hops leave of it.
                let named = view.entity_score(id, &question.entities);
                similarity = similarity.max(named * question.names_share / (bm25::K1 + 1.0));
                Some(named)
            }
            (Channel::Vector { .. } | Channel::Window { .. } | Channel::Newest { .. }, _, _) => None,
        })
        .collect();
    let similarity = similarity.clamp(0.0, 1.0);
    Candidate { id, facts, raw, neighbours, similarity, support: similarity }
}
