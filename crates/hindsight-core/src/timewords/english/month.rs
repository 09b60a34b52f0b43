//! Months, dates and years: "in March", "on May 8", "8 May 2023", "2023-05-08", "in 2022".
//!
//! "may" and "march" are verbs too: they need a lead ("in may"), a year, a day written as one (8th), or a capital.

use super::{Bare, English};
use crate::months::MONTHS;
use crate::timewords::reading::{Named, Reading};

/// Words that make a month a time. "of", "by" and "from" are left out: people are called April and June.
const LEADS: &[&str] = &[
    "in",
    "during",
    "throughout",
    "until",
    "till",
    "end of",
    "beginning of",
    "start of",
    "middle of",
    "week of",
    "month of",
    "days of",
    "day of",
];

/// The same, where a capital must tell the month from the verb ("this may be wrong", "late may be fine").
const WEAK_LEADS: &[&str] = &["this", "early", "mid", "late"];

/// Words that make "may 8" a date.
const DATE_LEADS: &[&str] =
    &["on", "since", "from", "between", "to", "until", "till", "before", "after", "by"];

/// Words after "may" that make it a verb.
const VERBS: &[&str] =
    &["i", "we", "you", "he", "she", "it", "they", "be", "not", "have", "also", "the", "a", "need"];

/// What is counted is no day: "May 5 people come?", "march 5 miles".
const COUNTED: &[&str] = &[
    "people",
    "users",
    "orders",
    "items",
    "miles",
    "mile",
    "km",
    "kilometers",
    "kilometres",
    "steps",
    "times",
    "of",
    "more",
    "percent",
    "files",
    "requests",
    "minutes",
    "hours",
    "days",
    "lines",
    "rows",
    "ms",
];

/// A day of the month, or two: `8`, `8th`, `8-10`.
struct Days {
    first: i8,
    last: i8,
    ordinal: bool,
}

