//! Deciding what becomes of one new memory: stored, or confirmed by it, or refused; and what it replaces.

use std::sync::Arc;

use hindsight_core::change::Standing;
use hindsight_core::draft::{Checked, Moment};
use hindsight_core::likeness::{Marks, rendered_ids};
use hindsight_core::limits::RECALL_TTL_MS;
use hindsight_core::{
    Change, Memory, MemoryId, Neighbor, OnDuplicate, Outcome, Record, Relation, SourceKind, State, Timestamp,
    learn,
};
use hindsight_storage::io::Io;

use crate::decide::{CheckedVectors, check_vectors, fresh_id};
use crate::encounter::{Encounter, Overlay};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::Model;
use crate::request::WriteItem;

/// An item that is right in itself; what the namespace says to it comes next.
pub(crate) struct Ready {
    pub(crate) draft: Checked,
    pub(crate) vectors: CheckedVectors,
}

/// What the caller wishes of what a new memory may meet.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wish {
    /// What happens when the same is known.
    pub(crate) on_duplicate: Option<OnDuplicate>,
    /// It is stored though what it says was forgotten.
    pub(crate) allow_forgotten: bool,
}

/// What the items before have taken within one batch.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The newest id that the database chose itself.
    last: Option<MemoryId>,
    model: Option<Model>,
}

/// What becomes of one item.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) outcome: Outcome,
    pub(crate) memory: Memory,
    pub(crate) neighbors: Vec<Neighbor>,
    /// The change of the memory itself; none where nothing is to be stored.
    pub(crate) own: Option<Change>,
    /// Changes of others: what is replaced or outlived.
    pub(crate) others: Vec<Change>,
    /// The marks that a new memory is held under.
    pub(crate) held: Option<Vec<u32>>,
}

impl Ready {
    pub(crate) fn of(item: WriteItem) -> Result<Ready, EngineError> {
        let draft = item.draft.check()?;
        let vectors = check_vectors(item.vectors.as_ref())?;
        Ok(Ready { draft, vectors })
    }
}

impl<I: Io> EngineOver<I> {
    /// Decides everything about one new memory, in the order of W3: it fits, is it known, what does it contradict.
    pub(crate) fn decide(
        &self,
        cell: &Cell,
        overlay: &mut Overlay<'_>,
        ready: Ready,
        pending: &mut Pending,
        wish: Wish,
        at: Timestamp,
    ) -> Result<Decided, EngineError> {
        let Ready { draft, vectors } = ready;
        let Wish { on_duplicate, allow_forgotten } = wish;
        vectors.fit(&cell.name, overlay.state(), pending.model.as_ref())?;
        let chosen = draft.id();
        if let Some(id) = chosen.filter(|id| overlay.record(*id).is_some()) {
            return Err(EngineError::MemoryExists { id });
        }
        let id = match chosen {
            Some(id) => id,
            None => self.next_id(overlay, pending.last, at)?,
        };
        let model = vectors.as_model();
        let moment = Moment { namespace: cell.name.clone(), id, now: at, embedding_model: vectors.model };
        let record = Record { memory: draft.into_memory(moment), vectors: vectors.vectors };
        // Whoever names the id wants a memory under it: an import keeps its ids.
        let looks_for_same =
            on_duplicate != Some(OnDuplicate::Allow) && (chosen.is_none() || on_duplicate.is_some());
        let thresholds = self.nearness.of(&record.memory, overlay.state());
        let encounter = overlay.meet(&record, thresholds, looks_for_same, at);
        if wish.on_duplicate.is_none()
            && chosen.is_none()
            && let Some(known) = echo_of(cell, overlay, &record.memory, &encounter, at)
        {
            let (outcome, memory) = (Outcome::Echoed, known.memory.clone());
            let (neighbors, others) = (Vec::new(), Vec::new());
            return Ok(Decided { outcome, memory, neighbors, own: None, others, held: None });
        }
        let decided = match &encounter.same {
            Some((known, _)) if on_duplicate == Some(OnDuplicate::Reject) => {
                return Err(EngineError::DuplicateOf { id: known.memory.id });
            }
            Some((known, _)) => confirm(overlay, known, &record, at),
            None => {
                if !allow_forgotten {
                    self.refuse_forgotten(&cell.name, overlay, &record.memory, None, at)?;
                }
                pending.last = if chosen.is_none() { Some(id) } else { pending.last };
                create(overlay, record, encounter, at)
            }
        };
        pending.model = pending.model.take().or(model);
        Ok(decided)
    }

