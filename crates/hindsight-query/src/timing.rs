//! How long the steps of a recall took, by a timer that the caller lends: this crate has no clock. Times are told with the
//! plan and decide nothing.

use std::cell::Cell;
use std::fmt;

use hindsight_core::Timestamp;

/// When a recall is answered: the clock's time, and a timer where somebody wants to know how long it takes.
#[derive(Clone, Copy)]
pub struct When<'t> {
    pub(crate) clock: Timestamp,
    timer: Option<&'t dyn Fn() -> u64>,
}

impl<'t> When<'t> {
    /// By this clock, with a timer that counts microseconds from any beginning.
    #[must_use]
    pub fn timed(clock: Timestamp, timer: &'t dyn Fn() -> u64) -> When<'t> {
        When { clock, timer: Some(timer) }
    }

    /// A watch that runs from now on; one without a timer measures nothing.
    pub(crate) fn watch(&self) -> Watch<'t> {
        let begun = self.timer.map_or(0, |timer| timer());
        Watch { timer: self.timer, begun, last: Cell::new(begun) }
    }
}

impl From<Timestamp> for When<'_> {
    fn from(clock: Timestamp) -> Self {
        When { clock, timer: None }
    }
}

/// Measures one step after the other.
pub(crate) struct Watch<'t> {
    timer: Option<&'t dyn Fn() -> u64>,
    begun: u64,
    last: Cell<u64>,
}

impl Watch<'_> {
    /// What passed since the last step ended.
    pub(crate) fn lap(&self) -> Took {
        Took(self.timer.map(|timer| {
            let now = timer();
            now.saturating_sub(self.last.replace(now))
        }))
    }

    /// What passed since the watch began.
    pub(crate) fn all(&self) -> Took {
        Took(self.timer.map(|timer| timer().saturating_sub(self.begun)))
    }
}

/// How long something took, in microseconds; nothing where nobody measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Took(pub Option<u64>);

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(micros) => write!(f, ", {micros} µs"),
            None => Ok(()),
        }
    }
}

/// How long each step of a recall took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times {
    /// What the words mean: time words and terms.
    pub words: Took,
    /// The exact set.
    pub filter: Took,
    /// What the query names.
    pub names: Took,
    /// Each channel, in the plan's order.
    pub channels: Vec<Took>,
    /// What stands beside a find in its session.
    pub neighbours: Took,
    /// Every candidate on every channel.
    pub scores: Took,
    /// One scale, one score, one order.
    pub rank: Took,
    /// What is held back, collapsed and cut.
    pub cut: Took,
    /// The contents of the winners.
    pub contents: Took,
    /// All of it.
    pub all: Took,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Shelf, fact, now};
    use hindsight_core::{MemoryId, Recall};

    #[test]
    fn r11_a_plan_tells_how_long_each_step_took_and_nothing_else_changes() {
        let mut shelf = Shelf::default();
        shelf.add(fact("the cat sleeps"), 1, None);
        let request = Recall { explain: true, query: "cat yesterday".to_owned(), ..Recall::default() };
        // A timer by which each step takes as long as its place: 1, 2, 3 …
        let (calls, passed) = (Cell::new(0), Cell::new(1_000));
        let timer = || {
            passed.set(passed.get() + calls.replace(calls.get() + 1));
            passed.get()
        };
        let timed = crate::recall(&shelf, &request, When::timed(now(), &timer)).unwrap();
        assert_eq!(
            timed.plan.as_deref().unwrap(),
            "recall: 1 returned of 1 candidates, 66 µs\n\
             ├─ rank: min-max, weighted mean, 8 µs\n\
             ├─ keyword: 1 found of at most 20, share 0.69, 4 µs\n\
             ├─ window: 1 found of at most 10, share 0.31, 5 µs\n\
             ├─ neighbours in the session: 0.40 beside a memory's own 1, 6 µs\n\
             ├─ time words \"yesterday\": 2026-11-29T00:00:00Z to 2026-11-30T00:00:00Z\n\
             ├─ words read, 1 µs; candidates scored, 7 µs; cut, 9 µs; contents, 10 µs\n\
             └─ filter: 1 allowed, exact, 2 µs"
        );
        let plain = crate::recall(&shelf, &request, now()).unwrap();
        assert_ne!(plain.plan, timed.plan);
        let without =
            |recalled: hindsight_core::Recalled| hindsight_core::Recalled { plan: None, ..recalled };
        assert_eq!(format!("{:?}", without(plain)), format!("{:?}", without(timed)));
        let why =
            crate::explain(&shelf, &request, When::timed(now(), &timer), MemoryId::from_u128(1)).unwrap();
        assert!(
            why.plan.lines().all(|line| line.starts_with("├─ time words") || line.ends_with("µs")),
            "{}",
            why.plan
        );
    }
}
