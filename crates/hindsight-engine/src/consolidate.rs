//! Rules out of episodes (L5), in steps. What is decided is decided by [`hindsight_core::consolidate`]; here is where it is
//! read from and how it is stored.
//!
//! A run first surveys the namespace, a few thousand memories at a time and without a lock between, for which cases there are.
//! Then it examines the cases, a few at a time, and notes those where something changes. Those are decided again
//! under the writer's lock, on what is there by then, and logged. So a run may be cut off at any moment, two may run
//! at once, and a run without news changes nothing.

mod store;
mod survey;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use hindsight_core::consolidate::{Case, RuleTuning, Ruling, rulings};
use hindsight_core::{Batch, Lsn, Memory, MemoryId, Namespace, RawVectors, Record, RequestKey, Timestamp};
use hindsight_storage::io::Io;

use crate::decide::{next_time, now};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::reply::Consolidated;
use crate::request::ConsolidateRequest;
use crate::requests::{Seen, key};
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;
use store::{Decided, is_unlearnt, text_of, would_be};
pub(crate) use store::{born, fitting};
use survey::{Material, Survey};

/// Cases that one step examines.
const EXAMINED: usize = 8;
/// Cases that one batch decides: writers wait for as long as that takes.
const DECIDED: usize = 4;

/// A run over one namespace.
pub(crate) struct Consolidation {
    tuning: RuleTuning,
    is_dry: bool,
    request: Option<RequestKey>,
    /// How many batches bear a part of the request so far.
    parts: usize,
    phase: Phase,
    /// What the texts of rules to come look like as vectors.
    vectors: BTreeMap<String, Option<RawVectors>>,
    pub(crate) done: Consolidated,
}

enum Phase {
    Survey { survey: Box<Survey>, after: Option<MemoryId> },
    Examine { survey: Box<Survey>, open: VecDeque<Case>, changing: Vec<Case> },
    Decide { survey: Box<Survey>, changing: VecDeque<Case> },
    Over,
}

impl Consolidation {
    pub(crate) fn new(tuning: RuleTuning, is_dry: bool, request: Option<RequestKey>) -> Consolidation {
        let phase = Phase::Survey { survey: Box::default(), after: None };
        Consolidation {
            tuning,
            is_dry,
            request,
            parts: 0,
            phase,
            vectors: BTreeMap::new(),
            done: Consolidated::default(),
        }
    }

    /// Makes one step; whether there is more to do.
    ///
    /// # Errors
    /// When the log fails. What was logged before stays, and another run goes on from there.
    pub(crate) fn step<I: Io>(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Arc<Cell>,
    ) -> Result<bool, EngineError> {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Survey { mut survey, after } => {
                let next = survey.read(cell, after, &self.tuning);
                self.phase = match next {
                    Some(last) => Phase::Survey { survey, after: Some(last) },
                    None => {
                        let open: VecDeque<Case> = survey.cases().cloned().collect();
                        self.done.episodes = survey.episodes;
                        self.done.cases = u64::try_from(open.len()).unwrap_or(u64::MAX);
                        Phase::Examine { survey, open, changing: Vec::new() }
                    }
                };
            }
            Phase::Examine { survey, mut open, mut changing } => {
                let some: Vec<Case> = open.drain(..open.len().min(EXAMINED)).collect();
                changing.extend(self.examine(engine, cell, &survey, &some));
                self.phase = if !open.is_empty() {
                    Phase::Examine { survey, open, changing }
                } else if self.is_dry || changing.is_empty() {
                    Phase::Over
                } else {
                    Phase::Decide { survey, changing: changing.into() }
                };
            }
            Phase::Decide { survey, mut changing } => {
                let some: Vec<Case> = changing.drain(..changing.len().min(DECIDED)).collect();
                let is_last = changing.is_empty();
                self.decide(engine, cell, &survey, &some, is_last)?;
                if !is_last {
                    self.phase = Phase::Decide { survey, changing };
                }
            }
            Phase::Over => {}
        }
        Ok(!matches!(self.phase, Phase::Over))
    }

    /// The cases among these in which something changes. Their new texts are embedded here, where nobody waits for it.
    fn examine<I: Io>(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Cell,
        survey: &Survey,
        cases: &[Case],
    ) -> Vec<Case> {
        let (gathered, at) = {
            let state = cell.state.read();
            (survey.gather(&state, cases, &self.tuning), now(&*engine.io))
        };
        let mut changing = Vec::new();
        for (case, material) in cases.iter().zip(&gathered) {
            let mut found = material.rulings(case, at, &self.tuning);
            found.retain(|ruling| !is_unlearnt(engine, cell, ruling, at));
            if found.is_empty() {
                continue;
            }
            changing.push(case.clone());
            for ruling in &found {
                let text = text_of(ruling);
                if !self.is_dry && !self.vectors.contains_key(text) {
                    let made = engine.embed.vectors_of(text);
                    self.vectors.insert(text.to_owned(), made);
                }
            }
            if self.is_dry {
                let told = found.into_iter().filter_map(|ruling| would_be(ruling, &cell.name, at));
                told.for_each(|rule| self.done.tell(rule));
            }
        }
        changing
    }

    fn decide<I: Io>(
        &mut self,
        engine: &EngineOver<I>,
        cell: &Arc<Cell>,
        survey: &Survey,
        cases: &[Case],
        is_last: bool,
    ) -> Result<(), EngineError> {
        let _writer = cell.lock_writer();
        let (decided, at) = {
            let state = cell.state.read();
            let at = next_time(&*engine.io, &state);
            let gathered = survey.gather(&state, cases, &self.tuning);
            let mut decided = Decided::default();
            for (case, material) in cases.iter().zip(&gathered) {
                for ruling in material.rulings(case, at, &self.tuning) {
                    let vectors = self.vectors.get(text_of(&ruling)).cloned().flatten();
                    decided.add(engine, cell, &state, ruling, vectors, at)?;
                }
            }
            (decided, at)
        };
        if decided.changes.is_empty() {
            return Ok(());
        }
        let request = if is_last {
            self.request.take()
        } else {
            self.request.as_ref().map(|key| part(key, self.parts))
        };
        self.parts += 1;
        let batch = Batch { namespace: cell.name.clone(), at, request, changes: decided.changes };
        self.done.revision = engine.commit(cell, batch)?;
        decided.rules.into_iter().for_each(|rule| self.done.tell(rule));
        Ok(())
    }
}

