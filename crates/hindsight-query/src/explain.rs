//! What became of one memory, in words (R11).

use hindsight_core::explain::Barrier;
use hindsight_core::{MemoryId, Reason, Recall};

use crate::cut::{Choice, Fate};
use crate::plan::Plan;
use crate::rank::Ranked;

/// What became of it, before its numbers.
pub(crate) struct Verdict {
    pub(crate) reason: Reason,
    pub(crate) detail: String,
    pub(crate) other: Option<MemoryId>,
    pub(crate) rank: Option<u32>,
}

impl Verdict {
    pub(crate) fn new(reason: Reason, detail: impl Into<String>) -> Verdict {
        Verdict { reason, detail: detail.into(), other: None, rank: None }
    }

    /// It may not be returned at all.
    pub(crate) fn of_barrier(barrier: Barrier) -> Verdict {
        Verdict { other: barrier.other, ..Verdict::new(barrier.reason, barrier.detail) }
    }

    fn at(self, place: usize) -> Verdict {
        Verdict { rank: u32::try_from(place + 1).ok(), ..self }
    }
}

/// No channel brought it among its best.
pub(crate) fn not_found(plan: &Plan) -> String {
    if plan.channels.is_empty() {
        return "nothing in the query can be looked for: it names no known word, and has no vector"
            .to_owned();
    }
    let channels: Vec<String> = plan
        .channels
        .iter()
        .map(|channel| format!("{} (the best {})", channel.name(), channel.limit()))
        .collect();
    format!("no channel found it: {}; its numbers are those it would have had", channels.join(", "))
}

/// What became of the candidate in a row.
pub(crate) fn verdict<Id>(recall: &Recall, ranked: &[Ranked<Id>], choice: &Choice, row: usize) -> Verdict {
    match choice.fates.get(row) {
        None => Verdict::new(Reason::NotFound, "no channel found it"),
        Some(Fate::Hit { place }) => {
            let hidden = choice.groups.get(*place).map_or(0, |group| group.hidden.len());
            let stands = if hidden > 0 {
                format!(", and stands for {hidden} older that say the same")
            } else {
                String::new()
            };
            Verdict::new(Reason::Returned, format!("it is hit {}{stands}", place + 1)).at(*place)
        }
        Some(Fate::BelowFloor) => {
            let (support, least) =
                (ranked.get(row).map_or(0.0, |one| one.candidate.support), recall.min_score);
            let detail =
                format!("its similarity counts as {support:.4}, and min_score is {}", least.unwrap_or(0.0));
            Verdict::new(Reason::BelowMinScore, detail)
        }
        Some(Fate::HeldBack(breach)) => {
            let detail = format!("policy {}: it advises {:?}", breach.prohibition, breach.word);
            Verdict::new(Reason::HeldBack, detail)
        }
        Some(Fate::Collapsed(kept)) => {
            let other = ranked.get(*kept).map(|one| one.candidate.facts.id);
            Verdict {
                other,
                ..Verdict::new(Reason::Collapsed, "a newer one says the same and stands for it")
            }
        }
        Some(Fate::BeyondTopK { place }) => {
            let detail = format!("it ranks {}, and top_k is {}", place + 1, recall.top_k);
            Verdict::new(Reason::BeyondTopK, detail).at(*place)
        }
        Some(Fate::OutOfBudget { place, needed }) => {
            let budget = recall.token_budget.unwrap_or(0);
            let detail = match needed {
                Some(needed) => {
                    format!("it ranks {} and costs {needed} tokens: more than is left of {budget}", place + 1)
                }
                None => format!("it ranks {}, behind one that the {budget} tokens did not hold", place + 1),
            };
            Verdict::new(Reason::OutOfBudget, detail).at(*place)
        }
    }
}
