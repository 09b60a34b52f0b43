//! One run of a job, over its namespaces.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use hindsight_core::{Job, JobReport, Namespace, Timestamp};
use hindsight_storage::io::Io;

use super::{Progress, Work, begin, wakes};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;

/// A namespace, and what is left to do there.
type Place<I> = (Arc<Cell>, Box<dyn Work<I>>);

pub(super) struct Run<I: Io> {
    pub(super) report: JobReport,
    /// Namespaces that were not in memory.
    pub(super) left_out: BTreeSet<Namespace>,
    names: VecDeque<Namespace>,
    /// The namespace that it is in.
    place: Option<Place<I>>,
}

impl<I: Io> Run<I> {
    pub(super) fn new(job: Job, names: VecDeque<Namespace>, now: Timestamp) -> Run<I> {
        let report = JobReport::begun(job, false, now);
        Run { report, left_out: BTreeSet::new(), names, place: None }
    }

    /// A step in the namespace that it is in, or into the next one. Returns whether it is over.
    pub(super) fn step(&mut self, engine: &EngineOver<I>) -> bool {
        let Some((cell, mut work)) = self.place.take() else {
            return match self.names.pop_front() {
                None => true,
                Some(name) => {
                    match self.enter(engine, &name) {
                        Ok(place) => self.place = place,
                        Err(error) => self.report.fail(format!("namespace {name}: {error}")),
                    }
                    self.place.is_none() && self.names.is_empty()
                }
            };
        };
        match work.step(engine, &cell, self.report.started_at, &mut self.report) {
            Ok(Progress::More) => self.place = Some((cell, work)),
            Ok(Progress::Done) => self.report.namespaces += 1,
            Err(error) => self.report.fail(format!("namespace {}: {error}", cell.name)),
        }
        self.place.is_none() && self.names.is_empty()
    }

    /// Nothing where the namespace has gone, or is not in memory and holds nothing for this job.
    fn enter(&mut self, engine: &EngineOver<I>, name: &Namespace) -> Result<Option<Place<I>>, EngineError> {
        let job = self.report.job;
        let Some(cell) = engine.namespaces.get(name).filter(|cell| cell.exists()) else { return Ok(None) };
        if !cell.is_loaded() {
            if !wakes(engine, job, &cell, self.report.started_at)? {
                self.left_out.insert(name.clone());
                return Ok(None);
            }
            engine.namespaces.load_untouched(&cell, engine.storage.records())?;
        }
        Ok(Some((cell, begin(job))))
    }
}
