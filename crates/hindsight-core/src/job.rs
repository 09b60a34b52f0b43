//! Work that the database does by itself, by schedule or on demand.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Timestamp;
use crate::kind::words;

words! {
    /// A job.
    Job, "job" {
        /// Archives what is past its time: expired, too old, never recalled, or one episode too many of its task type (L2, L7).
        Archive = "archive",
        /// Makes rules of what episodes agree on (L5).
        Consolidate = "consolidate",
        /// Purges what was forgotten long ago (L3).
        Purge = "purge",
    }
}

impl Job {
    /// What it does, in a sentence.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Job::Archive => {
                "archives memories that are expired, past the time of their kind, never recalled, or beyond the cap of their task type"
            }
            Job::Consolidate => {
                "makes rules of what episodes agree on, or newer versions of the rules that say so"
            }
            Job::Purge => "purges memories that were forgotten longer ago than they can be restored",
        }
    }

    /// When it runs by itself unless told otherwise: every night, or every week.
    #[must_use]
    pub const fn usual_schedule(self) -> &'static str {
        match self {
            Job::Archive => "30 3 * * *",
            Job::Consolidate => "0 3 * * *",
            Job::Purge => "0 4 * * sun",
        }
    }
}

/// What a run of a job came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobReport {
    /// The job.
    pub job: Job,
    /// It only counted what it would do.
    #[serde(rename = "validate_only")]
    pub is_dry: bool,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How many namespaces it looked at.
    pub namespaces: u64,
    /// What it did (or would do), by the reason, in the order of their words: how many memories.
    pub counts: BTreeMap<String, u64>,
    /// What a person may want to do now, at most [`HINTS_MAX`] sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// What went wrong, in a namespace where it stopped; others were gone on with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobStatus {
    /// The job.
    pub job: Job,
    /// The cron expression and the time zone; none when it runs on demand only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// When it runs next by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_run_at: Option<Timestamp>,
    /// Whether a scheduled run is under way.
    #[serde(rename = "running")]
    pub is_running: bool,
    /// Its last run since the start of the server, dry ones left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<JobReport>,
}

/// Most hints, and most errors, of a report.
pub const HINTS_MAX: usize = 100;

impl JobReport {
    /// A run that begins.
    #[must_use]
    pub fn begun(job: Job, is_dry: bool, started_at: Timestamp) -> JobReport {
        JobReport {
            job,
            is_dry,
            started_at,
            ended_at: None,
            namespaces: 0,
            counts: BTreeMap::new(),
            hints: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// How many memories it changed, or would.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts memories that it dealt with for a reason.
    pub fn count(&mut self, reason: &str, memories: u64) {
        if memories > 0 {
            *self.counts.entry(reason.to_owned()).or_default() += memories;
        }
    }

    /// Notes what a person may want to do.
    pub fn hint(&mut self, hint: String) {
        if self.hints.len() < HINTS_MAX {
            self.hints.push(hint);
        }
    }

    /// Notes what went wrong.
    pub fn fail(&mut self, error: String) {
        if self.errors.len() < HINTS_MAX {
            self.errors.push(error);
        }
    }
}

/// When a job runs by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    cron: crate::Cron,
    zone: jiff::tz::TimeZone,
}

/// A name of no time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no time zone: expected a name such as UTC or Europe/Berlin")]
pub struct BadZone {
    /// The name as it was given.
    pub given: String,
}

impl Schedule {
    /// A schedule by the clock of a time zone.
    ///
    /// # Errors
    /// When there is no zone of this name.
    pub fn new(cron: crate::Cron, zone: &str) -> Result<Schedule, BadZone> {
        let bad = |_| BadZone { given: zone.chars().take(80).collect() };
        let zone = jiff::tz::TimeZone::get(zone).map_err(bad)?;
        Ok(Schedule { cron, zone })
    }

    /// Its first time after `after`.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        self.cron.next_after(after, &self.zone)
    }

    /// The five fields, and the name of the zone.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{} {}", self.cron, self.zone.iana_name().unwrap_or("UTC"))
    }
}
