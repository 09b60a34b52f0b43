//! `[life]` and `[jobs]`: how long memories stay, and when what is past its time is dealt with.

use std::collections::BTreeMap;

use hindsight_core::{Cron, Days, Job, Life as Rules, Schedule};
use serde::{Deserialize, Serialize};

/// `[life]`: in days, 0 for ever. A namespace's own settings win over these. Days count from when a memory was last stored,
/// changed, confirmed or used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Life {
    /// `episode_days`: an episode is archived after so many days. Default 90.
    pub episode_days: u32,
    /// `fact_days`: a fact. Default 0.
    pub fact_days: u32,
    /// `preference_days`: a preference. Default 0.
    pub preference_days: u32,
    /// `procedure_days`: a procedure. Default 0.
    pub procedure_days: u32,
    /// `rule_days`: a rule. Default 0.
    pub rule_days: u32,
    /// `unrecalled_episode_days`: an episode that no recall ever returned. Default 60.
    pub unrecalled_episode_days: u32,
    /// `unrecalled_fact_days`: such a fact. Default 365.
    pub unrecalled_fact_days: u32,
    /// `unrecalled_preference_days`: such a preference. Default 365.
    pub unrecalled_preference_days: u32,
    /// `unrecalled_procedure_days`: such a procedure. Default 180.
    pub unrecalled_procedure_days: u32,
    /// `unrecalled_rule_days`: such a rule. Default 0.
    pub unrecalled_rule_days: u32,
    /// `episodes_per_task_type`: each task type keeps at most so many active episodes; 0 is any number. Default 500.
    pub episodes_per_task_type: u32,
    /// `forgotten_days`: what was forgotten can be restored for so long, and is then purged. Default 30.
    pub forgotten_days: u32,
}

/// `[jobs]`: when they run by themselves, as cron expressions (minute hour day month weekday); an empty one is never.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Jobs {
    /// `archive`: archiving. Default `30 3 * * *`, every night.
    pub archive: String,
    /// `consolidate`: making rules of what episodes agree on. Default `0 3 * * *`, every night.
    pub consolidate: String,
    /// `purge`: purging what was forgotten long ago. Default `0 4 * * sun`, every week.
    pub purge: String,
    /// `time_zone`: whose clock the expressions mean, such as `Europe/Berlin`. Default `UTC`.
    pub time_zone: String,
}

impl Default for Life {
    fn default() -> Self {
        let Rules { keep, keep_unrecalled, episodes_per_task_type, forgotten } = Rules::default();
        Life {
            episode_days: keep.episode,
            fact_days: keep.fact,
            preference_days: keep.preference,
            procedure_days: keep.procedure,
            rule_days: keep.rule,
            unrecalled_episode_days: keep_unrecalled.episode,
            unrecalled_fact_days: keep_unrecalled.fact,
            unrecalled_preference_days: keep_unrecalled.preference,
            unrecalled_procedure_days: keep_unrecalled.procedure,
            unrecalled_rule_days: keep_unrecalled.rule,
            episodes_per_task_type,
            forgotten_days: forgotten,
        }
    }
}

impl Default for Jobs {
    fn default() -> Self {
        let usual = |job: Job| job.usual_schedule().to_owned();
        Jobs {
            archive: usual(Job::Archive),
            consolidate: usual(Job::Consolidate),
            purge: usual(Job::Purge),
            time_zone: "UTC".to_owned(),
        }
    }
}

impl Life {
    /// The rules that hold where a namespace sets nothing else.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            keep: Days {
                episode: self.episode_days,
                fact: self.fact_days,
                preference: self.preference_days,
                procedure: self.procedure_days,
                rule: self.rule_days,
            },
            keep_unrecalled: Days {
                episode: self.unrecalled_episode_days,
                fact: self.unrecalled_fact_days,
                preference: self.unrecalled_preference_days,
                procedure: self.unrecalled_procedure_days,
                rule: self.unrecalled_rule_days,
            },
            episodes_per_task_type: self.episodes_per_task_type,
            forgotten: self.forgotten_days,
        }
    }
}

impl Jobs {
    /// Each job's key and expression.
    fn expressions(&self) -> [(Job, &'static str, &str); 3] {
        [
            (Job::Archive, "jobs.archive", &self.archive),
            (Job::Consolidate, "jobs.consolidate", &self.consolidate),
            (Job::Purge, "jobs.purge", &self.purge),
        ]
    }

    /// What is wrong with it: a key, and why.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        for (_, key, text) in self.expressions() {
            if text.is_empty() {
                continue;
            }
            let cron = match text.parse::<Cron>() {
                Ok(cron) => cron,
                Err(error) => return Some((key, error.to_string())),
            };
            if let Err(error) = Schedule::new(cron, &self.time_zone) {
                return Some(("jobs.time_zone", error.to_string()));
            }
        }
        None
    }

    /// The schedules; all of them can be read once [`Jobs::problem`] found none.
    pub(crate) fn schedules(&self) -> BTreeMap<Job, Schedule> {
        let schedule = |(job, _, text): (Job, &str, &str)| {
            Some((job, Schedule::new(text.parse().ok()?, &self.time_zone).ok()?))
        };
        self.expressions().into_iter().filter_map(schedule).collect()
    }
}
