//! From ranked candidates to hits: contents of the winners, inside the budget of tokens.

use hindsight_core::prompt::{Blocks, block};
use hindsight_core::scoring::tokens;
use hindsight_core::{Breakdown, Hit, Memory, Recall, Timestamp};

use crate::candidates::Question;
use crate::cut::{Choice, Fate, Group};
use crate::rank::Ranked;
use crate::view::ReadView;

/// The hits, and with `as_text` their rendering. What the budget does not hold is noted in `choice`.
pub(crate) fn of<V: ReadView>(
    view: &V,
    recall: &Recall,
    now: Timestamp,
    ranked: &[Ranked<V::Id>],
    choice: &mut Choice,
    question: &Question<V>,
) -> (Vec<Hit>, Option<String>) {
    let mut hits = Vec::new();
    let mut purse = Purse::new(recall);
    let mut is_spent = false;
    let Choice { fates, groups, .. } = choice;
    for (place, group) in groups.iter().take(recall.top_k).enumerate() {
        let Some(fate) = fates.get_mut(group.kept) else { continue };
        if is_spent {
            *fate = Fate::OutOfBudget { place, needed: None };
            continue;
        }
        let Some(hit) = hit(view, recall, now, ranked, group, question) else { continue };
        match purse.pay(&hit) {
            Ok(()) => {
                *fate = Fate::Hit { place };
                hits.push(hit);
            }
            Err(needed) => {
                *fate = Fate::OutOfBudget { place, needed: Some(needed) };
                is_spent = true;
            }
        }
    }
    (hits, purse.text())
}

fn hit<V: ReadView>(
    view: &V,
    recall: &Recall,
    now: Timestamp,
    ranked: &[Ranked<V::Id>],
    group: &Group,
    question: &Question<V>,
) -> Option<Hit> {
    let one = ranked.get(group.kept)?;
    let memory = view.memory(one.candidate.id)?;
    let hidden = group.hidden.iter().filter_map(|row| view.memory(ranked.get(*row)?.candidate.id));
    let hidden: Vec<&Memory> = hidden.collect();
    let confirmed = |memory: &&Memory| memory.usage.verified_count.saturating_add(1);
    let verified_count = hidden.iter().map(confirmed).fold(memory.usage.verified_count, u32::saturating_add);
    Some(Hit {
        score: one.breakdown.score,
        similarity: one.candidate.similarity,
        age_days: memory.occurred_at.days_until(now),
        breakdown: breakdown(view, one, question),
        verified_count,
        collapsed: hidden.iter().map(|memory| memory.id).collect(),
        changed_since: recall.as_of.is_some_and(|as_of| view.changed_since(one.candidate.id, as_of)),
        memory: memory.clone(),
    })
}

/// How a score came about, with the words and names that led there.
pub(crate) fn breakdown<V: ReadView>(view: &V, one: &Ranked<V::Id>, question: &Question<V>) -> Breakdown {
    Breakdown {
        matched_terms: view.matched_terms(one.candidate.id, &question.terms),
        path: view.entity_paths(one.candidate.id, &question.entities),
        ..one.breakdown.clone()
    }
}

/// What a text is likely to cost, in tokens.
pub(crate) fn tokens_of(text: &str) -> u64 {
    u64::try_from(tokens::estimate(text)).unwrap_or(u64::MAX)
}

/// The budget: for the texts of the hits, or for the whole rendering where one is wanted.
enum Purse {
    Texts(Option<usize>),
    Rendering(Blocks),
}

impl Purse {
    fn new(recall: &Recall) -> Purse {
        match recall.as_text {
            true => Purse::Rendering(Blocks::new(recall.token_budget)),
            false => Purse::Texts(recall.token_budget),
        }
    }

    /// Pays for a hit; else says what it would have cost.
    fn pay(&mut self, hit: &Hit) -> Result<(), usize> {
        match self {
            Purse::Rendering(blocks) => {
                let block = block(hit);
                if blocks.push(&block) { Ok(()) } else { Err(tokens::estimate(&block)) }
            }
            Purse::Texts(None) => Ok(()),
            Purse::Texts(Some(left)) => {
                let cost = cost_tokens(&hit.memory);
                *left = left.checked_sub(cost).ok_or(cost)?;
                Ok(())
            }
        }
    }

    fn text(self) -> Option<String> {
        match self {
            Purse::Rendering(blocks) => Some(blocks.finish()),
            Purse::Texts(_) => None,
        }
    }
}

/// What a hit's texts cost: content, or the summary where there is no content, cause and resolution.
fn cost_tokens(memory: &Memory) -> usize {
    let text = if memory.content.is_empty() { &memory.summary } else { &memory.content };
    let episode = memory.episode.as_deref();
    let parts =
        [episode.and_then(|e| e.root_cause.as_deref()), episode.and_then(|e| e.resolution.as_deref())];
    tokens::estimate(text) + parts.into_iter().flatten().map(tokens::estimate).sum::<usize>()
}
