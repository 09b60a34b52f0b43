//! How long a memory stays in recall (L2, L7): pure rules over the memory, the settings and the time.
//!
//! The clock of a life is [`Memory::updated_at`]: it starts anew whenever the memory is stored, changed, confirmed, restored or
//! judged by feedback. That a recall merely returned it does not move it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kind::words;
use crate::scoring::confidence::{Standing, effective};
use crate::scoring::score::{idle_factor, unused_factor};
use crate::time::DAY_MS;
use crate::{Kind, Memory, State, Timestamp};

words! {
    /// Why a memory is archived.
    ArchiveReason, "archive reason" {
        /// Its `expires_at` has passed.
        Expired = "expired",
        /// It is past the time of its kind.
        TooOld = "too_old",
        /// No recall returned it for so long, and nothing else spoke for it.
        NeverRecalled = "never_recalled",
        /// Its task type has more episodes than it keeps, and this is one of the least valuable.
        BeyondCap = "beyond_cap",
    }
}

words! {
    /// What can be set about the life of a namespace's memories. All but one are days, 0 of them for ever.
    LifeKey, "life setting" {
        /// An episode is archived after so many days without a change.
        EpisodeDays = "episode_days",
        /// A fact.
        FactDays = "fact_days",
        /// A preference.
        PreferenceDays = "preference_days",
        /// A procedure.
        ProcedureDays = "procedure_days",
        /// A rule.
        RuleDays = "rule_days",
        /// An episode that no recall ever returned.
        UnrecalledEpisodeDays = "unrecalled_episode_days",
        /// Such a fact.
        UnrecalledFactDays = "unrecalled_fact_days",
        /// Such a preference.
        UnrecalledPreferenceDays = "unrecalled_preference_days",
        /// Such a procedure.
        UnrecalledProcedureDays = "unrecalled_procedure_days",
        /// Such a rule.
        UnrecalledRuleDays = "unrecalled_rule_days",
        /// Each task type keeps at most so many active episodes; 0 is any number.
        EpisodesPerTaskType = "episodes_per_task_type",
        /// What was forgotten is purged after so many days.
        ForgottenDays = "forgotten_days",
    }
}

/// A number of days for each kind; 0 is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Days {
    /// For episodes.
    pub episode: u32,
    /// For facts.
    pub fact: u32,
    /// For preferences.
    pub preference: u32,
    /// For procedures.
    pub procedure: u32,
    /// For rules.
    pub rule: u32,
}

impl Default for Days {
    fn default() -> Days {
        Life::default().keep
    }
}

impl Days {
    /// The days of a kind; none is for ever.
    #[must_use]
    pub fn of(&self, kind: Kind) -> Option<u32> {
        let days = match kind {
            Kind::Episode => self.episode,
            Kind::Fact => self.fact,
            Kind::Preference => self.preference,
            Kind::Procedure => self.procedure,
            Kind::Rule => self.rule,
        };
        Some(days).filter(|days| *days > 0)
    }
}

/// How long memories live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// After so many days without a change a memory is archived: episodes 90, the rest never.
    pub keep: Days,
    /// After so many days without a change a memory that no recall ever returned is archived: episodes 60, procedures 180,
    /// facts and preferences 365, rules never.
    pub keep_unrecalled: Days,
    /// Each task type keeps at most so many active episodes; 0 is any number. 500.
    pub episodes_per_task_type: u32,
    /// After so many days what was forgotten is purged; 0 is never. 30.
    pub forgotten: u32,
}

impl Default for Life {
    fn default() -> Life {
        Life {
            keep: Days { episode: 90, fact: 0, preference: 0, procedure: 0, rule: 0 },
            keep_unrecalled: Days { episode: 60, fact: 365, preference: 365, procedure: 180, rule: 0 },
            episodes_per_task_type: 500,
            forgotten: 30,
        }
    }
}

