//! Confidence: at birth by outcome and source, later by age and use (W5, R7, R8).

use crate::{Kind, SourceKind, Status};

/// How far a source is trusted, 0–1 (S4).
#[must_use]
pub const fn trust(source: SourceKind) -> f64 {
    match source {
        SourceKind::Admin | SourceKind::AgentVerified => 1.0,
        SourceKind::Tool | SourceKind::Agent => 0.9,
        SourceKind::UserInput => 0.8,
        SourceKind::External => 0.5,
    }
}

/// Confidence of a new memory: success (or no outcome) 1.0, failure 0.5, partial 0.75, times the source's trust (W5).
#[must_use]
pub fn at_birth(status: Option<Status>, source: SourceKind) -> f32 {
    let by_outcome = match status {
        None | Some(Status::Success) => 1.0,
        Some(Status::Failure) => 0.5,
        Some(Status::Partial) => 0.75,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
    let confidence = (by_outcome * trust(source)) as f32;
    confidence
}

/// What age leaves of an outcome (R7): nothing is lost within the grace, then 1/90 a day, never below 0.3.
#[must_use]
pub fn retention(status: Option<Status>, used_count: u32, age_days: f64) -> f64 {
    let grace_days = match status {
        Some(Status::Success) if used_count > 0 => 90.0,
        None | Some(Status::Success) => 30.0,
        Some(Status::Failure) => 60.0,
        Some(Status::Partial) => 45.0,
    };
    (1.0 - (age_days - grace_days).max(0.0) / 90.0).max(0.3)
}

/// How often a memory was used lifts it: `1 + 0.1 · used_count`, at most 1.5.
#[must_use]
pub fn use_lift(used_count: u32) -> f64 {
    (1.0 + 0.1 * f64::from(used_count)).min(1.5)
}

/// What [`effective`] looks at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// What the memory is.
    pub kind: Kind,
    /// How its task ended.
    pub status: Option<Status>,
    /// Its stored confidence, 0–1.
    pub confidence: f64,
    /// How often it was used.
    pub used_count: u32,
    /// Days since it was last of use.
    pub age_days: f64,
}

/// Effective confidence: `confidence · retention · use_lift` of an episode, without retention of the rest; at most 1.5.
#[must_use]
pub fn effective(standing: &Standing) -> f64 {
    let retained = match standing.kind {
        Kind::Episode => retention(standing.status, standing.used_count, standing.age_days),
        _ => 1.0,
    };
    (standing.confidence * retained * use_lift(standing.used_count)).min(1.5)
}

/// The requirement's own calculation (R7): `base · max(0.3, 1 − days/90) · (1 + 0.1 · used_count)`, at most 1.5,
/// with base 1.0 for success and 0.5 otherwise.
#[must_use]
pub fn by_outcome(status: Status, age_days: f64, used_count: u32) -> f64 {
    let base = if status == Status::Success { 1.0 } else { 0.5 };
    (base * (1.0 - age_days.max(0.0) / 90.0).max(0.3) * (1.0 + 0.1 * f64::from(used_count))).min(1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn r7_a_failure_of_45_days_used_twice() {
        close(by_outcome(Status::Failure, 45.0, 2), 0.30);
        close(by_outcome(Status::Success, 0.0, 9), 1.5);
        close(by_outcome(Status::Success, 400.0, 0), 0.3);
    }

    #[test]
    fn w5_at_birth() {
        close(f64::from(at_birth(Some(Status::Failure), SourceKind::AgentVerified)), 0.5);
        close(f64::from(at_birth(Some(Status::Partial), SourceKind::UserInput)), 0.6);
        close(f64::from(at_birth(None, SourceKind::External)), 0.5);
    }

    #[test]
    fn r7_grace_by_outcome() {
        close(retention(Some(Status::Success), 1, 90.0), 1.0);
        close(retention(Some(Status::Success), 0, 75.0), 0.5);
        close(retention(Some(Status::Failure), 0, 60.0), 1.0);
        close(retention(Some(Status::Partial), 0, 90.0), 0.5);
        close(retention(Some(Status::Failure), 0, 10_000.0), 0.3);
    }

    #[test]
    fn only_episodes_lose_confidence_with_age() {
        let old =
            Standing { kind: Kind::Fact, status: None, confidence: 0.8, used_count: 9, age_days: 4_000.0 };
        close(effective(&old), 1.2);
        let episode = Standing {
            kind: Kind::Episode,
            status: Some(Status::Failure),
            confidence: 0.5,
            used_count: 0,
            age_days: 105.0,
        };
        close(effective(&episode), 0.25);
    }
}
