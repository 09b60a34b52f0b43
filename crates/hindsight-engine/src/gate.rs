//! Who may be returned by a recall, whatever the query: the steps that make the exact set, each of which an explanation
//! can name. A set and an explanation are made by the same function.

use hindsight_core::as_of::Absent;
use hindsight_core::explain::Barrier;
use hindsight_core::{AsOf, Axis, Filter, Kind, Memory, Reason, RuleState, State};
use hindsight_index::{Ordinal, Selection, Shelf};
use hindsight_query::Allowed;

use crate::history::linked;
use crate::state::NamespaceState;

/// One thing that a memory must be to be returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Everybody's, or the asking agent's own.
    Visible,
    /// In a state that is asked for.
    State,
    /// True and not expired at the time that counts.
    Time,
    /// No rule, or an active one (R13).
    Rule,
    /// What the filter asks for.
    Filter,
}

/// The order in which a set is narrowed: first what narrows most, last what is asked one by one.
const NARROWING: [Step; 5] = [Step::Filter, Step::Visible, Step::State, Step::Rule, Step::Time];
/// The order in which an explanation names what keeps a memory out.
const NAMING: [Step; 5] = [Step::Visible, Step::State, Step::Time, Step::Rule, Step::Filter];

/// The conditions of one recall over one namespace.
pub(crate) struct Gate<'a> {
    pub(crate) state: &'a NamespaceState,
    pub(crate) allowed: &'a Allowed<'a>,
}

impl Gate<'_> {
    fn shelf(&self, inactive: bool) -> &Shelf {
        if inactive { self.state.index.inactive() } else { self.state.index.active() }
    }

    /// All of a shelf that pass.
    pub(crate) fn set(&self, inactive: bool) -> Selection {
        let all = self.shelf(inactive).all();
        NARROWING.into_iter().fold(all, |left, step| self.narrow(step, inactive, left))
    }

    /// The first step that one memory does not pass, in words.
    pub(crate) fn barrier(&self, inactive: bool, ordinal: Ordinal, memory: &Memory) -> Option<Barrier> {
        let alone = || Selection::from_iter([ordinal]);
        let step = NAMING.into_iter().find(|step| self.narrow(*step, inactive, alone()).is_empty())?;
        Some(match step {
            Step::Visible => Barrier::new(Reason::OtherAgents, "another agent keeps it to itself"),
            Step::State => by_state(memory),
            Step::Time => self.by_time(memory),
            Step::Rule => {
                let state = memory.rule.as_deref().map_or("no rule", |rule| rule.rule_state.as_str());
                Barrier::new(
                    Reason::RuleNotActive,
                    format!("the rule is {state}; only active ones are recalled"),
                )
            }
            Step::Filter => self.by_filter(inactive, ordinal),
        })
    }

    /// Those of `left` that pass a step.
    fn narrow(&self, step: Step, inactive: bool, mut left: Selection) -> Selection {
        let (shelf, allowed) = (self.shelf(inactive), self.allowed);
        match step {
            Step::Visible => left.and(&shelf.visible_to(allowed.agent)),
            Step::State if inactive => {
                let mut states = Vec::new();
                states.extend(allowed.include_archived.then_some(State::Archived));
                let history = allowed.include_history || allowed.as_of.is_some();
                states.extend(history.then_some(State::Superseded));
                if states.is_empty() {
                    return Selection::default();
                }
                left.and(&shelf.select(&Filter { states, ..Filter::default() }, allowed.now))
            }
            Step::State => left,
            Step::Time => match allowed.as_of {
                Some(as_of) => {
                    left.retain(|ordinal| {
                        let record = self.state.record(shelf.id(ordinal));
                        record.is_some_and(|record| self.counts(&record.memory, as_of).is_ok())
                    });
                    left
                }
                None if allowed.include_history => left,
                None => left.and(&shelf.current_at(allowed.now)),
            },
            Step::Rule if allowed.include_history => left,
            Step::Rule => without_sleeping_rules(shelf, left, allowed),
            Step::Filter if *allowed.filter == Filter::default() => left,
            Step::Filter => left.and(&shelf.select(allowed.filter, allowed.now)),
        }
    }

    fn counts(&self, memory: &Memory, as_of: AsOf) -> Result<(), Absent> {
        let replaced = self.state.superseded_by(memory.id);
        let taken_back = replaced.filter_map(|id| self.state.record(id)).map(|record| &record.memory);
        as_of.counts(memory, self.state.successor(memory), taken_back)?;
        if memory.state != State::Superseded || as_of.axis != Axis::Valid {
            return Ok(());
        }
        let chain = linked(self.state, memory.id).into_iter().filter_map(|id| self.state.record(id));
        let chain = chain.map(|record| &record.memory).filter(|other| other.state != State::Forgotten);
        let chain = chain.map(|other| (other, self.state.successor(other)));
        as_of.outdone(memory, chain).map_or(Ok(()), |since| Err(Absent::NoLonger(since)))
    }

    fn by_time(&self, memory: &Memory) -> Barrier {
        let absent = match self.allowed.as_of {
            Some(as_of) => self.counts(memory, as_of).err(),
            None => {
                let now = self.allowed.now;
                let over = |end: &hindsight_core::Timestamp| *end <= now;
                let expired = memory.expires_at.filter(over).map(Absent::Expired);
                let ended = || memory.valid_to.filter(over).map(Absent::NoLonger);
                expired.or_else(ended).or_else(|| memory.valid_from.map(Absent::NotYet))
            }
        };
        let other = memory.superseded_by;
        match absent {
            Some(Absent::Expired(end)) => Barrier::new(Reason::Expired, format!("it expired at {end}")),
            Some(Absent::NotYet(from)) => {
                let detail =
                    format!("it holds from {from} on: where it names no valid_from, from when it happened");
                let named = memory.valid_from.is_some();
                let detail = if named { format!("it is valid from {from} on") } else { detail };
                Barrier::new(Reason::NotValidYet, detail)
            }
            Some(Absent::NoLonger(end)) if memory.state == State::Superseded => Barrier {
                other,
                ..Barrier::new(Reason::Superseded, format!("it was replaced by what holds from {end} on"))
            },
            Some(Absent::NoLonger(end)) => {
                Barrier { other, ..Barrier::new(Reason::NoLongerValid, format!("it was valid until {end}")) }
            }
            Some(Absent::Unknown(at)) => {
                Barrier::new(Reason::NotKnownYet, format!("the database learned it at {at}"))
            }
            Some(Absent::Replaced) | None => {
                Barrier { other, ..Barrier::new(Reason::Superseded, "it had been replaced by then") }
            }
        }
    }

    fn by_filter(&self, inactive: bool, ordinal: Ordinal) -> Barrier {
        let shelf = self.shelf(inactive);
        let fulfils = |filter: &Filter| shelf.select(filter, self.allowed.now).contains(ordinal);
        let refusing = self.allowed.filter.refusing("filter", &fulfils);
        Barrier::new(Reason::Filtered, refusing.unwrap_or_else(|| "filter".to_owned()))
    }
}

