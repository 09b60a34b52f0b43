//! Who of the ranked is returned: below the floor, held back, collapsed, too alike, or beyond `top_k` (R9, R10, R15).

use std::cell::OnceCell;
use std::collections::BTreeMap;

use hindsight_core::likeness::{Duplicate, Thresholds, duplicate};
use hindsight_core::policy::{Breach, breach};
use hindsight_core::scoring::confidence::trust;
use hindsight_core::{Components, Embedding, Memory, Prohibition, Recall};

use crate::plan::Counts;
use crate::rank::Ranked;
use crate::view::ReadView;

/// From which cosine of their contents on it is looked at whether two hits say the same.
pub const COLLAPSE_SIMILARITY: f64 = 0.9;

/// What became of a ranked candidate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fate {
    /// Returned, or to be returned if the budget holds.
    Hit {
        /// Its place, from 0.
        place: usize,
    },
    /// It is less like the query than the floor asks for.
    BelowFloor,
    /// It advises what the task must not do.
    HeldBack(Breach),
    /// The candidate of that row says the same and is newer.
    Collapsed(usize),
    /// Its place is beyond `top_k`.
    BeyondTopK {
        /// Its place, from 0.
        place: usize,
    },
    /// The budget of tokens did not hold it.
    OutOfBudget {
        /// Its place, from 0.
        place: usize,
        /// What it costs, if it was the first that did not fit.
        needed: Option<usize>,
    },
}

/// Candidates that say the same: the newest, and those that it stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub(crate) kept: usize,
    pub(crate) hidden: Vec<usize>,
}

/// Who is returned, as rows of what was ranked.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Choice {
    /// A fate a row.
    pub(crate) fates: Vec<Fate>,
    /// In the order of the answer; those beyond `top_k` too.
    pub(crate) groups: Vec<Group>,
    /// How many that would have been among the answer were held back.
    pub(crate) held_back: BTreeMap<Prohibition, u64>,
}

impl Choice {
    /// How many were collapsed and held back.
    pub(crate) fn counts(&self) -> Counts {
        let collapsed = self.fates.iter().filter(|fate| matches!(fate, Fate::Collapsed(_))).count();
        let held_back = self.held_back.values().sum::<u64>();
        Counts { collapsed, held_back: usize::try_from(held_back).unwrap_or(usize::MAX) }
    }
}

/// Chooses among the ranked, best first. What collapses stands where the best of it stood.
pub(crate) fn choose<V: ReadView>(view: &V, recall: &Recall, ranked: &[Ranked<V::Id>]) -> Choice {
    let mut choice = Choice::default();
    // Without a wish for difference only the first `top_k` can be returned, and only they must not say the same.
    let compared = if recall.diversity.is_some() { usize::MAX } else { recall.top_k };
    let texts: Vec<Text<'_>> = ranked.iter().map(|one| Text::of(view, one)).collect();
    for (row, one) in ranked.iter().enumerate() {
        if recall.min_score.is_some_and(|least| one.candidate.support < least) {
            choice.fates.push(Fate::BelowFloor);
            continue;
        }
        let against = texts.get(row).and_then(|text| breach(text.memory?, &recall.policy));
        if let Some(against) = against {
            if choice.groups.len() < recall.top_k {
                *choice.held_back.entry(against.prohibition).or_default() += 1;
            }
            choice.fates.push(Fate::HeldBack(against));
            continue;
        }
        let says_the_same = |group: &&mut Group| {
            let pair = texts.get(group.kept).zip(texts.get(row));
            !recall.keep_alike && pair.is_some_and(|(kept, other)| kept.says_the_same_as(other))
        };
        match choice.groups.iter_mut().take(compared).find(says_the_same) {
            None => {
                choice.groups.push(Group { kept: row, hidden: Vec::new() });
                choice.fates.push(Fate::BeyondTopK { place: 0 });
            }
            Some(group) => {
                choice.fates.push(Fate::Collapsed(group.kept));
                join(group, row, &texts, &mut choice.fates);
            }
        }
    }
    if let Some(share) = recall.diversity {
        choice.groups = differing(std::mem::take(&mut choice.groups), ranked, &texts, share, recall.top_k);
    }
    for (place, group) in choice.groups.iter().enumerate() {
        if let Some(fate) = choice.fates.get_mut(group.kept) {
            *fate = if place < recall.top_k { Fate::Hit { place } } else { Fate::BeyondTopK { place } };
        }
    }
    choice
}

