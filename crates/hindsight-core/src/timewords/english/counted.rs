//! Counted units: "three days ago", "in the last two weeks", "24h ago".

use super::English;
use crate::timewords::meaning::{Count, Meaning, Unit};
use crate::timewords::reading::{Named, Reading};

const NUMBERS: &[&str] =
    &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

const VAGUE: &[(&str, Count)] = &[
    ("a few", Count::FEW),
    ("few", Count::FEW),
    ("several", Count::FEW),
    ("some", Count::FEW),
    ("a couple of", Count::COUPLE),
    ("a couple", Count::COUPLE),
    ("couple of", Count::COUPLE),
    ("couple", Count::COUPLE),
    ("a", Count::exactly(1)),
    ("an", Count::exactly(1)),
];

const UNITS: &[(&str, Unit)] = &[
    ("minute", Unit::Minute),
    ("minutes", Unit::Minute),
    ("min", Unit::Minute),
    ("mins", Unit::Minute),
    ("hour", Unit::Hour),
    ("hours", Unit::Hour),
    ("hr", Unit::Hour),
    ("hrs", Unit::Hour),
    ("h", Unit::Hour),
    ("day", Unit::Day),
    ("days", Unit::Day),
    ("d", Unit::Day),
    ("week", Unit::Week),
    ("weeks", Unit::Week),
    ("w", Unit::Week),
    ("month", Unit::Month),
    ("months", Unit::Month),
    ("quarters", Unit::Quarter),
    ("year", Unit::Year),
    ("years", Unit::Year),
];

/// Largest number that is read as a count; with years it already lies before the calendar.
const COUNT_MAX: i32 = 9_999;

impl English<'_> {
    /// "three days ago", "a few weeks back".
    pub(super) fn ago_at(&self, at: usize) -> Option<Reading> {
        let (count, unit, next) = self.amount_at(at)?;
        let next = self.follows(next, "ago").or_else(|| self.follows(next, "back"))?;
        // "a year ago today" names the same year.
        let next = self.follows(next, "today").unwrap_or(next);
        Some(self.meant(Meaning::Ago(count, unit), next))
    }

    /// "the last three days", "past 24 hours".
    pub(super) fn last_at(&self, at: usize) -> Option<Reading> {
        if !matches!(self.word(at), "last" | "past" | "previous") || matches!(self.word(at + 1), "a" | "an") {
            return None;
        }
        let (count, unit, next) = self.amount_at(at + 1)?;
        // "the last two days of the trip" are counted from something else.
        let meaning =
            if self.word(next) == "of" { Meaning::Nothing } else { Meaning::Last(count.most, unit) };
        Some(self.meant(meaning, next))
    }

    /// A number at `at`, and the place after it.
    pub(super) fn count_at(&self, at: usize) -> Option<(Count, usize)> {
        let vague = |(words, count): &(&str, Count)| Some((*count, self.follows(at, words)?));
        if let Some(found) = VAGUE.iter().find_map(vague) {
            return Some(found);
        }
        Some((Count::exactly(number(self.word(at))?), at + 1))
    }

    fn amount_at(&self, at: usize) -> Option<(Count, Unit, usize)> {
        if let Some((count, next)) = self.counts_at(at) {
            return Some((count, unit(self.word(next))?, next + 1));
        }
        let word = self.word(at);
        let letters = word.find(|c: char| c.is_ascii_alphabetic())?;
        let (digits, suffix) = word.split_at(letters);
        Some((Count::exactly(number(digits)?), unit(suffix)?, at + 1))
    }

    /// "2-3", "two or three", or one number.
    fn counts_at(&self, at: usize) -> Option<(Count, usize)> {
        if let Some((first, last)) = self.word(at).split_once('-') {
            return Some((between(number(first)?, number(last)?)?, at + 1));
        }
        let (first, next) = self.count_at(at)?;
        let second = match self.word(next) {
            "to" | "or" | "-" => self.count_at(next + 1),
            _ => None,
        };
        match second {
            Some((second, next)) => Some((between(first.least, second.most)?, next)),
            None => Some((first, next)),
        }
    }

    fn meant(&self, meaning: Meaning, next: usize) -> Reading {
        Reading::new(self.calendar.resolve(meaning), next, Named::Other)
    }
}

fn between(least: i32, most: i32) -> Option<Count> {
    (least < most).then_some(Count { least, most })
}

fn number(word: &str) -> Option<i32> {
    let by_word = NUMBERS.iter().zip(1..).find(|(name, _)| **name == word).map(|(_, value)| value);
    by_word.or_else(|| {
        let digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        word.parse().ok().filter(|value| digits && (1..=COUNT_MAX).contains(value))
    })
}

fn unit(word: &str) -> Option<Unit> {
    UNITS.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit)
}
