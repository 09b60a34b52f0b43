//! Recency: how much of a memory's freshness is left (R6).

use serde::{Deserialize, Serialize};

use crate::Kind;

/// How fast recency falls with age.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decay {
    /// Halves every so many days.
    HalfLifeDays(f64),
    /// Is multiplied by this factor each day, 0–1.
    FactorPerDay(f64),
    /// Does not fall.
    Off,
}

impl Decay {
    /// The default of a kind: episode 7 days, procedure 30, fact and preference 90, a rule never.
    #[must_use]
    pub const fn of_kind(kind: Kind) -> Decay {
        match kind {
            Kind::Episode => Decay::HalfLifeDays(7.0),
            Kind::Procedure => Decay::HalfLifeDays(30.0),
            Kind::Fact | Kind::Preference => Decay::HalfLifeDays(90.0),
            Kind::Rule => Decay::Off,
        }
    }
}

/// What is left of 1 after `age_days`: `2^(−age/half_life)` or `factor^age`. A time in the future counts as now.
#[must_use]
pub fn recency(age_days: f64, decay: Decay) -> f64 {
    let age = age_days.max(0.0);
    match decay {
        Decay::HalfLifeDays(half_life) => (-age / half_life).exp2(),
        Decay::FactorPerDay(factor) => factor.powf(age),
        Decay::Off => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r6_reference_values() {
        assert!((recency(7.0, Decay::of_kind(Kind::Episode)) - 0.5).abs() < 1e-12);
        assert!((recency(14.0, Decay::HalfLifeDays(7.0)) - 0.25).abs() < 1e-12);
        assert!((recency(30.0, Decay::FactorPerDay(0.95)) - 0.2146).abs() < 5e-5);
        assert!((recency(10_000.0, Decay::of_kind(Kind::Rule)) - 1.0).abs() < 1e-12);
        assert!((recency(-3.0, Decay::HalfLifeDays(7.0)) - 1.0).abs() < 1e-12);
    }
}
