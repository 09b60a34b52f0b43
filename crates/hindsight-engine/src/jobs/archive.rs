//! Archiving what is past its time, and what is one episode too many (L2, L7).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use hindsight_core::{
    ArchiveReason, Batch, Change, JobReport, Life, Memory, MemoryId, State, Timestamp, life,
};
use hindsight_storage::io::Io;

use super::{Progress, Work};
use crate::decide::next_time;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::state::NamespaceState;

/// Memories that one step looks at.
const SEEN_MAX: usize = 4_096;
/// Memories that one step archives: each is taken out of one set of indexes and put into another.
const ARCHIVED_MAX: usize = 32;

/// What is to be archived, and why.
type Due = Vec<(MemoryId, ArchiveReason)>;

/// The way through one namespace.
#[derive(Debug, Default)]
pub(super) struct Archive {
    /// The last memory that was looked at.
    after: Option<MemoryId>,
    /// By task type the episodes that stay as far as their own time goes, with what they are worth.
    episodes: BTreeMap<String, Vec<(f64, MemoryId)>>,
    /// Once all were looked at: the episodes beyond the caps, the least valuable last.
    beyond: Option<Due>,
}

impl<I: Io> Work<I> for Archive {
    fn step(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Arc<Cell>,
        now: Timestamp,
        report: &mut JobReport,
    ) -> Result<Progress, EngineError> {
        let life = engine.life_of(cell);
        let (due, progress) = match &mut self.beyond {
            Some(beyond) => {
                let due = beyond.split_off(beyond.len().saturating_sub(ARCHIVED_MAX));
                let progress = if beyond.is_empty() { Progress::Done } else { Progress::More };
                (due, progress)
            }
            None => (self.look(cell, &life, now, report), Progress::More),
        };
        if report.is_dry {
            due.iter().for_each(|(_, reason)| report.count(reason.as_str(), 1));
        } else if !due.is_empty() {
            archive(engine, cell, &due, &life, now, report)?;
        }
        Ok(progress)
    }
}

impl Archive {
    /// Looks at the next memories. Returns those whose own time is over.
    fn look(&mut self, cell: &Cell, life: &Life, now: Timestamp, report: &mut JobReport) -> Due {
        let mut due = Due::new();
        let mut seen = 0;
        let state = cell.state.read();
        let from = self.after.map_or(Bound::Unbounded, Bound::Excluded);
        for (id, held) in state.records.range((from, Bound::Unbounded)).take(SEEN_MAX) {
            let memory = &held.record.memory;
            (seen, self.after) = (seen + 1, Some(*id));
            if let Some(reason) = life::archive_reason(memory, life, now) {
                due.push((*id, reason));
            } else if let Some(task_type) =
                memory.task_type.as_ref().filter(|_| life::counts_against_cap(memory))
            {
                let episodes = self.episodes.entry(task_type.clone()).or_default();
                episodes.push((life::value(memory, now), *id));
            }
            if due.len() == ARCHIVED_MAX {
                return due;
            }
        }
        drop(state);
        if seen < SEEN_MAX {
            self.beyond = Some(self.beyond_caps(cell, life, report));
        }
        due
    }

    /// The episodes beyond the cap of their task type: the least valuable ones, of equals the older.
    fn beyond_caps(&mut self, cell: &Cell, life: &Life, report: &mut JobReport) -> Due {
        let cap = usize::try_from(life.episodes_per_task_type).unwrap_or(usize::MAX);
        let mut all = Due::new();
        for (task_type, mut episodes) in std::mem::take(&mut self.episodes) {
            let found = episodes.len();
            if cap == 0 || found <= cap {
                continue;
            }
            episodes.sort_by(|(a, older), (b, newer)| a.total_cmp(b).then(older.cmp(newer)));
            episodes.truncate(found - cap);
            all.extend(episodes.into_iter().map(|(_, id)| (id, ArchiveReason::BeyondCap)));
            let (name, beyond) = (&cell.name, found - cap);
            report.hint(format!(
                "namespace {name}: task type {task_type:?} has {found} episodes, {beyond} beyond its cap of {cap}: consolidate them into rules"
            ));
        }
        all.reverse();
        all
    }
}

/// Archives what is still to be archived now that nobody else writes.
fn archive<I: Io>(
    engine: &EngineOver<I>,
    cell: &Cell,
    due: &Due,
    life: &Life,
    now: Timestamp,
    report: &mut JobReport,
) -> Result<(), EngineError> {
    let _writer = cell.lock_writer();
    // What was returned a moment ago and is not logged counts, too.
    let returned: Vec<MemoryId> = cell.accesses.lock().keys().copied().collect();
    let (at, changes, reasons) = {
        let state = cell.state.read();
        let at = next_time(&*engine.io, &state);
        let is_due = |id: &MemoryId, reason: ArchiveReason| {
            let memory = memory_of(&state, *id)?;
            let holds = match reason {
                ArchiveReason::BeyondCap => life::counts_against_cap(memory),
                ArchiveReason::NeverRecalled if returned.binary_search(id).is_ok() => false,
                _ => life::archive_reason(memory, life, now) == Some(reason),
            };
            holds.then_some(memory.version + 1)
        };
        let held: Vec<_> = due
            .iter()
            .filter_map(|(id, reason)| {
                let version = is_due(id, *reason)?;
                Some((Change::SetState { id: *id, state: State::Archived, version, at }, *reason))
            })
            .collect();
        let (changes, reasons): (Vec<Change>, Vec<ArchiveReason>) = held.into_iter().unzip();
        (at, changes, reasons)
    };
    if changes.is_empty() {
        return Ok(());
    }
    engine.commit(cell, Batch { namespace: cell.name.clone(), at, request: None, changes })?;
    reasons.into_iter().for_each(|reason| report.count(reason.as_str(), 1));
    Ok(())
}

fn memory_of(state: &NamespaceState, id: MemoryId) -> Option<&Memory> {
    state.record(id).map(|record| &record.memory)
}
