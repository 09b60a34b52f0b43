//! Work that the engine does by itself: when a job is due, and one bounded step after another until it is done.
//!
//! A job goes through the namespaces by name, and through each in steps of a few milliseconds ([`Work::step`]). Between two
//! steps it holds no lock. What it changes are [`hindsight_core::Change`]s in the log like any others. Every step decides anew on what is there, so
//! a job that a crash cut off and that runs again comes to the same result: nothing of a run is stored.
//!
//! A namespace that is not in memory is not loaded for a job; its turn comes when somebody has touched it. What is missed
//! while the engine is down is made up for a minute after the start.
//!
//! Nothing here has a thread: whoever owns the engine calls [`EngineOver::job_step`] again and again; the clock is the [`Io`]'s.
//! A new job is a file beside `archive`, a word in [`Job`], and a line in [`begin`].

mod archive;
mod consolidate;
mod purge;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hindsight_core::{Job, JobReport, JobStatus, Namespace, Schedule, Timestamp};
use hindsight_storage::io::Io;
use parking_lot::Mutex;

use crate::decide::now;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::unsynced::Unsynced;
use run::Run;

/// How long after the start what was missed is made up for, in milliseconds.
const FIRST_AFTER_MS: i64 = 60_000;
/// How often it is looked whether a namespace has been loaded that a job had to leave out, in milliseconds.
const LOOK_EVERY_MS: i64 = 10_000;

/// Whether a work has more to do in its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Call again.
    More,
    /// Nothing is left to do here.
    Done,
}

/// One job's work in one namespace.
pub(crate) trait Work<I: Io>: Send {
    /// A piece of it that keeps writers waiting for a few milliseconds at most. When `report.is_dry`, it counts and changes
    /// nothing. Rules are held against `now`, the time at which the run began.
    ///
    /// # Errors
    /// When the log fails; the run goes on with the next namespace.
    fn step(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Arc<Cell>,
        now: Timestamp,
        report: &mut JobReport,
    ) -> Result<Progress, EngineError>;
}

/// A job's work in a namespace, from its beginning.
fn begin<I: Io>(job: Job) -> Box<dyn Work<I>> {
    match job {
        Job::Archive => Box::new(archive::Archive::default()),
        Job::Consolidate => Box::new(consolidate::Consolidate::default()),
        Job::Purge => Box::new(purge::PurgeForgotten),
    }
}

/// Whether a job has something to do in a namespace that is not in memory, so that it is worth loading.
fn wakes<I: Io>(engine: &EngineOver<I>, job: Job, cell: &Cell, now: Timestamp) -> Result<bool, EngineError> {
    match job {
        Job::Purge => purge::wakes(engine, cell, now),
        Job::Archive | Job::Consolidate => Ok(false),
    }
}

/// All jobs, as they stand.
pub(crate) struct Jobs<I: Io>(Mutex<BTreeMap<Job, Standing<I>>>);

/// How one job stands.
struct Standing<I: Io> {
    schedule: Option<Schedule>,
    /// When it runs next by itself; none while it has no schedule.
    next: Option<Timestamp>,
    /// The run that is under way; not here while a step of it is being made.
    run: Option<Run<I>>,
    is_running: bool,
    /// Namespaces that a run left out because they were not in memory.
    left_out: BTreeSet<Namespace>,
    look_at: Timestamp,
    last: Option<JobReport>,
}

impl<I: Io> Jobs<I> {
    /// No job has run. `now` is when the engine was opened.
    pub(crate) fn new(schedules: &BTreeMap<Job, Schedule>, now: Timestamp) -> Jobs<I> {
        let standing = |job: &Job| {
            let schedule = schedules.get(job).cloned();
            let first = schedule.as_ref().map(|_| now.plus_ms(FIRST_AFTER_MS));
            let (run, left_out, last) = (None, BTreeSet::new(), None);
            (*job, Standing { schedule, next: first, run, is_running: false, left_out, look_at: now, last })
        };
        Jobs(Mutex::new(Job::ALL.iter().map(standing).collect()))
    }

    /// A run to make a step of, if one is under way or due.
    fn take(&self, engine: &EngineOver<I>, now: Timestamp) -> Option<(Job, Run<I>)> {
        let mut jobs = self.0.lock();
        jobs.iter_mut().find_map(|(job, standing)| {
            let run = standing.run.take().or_else(|| standing.due(engine, *job, now))?;
            standing.is_running = true;
            Some((*job, run))
        })
    }

