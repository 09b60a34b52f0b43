//! Weekdays: "on Monday", "last Friday night", "Tuesday of last week", "two Fridays ago".

use jiff::civil::Date;

use super::{Bare, English};
use crate::timewords::reading::{Named, Reading};

/// Names and short forms by their day. "sat" and "sun" are words of their own and are left out.
const WEEKDAYS: [&[&str]; 7] = [
    &["monday", "mon"],
    &["tuesday", "tue", "tues"],
    &["wednesday", "wed"],
    &["thursday", "thu", "thur", "thurs"],
    &["friday", "fri"],
    &["saturday"],
    &["sunday"],
];

/// Words that make a weekday a date.
const LEADS: &[&str] =
    &["on", "last", "past", "previous", "by", "until", "till", "before", "after", "from", "of"];

/// Parts of a day in the plural tell of a habit.
const HABITS: &[&str] = &["mornings", "noons", "afternoons", "evenings", "nights"];

impl English<'_> {
    /// The weekday at `at`.
    pub(super) fn weekday_at(&self, at: usize, bare: Bare) -> Option<Reading> {
        if let Some(found) = self.week_then_day(at).or_else(|| self.weekdays_ago(at)) {
            return Some(found);
        }
        let lead = self.word(at);
        let this = lead == "this";
        let has_lead = this || LEADS.contains(&lead);
        let name_at = if has_lead { at + 1 } else { at };
        let weekday = weekday(self.word(name_at))?;
        let next = name_at + 1;
        if HABITS.contains(&self.word(next)) {
            return None;
        }
        if let Some((weeks, next)) = self.week_after(next) {
            return self.day_found(self.calendar.weekday_of_week(weekday, weeks)?, next, Named::FixedWeekday);
        }
        let allowed = has_lead || bare.allows(Named::Weekday) || self.part_at(next).is_some();
        let date = if this {
            self.calendar.weekday_of_week(weekday, 0)?
        } else {
            self.calendar.latest_weekday(weekday)?
        };
        self.day_found(date, next, Named::Weekday).filter(|_| allowed)
    }

    /// "last week on Monday".
    fn week_then_day(&self, at: usize) -> Option<Reading> {
        let (weeks, next) = self.week_at(at)?;
        let next = self.follows(next, "on").unwrap_or(next);
        let weekday = weekday(self.word(next))?;
        self.day_found(self.calendar.weekday_of_week(weekday, weeks)?, next + 1, Named::FixedWeekday)
    }

    /// "two Fridays ago".
    fn weekdays_ago(&self, at: usize) -> Option<Reading> {
        let (count, next) = self.count_at(at)?;
        let word = self.word(next);
        let weekday = weekday(word.strip_suffix('s').unwrap_or(word))?;
        let next = self.follows(next + 1, "ago")?;
        let mut found = self.day_found(self.calendar.latest_weekday(weekday)?, next, Named::FixedWeekday)?;
        for _ in 1..count.least.min(520) {
            found.period = self.calendar.earlier(found.period?, Named::Weekday);
        }
        Some(found)
    }

    /// "last week", "of this week" after a weekday; part of the day may stand between.
    fn week_after(&self, at: usize) -> Option<(i32, usize)> {
        self.week_at(self.follows(at, "of").unwrap_or(at))
    }

    fn week_at(&self, at: usize) -> Option<(i32, usize)> {
        let ago = |words, weeks| Some((weeks, self.follows(at, words)?));
        ago("last week", 1).or_else(|| ago("this week", 0)).or_else(|| ago("the week before last", 2))
    }

    fn day_found(&self, date: Date, next: usize, named: Named) -> Option<Reading> {
        let (period, next) = self.day_or_part(date, next);
        Some(Reading::new(Some(period?), next, named))
    }
}

fn weekday(word: &str) -> Option<i8> {
    (0..).zip(WEEKDAYS).find(|(_, names)| names.contains(&word)).map(|(day, _)| day)
}
