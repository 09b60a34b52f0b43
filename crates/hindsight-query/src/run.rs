//! The life of a recall, step by step.

use hindsight_core::hit::NamedWindow;
use hindsight_core::scoring::tokens;
use hindsight_core::timewords::{self, Window};
use hindsight_core::{Hit, Invalid, Memory, Mode, Recall, Recalled, Timestamp};

use crate::candidates::{self, Question};
use crate::plan::Plan;
use crate::rank::{self, Ranked};
use crate::view::{Allowed, ReadView};

/// Answers `recall` from `view`. `now` is the time of the answer where the request names none.
///
/// # Errors
/// When a field of the request is wrong.
pub fn recall<V: ReadView>(view: &V, recall: &Recall, now: Timestamp) -> Result<Recalled, Invalid> {
    recall.check()?;
    let now = recall.now.unwrap_or(now);
    // 1. What the words mean: a span of time, and the terms that are left.
    let window = timewords::window(&recall.query, now, &recall.zone());
    let text = without_time_words(&recall.query, window.as_ref());
    let terms = view.analyse(&text);
    let bound = view.keyword_bound(&terms);
    // 2. The exact set of memories that may be returned.
    let set = view.allowed(&Allowed {
        filter: &recall.filter,
        now,
        agent: recall.agent_id.as_deref(),
        include_archived: recall.include_archived,
        include_history: recall.include_history,
    });
    // 3. The channels, side by side; every candidate on every channel.
    let looks_for_names = recall.mode == Mode::Hybrid && recall.weights.entity > 0.0;
    let entities = view.entities(&set, if looks_for_names { &text } else { "" });
    let names = view.entity_names(&entities);
    let mut plan = Plan::new(recall, view.count(&set), bound > 0.0, names, window);
    let vector = recall.vector.as_ref().map(|vector| view.prepare(vector));
    let question = Question { vector, terms, bound, entities };
    let candidates = candidates::collect(view, &set, &mut plan, &question);
    // 4. One scale, one score, one order; then the cuts, and contents of the winners only.
    let ranked = rank::rank(&plan, recall, now, candidates);
    let hits = cut(view, recall, now, ranked, &question);
    plan.returned = hits.len();
    Ok(Recalled {
        recall_id: None,
        revision: view.revision(),
        allowed: plan.allowed,
        omitted: u64::try_from(plan.candidates - hits.len()).unwrap_or(u64::MAX),
        plan: recall.explain.then(|| plan.to_string()),
        window: plan.window.map(|window| NamedWindow {
            words: window.words,
            from: window.from,
            to: window.to,
        }),
        hits,
    })
}

/// The words that named a span of time are not what the memory is about. Several of them stand in the window's words
/// with commas between.
fn without_time_words(query: &str, window: Option<&Window>) -> String {
    let mut rest = query.to_owned();
    for words in window.iter().flat_map(|window| window.words.split(", ")) {
        let (lower, words) = (rest.to_lowercase(), words.to_lowercase());
        // Lower-casing may change lengths; then the words stay, and the search is only less sharp.
        if let Some(at) = lower.find(&words)
            && lower.len() == rest.len()
            && rest.is_char_boundary(at)
            && rest.is_char_boundary(at + words.len())
        {
            rest.replace_range(at..at + words.len(), " ");
        }
    }
    rest
}

fn cut<V: ReadView>(
    view: &V,
    recall: &Recall,
    now: Timestamp,
    ranked: Vec<Ranked<V::Id>>,
    question: &Question<V>,
) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut tokens_left = recall.token_budget;
    for Ranked { candidate, mut breakdown } in ranked {
        if hits.len() == recall.top_k {
            break;
        }
        if recall.min_score.is_some_and(|least| candidate.similarity < least) {
            continue;
        }
        let Some(memory) = view.memory(candidate.id) else { continue };
        if let Some(left) = tokens_left {
            let cost = cost_tokens(&memory);
            if cost > left {
                break;
            }
            tokens_left = Some(left - cost);
        }
        breakdown.matched_terms = view.matched_terms(candidate.id, &question.terms);
        breakdown.path = view.entity_paths(candidate.id, &question.entities);
        let (score, similarity) = (breakdown.score, candidate.similarity);
        let age_days = memory.occurred_at.days_until(now);
        hits.push(Hit { memory, score, similarity, age_days, breakdown });
    }
    hits
}

/// What a hit's texts cost: content, or the summary where there is no content, cause and resolution.
fn cost_tokens(memory: &Memory) -> usize {
    let text = if memory.content.is_empty() { &memory.summary } else { &memory.content };
    let episode = memory.episode.as_deref();
    let parts =
        [episode.and_then(|e| e.root_cause.as_deref()), episode.and_then(|e| e.resolution.as_deref())];
    tokens::estimate(text) + parts.into_iter().flatten().map(tokens::estimate).sum::<usize>()
}

#[cfg(test)]
mod tests;
