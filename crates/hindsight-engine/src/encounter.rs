//! What a new memory meets before it is stored: one that says the same, ones that it contradicts, failures that it
//! outlives (W6–W8). It decides; what it decides stands in the batch, and replay repeats that.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hindsight_core::likeness::{
    Conflict, Duplicate, Marks, Thresholds, Value, conflict, duplicate, marks, marks_of_claims, values,
};
use hindsight_core::{
    Change, Embedding, Filter, Kind, Memory, MemoryId, Neighbor, Record, Relation, Scope, State, Status,
    Timestamp, VectorRole, change::Standing, learn,
};

use crate::state::NamespaceState;

/// Of the memories that share one mark with a new one, so many are compared with it, the newest.
const MET_MAX: usize = 64;
/// Most neighbours that a reply names.
const NEIGHBORS_MAX: usize = 16;
/// Most failures whose confidence one success lowers; the newest.
const OUTLIVED_MAX: usize = 16;

/// A namespace as the items of a batch see it: what is stored, and what the items before them made of it.
pub(crate) struct Overlay<'a> {
    state: &'a NamespaceState,
    /// Memories that this batch made or changed, as they are now.
    changed: BTreeMap<MemoryId, Arc<Record>>,
    /// Who of the new ones holds which mark.
    holders: HashMap<u32, Vec<MemoryId>>,
    /// Whether another item may follow.
    is_batch: bool,
}

/// What a new memory met.
#[derive(Debug, Default)]
pub(crate) struct Encounter {
    /// The memory that says the same, and how near it is.
    pub(crate) same: Option<(Arc<Record>, Option<f64>)>,
    /// What it contradicts: reported, and where it is decided, replaced.
    pub(crate) conflicts: Vec<Contradiction>,
    /// Its own marks.
    pub(crate) marks: Marks,
}

/// A contradiction with one memory.
#[derive(Debug)]
pub(crate) struct Contradiction {
    pub(crate) other: Arc<Record>,
    similarity: Option<f64>,
    conflict: Conflict,
    relation: Relation,
}

