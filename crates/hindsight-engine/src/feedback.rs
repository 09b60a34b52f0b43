//! What agents say of what they were given (L1, R16), and how often memories were returned (M5).

use std::collections::{BTreeMap, HashMap, VecDeque};

use hindsight_core::consolidate::{RuleTuning, after_feedback};
use hindsight_core::limits::{ACCESSES_MAX, FEEDBACK_ITEMS_MAX, RECALL_TTL_MS, RECALLS_MAX};
use hindsight_core::{
    Batch, Change, Invalid, Memory, MemoryId, Namespace, RecallId, Recalled, Record, State, Timestamp,
    Verdict, learn,
};
use hindsight_storage::Storage;
use hindsight_storage::io::Io;
use parking_lot::Mutex;

use crate::decide::{next_time, now};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::{Cell, Namespaces};
use crate::reply::Judged;
use crate::request::FeedbackRequest;
use crate::requests::key;
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;

/// The newest recalls, by id: what feedback may name. They are in memory alone and end with the process.
#[derive(Debug, Default)]
pub(crate) struct Recalls {
    known: HashMap<RecallId, Returned>,
    order: VecDeque<RecallId>,
}

#[derive(Debug)]
struct Returned {
    namespace: Namespace,
    hits: Vec<MemoryId>,
    at_ms: u64,
}

impl Recalls {
    fn remember(&mut self, id: RecallId, returned: Returned) {
        let is_over = |known: &Returned| known.at_ms.saturating_add(RECALL_TTL_MS) < returned.at_ms;
        while let Some(oldest) = self.order.front() {
            if self.order.len() < RECALLS_MAX && !self.known.get(oldest).is_some_and(is_over) {
                break;
            }
            self.known.remove(oldest);
            self.order.pop_front();
        }
        self.order.push_back(id);
        self.known.insert(id, returned);
    }

    /// The hits of a recall of this namespace. One of another namespace is unknown here.
    fn hits(&self, id: RecallId, namespace: &Namespace, now_ms: u64) -> Option<&[MemoryId]> {
        let returned = self.known.get(&id).filter(|returned| returned.namespace == *namespace)?;
        (returned.at_ms.saturating_add(RECALL_TTL_MS) >= now_ms).then_some(&returned.hits)
    }
}

/// How often memories were returned since that was last logged, and when the last time.
pub(crate) type Accesses = BTreeMap<MemoryId, (u32, Timestamp)>;

impl<I: Io> EngineOver<I> {
    /// Notes what a recall returned, and gives the answer its id. Nothing is logged for it yet: counts are gathered.
    pub(crate) fn returned(&self, cell: &Cell, recalled: &mut Recalled) -> Result<(), EngineError> {
        if recalled.hits.is_empty() {
            return Ok(());
        }
        let at = now(&*self.io);
        let id = RecallId::new(at, u128::from(self.io.random()?) << 64 | u128::from(self.io.random()?));
        let hits: Vec<MemoryId> = recalled.hits.iter().map(|hit| hit.memory.id).collect();
        let mut accesses = cell.accesses.lock();
        for hit in &hits {
            // Beyond that, counts of what is new are lost until the others are logged.
            if accesses.len() < ACCESSES_MAX || accesses.contains_key(hit) {
                let (count, last) = accesses.entry(*hit).or_insert((0, at));
                (*count, *last) = (count.saturating_add(1), at.max(*last));
            }
        }
        drop(accesses);
        let returned = Returned { namespace: cell.name.clone(), hits, at_ms: self.io.now_ms() };
        self.recalls.lock().remember(id, returned);
        recalled.recall_id = Some(id);
        Ok(())
    }

    /// Logs how often memories were returned, without waiting for a sync; the engine does this by itself every few
    /// seconds and at a clean stop. What a crash takes of it is only counts.
    ///
    /// # Errors
    /// When the log fails.
    pub fn log_accesses(&self) -> Result<(), EngineError> {
        log_accesses(&*self.io, &self.storage, &self.namespaces)
    }

    /// Takes in what became of what a recall returned. What was used counts as used, and as helpful or not by how the
    /// task ended; what is wrong loses confidence; what is outdated is not valid any more.
    ///
    /// # Errors
    /// When the recall is unknown in this namespace, a memory was not among its hits, is named twice or unknown, or the
    /// log fails.
    pub fn feedback(
        &self,
        namespace: &Namespace,
        feedback: FeedbackRequest,
    ) -> Result<Unsynced<Judged, I>, EngineError> {
        let recall = feedback.recall_id.map(|id| id.to_string());
        let asked = (&recall, &feedback.items, feedback.task_status);
        let request = key(feedback.request_id.as_deref(), "feedback", &asked)?;
        check(&feedback)?;
        let first = feedback.items.first().map_or(MemoryId::from_u128(0), |(id, _)| *id);
        let cell = self.existing(namespace, first)?;
        let _writer = cell.lock_writer();
        let seen = cell.state.read().requests.seen(request.as_ref())?.cloned();
        if let Some(seen) = seen {
            let state = cell.state.read();
            let judged = Judged { memories: present(&state, &seen.ids), replayed: true, revision: seen.lsn };
            return Ok(self.answer(&state, judged, state.applied));
        }
        if let Some(id) = feedback.recall_id {
            self.check_hits(id, namespace, &feedback.items)?;
        }
        let (changes, at) = {
            let state = cell.state.read();
            let at = next_time(&*self.io, &state);
            (judged(&state, namespace, &feedback, &self.rule_tuning_of(&state), at)?, at)
        };
        let ids: Vec<MemoryId> = changes.iter().filter_map(Change::id).collect();
        let revision = if changes.is_empty() {
            cell.state.read().applied
        } else {
            self.commit(&cell, Batch { namespace: namespace.clone(), at, request, changes })?
        };
        let memories = present(&cell.state.read(), &ids);
        Ok(self.answer_of(&cell, Judged { memories, replayed: false, revision }, revision))
    }

