//! Purging what was forgotten longer ago than it can be restored (L3). The bytes are erased by the engine's thread.

use std::sync::Arc;

use hindsight_core::{JobReport, Timestamp};
use hindsight_storage::io::Io;

use super::{Progress, Work};
use crate::engine::EngineOver;
use crate::erase::{forgotten_before, may_have_expired, purge_forgotten};
use crate::error::EngineError;
use crate::namespaces::Cell;

/// One batch takes all of a namespace: each batch of a purge rewrites its record files.
#[derive(Debug)]
pub(super) struct PurgeForgotten;

impl<I: Io> Work<I> for PurgeForgotten {
    fn step(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Arc<Cell>,
        now: Timestamp,
        report: &mut JobReport,
    ) -> Result<Progress, EngineError> {
        if let Some(cutoff) = engine.life_of(cell).forgotten_before(now) {
            let count = if report.is_dry {
                forgotten_before(&cell.state.read(), cutoff).len() as u64
            } else {
                purge_forgotten(engine, cell, cutoff)?
            };
            report.count("purged", count);
        }
        Ok(Progress::Done)
    }
}

/// Whether a namespace that is not in memory holds what is to be purged.
pub(super) fn wakes<I: Io>(engine: &EngineOver<I>, cell: &Cell, now: Timestamp) -> Result<bool, EngineError> {
    match engine.life_of(cell).forgotten_before(now) {
        Some(cutoff) => may_have_expired(&engine.storage, cell, cutoff),
        None => Ok(false),
    }
}