/// What keeps a memory out for the state it is in.
pub(crate) fn by_state(memory: &Memory) -> Barrier {
    match memory.state {
        State::Superseded => {
            let by = memory.superseded_by.map_or_else(String::new, |by| format!(" by {by}"));
            let detail = format!("it was superseded{by}; include_history returns it");
            Barrier { other: memory.superseded_by, ..Barrier::new(Reason::Superseded, detail) }
        }
        State::Archived => Barrier::new(Reason::Archived, "it is archived; include_archived returns it"),
        State::Quarantined => {
            Barrier::new(Reason::Quarantined, "it waits for a review and is never recalled")
        }
        State::Forgotten => Barrier::new(Reason::Forgotten, "it was forgotten; restore brings it back"),
        State::Active => Barrier::new(Reason::NotFound, "it is active and not in the index"),
    }
}

/// Rules count only while they are active (R13); the others are few.
fn without_sleeping_rules(shelf: &Shelf, left: Selection, allowed: &Allowed<'_>) -> Selection {
    let rules = shelf.select(&Filter { kinds: vec![Kind::Rule], ..Filter::default() }, allowed.now);
    let sleeps = |ordinal| shelf.hot(ordinal).is_some_and(|hot| hot.rule_state != Some(RuleState::Active));
    let sleeping: Selection = rules.iter().filter(|ordinal| sleeps(*ordinal)).collect();
    if sleeping.is_empty() { left } else { left.minus(&sleeping) }
}
