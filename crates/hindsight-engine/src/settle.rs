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

/// The same changes, with what has to give way to the memories that they make active. Behind those stand the ones that were
/// to become active and have to give way themselves.
pub(crate) fn settled(
    state: &NamespaceState,
    changes: Vec<Change>,
    wins: Wins,
    nearness: &Nearness,
    at: Timestamp,
) -> Vec<Change> {
    let mut settling =
        Settling { overlay: Overlay::new(state), risen: Vec::new(), wins, at, added: Vec::new() };
    let mut kept = Vec::new();
    let mut rising: Vec<(usize, Change, Record)> = Vec::new();
    for (index, change) in changes.into_iter().enumerate() {
        match settling.after(&change) {
            Some(record) if rises(state, &record.memory) => rising.push((index, change, record)),
            after => {
                let after = after.map(Arc::new);
                after.into_iter().for_each(|record| settling.overlay.note(record, &Marks::default()));
                kept.push(change);
            }
        }
    }
    // The one that holds from later on comes first, so that the others find it there.
    rising.sort_by_key(|(_, _, record)| std::cmp::Reverse((later(&record.memory), record.memory.created_at)));
    let (mut risen, mut yielded) = (Vec::new(), Vec::new());
    for (index, change, record) in rising {
        let (id, version) = (record.memory.id, record.memory.version);
        match settling.rise(record, nearness) {
            Risen::Stays => risen.push((index, change)),
            Risen::Ends(standing) => {
                risen.push((index, Change::Stand { id, standing: Box::new(standing), version, at }));
            }
            Risen::Yields(standing) => {
                yielded.push(Change::Stand { id, standing: Box::new(standing), version, at });
            }
        }
    }
    risen.sort_by_key(|(index, _)| *index);
    let mut all: Vec<Change> = risen.into_iter().map(|(_, change)| change).collect();
    all.append(&mut kept);
    all.append(&mut settling.added);
    all.append(&mut yielded);
    all
}

/// Whether a memory becomes active, or true for longer.
fn rises(state: &NamespaceState, after: &Memory) -> bool {
    let before = state.record(after.id).map(|record| &record.memory);
    let was_active = before.filter(|before| before.state == State::Active);
    let is_longer = |before: &Memory| match (before.valid_to, after.valid_to) {
        (Some(before), Some(after)) => before < after,
        (before, None) => before.is_some(),
        (None, Some(_)) => false,
    };
    after.state == State::Active && was_active.is_none_or(is_longer)
}

struct Settling<'a> {
    overlay: Overlay<'a>,
    /// Memories that became active so far.
    risen: Vec<MemoryId>,
    wins: Wins,
    at: Timestamp,
    added: Vec<Change>,
}

/// What becomes of a memory that is to become active.
enum Risen {
    Stays,
    /// It is active until another one begins.
    Ends(Standing),
    /// It is history.
    Yields(Standing),
}

impl Settling<'_> {
    /// The memory of a change as it is afterwards; of those that rollbacks and restores make.
    fn after(&self, change: &Change) -> Option<Record> {
        let mut record = Record::clone(self.overlay.record(change.id()?)?);
        match change {
            Change::SetState { state, version, at, .. } => {
                record.memory.enter(*state);
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
    fn rise(&mut self, mut record: Record, nearness: &Nearness) -> Risen {
        let at = self.at;
        let start = learn::starts(&record.memory, at);
        let thresholds = nearness.of(&record.memory, self.overlay.state());
        let mut encounter = Encounter::default();
        if !learn::is_over(&record.memory, at) {
            encounter = self.overlay.meet(&record, thresholds, false, at);
        }
        let (rivals, others): (Vec<&Memory>, Vec<&Memory>) =
            encounter.contradicted().partition(|other| learn::starts(other, at) == start);
        let memory = &record.memory;
        let successor =
            rivals.iter().filter(|other| self.yields_to(memory, other)).max_by_key(|one| later(one));
        if let Some(successor) = successor {
            let mut standing = learn::superseded(memory, successor, learn::holds_from(successor));
            // What was history already is no less sure for staying it.
            let before = self.overlay.state().record(memory.id).map(|before| &before.memory);
            if let Some(before) = before.filter(|before| before.state == State::Superseded) {
                standing.confidence = before.confidence;
            }
            let mut yielded = record.clone();
            standing.clone().give_to(&mut yielded.memory);
            self.overlay.note(Arc::new(yielded), &Marks::default());
            return Risen::Yields(standing);
        }
        let give_way = |other: &&Memory| match self.wins {
            Wins::Later => (other.id, learn::superseded(other, memory, at)),
            Wins::Risen => (other.id, learn::invalidated(other, memory.id, at)),
        };
        let earlier = others.iter().filter(|other| learn::starts(other, at) < start);
        let ending = earlier.map(|other| (other.id, learn::ending(other, memory, at)));
        let changed: Vec<(MemoryId, Standing)> = rivals.iter().map(give_way).chain(ending).collect();
        let heir = others.iter().filter(|other| learn::starts(other, at) > start);
        let heir = heir.min_by_key(|other| (learn::starts(other, at), other.id));
        let ends = heir.map(|heir| learn::ending(memory, heir, at));
        for (id, standing) in changed {
            self.added.extend(self.overlay.stand(id, standing, at));
        }
        self.risen.push(record.memory.id);
        ends.iter().for_each(|standing| standing.clone().give_to(&mut record.memory));
        self.overlay.note(Arc::new(record), &encounter.marks);
        ends.map_or(Risen::Stays, Risen::Ends)
    }

    fn yields_to(&self, memory: &Memory, other: &Memory) -> bool {
        let is_later = learn::holds_from(other) >= learn::holds_from(memory);
        is_later && (self.wins == Wins::Later || self.risen.contains(&other.id))
    }
}

fn later(memory: &Memory) -> (Timestamp, MemoryId) {
    (learn::holds_from(memory), memory.id)
}