impl<'a> Overlay<'a> {
    /// For the items of a batch.
    pub(crate) fn new(state: &'a NamespaceState) -> Overlay<'a> {
        Overlay { state, changed: BTreeMap::new(), holders: HashMap::new(), is_batch: true }
    }

    /// For one item, which no other one meets.
    pub(crate) fn of_one(state: &'a NamespaceState) -> Overlay<'a> {
        Overlay { is_batch: false, ..Overlay::new(state) }
    }

    pub(crate) fn state(&self) -> &'a NamespaceState {
        self.state
    }

    /// A memory as it is now, in whatever state.
    pub(crate) fn record(&self, id: MemoryId) -> Option<&Arc<Record>> {
        self.changed.get(&id).or_else(|| self.state.record(id))
    }

    /// Notes a new memory for the items that follow.
    pub(crate) fn note_new(&mut self, record: &Record, marks: &Marks) {
        if self.is_batch {
            self.note(Arc::new(record.clone()), marks);
        }
    }

    /// Notes what an item made of a memory. `marks` are those of a new one.
    pub(crate) fn note(&mut self, record: Arc<Record>, marks: &Marks) {
        let id = record.memory.id;
        self.changed.insert(id, record);
        for mark in &marks.held {
            self.holders.entry(*mark).or_default().push(id);
        }
    }

    /// Gives a memory another standing, as its next version.
    pub(crate) fn stand(&mut self, id: MemoryId, standing: Standing, at: Timestamp) -> Option<Change> {
        let mut record = Record::clone(self.record(id)?);
        let version = record.memory.version + 1;
        standing.clone().give_to(&mut record.memory);
        record.memory.version = version;
        record.memory.updated_at = at;
        self.note(Arc::new(record), &Marks::default());
        Some(Change::Stand { id, standing: Box::new(standing), version, at })
    }

    /// Of these memories the active ones of the same scope that are true at `at` or later, the newest first.
    fn fitting(&self, mut ids: Vec<MemoryId>, new: &Memory, at: Timestamp) -> Vec<&Arc<Record>> {
        ids.sort_unstable();
        ids.dedup();
        let fits = |memory: &Memory| {
            memory.state == State::Active
                && memory.id != new.id
                && !learn::is_over(memory, at)
                && memory.scope == new.scope
                && (memory.scope == Scope::Shared || memory.agent_id == new.agent_id)
        };
        let records = ids.iter().filter_map(|id| self.record(*id));
        let mut met: Vec<&Arc<Record>> = records.filter(|record| fits(&record.memory)).collect();
        met.sort_by_key(|record| std::cmp::Reverse((record.memory.created_at, record.memory.id)));
        met.truncate(MET_MAX);
        met
    }

    fn pending<'b>(&'b self, marks: &'b [u32]) -> impl Iterator<Item = MemoryId> + 'b {
        marks.iter().filter_map(|mark| self.holders.get(mark)).flatten().copied()
    }

    fn same(&self, new: &Memory, marks: &Marks, at: Timestamp) -> Vec<&Arc<Record>> {
        let mut ids = self.state.index.same(marks, MET_MAX);
        ids.extend(self.pending(&marks.same));
        self.fitting(ids, new, at)
    }

    fn met(&self, new: &Memory, marks: &Marks, at: Timestamp) -> Vec<&Arc<Record>> {
        let mut ids = self.state.index.met(marks, MET_MAX);
        ids.extend(self.pending(&marks.sought));
        for group in &marks.rarest {
            let holders: Option<Vec<&Vec<MemoryId>>> =
                group.iter().map(|mark| self.holders.get(mark)).collect();
            let Some(holders) = holders else { continue };
            let Some(fewest) = holders.iter().min_by_key(|holders| holders.len()) else { continue };
            ids.extend(fewest.iter().filter(|id| holders.iter().all(|all| all.contains(id))));
        }
        self.fitting(ids, new, at)
    }

    /// Whether an active memory says this, which the new one says, too.
    pub(crate) fn says(&self, new: &Memory, value: &Value, at: Timestamp) -> bool {
        let met = if value.is_claim {
            self.met(new, &marks_of_claims(new), at)
        } else {
            self.same(new, &marks(new), at)
        };
        met.iter().any(|record| values(&record.memory).contains(value))
    }

    /// Compares a new memory with those that it meets. `looks_for_same` is false where it is to be stored in any case.
    pub(crate) fn meet(
        &self,
        new: &Record,
        thresholds: Thresholds,
        looks_for_same: bool,
        at: Timestamp,
    ) -> Encounter {
        let marks = marks(&new.memory);
        // Marks have nominated it; where a text has no vector, they do so alone.
        let nearness = |similarity: Option<f64>| similarity.unwrap_or(1.0);
        let mut encounter = Encounter::default();
        for other in self.same(&new.memory, &marks, at).into_iter().filter(|_| looks_for_same) {
            let similarity = cosine(other, new);
            let better = encounter.same.as_ref().is_none_or(|(_, best)| similarity > *best);
            let is_same =
                || duplicate(&other.memory, &new.memory, nearness(similarity), thresholds) == Duplicate::Same;
            if better && is_same() {
                encounter.same = Some((Arc::clone(other), similarity));
            }
        }
        // What is known contradicts nothing that it did not contradict before.
        if encounter.same.is_none() {
            for other in self.met(&new.memory, &marks, at) {
                let similarity = cosine(other, new);
                let found = conflict(&other.memory, &new.memory, nearness(similarity), thresholds);
                if let Some(conflict) = found {
                    let relation = relation(&other.memory, &new.memory, &conflict, at);
                    let other = Arc::clone(other);
                    encounter.conflicts.push(Contradiction { other, similarity, conflict, relation });
                }
            }
        }
        Encounter { marks, ..encounter }
    }

    /// Failures that a new success outlives, as they stand afterwards.
    pub(crate) fn outlived(&self, new: &Memory) -> Vec<(MemoryId, Standing)> {
        let (Kind::Episode, Some(Status::Success), Some(task_type)) = (new.kind, new.status, &new.task_type)
        else {
            return Vec::new();
        };
        let tools: Vec<String> =
            new.episode.iter().flat_map(|episode| &episode.actions).map(|a| a.tool.clone()).collect();
        if tools.is_empty() {
            return Vec::new();
        }
        let filter = Filter {
            kinds: vec![Kind::Episode],
            task_types: vec![task_type.clone()],
            statuses: vec![Status::Failure],
            tools,
            to: Some(new.occurred_at),
            ..Filter::default()
        };
        let shelf = self.state.index.active();
        let found = shelf.newest(&shelf.select(&filter, new.occurred_at), OUTLIVED_MAX).into_iter();
        let mut ids: Vec<MemoryId> = found.map(|ordinal| shelf.id(ordinal)).collect();
        ids.extend(self.changed.keys());
        ids.sort_unstable();
        ids.dedup();
        let same_scope = |old: &Memory| {
            old.state == State::Active
                && old.scope == new.scope
                && (old.scope == Scope::Shared || old.agent_id == new.agent_id)
        };
        ids.into_iter()
            .filter_map(|id| Some(&self.record(id)?.memory))
            .filter(|old| same_scope(old))
            .filter_map(|old| Some((old.id, learn::outlived(old, new)?)))
            .collect()
    }
}

/// What a contradiction means for the two. Claims decide: for the one that starts later, and of two that start together for
/// the one that holds from later on. What is over, and everything else, is only reported.
fn relation(old: &Memory, new: &Memory, conflict: &Conflict, at: Timestamp) -> Relation {
    if !conflict.is_decided() || learn::is_over(new, at) {
        return Relation::Conflict;
    }
    let place = |memory: &Memory| (learn::starts(memory, at), learn::holds_from(memory));
    if place(new) < place(old) { Relation::SupersededBy } else { Relation::Superseded }
}

/// The cosine of the content vectors; absent where one of both has none.
fn cosine(one: &Record, other: &Record) -> Option<f64> {
    fn of(record: &Record) -> Option<&Embedding> {
        let content = record.vectors.iter().find(|vector| vector.role == VectorRole::Content);
        content.map(|vector| &vector.embedding)
    }
    let (one, other) = (of(one)?.get()?, of(other)?.get()?);
    let pairs = one.iter().zip(other.iter());
    Some(pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>().clamp(-1.0, 1.0))
}

impl Encounter {
    /// What the caller is told of the memories that it contradicts.
    pub(crate) fn neighbors(&self) -> Vec<Neighbor> {
        self.conflicts.iter().take(NEIGHBORS_MAX).map(Contradiction::neighbor).collect()
    }

