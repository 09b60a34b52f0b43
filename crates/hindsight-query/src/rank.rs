//! One scale, one score, one order.

use std::cmp::Ordering;

use hindsight_core::recall::RRF_K;
use hindsight_core::scoring::confidence::trust;
use hindsight_core::scoring::fusion::reciprocal_rank;
use hindsight_core::scoring::score::{self, ChannelScore};
use hindsight_core::{Breakdown, Decay, Fusion, Kind, Recall, Timestamp};

use crate::candidates::Candidate;
use crate::plan::{Channel, Plan, normalized};
use crate::view::share;

/// A candidate with its score.
#[derive(Debug, Clone)]
pub struct Ranked<Id> {
    /// The candidate.
    pub candidate: Candidate<Id>,
    /// How its score came about.
    pub breakdown: Breakdown,
}

/// Scores all candidates and brings them into their total order: higher score, rule before the rest, newer, smaller id.
#[must_use]
pub fn rank<Id: Copy + Ord>(
    plan: &Plan,
    recall: &Recall,
    now: Timestamp,
    candidates: Vec<Candidate<Id>>,
) -> Vec<Ranked<Id>> {
    let scales = scales(plan, &candidates);
    let channels: Vec<&Channel> = plan.channels.iter().filter(|channel| channel.weight() > 0.0).collect();
    let weight = |channel: &Channel| if plan.fusion == Fusion::Rrf { 1.0 } else { channel.weight() };
    let weight_sum: f64 = channels.iter().map(|channel| weight(channel)).sum();
    let lifts = lifts(plan, &candidates, |row| {
        let scored = channels.iter().zip(&scales).map(|(channel, scale)| weight(channel) * at(scale, row));
        scored.sum::<f64>() / weight_sum
    });
    let mut ranked: Vec<Ranked<Id>> = candidates
        .into_iter()
        .enumerate()
        .map(|(row, candidate)| {
            let mut scores: Vec<ChannelScore> = channels
                .iter()
                .enumerate()
                .map(|(column, channel)| ChannelScore {
                    name: channel.name(),
                    raw: candidate.raw.get(column).copied().flatten(),
                    normalized: scales.get(column).map_or(0.0, |scale| at(scale, row)),
                    weight: weight(channel) / weight_sum,
                })
                .collect();
            if let Some(lifts) = &lifts {
                let (lift, weight) = (at(lifts, row), plan.neighbour_weight);
                scores.push(ChannelScore { name: "neighbour", raw: Some(lift), normalized: lift, weight });
            }
            let breakdown = score::score(&scores, &facts(recall, now, &candidate));
            Ranked { candidate, breakdown }
        })
        .collect();
    ranked.sort_by(order);
    ranked
}

fn at(column: &[f64], row: usize) -> f64 {
    column.get(row).copied().unwrap_or(0.0)
}

/// For each candidate the relevance of its best neighbour; absent where nobody has one.
fn lifts<Id: Ord>(
    plan: &Plan,
    candidates: &[Candidate<Id>],
    relevance: impl Fn(usize) -> f64,
) -> Option<Vec<f64>> {
    if plan.neighbour_weight <= 0.0 || candidates.iter().all(|candidate| candidate.neighbours.is_empty()) {
        return None;
    }
    // Candidates stand in the order of their handles.
    let row_of = |id: &Id| candidates.binary_search_by(|candidate| candidate.id.cmp(id)).ok();
    let best = |candidate: &Candidate<Id>| {
        candidate.neighbours.iter().filter_map(row_of).map(&relevance).fold(0.0, f64::max)
    };
    Some(candidates.iter().map(best).collect())
}

fn facts<Id>(recall: &Recall, now: Timestamp, candidate: &Candidate<Id>) -> score::Facts {
    let facts = &candidate.facts;
    score::Facts {
        standing: facts.standing(now),
        importance: share(facts.importance),
        decay: recall.decay.unwrap_or(Decay::of_kind(facts.kind)),
        source_weight: trust(facts.source),
        transient_failure: facts.transient_failure,
        access_count: facts.access_count,
        idle_days: facts.idle_since.map(|since| since.days_until(now)),
    }
}

/// A column a channel, a row a candidate: scores on the common scale.
fn scales<Id: Ord>(plan: &Plan, candidates: &[Candidate<Id>]) -> Vec<Vec<f64>> {
    let columns: Vec<Vec<Option<f64>>> = (0..plan.channels.len())
        .map(|column| {
            candidates.iter().map(|candidate| candidate.raw.get(column).copied().flatten()).collect()
        })
        .collect();
    match plan.fusion {
        Fusion::Weighted => {
            let names_time = plan.channels.iter().any(|channel| matches!(channel, Channel::Window { .. }));
            let channels = plan.channels.iter().zip(&columns);
            channels.map(|(channel, raw)| normalized(channel, raw, names_time)).collect()
        }
        Fusion::Rrf => reciprocal(&columns, candidates.len()),
    }
}

/// Reciprocal ranks, brought to a scale on which the mean over the channels of the best candidate is 1.
fn reciprocal(columns: &[Vec<Option<f64>>], rows: usize) -> Vec<Vec<f64>> {
    let ranks: Vec<Vec<f64>> = columns.iter().map(|raw| reciprocal_ranks(raw)).collect();
    let total = |row: usize| ranks.iter().filter_map(|column| column.get(row)).sum::<f64>();
    let best = (0..rows).map(total).fold(0.0, f64::max);
    if best <= 0.0 {
        return ranks;
    }
    #[expect(clippy::cast_precision_loss, reason = "a plan has a handful of channels")]
    let scale = ranks.len() as f64 / best;
    ranks.into_iter().map(|column| column.into_iter().map(|value| value * scale).collect()).collect()
}

/// `1 / (k + rank)` by raw score; a candidate that the channel does not know, or scores 0, has no rank. Equal scores
/// share the better rank.
fn reciprocal_ranks(raw: &[Option<f64>]) -> Vec<f64> {
    raw.iter()
        .map(|score| match score {
            Some(score) if *score > 0.0 => {
                let above = raw.iter().flatten().filter(|other| *other > score).count();
                reciprocal_rank(RRF_K, u32::try_from(above + 1).unwrap_or(u32::MAX))
            }
            _ => 0.0,
        })
        .collect()
}

fn order<Id>(a: &Ranked<Id>, b: &Ranked<Id>) -> Ordering {
    let rule_first = |ranked: &Ranked<Id>| ranked.candidate.facts.kind != Kind::Rule;
    b.breakdown
        .score
        .total_cmp(&a.breakdown.score)
        .then_with(|| rule_first(a).cmp(&rule_first(b)))
        .then_with(|| b.candidate.facts.occurred_at.cmp(&a.candidate.facts.occurred_at))
        .then_with(|| a.candidate.facts.id.cmp(&b.candidate.facts.id))
}
