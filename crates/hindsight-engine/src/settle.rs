//! What becomes true again must not stand beside what contradicts it: a property that has one value at a time keeps one
//! (W7), also when a memory is restored or a replacement is taken back and another value was learned meanwhile.

use std::sync::Arc;

use hindsight_core::change::Standing;
use hindsight_core::likeness::Marks;
use hindsight_core::{Change, Memory, MemoryId, Record, State, Timestamp, learn};

use crate::encounter::{Encounter, Overlay};
use crate::options::Nearness;
use crate::state::NamespaceState;

/// Who gives way where a memory that becomes true again contradicts one that is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wins {
    /// The memory that holds from later on, as with a new memory.
    Later,
    /// The one that becomes true again: somebody has decided so.
    Risen,
}

/// The same changes, with what has to give way to the memories that they make active, and with those of these as history
/// that have to give way themselves. Those that were decided stay in their order; what is added stands behind them.
pub(crate) fn settled(
    state: &NamespaceState,
    changes: Vec<Change>,
    wins: Wins,
    nearness: &Nearness,
    at: Timestamp,
) -> Vec<Change> {
    let mut settling =
        Settling { overlay: Overlay::new(state), risen: Vec::new(), wins, at, added: Vec::new() };
    let with_after = |change: Change| {
        let after = settling.after(&change);
        (change, after)
    };
    let mut changes: Vec<(Change, Option<Record>)> = changes.into_iter().map(with_after).collect();
    for (_, after) in &changes {
        if let Some(record) = after.as_ref().filter(|record| record.memory.state != State::Active) {
            settling.overlay.note(Arc::new(record.clone()), &Marks::default());
        }
    }
    let mut rising: Vec<usize> = (0..changes.len()).filter(|at| is_rising(changes.get(*at))).collect();
    // The one that holds from later on comes first, so that the others find it there.
    rising.sort_by_key(|index| {
        let memory = changes.get(*index).and_then(|(_, after)| after.as_ref()).map(|record| &record.memory);
        std::cmp::Reverse(memory.map(|memory| (learn::holds_from(memory), memory.created_at, memory.id)))
    });
    for index in rising {
        let Some((change, Some(record))) = changes.get_mut(index) else { continue };
        if let Some(standing) = settling.rise(record, nearness) {
            *change = Change::Stand {
                id: record.memory.id,
                standing: Box::new(standing),
                version: record.memory.version,
                at,
            };
        }
    }
    let mut all: Vec<Change> = changes.into_iter().map(|(change, _)| change).collect();
    all.append(&mut settling.added);
    all
}

fn is_rising(change: Option<&(Change, Option<Record>)>) -> bool {
    change.and_then(|(_, after)| after.as_ref()).is_some_and(|record| record.memory.state == State::Active)
}

struct Settling<'a> {
    overlay: Overlay<'a>,
    /// Memories that became active so far.
    risen: Vec<MemoryId>,
    wins: Wins,
    at: Timestamp,
    added: Vec<Change>,
}

impl Settling<'_> {
    /// The memory of a change as it is afterwards; of those that rollbacks and restores make.
    fn after(&self, change: &Change) -> Option<Record> {
        let mut record = Record::clone(self.overlay.record(change.id()?)?);
        match change {
            Change::SetState { state, version, at, .. } => {
                record.memory.state = *state;
                (record.memory.version, record.memory.updated_at) = (*version, *at);
            }
            Change::Stand { standing, version, at, .. } => {
                Standing::clone(standing).give_to(&mut record.memory);
                (record.memory.version, record.memory.updated_at) = (*version, *at);
            }
            _ => return None,
        }
        Some(record)
    }

    /// Makes a memory active, and what has to give way to it history; or says how it stands as history itself.
    fn rise(&mut self, record: &Record, nearness: &Nearness) -> Option<Standing> {
        let memory = &record.memory;
        let thresholds = nearness.of(memory.embedding_model.as_deref());
        let mut encounter = Encounter::default();
        if memory.is_valid_at(self.at) && !memory.is_expired_at(self.at) {
            encounter = self.overlay.meet(record, thresholds, false, self.at);
        }
        if let Some(successor) =
            encounter.contradicted().filter(|other| self.yields_to(memory, other)).max_by_key(later)
        {
            let standing = learn::superseded(memory, successor, learn::holds_from(successor));
            let mut yielded = record.clone();
            standing.clone().give_to(&mut yielded.memory);
            self.overlay.note(Arc::new(yielded), &Marks::default());
            return Some(standing);
        }
        let others: Vec<(MemoryId, Standing)> = encounter
            .contradicted()
            .map(|other| match self.wins {
                Wins::Later => (other.id, learn::superseded(other, memory, self.at)),
                Wins::Risen => (other.id, learn::invalidated(other, memory.id, self.at)),
            })
            .collect();
        for (id, standing) in others {
            self.added.extend(self.overlay.stand(id, standing, self.at));
        }
        self.overlay.note(Arc::new(record.clone()), &encounter.marks);
        self.risen.push(memory.id);
        None
    }

    fn yields_to(&self, memory: &Memory, other: &Memory) -> bool {
        let is_later = learn::holds_from(other) >= learn::holds_from(memory);
        is_later && (self.wins == Wins::Later || self.risen.contains(&other.id))
    }
}

fn later(memory: &&Memory) -> (Timestamp, MemoryId) {
    (learn::holds_from(memory), memory.id)
}