/// The key of a batch before a request's last: an id that no caller can give, since it has a space.
fn part(key: &RequestKey, number: usize) -> RequestKey {
    RequestKey { id: format!("{} {number}", key.id), digest: key.digest }
}

/// What the batches of a request before its last did.
fn parts(state: &NamespaceState, key: Option<&RequestKey>) -> Result<Vec<Seen>, EngineError> {
    let mut seen = Vec::new();
    while let Some(key) = key
        && let Some(before) = state.requests.seen(Some(&part(key, seen.len())))?
    {
        seen.push(before.clone());
    }
    Ok(seen)
}

impl Material {
    fn rulings(&self, case: &Case, at: Timestamp, tuning: &RuleTuning) -> Vec<Ruling> {
        fn of(records: &[Arc<Record>]) -> Vec<&Memory> {
            records.iter().map(|record| &record.memory).collect()
        }
        let Material { episodes, successes, rules } = self;
        rulings(case, (&of(episodes), &of(successes)), &of(rules), at, tuning)
    }
}

impl<I: Io> EngineOver<I> {
    /// How rules of a namespace are found and live.
    #[must_use]
    pub fn rule_tuning(&self, namespace: &Namespace) -> RuleTuning {
        let cell = self.loaded(namespace).ok().flatten();
        cell.map_or(self.rules, |cell| self.rule_tuning_of(&cell.state.read()))
    }

    pub(crate) fn rule_tuning_of(&self, state: &NamespaceState) -> RuleTuning {
        self.rules.with(&state.settings.rules)
    }

    /// Finds in the episodes of a namespace what they agree on, and makes rules of it, or newer versions of the rules that
    /// say so already. Without news nothing changes.
    ///
    /// # Errors
    /// When the namespace is unknown, a number is out of range, or the log fails; what was logged before that stays.
    pub fn consolidate(
        &self,
        namespace: &Namespace,
        consolidate: ConsolidateRequest,
    ) -> Result<Unsynced<Consolidated, I>, EngineError> {
        let ConsolidateRequest { min_episodes, min_confidence, validate_only, request_id } = consolidate;
        let asked = (min_episodes, min_confidence, validate_only);
        let request = key(request_id.as_deref(), "consolidate", &asked)?;
        let tuning = self.rule_tuning(namespace);
        let tuning = RuleTuning {
            min_episodes: min_episodes.unwrap_or(tuning.min_episodes),
            min_confidence: min_confidence.unwrap_or(tuning.min_confidence),
            ..tuning
        };
        tuning.check()?;
        let unknown = || EngineError::NamespaceNotFound { namespace: namespace.clone() };
        let cell = self.loaded(namespace)?.ok_or_else(unknown)?;
        let mut seen = Vec::new();
        {
            let state = cell.state.read();
            seen.extend(parts(&state, request.as_ref())?);
            if let Some(last) = state.requests.seen(request.as_ref())? {
                seen.push(last.clone());
                return Ok(self.answer(&state, store::done_before(&state, &seen), state.applied));
            }
        }
        // One that was cut off goes on, and what it did before belongs to its answer.
        let before = store::done_before(&cell.state.read(), &seen);
        let mut run = Consolidation::new(tuning, validate_only, request);
        run.parts = seen.len();
        while run.step(self, &cell)? {}
        let seen = cell.state.read().applied;
        let mut done = run.done;
        before.rules.into_iter().for_each(|rule| done.tell(rule));
        if done.revision == Lsn(0) {
            done.revision = seen;
        }
        Ok(self.answer_of(&cell, done, seen))
    }
}

#[cfg(test)]
mod tests;
