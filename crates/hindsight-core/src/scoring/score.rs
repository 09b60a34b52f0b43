//! From signals to one number, with every part kept for the explanation (R5–R8, R11).

use crate::hit::{Breakdown, Part};
use crate::scoring::confidence::{self, Standing};
use crate::scoring::decay::{Decay, recency};

/// The share of `base` that relevance, importance and recency have; together 1.
pub const SHARES: Shares = Shares { relevance: 0.7, importance: 0.2, recency: 0.1 };

/// How much of `base` comes from what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// How well it answers the query.
    pub relevance: f64,
    /// How much it matters.
    pub importance: f64,
    /// How fresh it is.
    pub recency: f64,
}

/// One channel's word on one candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChannelScore {
    /// The channel's name: `vector`, `keyword`, `window`, `entity`.
    pub name: &'static str,
    /// What the channel measured; absent when it does not know the candidate.
    pub raw: Option<f64>,
    /// The same on the common scale, 0–1.
    pub normalized: f64,
    /// The channel's weight; the weights of the channels that ran are brought to a sum of 1.
    pub weight: f64,
}

/// What a score is made of besides the channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// Kind, status, confidence, use and age.
    pub standing: Standing,
    /// 0–1.
    pub importance: f64,
    /// How fast recency falls.
    pub decay: Decay,
    /// The source's trust, 0–1.
    pub source_weight: f64,
    /// A failure that passes by itself counts half.
    pub transient_failure: bool,
    /// How often it was returned.
    pub access_count: u32,
    /// Days since it was last changed, where nothing ever spoke for it: never returned, used or confirmed.
    pub idle_days: Option<f64>,
}

/// What often being returned and never being used leaves: `max(0.5, 1 − 0.05 · (access_count − 5))` beyond five times (L1).
#[must_use]
pub fn unused_factor(access_count: u32, used_count: u32) -> f64 {
    if used_count > 0 || access_count <= 5 {
        return 1.0;
    }
    (1.0 - 0.05 * f64::from(access_count - 5)).max(0.5)
}

/// Days without a change after which a memory that no recall ever returned begins to sink.
const IDLE_DAYS: f64 = 30.0;
/// The least that being never returned leaves.
const IDLE_LEAST: f64 = 0.7;

/// What being never returned leaves (L2): `max(0.7, 1 − 0.01 · (days − 30))` beyond 30 days since the memory was last changed.
#[must_use]
pub fn idle_factor(days: f64) -> f64 {
    (1.0 - 0.01 * (days - IDLE_DAYS).max(0.0)).max(IDLE_LEAST)
}

/// The score: `(0.7 · relevance + 0.2 · importance + 0.1 · recency) · effective confidence · source weight ·
/// (transient failure: 0.5) · unused factor`, where relevance is the weighted mean of the channels that ran.
/// Without any channel the whole base is importance and recency, in their proportion.
#[must_use]
pub fn score(channels: &[ChannelScore], facts: &Facts) -> Breakdown {
    let weight_sum: f64 = channels.iter().map(|channel| channel.weight).sum();
    let ran = weight_sum > 0.0;
    let rest = if ran { 1.0 } else { 1.0 / (SHARES.importance + SHARES.recency) };
    let mut parts: Vec<Part> = channels
        .iter()
        .filter(|_| ran)
        .map(|channel| {
            let weight = SHARES.relevance * channel.weight / weight_sum;
            Part::new(channel.name, channel.raw.unwrap_or(0.0), channel.normalized, weight)
        })
        .collect();
    let fresh = recency(facts.standing.age_days, facts.decay);
    parts.push(Part::new("importance", facts.importance, facts.importance, SHARES.importance * rest));
    parts.push(Part::new("recency", facts.standing.age_days.max(0.0), fresh, SHARES.recency * rest));
    let base: f64 = parts.iter().map(|part| part.contribution).sum();
    let confidence = confidence::effective(&facts.standing);
    let transient = if facts.transient_failure { 0.5 } else { 1.0 };
    let unused = unused_factor(facts.access_count, facts.standing.used_count)
        * facts.idle_days.map_or(1.0, idle_factor);
    let score = base * confidence * facts.source_weight * transient * unused;
    Breakdown {
        parts,
        confidence,
        source_weight: facts.source_weight,
        transient,
        unused,
        score,
        matched_terms: Vec::new(),
        path: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn facts(age_days: f64) -> Facts {
        Facts {
            standing: Standing { kind: Kind::Fact, status: None, confidence: 1.0, used_count: 0, age_days },
            importance: 0.2,
            decay: Decay::of_kind(Kind::Fact),
            source_weight: 1.0,
            transient_failure: false,
            access_count: 0,
            idle_days: None,
        }
    }

    fn channel(name: &'static str, normalized: f64, weight: f64) -> ChannelScore {
        ChannelScore { name, raw: Some(normalized), normalized, weight }
    }

    #[test]
    fn r5_vector_and_keyword_alone_give_the_requirements_weights() {
        let breakdown = score(&[channel("vector", 1.0, 0.5), channel("keyword", 1.0, 0.2)], &facts(0.0));
        let weights: Vec<f64> =
            breakdown.parts.iter().map(|part| (part.weight * 1000.0).round() / 1000.0).collect();
        assert_eq!(weights, [0.5, 0.2, 0.2, 0.1]);
        assert!((breakdown.score - (0.5 + 0.2 + 0.04 + 0.1)).abs() < 1e-12);
    }

    #[test]
    fn r6_a_relevant_memory_of_a_year_ago_outranks_an_irrelevant_one_of_today() {
        let old = score(&[channel("vector", 1.0, 0.5)], &facts(365.0));
        let new = score(&[channel("vector", 0.0, 0.5)], &facts(0.0));
        assert!(old.score > new.score, "{} {}", old.score, new.score);
    }

    #[test]
    fn l1_returned_often_and_never_used_sinks() {
        assert!((unused_factor(5, 0) - 1.0).abs() < 1e-12);
        assert!((unused_factor(9, 0) - 0.8).abs() < 1e-12);
        assert!((unused_factor(1_000, 0) - 0.5).abs() < 1e-12);
        assert!((unused_factor(1_000, 1) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn l2_never_returned_for_30_days_begins_to_sink() {
        for (days, left) in [(0.0, 1.0), (30.0, 1.0), (45.0, 0.85), (60.0, 0.7), (10_000.0, 0.7)] {
            assert!((idle_factor(days) - left).abs() < 1e-12, "{days}");
        }
        let mut facts = facts(0.0);
        facts.idle_days = Some(45.0);
        let idle = score(&[channel("keyword", 1.0, 1.0)], &facts);
        assert!((idle.unused - 0.85).abs() < 1e-12);
        // Being irrelevant weighs more than being never asked for.
        facts.idle_days = Some(10_000.0);
        let relevant = score(&[channel("keyword", 1.0, 1.0)], &facts);
        facts.idle_days = None;
        assert!(relevant.score > score(&[channel("keyword", 0.0, 1.0)], &facts).score);
    }

    #[test]
    fn the_parts_add_up_to_the_score() {
        let mut facts = facts(10.0);
        facts.transient_failure = true;
        facts.source_weight = 0.8;
        let breakdown = score(&[channel("keyword", 0.4, 0.2)], &facts);
        let base: f64 = breakdown.parts.iter().map(|part| part.contribution).sum();
        assert!((breakdown.score - base * 0.8 * 0.5).abs() < 1e-12);
        let nothing = score(&[], &facts);
        assert!((nothing.parts.iter().map(|part| part.weight).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
