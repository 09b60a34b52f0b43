//! English: words first, then at each word the longest expression that begins there.

mod counted;
mod month;
mod phrases;
mod token;
mod weekday;

use jiff::civil::Date;

use super::Found;
use super::calendar::{Calendar, Period};
use super::reading::{Named, Reading};
use token::{Token, tokens};

/// The words of a query, and the calendar they are read by.
struct English<'a> {
    tokens: Vec<Token>,
    calendar: &'a Calendar<'a>,
}

/// Which names may stand without a word before them that makes them a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    /// None.
    No,
    /// What goes on with a name of the same sort: "from March to May".
    Like(Named),
    /// Each: "since March".
    Any,
}

impl Bare {
    fn allows(self, named: Named) -> bool {
        self == Bare::Any || self == Bare::Like(named)
    }
}

/// The times that `text` names, in order.
pub(super) fn find(text: &str, calendar: &Calendar<'_>) -> Vec<Found> {
    let english = English { tokens: tokens(text), calendar };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = english.tokens.get(at) {
        let Some(span) = english.span_at(at) else {
            at += 1;
            continue;
        };
        if let (Some(period), Some(last)) = (span.period, english.tokens.get(span.next - 1)) {
            found.push(Found { start: first.start, end: last.end, period, named: span.named });
        }
        at = span.next;
    }
    found
}

impl English<'_> {
    /// An expression at `at` with what joins it: "since yesterday", "from March to May".
    fn span_at(&self, at: usize) -> Option<Reading> {
        match self.word(at) {
            "since" => {
                let since = self.expression_at(at + 1, Bare::Any)?;
                return Some(Reading::new(self.calendar.since(since.period?), since.next, since.named));
            }
            "from" | "between" => {
                let range = self.expression_at(at + 1, Bare::Any).and_then(|first| self.range_from(first));
                if range.is_some() {
                    return range;
                }
            }
            _ => {}
        }
        let first = self.expression_at(at, Bare::No)?;
        Some(self.range_from(first).unwrap_or(first))
    }

    /// The longest expression that begins at `at`.
    fn expression_at(&self, at: usize, bare: Bare) -> Option<Reading> {
        let readings = [
            self.phrase_at(at),
            self.ago_at(at),
            self.last_at(at),
            self.weekday_at(at, bare),
            self.date_at(at, bare),
        ];
        readings.into_iter().flatten().max_by_key(|reading| reading.next)
    }

    /// The range that begins with `first`, when the words go on to a second time.
    fn range_from(&self, first: Reading) -> Option<Reading> {
        if !matches!(self.word(first.next), "to" | "until" | "till" | "through" | "and" | "or" | "-") {
            return None;
        }
        let at = self.follows(first.next + 1, "the").unwrap_or(first.next + 1);
        let second = self.expression_at(at, Bare::Like(first.named.alike()))?;
        first.to(second, self.calendar)
    }

    /// The day, or the part of it that is named at `at`, and the place after.
    fn day_or_part(&self, date: Date, at: usize) -> (Option<Period>, usize) {
        match self.part_at(at) {
            Some((part, next)) => (self.calendar.part(date, part), next),
            None => (self.calendar.day(date), at),
        }
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    /// The place after `words`, if they stand at `at`.
    fn follows(&self, at: usize, words: &str) -> Option<usize> {
        let mut next = at;
        for word in words.split(' ') {
            if self.word(next) != word {
                return None;
            }
            next += 1;
        }
        Some(next)
    }
}
