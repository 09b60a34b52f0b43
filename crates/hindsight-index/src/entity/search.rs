//! Memories by what a query names: `Σ over the named: the best way to the memory / Σ rarity of the named`.

use smallvec::SmallVec;

use super::EntityIndex;
use super::query::{By, EntityQuery};
use crate::bitmap::OrdinalSet;
use crate::lexical::{Posting, tf_of};
use crate::top::{Ties, TopK};
use crate::{Ordinal, Scored, Selection, Shelf};

/// A name that more of the selection bear brings no candidate: which ten of them would be chance. It still counts.
const CROWD: usize = 64;
/// Of a longer list it is not counted how many are in the selection.
const LIST_MAX: usize = 1_024;

/// What a query names, bound to one shelf.
#[derive(Debug, Clone)]
pub struct EntitySearch<'a> {
    index: &'a EntityIndex,
    /// Names of this shelf that lead to memories, by number.
    names: Vec<Bound>,
    /// Lists of terms that must be held together.
    terms: Vec<(usize, Vec<&'a [Posting]>)>,
    /// Memories that make a claim.
    claims: Vec<(usize, &'a OrdinalSet)>,
    /// The rarity of each thing wanted.
    idf: SmallVec<[f64; 4]>,
}

#[derive(Debug, Clone, Copy)]
struct Bound {
    number: u32,
    wanted: usize,
    /// Which of the query's reached names it is.
    reached: usize,
    strength: f64,
}

/// How a memory has one thing wanted.
#[derive(Debug, Clone, Copy, Default)]
struct Way {
    strength: f64,
    /// Absent where the memory has it itself.
    reached: Option<usize>,
}

impl<'a> EntitySearch<'a> {
    /// Binds a query to a shelf.
    pub(crate) fn new(shelf: &'a Shelf, query: &EntityQuery) -> EntitySearch<'a> {
        let index = shelf.entities();
        let number = |(reached, one): (usize, &super::query::Reached)| {
            let number = index.names.get(&one.name)?;
            Some(Bound { number, wanted: one.wanted, reached, strength: one.strength })
        };
        let mut names: Vec<Bound> = query.reached.iter().enumerate().filter_map(number).collect();
        names.sort_by_key(|bound| (bound.number, bound.reached));
        let (mut terms, mut claims) = (Vec::new(), Vec::new());
        for (at, wanted) in query.wanted.iter().enumerate() {
            let lists: Vec<&[Posting]> = wanted.terms.iter().map(|term| shelf.lexical().list(term)).collect();
            if !lists.is_empty() && lists.iter().all(|list| !list.is_empty()) {
                terms.push((at, lists));
            }
            if let By::Claim { name, attribute, end } = &wanted.by {
                claims.extend(index.stated_at(name, attribute, *end).map(|memories| (at, memories)));
            }
        }
        let idf = query.wanted.iter().map(|wanted| wanted.idf).collect();
        EntitySearch { index, names, terms, claims, idf }
    }

    /// The score of a memory, 0–1; 0 when nothing that the query names leads to it.
    #[must_use]
    pub fn score(&self, ordinal: Ordinal) -> f64 {
        let sum: f64 = self.idf.iter().sum();
        let found: f64 = self.ways(ordinal).iter().map(|way| way.strength).sum();
        if sum > 0.0 { (found / sum).min(1.0) } else { 0.0 }
    }

    /// The best way to a memory from each thing wanted.
    fn ways(&self, ordinal: Ordinal) -> SmallVec<[Way; 4]> {
        let mut ways: SmallVec<[Way; 4]> = SmallVec::from_elem(Way::default(), self.idf.len());
        let mut take = |wanted: usize, strength: f64, reached: Option<usize>| {
            // Of equal ways the one that was reached first: numbers depend on history, the order of the reached does not.
            if let Some(way) = ways.get_mut(wanted)
                && (way.strength < strength || (way.strength == strength && reached < way.reached))
            {
                *way = Way { strength, reached };
            }
        };
        let idf = |wanted: usize| self.idf.get(wanted).copied().unwrap_or(0.0);
        for (wanted, lists) in &self.terms {
            if lists.iter().all(|list| tf_of(list, ordinal) > 0) {
                take(*wanted, idf(*wanted), None);
            }
        }
        for (wanted, memories) in &self.claims {
            if memories.contains(ordinal.get()) {
                take(*wanted, idf(*wanted), None);
            }
        }
        if !self.names.is_empty() {
            for name in self.index.names_of(ordinal) {
                let first = self.names.partition_point(|bound| bound.number < name);
                for bound in self.names.iter().skip(first).take_while(|bound| bound.number == name) {
                    take(bound.wanted, bound.strength, Some(bound.reached));
                }
            }
        }
        ways
    }

    /// The ways by which `query`, to which this search was bound, leads to a memory: `peanuts`, or
    /// `peanuts → allergic to → user` over a hop.
    #[must_use]
    pub fn paths(&self, query: &EntityQuery, ordinal: Ordinal) -> Vec<String> {
        let ways = self.ways(ordinal);
        let found = query.wanted.iter().zip(&ways).filter(|(_, way)| way.strength > 0.0);
        let path = |(wanted, way): (&super::query::Wanted, &Way)| {
            let reached = way.reached.and_then(|reached| query.reached.get(reached));
            reached.map_or_else(|| wanted.label.clone(), |reached| reached.path.clone())
        };
        found.map(path).collect()
    }

    /// The best `k` of the selection, best first.
    pub(crate) fn top(&self, selection: &Selection, k: usize, ties: Ties<'_>) -> Vec<Scored> {
        let mut found: Vec<u32> = Vec::new();
        for same in self.names.chunk_by(|a, b| a.number == b.number) {
            let bearers = same.first().and_then(|bound| self.index.bearers.get(bound.number as usize));
            bearers.into_iter().for_each(|bearers| bring(bearers, selection, &mut found));
        }
        for (_, lists) in &self.terms {
            let shortest = lists.iter().min_by_key(|list| list.len()).copied().unwrap_or_default();
            let holds = |posting: &&Posting| {
                selection.contains(posting.ordinal())
                    && lists.iter().all(|list| tf_of(list, posting.ordinal()) > 0)
            };
            if shortest.len() <= LIST_MAX {
                let holders: Vec<u32> = shortest
                    .iter()
                    .filter(holds)
                    .take(CROWD + 1)
                    .map(|posting| posting.ordinal().get())
                    .collect();
                if holders.len() <= CROWD {
                    found.extend(holders);
                }
            }
        }
        self.claims.iter().for_each(|(_, memories)| bring(memories, selection, &mut found));
        found.sort_unstable();
        found.dedup();
        let mut best = TopK::new(k, ties);
        for ordinal in found.into_iter().map(Ordinal) {
            #[expect(clippy::cast_possible_truncation, reason = "a score of 0 to 1")]
            best.push(ordinal, self.score(ordinal) as f32);
        }
        best.finish()
    }
}

/// Adds the members of a set that are in the selection, unless they are a crowd.
fn bring(members: &OrdinalSet, selection: &Selection, found: &mut Vec<u32>) {
    if members.shared_with(&selection.0) <= CROWD {
        found.extend(members.iter().filter(|slot| selection.contains(Ordinal(*slot))));
    }
}