/// Adds a row to a group; the newest of it is kept, and stands for the others.
fn join(group: &mut Group, row: usize, texts: &[Text<'_>], fates: &mut [Fate]) {
    let age = |row: usize| texts.get(row).and_then(|text| Some((text.memory?.occurred_at, text.memory?.id)));
    let (kept, hidden) = if age(row) > age(group.kept) { (row, group.kept) } else { (group.kept, row) };
    group.hidden.push(hidden);
    group.kept = kept;
    for row in &group.hidden {
        if let Some(fate) = fates.get_mut(*row) {
            *fate = Fate::Collapsed(kept);
        }
    }
}

/// A candidate's content, and its vector.
struct Text<'v> {
    memory: Option<&'v Memory>,
    vector: Option<Embedding>,
    /// Its components, once they were needed: they may have to be read.
    components: OnceCell<Option<Components>>,
}

impl<'v> Text<'v> {
    fn of<V: ReadView>(view: &'v V, one: &Ranked<V::Id>) -> Text<'v> {
        let id = one.candidate.id;
        Text { memory: view.memory(id), vector: view.content_vector(id), components: OnceCell::new() }
    }

    fn components(&self) -> Option<&[f32]> {
        self.components.get_or_init(|| self.vector.as_ref()?.get()).as_deref()
    }

    /// The cosine of both contents; absent where one of them has no vector.
    fn similarity(&self, other: &Text<'_>) -> Option<f64> {
        Some(f64::from(dot(self.components()?, other.components()?)))
    }

    /// Whether both say the same: near by vector, or with the same letters, and by the judgement that new memories meet known
    /// ones with. The newer one says all that the older one does.
    fn says_the_same_as(&self, other: &Text<'_>) -> bool {
        let (Some(one), Some(two)) = (self.memory, other.memory) else { return false };
        if one.kind != two.kind || one.status != two.status {
            return false;
        }
        // A model may see two spellings of the same words far apart.
        let similarity = if letters(&one.content).eq(letters(&two.content)) {
            1.0
        } else {
            self.similarity(other).unwrap_or(0.0)
        };
        if similarity <= COLLAPSE_SIMILARITY {
            return false;
        }
        let (older, newer) =
            if (one.occurred_at, one.id) < (two.occurred_at, two.id) { (one, two) } else { (two, one) };
        // What anybody could repeat must not take the place of what a trusted source said.
        if trust(newer.source.kind) < trust(older.source.kind) {
            return false;
        }
        let thresholds = Thresholds { duplicate: COLLAPSE_SIMILARITY, ..Thresholds::default() };
        duplicate(newer, older, similarity, thresholds) == Duplicate::Same
    }
}

fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// The dot product, in eight strands that a compiler can keep in one register; the order of additions is fixed.
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut strands = [0.0_f32; 8];
    for (one, other) in one.chunks(8).zip(other.chunks(8)) {
        for ((strand, a), b) in strands.iter_mut().zip(one).zip(other) {
            *strand += a * b;
        }
    }
    strands.iter().sum()
}

/// Maximal marginal relevance (Carbonell and Goldstein 1998): the next is the one with the most of
/// `(1 − share) · score − share · likeness to the nearest chosen`, scores as shares of the best one. `count` are chosen so; the
/// others follow as they ranked.
fn differing<Id>(
    groups: Vec<Group>,
    ranked: &[Ranked<Id>],
    texts: &[Text<'_>],
    share: f64,
    count: usize,
) -> Vec<Group> {
    let score = |group: &Group| ranked.get(group.kept).map_or(0.0, |one| one.breakdown.score);
    let best = groups.iter().map(score).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut left: Vec<(Group, f64)> = groups.into_iter().map(|group| (group, 0.0)).collect();
    let mut chosen = Vec::with_capacity(left.len());
    while chosen.len() < count && !left.is_empty() {
        let worth = |(group, likeness): &(Group, f64)| (1.0 - share) * score(group) / best - share * likeness;
        // Of equals the one that ranked first: `max_by` would take the last.
        let next = left.iter().map(worth).enumerate().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        let (group, _) = left.remove(next.map_or(0, |(at, _)| at));
        for (other, likeness) in &mut left {
            let pair = texts.get(group.kept).zip(texts.get(other.kept));
            let alike = pair.and_then(|(one, other)| one.similarity(other)).unwrap_or(0.0);
            *likeness = likeness.max(alike);
        }
        chosen.push(group);
    }
    chosen.extend(left.into_iter().map(|(group, _)| group));
    chosen
}

#[cfg(test)]
mod tests;
