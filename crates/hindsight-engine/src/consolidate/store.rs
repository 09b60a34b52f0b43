//! How rulings are stored, and told.

use hindsight_core::change::WAS_THERE;
use hindsight_core::consolidate::Ruling;
use hindsight_core::draft::Moment;
use hindsight_core::{
    Change, Draft, Invalid, Lsn, Memory, MemoryId, Namespace, RawVectors, Record, RuleChange, Timestamp,
    learn,
};
use hindsight_storage::io::Io;

use crate::decide::{CheckedVectors, check_vectors, fresh_id};
use crate::encounter::Overlay;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::{Consolidated, ConsolidatedRule};
use crate::requests::Seen;
use crate::state::NamespaceState;

/// Most rules that a reply names; the counts hold all.
const NAMED_MAX: usize = 1_000;

/// What a batch will hold, and what is told of it.
#[derive(Default)]
pub(super) struct Decided {
    pub(super) changes: Vec<Change>,
    pub(super) rules: Vec<ConsolidatedRule>,
    /// The newest id of the batch.
    last: Option<MemoryId>,
}

impl Decided {
    pub(super) fn add<I: Io>(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Cell,
        state: &NamespaceState,
        ruling: Ruling,
        vectors: Option<RawVectors>,
        at: Timestamp,
    ) -> Result<(), EngineError> {
        let vectors = fitting(cell, state, vectors.as_ref());
        let mut replaced = Vec::new();
        let (record, counts, replaces) = match ruling {
            Ruling::Create { draft, counts, replaces } => {
                let id = fresh_id(&*engine.io, state, self.last, at)?;
                self.last = Some(id);
                let record = born(*draft, id, &cell.name, vectors, at)?;
                // What was forgotten or purged is not learnt again.
                let overlay = Overlay::new(state);
                if engine.refuse_forgotten(&cell.name, &overlay, &record.memory, None, at).is_err() {
                    return Ok(());
                }
                for old in replaces.iter().filter_map(|old| state.record(*old)) {
                    let standing = Box::new(learn::superseded(&old.memory, &record.memory, at));
                    let (id, version) = (old.memory.id, old.memory.version + 1);
                    replaced.push(Change::Stand { id, standing, version, at });
                }
                (record, counts, replaces)
            }
            Ruling::Revise { mut memory, counts } => {
                let Some(old) = state.record(memory.id) else { return Ok(()) };
                let keeps_text = old.memory.content == memory.content;
                let vectors = if keeps_text {
                    old.vectors.clone()
                } else {
                    memory.embedding_model = vectors.model;
                    vectors.vectors
                };
                (Record { memory: *memory, vectors }, counts, Vec::new())
            }
        };
        self.rules.push(told(record.memory.clone(), counts, replaces));
        self.changes.push(Change::Put(Box::new(record)));
        self.changes.extend(replaced);
        Ok(())
    }
}

/// A new memory that the database made itself. It goes through the same door as all.
pub(crate) fn born(
    draft: Draft,
    id: MemoryId,
    namespace: &Namespace,
    vectors: CheckedVectors,
    at: Timestamp,
) -> Result<Record, Invalid> {
    let CheckedVectors { model: embedding_model, vectors } = vectors;
    let moment = Moment { namespace: namespace.clone(), id, now: at, embedding_model };
    Ok(Record { memory: draft.check()?.into_memory(moment), vectors })
}

/// The vectors, if they are right and fit the namespace: whoever asked for a rule sent none and is told of none.
pub(crate) fn fitting(cell: &Cell, state: &NamespaceState, vectors: Option<&RawVectors>) -> CheckedVectors {
    let checked = check_vectors(vectors).unwrap_or_default();
    if checked.fit(&cell.name, state, None).is_ok() { checked } else { CheckedVectors::default() }
}

/// Whether a rule to come says what was forgotten or purged: then it is not learnt again.
pub(super) fn is_unlearnt<I: Io>(
    engine: &EngineOver<I>,
    cell: &Cell,
    ruling: &Ruling,
    at: Timestamp,
) -> bool {
    let Ruling::Create { draft, .. } = ruling else { return false };
    let id = MemoryId::new(at, 0);
    let Ok(rule) = born((**draft).clone(), id, &cell.name, CheckedVectors::default(), at) else {
        return true;
    };
    let state = cell.state.read();
    engine.refuse_forgotten(&cell.name, &Overlay::new(&state), &rule.memory, None, at).is_err()
}

/// The text of a rule to come.
pub(super) fn text_of(ruling: &Ruling) -> &str {
    match ruling {
        Ruling::Create { draft, .. } => &draft.content,
        Ruling::Revise { memory, .. } => &memory.content,
    }
}

/// What a ruling would make. A rule that would be new has an id that nobody can ask for, and version 0.
pub(super) fn would_be(ruling: Ruling, namespace: &Namespace, at: Timestamp) -> Option<ConsolidatedRule> {
    match ruling {
        Ruling::Create { draft, counts, replaces } => {
            let id = MemoryId::new(at, 0);
            let mut memory = born(*draft, id, namespace, CheckedVectors::default(), at).ok()?.memory;
            memory.version = 0;
            Some(told(memory, counts, replaces))
        }
        Ruling::Revise { memory, counts } => Some(told(*memory, counts, Vec::new())),
    }
}

fn told(rule: Memory, counts: (u32, u32), replaces: Vec<MemoryId>) -> ConsolidatedRule {
    told_as(rule.version > 1, rule, counts, replaces)
}

fn told_as(
    was_there: bool,
    rule: Memory,
    (agreeing, episodes): (u32, u32),
    replaces: Vec<MemoryId>,
) -> ConsolidatedRule {
    let change = match (was_there, replaces.is_empty()) {
        (true, _) => RuleChange::Revised,
        (false, true) => RuleChange::Created,
        (false, false) => RuleChange::Replaced,
    };
    ConsolidatedRule { change, rule, agreeing, episodes, replaces }
}

/// What a repeated request did when it came first, by what its batches tell.
pub(super) fn done_before(state: &NamespaceState, seen: &[Seen]) -> Consolidated {
    let revision = seen.last().map_or(Lsn(0), |last| last.lsn);
    let mut done = Consolidated { replayed: true, revision, ..Consolidated::default() };
    for Seen { ids, .. } in seen {
        let rules = ids.iter().enumerate().filter_map(|(at, id)| Some((at, &state.record(*id)?.memory)));
        for (at, rule) in rules.filter(|(_, memory)| memory.superseded_by.is_none_or(|by| !ids.contains(&by)))
        {
            let replaces: Vec<MemoryId> =
                state.superseded_by(rule.id).filter(|older| ids.contains(older)).collect();
            let support = rule.rule.as_deref().map_or(0, |rule| rule.support);
            let was_there = ids.get(at + 1) == Some(&WAS_THERE);
            done.tell(told_as(was_there, rule.clone(), (support, support), replaces));
        }
    }
    done
}

impl Consolidated {
    pub(super) fn tell(&mut self, rule: ConsolidatedRule) {
        let count = match rule.change {
            RuleChange::Created => &mut self.created,
            RuleChange::Revised => &mut self.revised,
            RuleChange::Replaced => &mut self.replaced,
        };
        *count += 1;
        if self.rules.len() < NAMED_MAX {
            self.rules.push(rule);
        }
    }
}