    /// The memory that replaces the new one, since it is true at the same time and holds from later on; of several the
    /// latest.
    pub(crate) fn successor(&self, new: &Memory, at: Timestamp) -> Option<&Memory> {
        let start = learn::starts(new, at);
        let later = self.later().filter(|other| learn::starts(other, at) == start);
        later.max_by_key(|memory| (learn::holds_from(memory), memory.id))
    }

    /// The memory that replaces the new one at a time to come; of several the first.
    pub(crate) fn heir(&self, new: &Memory, at: Timestamp) -> Option<&Memory> {
        let start = learn::starts(new, at);
        let later = self.later().filter(|other| learn::starts(other, at) > start);
        later.min_by_key(|memory| (learn::starts(memory, at), memory.id))
    }

    fn later(&self) -> impl Iterator<Item = &Memory> {
        let later = self.conflicts.iter().filter(|one| one.relation == Relation::SupersededBy);
        later.map(|one| &one.other.memory)
    }

    /// The memories that say another value of a property that has one at a time.
    pub(crate) fn contradicted(&self) -> impl Iterator<Item = &Memory> {
        let decided = self.conflicts.iter().filter(|one| one.conflict.is_decided());
        decided.map(|one| &one.other.memory)
    }

    /// The memories that the new one replaces.
    pub(crate) fn replaced(&self) -> impl Iterator<Item = &Memory> {
        let older = self.conflicts.iter().filter(|one| one.relation == Relation::Superseded);
        older.map(|one| &one.other.memory)
    }
}

impl Contradiction {
    fn neighbor(&self) -> Neighbor {
        let (about, old, new) = match &self.conflict {
            Conflict::Claim { subject, attribute, old, new } => {
                (format!("{subject} / {attribute}"), old, new)
            }
            Conflict::Polarity { old, new } => (String::new(), old, new),
        };
        Neighbor {
            id: self.other.memory.id,
            similarity: self.similarity,
            relation: self.relation,
            about,
            old: shown(old),
            new: shown(new),
        }
    }
}

/// The beginning of a text that a reply shows.
fn shown(text: &str) -> String {
    let most = hindsight_core::likeness::SHOWN_CHARS_MAX;
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