impl Life {
    /// A setting's place.
    pub fn place(&mut self, key: LifeKey) -> &mut u32 {
        match key {
            LifeKey::EpisodeDays => &mut self.keep.episode,
            LifeKey::FactDays => &mut self.keep.fact,
            LifeKey::PreferenceDays => &mut self.keep.preference,
            LifeKey::ProcedureDays => &mut self.keep.procedure,
            LifeKey::RuleDays => &mut self.keep.rule,
            LifeKey::UnrecalledEpisodeDays => &mut self.keep_unrecalled.episode,
            LifeKey::UnrecalledFactDays => &mut self.keep_unrecalled.fact,
            LifeKey::UnrecalledPreferenceDays => &mut self.keep_unrecalled.preference,
            LifeKey::UnrecalledProcedureDays => &mut self.keep_unrecalled.procedure,
            LifeKey::UnrecalledRuleDays => &mut self.keep_unrecalled.rule,
            LifeKey::EpisodesPerTaskType => &mut self.episodes_per_task_type,
            LifeKey::ForgottenDays => &mut self.forgotten,
        }
    }

    /// These rules with what a namespace has set.
    #[must_use]
    pub fn with(mut self, set: &BTreeMap<LifeKey, u32>) -> Life {
        for (key, value) in set {
            *self.place(*key) = *value;
        }
        self
    }

    /// What was forgotten before this is purged; none while it is kept for ever.
    #[must_use]
    pub fn forgotten_before(&self, now: Timestamp) -> Option<Timestamp> {
        (self.forgotten > 0).then(|| now.plus_ms(-DAY_MS * i64::from(self.forgotten)))
    }
}

/// Whether nothing ever spoke for a memory: no recall returned it, no agent used it, nobody said it again.
#[must_use]
pub fn is_unrecalled(memory: &Memory) -> bool {
    let usage = &memory.usage;
    usage.access_count == 0 && usage.used_count == 0 && usage.verified_count == 0
}

/// Why a memory by itself is to be archived at `now`; none while it stays. Only what is active is ever archived.
#[must_use]
pub fn archive_reason(memory: &Memory, life: &Life, now: Timestamp) -> Option<ArchiveReason> {
    if memory.state != State::Active {
        return None;
    }
    let age = memory.updated_at.days_until(now);
    let is_past = |days: Option<u32>| days.is_some_and(|days| age >= f64::from(days));
    if memory.is_expired_at(now) {
        Some(ArchiveReason::Expired)
    } else if is_past(life.keep.of(memory.kind)) {
        Some(ArchiveReason::TooOld)
    } else if is_past(life.keep_unrecalled.of(memory.kind)) && is_unrecalled(memory) {
        Some(ArchiveReason::NeverRecalled)
    } else {
        None
    }
}

/// Whether a memory counts against the cap of its task type.
#[must_use]
pub fn counts_against_cap(memory: &Memory) -> bool {
    memory.kind == Kind::Episode && memory.state == State::Active && memory.task_type.is_some()
}