    fn check_hits(
        &self,
        id: RecallId,
        namespace: &Namespace,
        items: &[(MemoryId, Verdict)],
    ) -> Result<(), EngineError> {
        let recalls = self.recalls.lock();
        let Some(hits) = recalls.hits(id, namespace, self.io.now_ms()) else {
            return Err(EngineError::RecallNotFound { namespace: namespace.clone(), id });
        };
        match items.iter().position(|(item, _)| !hits.contains(item)) {
            None => Ok(()),
            Some(at) => {
                let problem = format!("is none of the {} memories that {id} returned", hits.len());
                Err(Invalid::one(format!("items[{at}].memory_id"), problem).into())
            }
        }
    }
}

fn check(feedback: &FeedbackRequest) -> Result<(), Invalid> {
    let count = feedback.items.len();
    if !(1..=FEEDBACK_ITEMS_MAX).contains(&count) {
        let problem =
            format!("has {count} memories: expected 1 to {FEEDBACK_ITEMS_MAX}, each with what became of it");
        return Err(Invalid::one("items", problem));
    }
    for (at, (id, _)) in feedback.items.iter().enumerate() {
        if feedback.items.iter().take(at).any(|(other, _)| other == id) {
            return Err(Invalid::one(
                format!("items[{at}].memory_id"),
                "is named twice: give one verdict a memory",
            ));
        }
    }
    Ok(())
}

fn judged(
    state: &NamespaceState,
    namespace: &Namespace,
    feedback: &FeedbackRequest,
    tuning: &RuleTuning,
    at: Timestamp,
) -> Result<Vec<Change>, EngineError> {
    let mut changes = Vec::new();
    for (id, verdict) in &feedback.items {
        let record = state.record(*id).filter(|record| record.memory.state != State::Forgotten);
        let unknown = || EngineError::MemoryNotFound { namespace: namespace.clone(), id: *id };
        let record = record.ok_or_else(unknown)?;
        let memory = &record.memory;
        let Some(standing) = learn::judged(memory, *verdict, feedback.task_status, at) else { continue };
        // A rule may also enter another state by it: that is more than a standing.
        let (standing, entered) =
            after_feedback(memory, standing, (*verdict, feedback.task_status), at, tuning);
        changes.push(match entered {
            Some(memory) => Change::Put(Box::new(Record { memory, vectors: record.vectors.clone() })),
            None => {
                let version = memory.version + 1;
                Change::Stand { id: *id, standing: Box::new(standing), version, at }
            }
        });
    }
    Ok(changes)
}

fn present(state: &NamespaceState, ids: &[MemoryId]) -> Vec<Memory> {
    ids.iter().filter_map(|id| state.record(*id)).map(|record| record.memory.clone()).collect()
}

/// Logs the gathered counts of every namespace.
///
/// # Errors
/// When the log fails.
pub(crate) fn log_accesses<I: Io>(
    io: &I,
    storage: &Storage<std::sync::Arc<I>>,
    namespaces: &Namespaces,
) -> Result<(), EngineError> {
    for cell in namespaces.after(None) {
        if cell.accesses.lock().is_empty() {
            continue;
        }
        let _writer = cell.lock_writer();
        let gathered = std::mem::take(&mut *cell.accesses.lock());
        let (changes, at) = {
            let state = cell.state.read();
            let is_there = |id: &MemoryId| {
                state.record(*id).is_some_and(|record| record.memory.state != State::Forgotten)
            };
            let counted = gathered.iter().filter(|(id, _)| is_there(id));
            let access = |(id, (count, at)): (&MemoryId, &(u32, Timestamp))| Change::Access {
                id: *id,
                count: *count,
                at: *at,
            };
            let changes: Vec<Change> = counted.map(access).collect();
            (changes, next_time(io, &state))
        };
        if !changes.is_empty() {
            let batch = Batch { namespace: cell.name.clone(), at, request: None, changes };
            let lsn = storage.append(&batch).inspect_err(|_| give_back(&cell, gathered))?;
            crate::apply::apply(&mut cell.state.write(), lsn, batch)?;
        }
    }
    Ok(())
}

/// Counts that found no place in the log, because the disk is full, wait for the next time.
fn give_back(cell: &Cell, gathered: Accesses) {
    let mut accesses = cell.accesses.lock();
    for (id, (count, at)) in gathered {
        let (sum, last) = accesses.entry(id).or_insert((0, at));
        (*sum, *last) = (sum.saturating_add(count), at.max(*last));
    }
}

/// Recalls that feedback may name.
pub(crate) type SharedRecalls = Mutex<Recalls>;