impl English<'_> {
    /// The date, month or year at `at`.
    pub(super) fn date_at(&self, at: usize, bare: Bare) -> Option<Reading> {
        self.iso_at(at)
            .or_else(|| self.month_day(at))
            .or_else(|| self.day_month(at))
            .or_else(|| self.month_year(at))
            .or_else(|| self.month_alone(at, bare))
            .or_else(|| self.year_at(at, bare))
    }

    /// 2023-05-08, 2023/5/8, 2023-05, and a date with a time behind it.
    fn iso_at(&self, at: usize) -> Option<Reading> {
        let word = self.word(at);
        let date = word.split_once('t').map_or(word, |(date, _)| date);
        let parts: Vec<&str> = date.split(['-', '/']).collect();
        let year = year(parts.first()?)?;
        let month: i8 = parts.get(1)?.parse().ok()?;
        match parts.get(2..)? {
            [] => self.month_found(Some(year), month, at + 1),
            [day] => {
                let day = self.calendar.date(Some(year), month, day.parse().ok()?)?;
                let (period, next) = self.day_or_part(day, at + 1);
                Some(Reading::new(period, next, Named::FixedMonth))
            }
            _ => None,
        }
    }

    /// "May 8", "May 8th, 2023".
    fn month_day(&self, at: usize) -> Option<Reading> {
        let month = month(self.word(at))?;
        let days = days(self.word(at + 1))?;
        let (year, next) = self.year_after(at + 2);
        let clear = year.is_some() || days.ordinal;
        let counted = !clear && COUNTED.contains(&self.word(next));
        if counted || !(clear || self.is_month_name(at) || self.lead_before(at)) {
            return None;
        }
        self.days_found(year, month, &days, next)
    }

    /// "8 May", "the 8th of May 2023".
    fn day_month(&self, at: usize) -> Option<Reading> {
        let days = days(self.word(at))?;
        let month_at = self.follows(at + 1, "of").unwrap_or(at + 1);
        let month = month(self.word(month_at))?;
        let (year, next) = self.year_after(month_at + 1);
        if year.is_none() && !days.ordinal && !self.is_month_name(month_at) {
            return None;
        }
        self.days_found(year, month, &days, next)
    }

    /// "May 2023", "March of last year".
    fn month_year(&self, at: usize) -> Option<Reading> {
        let month = month(self.word(at))?;
        let (year, next) = self.year_after(at + 1);
        self.month_found(Some(year?), month, next)
    }

    /// "in March", "last May", "end of June", "last year in March".
    fn month_alone(&self, at: usize, bare: Bare) -> Option<Reading> {
        if let Some(found) = self.year_then_month(at) {
            return Some(found);
        }
        let found = |name_at: usize| Some((month(self.word(name_at))?, name_at + 1));
        if let Some((month, next)) = LEADS.iter().find_map(|lead| found(self.follows(at, lead)?)) {
            let (year, next) = self.year_after(next);
            return self.month_found(year, month, next);
        }
        if let Some((month, next)) = found(at).filter(|_| bare.allows(Named::Month) && !self.is_verb(at)) {
            return self.month_found(None, month, next);
        }
        let (month, next) = found(at + 1).filter(|_| self.is_month_name(at + 1))?;
        if matches!(self.word(at), "last" | "past") {
            let period = self.calendar.month_over(month)?;
            return Some(Reading::new(Some(period), next, Named::FixedMonth));
        }
        WEAK_LEADS.contains(&self.word(at)).then(|| self.month_found(None, month, next))?
    }

    fn year_then_month(&self, at: usize) -> Option<Reading> {
        let (year, next) = self.relative_year(at)?;
        let next = self.follows(next, "in")?;
        self.month_found(Some(year), month(self.word(next))?, next + 1)
    }

    /// "in 2022".
    fn year_at(&self, at: usize, bare: Bare) -> Option<Reading> {
        let lead = matches!(self.word(at), "in" | "during" | "throughout" | "of");
        let year_at = if lead { at + 1 } else { at };
        let year = year(self.word(year_at))?;
        let counted = COUNTED.contains(&self.word(year_at + 1));
        if counted || !(lead || bare.allows(Named::Year)) {
            return None;
        }
        Some(Reading::new(self.calendar.year(year), year_at + 1, Named::Year))
    }

    /// A year behind a month or day, and the place after it; the same place when there is none.
    fn year_after(&self, at: usize) -> (Option<i16>, usize) {
        let year_at = self.follows(at, ",").or_else(|| self.follows(at, "of")).unwrap_or(at);
        if let Some(year) = year(self.word(year_at)) {
            return (Some(year), year_at + 1);
        }
        self.relative_year(year_at).map_or((None, at), |(year, next)| (Some(year), next))
    }

    fn relative_year(&self, at: usize) -> Option<(i16, usize)> {
        let ago = |words, years| Some((self.calendar.years_ago(years), self.follows(at, words)?));
        ago("last year", 1).or_else(|| ago("this year", 0)).or_else(|| ago("the year before last", 2))
    }

    fn month_found(&self, year: Option<i16>, month: i8, next: usize) -> Option<Reading> {
        let period = self.calendar.month(year, month)?;
        Some(Reading::new(Some(period), next, named_by(year)))
    }

    fn days_found(&self, year: Option<i16>, month: i8, days: &Days, next: usize) -> Option<Reading> {
        let first = self.calendar.date(year, month, days.first)?;
        if days.last > days.first {
            let last = self.calendar.date(Some(first.year()), month, days.last)?;
            let period = self.calendar.days(first, last.tomorrow().ok()?)?;
            return Some(Reading::new(Some(period), next, named_by(year)));
        }
        let (period, next) = self.day_or_part(first, next);
        Some(Reading::new(period, next, named_by(year)))
    }

    fn lead_before(&self, at: usize) -> bool {
        at > 0 && DATE_LEADS.contains(&self.word(at - 1))
    }

    /// Whether the word at `at` is a month beyond doubt.
    fn is_month_name(&self, at: usize) -> bool {
        let capital = self.tokens.get(at).is_some_and(|token| token.capital);
        (capital || !matches!(self.word(at), "may" | "march" | "mar")) && !self.is_verb(at)
    }

    fn is_verb(&self, at: usize) -> bool {
        self.word(at) == "may" && VERBS.contains(&self.word(at + 1))
    }
}

fn named_by(year: Option<i16>) -> Named {
    if year.is_some() { Named::FixedMonth } else { Named::Month }
}

fn month(word: &str) -> Option<i8> {
    (1..).zip(MONTHS).find(|(_, names)| names.contains(&word)).map(|(month, _)| month)
}

fn year(word: &str) -> Option<i16> {
    let digits = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|year| digits && (1900..=2100).contains(year))
}

fn days(word: &str) -> Option<Days> {
    let plain = ["st", "nd", "rd", "th"].iter().find_map(|suffix| word.strip_suffix(suffix));
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|day| digits && (1..=31).contains(day))
    };
    let (first, last) = plain.unwrap_or(word).split_once('-').unwrap_or((plain.unwrap_or(word), ""));
    let first = number(first)?;
    let last = if last.is_empty() { first } else { number(last)? };
    Some(Days { first, last, ordinal: plain.is_some() })
}
