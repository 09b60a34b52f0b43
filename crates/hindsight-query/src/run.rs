//! The life of a recall, step by step.

use hindsight_core::hit::NamedWindow;
use hindsight_core::timewords::{self, Window};
use hindsight_core::{Axis, Explanation, Invalid, MemoryId, Mode, Reason, Recall, Recalled, Timestamp};

use crate::candidates::{self, Candidate, Question};
use crate::cut;
use crate::explain::{self as why, Verdict};
use crate::hits;
use crate::plan::Plan;
use crate::rank::{self, Ranked};
use crate::timing::{Times, Watch, When};
use crate::view::{Allowed, ReadView};

/// Answers `recall` from `view`. `when` has the time of the answer where the request names none; a timer in it is asked for the
/// plan alone.
///
/// # Errors
/// When a field of the request is wrong, or it asks for a time before the first memory.
pub fn recall<'t, V: ReadView>(
    view: &V,
    recall: &Recall,
    when: impl Into<When<'t>>,
) -> Result<Recalled, Invalid> {
    let when = when.into();
    let watch = when.watch();
    let Found { now, set: _, allowed: _, mut plan, question, candidates } =
        find(view, recall, when.clock, &watch)?;
    // 4. One scale, one score, one order; then what is held back, collapsed and cut, and contents of the winners only.
    let ranked = rank::rank(&plan, recall, now, candidates);
    plan.times.rank = watch.lap();
    let mut choice = cut::choose(view, recall, &ranked);
    plan.times.cut = watch.lap();
    let (hits, text) = hits::of(view, recall, now, &ranked, &mut choice, &question);
    (plan.times.contents, plan.times.all) = (watch.lap(), watch.all());
    plan.returned = hits.len();
    plan.choice = choice.counts();
    let gone = hits.len() + plan.choice.collapsed + plan.choice.held_back;
    Ok(Recalled {
        recall_id: None,
        revision: view.revision(),
        allowed: plan.allowed,
        omitted: u64::try_from(plan.candidates.saturating_sub(gone)).unwrap_or(u64::MAX),
        held_back: choice.held_back,
        text_tokens: text.as_deref().map(hits::tokens_of),
        text,
        plan: recall.explain.then(|| plan.to_string()),
        window: plan.window.map(|window| NamedWindow {
            words: window.words,
            from: window.from,
            to: window.to,
        }),
        hits,
    })
}

/// Says what becomes of one memory in `recall`, which is carried out for it by the same steps.
///
/// # Errors
/// As [`recall()`].
pub fn explain<'t, V: ReadView>(
    view: &V,
    recall: &Recall,
    when: impl Into<When<'t>>,
    id: MemoryId,
) -> Result<Explanation, Invalid> {
    let when = when.into();
    let watch = when.watch();
    let Found { now, set, allowed, mut plan, question, candidates } = find(view, recall, when.clock, &watch)?;
    let mut ranked = rank::rank(&plan, recall, now, candidates.clone());
    plan.times.rank = watch.lap();
    let mut choice = cut::choose(view, recall, &ranked);
    plan.times.cut = watch.lap();
    plan.returned = hits::of(view, recall, now, &ranked, &mut choice, &question).0.len();
    (plan.times.contents, plan.times.all) = (watch.lap(), watch.all());
    let place = view.place(&set, &allowed, id);
    plan.choice = choice.counts();
    let row = |ranked: &[Ranked<V::Id>]| {
        let place = place.as_ref().ok()?;
        ranked.iter().position(|one| one.candidate.id == *place)
    };
    let verdict = match (&place, row(&ranked)) {
        (Err(barrier), _) => Verdict::of_barrier(barrier.clone()),
        (Ok(_), Some(row)) => why::verdict(recall, &ranked, &choice, row),
        (Ok(place), None) => {
            let mut candidates = candidates;
            candidates::add(view, &set, &plan, &question, *place, &mut candidates);
            ranked = rank::rank(&plan, recall, now, candidates);
            Verdict::new(Reason::NotFound, why::not_found(&plan))
        }
    };
    let one = row(&ranked).and_then(|row| ranked.get(row));
    Ok(Explanation {
        id,
        reason: verdict.reason,
        detail: verdict.detail,
        other: verdict.other,
        rank: verdict.rank,
        similarity: one.map(|one| one.candidate.similarity),
        breakdown: one.map(|one| hits::breakdown(view, one, &question)),
        allowed: plan.allowed,
        revision: view.revision(),
        plan: plan.to_string(),
    })
}

