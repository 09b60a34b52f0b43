//! Making rules of what episodes agree on (L5), by night.

use std::sync::Arc;

use hindsight_core::{JobReport, RuleChange, Timestamp};
use hindsight_storage::io::Io;

use super::{Progress, Work};
use crate::consolidate::Consolidation;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;

/// The way through one namespace.
#[derive(Default)]
pub(super) struct Consolidate(Option<Consolidation>);

impl<I: Io> Work<I> for Consolidate {
    fn step(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Arc<Cell>,
        _now: Timestamp,
        report: &mut JobReport,
    ) -> Result<Progress, EngineError> {
        let tuning = || engine.rule_tuning_of(&cell.state.read());
        let begun = || Consolidation::new(tuning(), report.is_dry, None);
        let run = self.0.get_or_insert_with(begun);
        if run.step(engine, cell)? {
            return Ok(Progress::More);
        }
        for (change, count) in [
            (RuleChange::Created, run.done.created),
            (RuleChange::Revised, run.done.revised),
            (RuleChange::Replaced, run.done.replaced),
        ] {
            report.count(change.as_str(), count);
        }
        Ok(Progress::Done)
    }
}