    /// Puts a run back, or away when it is over.
    fn give_back(&self, job: Job, run: Run<I>, is_over: bool, now: Timestamp) {
        let mut jobs = self.0.lock();
        let Some(standing) = jobs.get_mut(&job) else { return };
        if !is_over {
            standing.run = Some(run);
            return;
        }
        standing.is_running = false;
        standing.note(run, now);
    }
}

impl<I: Io> Standing<I> {
    /// A new run, if it is time for one: over all namespaces, or over those left out that are in memory now.
    fn due(&mut self, engine: &EngineOver<I>, job: Job, now: Timestamp) -> Option<Run<I>> {
        let schedule = self.schedule.as_ref()?;
        if self.next.is_some_and(|next| next <= now) {
            self.next = schedule.next_after(now);
            self.left_out.clear();
            let names = engine.namespaces.after(None).iter().map(|cell| cell.name.clone()).collect();
            return Some(Run::new(job, names, now));
        }
        if self.left_out.is_empty() || now < self.look_at {
            return None;
        }
        self.look_at = now.plus_ms(LOOK_EVERY_MS);
        let is_loaded = |name: &Namespace| engine.namespaces.get(name).is_none_or(|cell| cell.is_loaded());
        let names: Vec<Namespace> = self.left_out.iter().filter(|name| is_loaded(name)).cloned().collect();
        self.left_out.retain(|name| !names.contains(name));
        (!names.is_empty()).then(|| Run::new(job, names.into(), now))
    }

    fn note(&mut self, mut run: Run<I>, now: Timestamp) {
        run.report.ended_at = Some(now);
        let report = &run.report;
        let (job, memories, namespaces) = (report.job, report.changed(), report.namespaces);
        tracing::info!(%job, memories, namespaces, left_out = run.left_out.len(), counts = ?report.counts, "a job is done");
        for hint in &report.hints {
            tracing::info!(%job, "{hint}");
        }
        for error in &report.errors {
            tracing::warn!(%job, "{error}");
        }
        self.left_out.append(&mut run.left_out);
        self.last = Some(run.report);
    }
}

impl<I: Io> EngineOver<I> {
    /// Makes one step of a job that is under way or due. Returns whether there was one; then it is to be called again soon.
    pub fn job_step(&self) -> bool {
        let at = now(&*self.io);
        if self.storage.poison().is_some() {
            return false;
        }
        let Some((job, mut run)) = self.jobs.take(self, at) else { return false };
        let is_over = run.step(self);
        self.jobs.give_back(job, run, is_over, now(&*self.io));
        true
    }

    /// Runs a job to its end, now: in one namespace, or in all that are in memory. A dry run counts what it would do.
    ///
    /// # Errors
    /// When the namespace is unknown or can't be loaded. What fails within a namespace stands in the report.
    pub fn run_job(
        &self,
        job: Job,
        namespace: Option<&Namespace>,
        is_dry: bool,
    ) -> Result<Unsynced<JobReport, I>, EngineError> {
        let names = match namespace {
            Some(name) => {
                let unknown = || EngineError::NamespaceNotFound { namespace: name.clone() };
                self.loaded(name)?.ok_or_else(unknown)?;
                [name.clone()].into()
            }
            None => self.namespaces.after(None).iter().map(|cell| cell.name.clone()).collect(),
        };
        let mut run = Run::new(job, names, now(&*self.io));
        run.report.is_dry = is_dry;
        while !run.step(self) {}
        run.report.ended_at = Some(now(&*self.io));
        let left_out = run.left_out.len();
        if left_out > 0 {
            run.report.hint(format!(
                "{left_out} namespaces are not in memory and were left out: their turn comes when they are touched, or when they are named"
            ));
        }
        let report = run.report.clone();
        if !is_dry && let Some(standing) = self.jobs.0.lock().get_mut(&job) {
            standing.note(run, now(&*self.io));
        }
        Ok(self.unsynced(report, self.storage.log().newest_lsn()))
    }

    /// All jobs, and how they stand.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobStatus> {
        let jobs = self.jobs.0.lock();
        let status = |(job, standing): (&Job, &Standing<I>)| JobStatus {
            job: *job,
            schedule: standing.schedule.as_ref().map(Schedule::shown),
            next_run_at: standing.next,
            is_running: standing.is_running,
            last: standing.last.clone(),
        };
        jobs.iter().map(status).collect()
    }
}
