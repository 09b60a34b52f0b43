//! What can be tuned of how rules are found and live.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::invalid::{Invalid, Violations};
use crate::kind::words;
use crate::time::DAY_MS;

words! {
    /// What can be set about the rules of a namespace. Shares are in hundredths.
    RuleKey, "rule setting" {
        /// Least episodes that agree.
        MinEpisodes = "min_episodes",
        /// Least confidence of a new rule, in hundredths.
        MinConfidence = "min_confidence",
        /// How often a rule must have helped before it is active.
        ActivateAfter = "activate_after",
        /// The confidence below which a rule is deprecated, in hundredths.
        DeprecateBelow = "deprecate_below",
        /// How many days a rule is valid after it was last found, seen at work or confirmed; 0 for ever.
        ValidDays = "valid_days",
        /// Least trust of a source whose episodes count, in hundredths.
        MinTrust = "min_trust",
        /// 1: rules are active at once.
        TrustAgents = "trust_agents",
    }
}

/// How rules are found and live; each default is the requirement's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleTuning {
    /// Least episodes that agree before there is a rule. Default 3.
    pub min_episodes: u32,
    /// Least confidence of a new rule, 0–1. Default 0.8.
    pub min_confidence: f64,
    /// How often a rule must have helped before it is active. Default 2.
    pub activate_after: u32,
    /// The confidence below which a rule is deprecated, 0–1. Default 0.3.
    pub deprecate_below: f64,
    /// How many days a rule is valid after it was last found, seen at work or confirmed; 0 for ever. Default 180.
    pub valid_days: u32,
    /// Least trust of a source whose episodes count, 0–1. Default 0.8: what users say counts, what comes from outside does
    /// not.
    pub min_trust: f64,
    /// Whether rules are active at once, without an observation: for a namespace whose agents are trusted. Default no.
    pub trust_agents: bool,
}

impl Default for RuleTuning {
    fn default() -> RuleTuning {
        RuleTuning {
            min_episodes: 3,
            min_confidence: 0.8,
            activate_after: 2,
            deprecate_below: 0.3,
            valid_days: 180,
            min_trust: 0.8,
            trust_agents: false,
        }
    }
}

impl RuleTuning {
    /// This tuning with what a namespace has set.
    #[must_use]
    pub fn with(mut self, set: &BTreeMap<RuleKey, u32>) -> RuleTuning {
        for (key, value) in set {
            let share = f64::from(*value) / 100.0;
            match key {
                RuleKey::MinEpisodes => self.min_episodes = *value,
                RuleKey::MinConfidence => self.min_confidence = share,
                RuleKey::ActivateAfter => self.activate_after = *value,
                RuleKey::DeprecateBelow => self.deprecate_below = share,
                RuleKey::ValidDays => self.valid_days = *value,
                RuleKey::MinTrust => self.min_trust = share,
                RuleKey::TrustAgents => self.trust_agents = *value > 0,
            }
        }
        self
    }

    /// Checks every number.
    ///
    /// # Errors
    /// Those that are out of range, by name.
    pub fn check(&self) -> Result<(), Invalid> {
        let mut violations = Violations::default();
        for (field, share) in [
            ("min_confidence", self.min_confidence),
            ("deprecate_below", self.deprecate_below),
            ("min_trust", self.min_trust),
        ] {
            let right = (0.0..=1.0).contains(&share);
            violations.unless(right, field, || format!("is {share}: expected a number from 0 to 1"));
        }
        // One episode is a story; a rule needs at least two that tell the same.
        violations.unless(self.min_episodes >= 2, "min_episodes", || {
            format!("is {}: expected at least 2, since one episode proves no rule", self.min_episodes)
        });
        violations.unless(self.activate_after >= 1, "activate_after", || {
            "is 0: expected at least 1; trust_agents makes rules active at once".to_owned()
        });
        violations.unless(self.valid_days <= 36_500, "valid_days", || {
            format!("is {}: expected at most 36500, or 0 for ever", self.valid_days)
        });
        violations.finish()
    }

    /// Until when what was found or confirmed at `at` is valid.
    pub(super) fn valid_to(&self, at: crate::Timestamp) -> Option<crate::Timestamp> {
        (self.valid_days > 0).then(|| at.plus_ms(i64::from(self.valid_days) * DAY_MS))
    }
}
