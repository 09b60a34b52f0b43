//! Which cases a namespace has, and what belongs to each.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use hindsight_core::consolidate::{Case, Keys, RuleTuning, is_evidence, is_success_without_cause};
use hindsight_core::limits::CASE_EPISODES_MAX;
use hindsight_core::{Filter, Kind, MemoryId, Record, Timestamp};

use crate::namespaces::Cell;
use crate::state::NamespaceState;

/// Memories that one step reads.
const READ: usize = 2_000;

/// Memories by when they happened; beyond [`CASE_EPISODES_MAX`] the oldest give way.
type Newest = BTreeSet<(Timestamp, MemoryId)>;

/// An agent, or all of them, and a type of task.
type Task = (Option<String>, String);

/// What was found of a namespace.
#[derive(Debug, Default)]
pub(super) struct Survey {
    episodes_of: BTreeMap<Case, Newest>,
    rules_of: BTreeMap<Case, BTreeSet<MemoryId>>,
    successes_of: BTreeMap<Task, Newest>,
    keys: Keys,
    /// How many episodes were read.
    pub(super) episodes: u64,
}

/// The memories that one case is decided on.
#[derive(Debug, Default)]
pub(super) struct Material {
    pub(super) episodes: Vec<Arc<Record>>,
    pub(super) successes: Vec<Arc<Record>>,
    pub(super) rules: Vec<Arc<Record>>,
}

impl Survey {
    /// Reads on behind `after`; the last one read, if more may follow. The lock is held for as long as it takes to count
    /// references.
    pub(super) fn read(
        &mut self,
        cell: &Cell,
        after: Option<MemoryId>,
        tuning: &RuleTuning,
    ) -> Option<MemoryId> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let records: Vec<Arc<Record>> = {
            let state = cell.state.read();
            let some = state.records.range((from, Bound::Unbounded)).take(READ);
            some.map(|(_, held)| Arc::clone(&held.record)).collect()
        };
        for record in &records {
            self.enter(record, tuning);
        }
        records.last().filter(|_| records.len() == READ).map(|record| record.memory.id)
    }

    fn enter(&mut self, record: &Record, tuning: &RuleTuning) {
        let memory = &record.memory;
        let place = (memory.occurred_at, memory.id);
        match memory.kind {
            Kind::Episode => {
                self.episodes += 1;
                if is_evidence(memory, tuning)
                    && let Some(case) = Case::read(memory, &mut self.keys)
                {
                    keep(self.episodes_of.entry(case).or_default(), place);
                } else if is_success_without_cause(memory, tuning)
                    && let Some(task) = Case::task_of(memory, &mut self.keys)
                {
                    keep(self.successes_of.entry(task).or_default(), place);
                }
            }
            Kind::Rule => {
                if let Some(case) = Case::read(memory, &mut self.keys) {
                    self.rules_of.entry(case).or_default().insert(memory.id);
                }
            }
            Kind::Fact | Kind::Preference | Kind::Procedure => {}
        }
    }

    /// The cases that have episodes.
    pub(super) fn cases(&self) -> impl Iterator<Item = &Case> {
        self.episodes_of.keys()
    }

    /// What belongs to these cases, as it is now. Rules that came since the survey are among it.
    pub(super) fn gather(
        &self,
        state: &NamespaceState,
        cases: &[Case],
        tuning: &RuleTuning,
    ) -> Vec<Material> {
        let rules = present_rules(state);
        let record = |id: &MemoryId| state.record(*id).cloned();
        let gather = |case: &Case| {
            let episodes = self.episodes_of.get(case).into_iter().flatten();
            let successes = self.successes_of.get(&(case.agent.clone(), case.task_type.clone()));
            let mut ids = self.rules_of.get(case).cloned().unwrap_or_default();
            ids.extend(rules.get(case).into_iter().flatten());
            // A rule whose condition was changed is for another case now.
            let is_for = |rule: &Arc<Record>| Case::of(&rule.memory).as_ref() == Some(case);
            Material {
                episodes: episodes
                    .filter_map(|(_, id)| record(id))
                    .filter(|record| is_evidence(&record.memory, tuning))
                    .collect(),
                successes: successes
                    .into_iter()
                    .flatten()
                    .filter_map(|(_, id)| record(id))
                    .filter(|record| is_success_without_cause(&record.memory, tuning))
                    .collect(),
                rules: ids.iter().filter_map(record).filter(is_for).collect(),
            }
        };
        cases.iter().map(gather).collect()
    }
}

fn keep(newest: &mut Newest, place: (Timestamp, MemoryId)) {
    newest.insert(place);
    if newest.len() > CASE_EPISODES_MAX {
        newest.pop_first();
    }
}

/// The rules on both shelves, by their case; only forgotten ones stand on neither.
fn present_rules(state: &NamespaceState) -> BTreeMap<Case, Vec<MemoryId>> {
    let filter = Filter { kinds: vec![Kind::Rule], ..Filter::default() };
    let mut rules: BTreeMap<Case, Vec<MemoryId>> = BTreeMap::new();
    for shelf in [state.index.active(), state.index.inactive()] {
        for ordinal in shelf.select(&filter, Timestamp::MIN).iter() {
            let id = shelf.id(ordinal);
            if let Some(case) = state.record(id).and_then(|record| Case::of(&record.memory)) {
                rules.entry(case).or_default().push(id);
            }
        }
    }
    rules
}
