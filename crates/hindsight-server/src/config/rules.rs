//! `[rules]`: how rules are found in episodes, and how they live.

use hindsight_core::consolidate::RuleTuning;
use serde::{Deserialize, Serialize};

/// `[rules]`: shares in hundredths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// `min_episodes`: least episodes that agree before there is a rule. Default 3.
    pub min_episodes: u32,
    /// `min_confidence`: least confidence of a new rule. Default 80.
    pub min_confidence: u64,
    /// `activate_after`: how often a rule must have helped before it is active. Default 2.
    pub activate_after: u32,
    /// `deprecate_below`: the confidence below which a rule is deprecated. Default 30.
    pub deprecate_below: u64,
    /// `valid_days`: how long a rule is valid after it was last found, seen at work or confirmed; 0 for ever. Default 180.
    pub valid_days: u32,
    /// `min_trust`: least trust of a source whose episodes count. Default 80: what users say counts, what comes from
    /// outside does not.
    pub min_trust: u64,
    /// `trust_agents`: 1 makes rules that are found or proposed active at once, without an observation. Default 0.
    pub trust_agents: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            min_episodes: 3,
            min_confidence: 80,
            activate_after: 2,
            deprecate_below: 30,
            valid_days: 180,
            min_trust: 80,
            trust_agents: 0,
        }
    }
}

impl Rules {
    /// What the engine is opened with.
    #[must_use]
    pub fn tuning(&self) -> RuleTuning {
        let share = |hundredths: u64| u8::try_from(hundredths).map_or(1.0, |share| f64::from(share) / 100.0);
        RuleTuning {
            min_episodes: self.min_episodes,
            min_confidence: share(self.min_confidence),
            activate_after: self.activate_after,
            deprecate_below: share(self.deprecate_below),
            valid_days: self.valid_days,
            min_trust: share(self.min_trust),
            trust_agents: self.trust_agents > 0,
        }
    }

    /// Keys with their values, least and most.
    pub(super) fn ranges(&self) -> [(&'static str, u64, u64, u64); 7] {
        [
            ("rules.min_episodes", self.min_episodes.into(), 2, 1_000),
            ("rules.min_confidence", self.min_confidence, 0, 100),
            ("rules.activate_after", self.activate_after.into(), 1, 1_000),
            ("rules.deprecate_below", self.deprecate_below, 0, 100),
            ("rules.valid_days", self.valid_days.into(), 0, 36_500),
            ("rules.min_trust", self.min_trust, 0, 100),
            ("rules.trust_agents", self.trust_agents, 0, 1),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_the_defaults_are_the_requirement() {
        assert_eq!(Rules::default().tuning(), RuleTuning::default());
        assert!(Rules { trust_agents: 1, ..Rules::default() }.tuning().trust_agents);
    }
}