/// What an episode is worth beside the others of its task type (L7): `effective confidence · (0.5 + 0.5 · importance) ·
/// (0.5 for a transient failure) · what being never used, or never returned, leaves`. Effective confidence has retention by
/// outcome and age, and the lift by use.
#[must_use]
pub fn value(memory: &Memory, now: Timestamp) -> f64 {
    let usage = &memory.usage;
    let standing = Standing {
        kind: memory.kind,
        status: memory.status,
        confidence: f64::from(memory.confidence),
        used_count: usage.used_count,
        age_days: memory.useful_at().days_until(now),
    };
    let transient = if memory.is_transient_failure() { 0.5 } else { 1.0 };
    let idle = if is_unrecalled(memory) { idle_factor(memory.updated_at.days_until(now)) } else { 1.0 };
    effective(&standing)
        * (0.5 + 0.5 * f64::from(memory.importance))
        * transient
        * unused_factor(usage.access_count, usage.used_count)
        * idle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Moment;
    use crate::{Draft, MemoryId, Status};

    fn at(day: i64) -> Timestamp {
        Timestamp::from_ms(1_700_000_000_000 + day * DAY_MS)
    }

    fn memory(kind: Kind) -> Memory {
        let draft = Draft {
            kind: Some(kind),
            content: "Restarted the payment worker".into(),
            task_type: (kind == Kind::Episode).then(|| "restart".into()),
            status: (kind == Kind::Episode).then_some(Status::Success),
            ..Draft::default()
        };
        let moment = Moment {
            namespace: "ops".parse().unwrap(),
            id: MemoryId::from_u128(1),
            now: at(0),
            embedding_model: None,
        };
        draft.check().unwrap().into_memory(moment)
    }

    #[test]
    fn l2_each_kind_has_its_time_and_what_was_recalled_has_longer() {
        let life = Life::default();
        let reason = |memory: &Memory, day| archive_reason(memory, &life, at(day));
        let mut episode = memory(Kind::Episode);
        assert_eq!(reason(&episode, 59), None);
        assert_eq!(reason(&episode, 60), Some(ArchiveReason::NeverRecalled));
        episode.usage.access_count = 1;
        assert_eq!((reason(&episode, 89), reason(&episode, 90)), (None, Some(ArchiveReason::TooOld)));
        episode.updated_at = at(30);
        assert_eq!(reason(&episode, 90), None);
        let mut fact = memory(Kind::Fact);
        assert_eq!((reason(&fact, 364), reason(&fact, 365)), (None, Some(ArchiveReason::NeverRecalled)));
        fact.usage.verified_count = 1;
        assert_eq!(reason(&fact, 10_000), None);
    }

    #[test]
    fn l2_what_has_expired_goes_first_and_only_what_is_active_goes() {
        let life = Life::default();
        let mut fact = memory(Kind::Fact);
        fact.expires_at = Some(at(2));
        assert_eq!(archive_reason(&fact, &life, at(1)), None);
        assert_eq!(archive_reason(&fact, &life, at(2)), Some(ArchiveReason::Expired));
        for state in [State::Superseded, State::Archived, State::Quarantined, State::Forgotten] {
            fact.state = state;
            assert_eq!(archive_reason(&fact, &life, at(9_000)), None, "{state}");
        }
    }

    #[test]
    fn l2_each_setting_has_a_place_of_its_own() {
        let set: BTreeMap<LifeKey, u32> =
            (1_000..).zip(LifeKey::ALL).map(|(value, key)| (*key, value)).collect();
        let mut life = Life::default().with(&set);
        for (key, value) in set {
            assert_eq!(*life.place(key), value, "{key}");
        }
        assert_eq!(Life::default().with(&BTreeMap::new()), Life::default());
    }

    #[test]
    fn l2_nothing_of_a_kind_without_a_time_is_too_old() {
        let life = Life { keep: Days { episode: 0, ..Life::default().keep }, ..Life::default() };
        let mut episode = memory(Kind::Episode);
        episode.usage.access_count = 1;
        assert_eq!(archive_reason(&episode, &life, at(9_000)), None);
    }

    #[test]
    fn l7_used_confident_important_and_young_episodes_are_worth_more() {
        let plain = memory(Kind::Episode);
        let better = |change: fn(&mut Memory)| {
            let mut changed = plain.clone();
            change(&mut changed);
            value(&changed, at(50)) > value(&plain, at(50))
        };
        assert!(better(|memory| memory.usage.used_count = 1));
        assert!(better(|memory| memory.importance = 0.9));
        assert!(better(|memory| memory.occurred_at = at(40)));
        assert!(better(|memory| memory.usage.access_count = 1));
        assert!(!better(|memory| memory.confidence = 0.2));
        assert!(!better(|memory| memory.usage.access_count = 200));
    }
}