/// What was found before anything is ranked.
struct Found<'r, V: ReadView> {
    now: Timestamp,
    set: V::Set,
    allowed: Allowed<'r>,
    plan: Plan,
    question: Question<V>,
    candidates: Vec<Candidate<V::Id>>,
}

fn find<'r, V: ReadView>(
    view: &V,
    recall: &'r Recall,
    clock: Timestamp,
    watch: &Watch<'_>,
) -> Result<Found<'r, V>, Invalid> {
    recall.check()?;
    let now = recall.now.or(recall.as_of.map(|as_of| as_of.at)).unwrap_or(clock);
    // 1. What the words mean: a span of time, and the terms that are left.
    let window = timewords::window(&recall.query, now, &recall.zone());
    let text = without_time_words(&recall.query, window.as_ref());
    let terms = view.analyse(&text);
    let bound = view.keyword_bound(&terms);
    let words = watch.lap();
    // 2. The exact set of memories that may be returned.
    let allowed = Allowed {
        filter: &recall.filter,
        now,
        as_of: recall.as_of,
        agent: recall.agent_id.as_deref(),
        include_archived: recall.include_archived,
        include_history: recall.include_history,
    };
    let set = view.allowed(&allowed);
    let count = view.count(&set);
    check_as_of(view, recall, clock, count)?;
    let filter = watch.lap();
    // 3. The channels, side by side; every candidate on every channel.
    let looks_for_names = recall.mode == Mode::Hybrid && recall.weights.entity > 0.0;
    let entities = view.entities(&set, if looks_for_names { &text } else { "" });
    let names = view.entity_names(&entities);
    let names_share = share_of_names(view, &names, bound);
    let mut plan = Plan::new(recall, count, bound > 0.0, names, window);
    plan.times = Times { words, filter, names: watch.lap(), ..Times::default() };
    let vector = recall.vector.as_ref().map(|vector| view.prepare(vector));
    let question = Question { vector, terms, bound, entities, names_share };
    let candidates = candidates::collect(view, &set, &mut plan, &question, watch);
    Ok(Found { now, set, allowed, plan, question, candidates })
}

/// A time of which nothing can be known is refused, rather than answered with nothing.
fn check_as_of<V: ReadView>(
    view: &V,
    recall: &Recall,
    clock: Timestamp,
    allowed: u64,
) -> Result<(), Invalid> {
    let Some(as_of) = recall.as_of else { return Ok(()) };
    let latest = recall.now.map_or(clock, |now| now.max(clock));
    if as_of.axis == Axis::Known && as_of.at > latest {
        let problem =
            format!("is {}: it is not known yet what will be known then; at most {latest}", as_of.at);
        return Err(Invalid::one("as_of", problem));
    }
    let agent = recall.agent_id.as_deref();
    let Some(first) = (allowed == 0).then(|| view.first_at(as_of.axis, agent)).flatten() else {
        return Ok(());
    };
    if as_of.at >= first {
        return Ok(());
    }
    let what = match as_of.axis {
        Axis::Valid => "the first memory holds from",
        Axis::Known => "the first memory was stored at",
    };
    Err(Invalid::one("as_of", format!("is {}: {what} {first}, ask for that time or a later one", as_of.at)))
}

/// Which share of a query its names are, by the weight of their words; all of it where no word of it is known.
fn share_of_names<V: ReadView>(view: &V, names: &[String], bound: f64) -> f64 {
    if names.is_empty() || bound <= 0.0 {
        return 1.0;
    }
    (view.keyword_bound(&view.analyse(&names.join(" "))) / bound).clamp(0.0, 1.0)
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

#[cfg(test)]
mod tests;