    fn next_id(
        &self,
        overlay: &Overlay<'_>,
        last: Option<MemoryId>,
        at: Timestamp,
    ) -> Result<MemoryId, EngineError> {
        let mut id = fresh_id(&*self.io, overlay.state(), last, at)?;
        while overlay.record(id).is_some() {
            id = fresh_id(&*self.io, overlay.state(), Some(id), at)?;
        }
        Ok(id)
    }
}

/// The known memory becomes surer; vectors that it lacks are taken over.
fn confirm(overlay: &mut Overlay<'_>, known: &Record, new: &Record, at: Timestamp) -> Decided {
    let mut memory = learn::reinforced(&known.memory, &new.memory, at);
    let mut vectors = known.vectors.clone();
    if vectors.is_empty() {
        vectors.clone_from(&new.vectors);
        memory.embedding_model.clone_from(&new.memory.embedding_model);
    }
    let record = Record { memory, vectors };
    let memory = record.memory.clone();
    overlay.note(Arc::new(record.clone()), &Marks::default());
    let others = outlive(overlay, &memory, at);
    Decided {
        outcome: Outcome::Reinforced,
        memory,
        neighbors: Vec::new(),
        own: Some(Change::Put(Box::new(record))),
        others,
        held: None,
    }
}

/// The memory that a recall gave out within the last day and that an agent now says again, as it was or as it was shown:
/// that confirms nothing.
fn echo_of(
    cell: &Cell,
    overlay: &Overlay<'_>,
    new: &Memory,
    encounter: &Encounter,
    at: Timestamp,
) -> Option<Arc<Record>> {
    let is_agent =
        matches!(new.source.kind, SourceKind::Agent | SourceKind::AgentVerified | SourceKind::Tool);
    if !is_agent {
        return None;
    }
    let shown = |ids: Vec<MemoryId>| {
        let is_known = |record: &&Arc<Record>| {
            let memory = &record.memory;
            memory.state != State::Forgotten && memory.is_visible_to(new.agent_id.as_deref())
        };
        let known: Option<Vec<&Arc<Record>>> =
            ids.iter().map(|id| overlay.record(*id).filter(is_known)).collect();
        known?.first().map(|record| Arc::clone(record))
    };
    let same = encounter.same.as_ref().map(|(known, _)| Arc::clone(known));
    let known = same.or_else(|| shown(rendered_ids(&new.content)))?;
    let since = at.plus_ms(-i64::try_from(RECALL_TTL_MS).unwrap_or(i64::MAX));
    let is_logged = known.memory.usage.last_accessed_at.is_some_and(|last| last >= since);
    (is_logged || cell.accesses.lock().contains_key(&known.memory.id)).then_some(known)
}

/// A new memory; what it replaces becomes history, or it does, when it holds for an earlier time. Of two that are not true at
/// the same time yet the earlier one ends when the later one begins.
fn create(overlay: &mut Overlay<'_>, mut record: Record, encounter: Encounter, at: Timestamp) -> Decided {
    let mut neighbors = encounter.neighbors();
    let mut others = Vec::new();
    let mut outcome = Outcome::Created;
    if let Some(successor) = encounter.successor(&record.memory, at) {
        let begins = learn::holds_from(successor);
        learn::superseded(&record.memory, successor, begins).give_to(&mut record.memory);
        // It was never valid beside them, so it replaces nothing.
        for neighbor in neighbors.iter_mut().filter(|neighbor| neighbor.relation == Relation::Superseded) {
            neighbor.relation = Relation::Conflict;
        }
    } else {
        let replaced: Vec<(MemoryId, Standing)> = encounter
            .replaced()
            .map(|older| (older.id, learn::replaced(older, &record.memory, at)))
            .collect();
        if let Some(heir) = encounter.heir(&record.memory, at) {
            learn::ending(&record.memory, heir, at).give_to(&mut record.memory);
        }
        if !replaced.is_empty() {
            outcome = Outcome::Superseded;
        }
        others.extend(replaced.into_iter().filter_map(|(id, standing)| overlay.stand(id, standing, at)));
    }
    others.extend(outlive(overlay, &record.memory, at));
    let memory = record.memory.clone();
    overlay.note_new(&record, &encounter.marks);
    let held = Some(encounter.marks.held);
    Decided { outcome, memory, neighbors, own: Some(Change::Put(Box::new(record))), others, held }
}

/// Failures of the same kind that a success shows to be overcome (W8).
fn outlive(overlay: &mut Overlay<'_>, memory: &Memory, at: Timestamp) -> Vec<Change> {
    let outlived = overlay.outlived(memory);
    outlived.into_iter().filter_map(|(id, standing)| overlay.stand(id, standing, at)).collect()
}
