//! The fixed phrases of English, as one table. The longest phrase that fits is meant.

use super::English;
use crate::timewords::meaning::Meaning::{
    self, Ago, Day, Last, LatestWeekend, Nothing, Part as PartOf, Recent, Unit as Of, Weekend,
};
use crate::timewords::meaning::{Count, Part, Unit};
use crate::timewords::reading::{Named, Reading};

const PHRASES: &[(&str, Meaning)] = &[
    ("today", Day(0)),
    ("earlier today", Day(0)),
    ("yesterday", Day(1)),
    ("day before yesterday", Day(2)),
    ("the day before yesterday", Day(2)),
    ("tonight", PartOf(0, Part::Evening)),
    ("this morning", PartOf(0, Part::Morning)),
    ("this afternoon", PartOf(0, Part::Afternoon)),
    ("this evening", PartOf(0, Part::Evening)),
    ("last night", PartOf(1, Part::Evening)),
    ("last evening", PartOf(1, Part::Evening)),
    ("the night before last", PartOf(2, Part::Evening)),
    ("this week", Of(Unit::Week, 0)),
    ("last week", Of(Unit::Week, 1)),
    ("previous week", Of(Unit::Week, 1)),
    ("week before last", Of(Unit::Week, 2)),
    ("the last week", Last(1, Unit::Week)),
    ("past week", Last(1, Unit::Week)),
    ("this month", Of(Unit::Month, 0)),
    ("last month", Of(Unit::Month, 1)),
    ("previous month", Of(Unit::Month, 1)),
    ("month before last", Of(Unit::Month, 2)),
    ("the last month", Last(1, Unit::Month)),
    ("past month", Last(1, Unit::Month)),
    ("this quarter", Of(Unit::Quarter, 0)),
    ("last quarter", Of(Unit::Quarter, 1)),
    ("previous quarter", Of(Unit::Quarter, 1)),
    ("this year", Of(Unit::Year, 0)),
    ("last year", Of(Unit::Year, 1)),
    ("previous year", Of(Unit::Year, 1)),
    ("year before last", Of(Unit::Year, 2)),
    ("the last year", Last(1, Unit::Year)),
    ("past year", Last(1, Unit::Year)),
    ("in the last day", Last(1, Unit::Day)),
    ("within the last day", Last(1, Unit::Day)),
    ("past day", Last(1, Unit::Day)),
    ("last hour", Last(1, Unit::Hour)),
    ("past hour", Last(1, Unit::Hour)),
    ("this weekend", Weekend(0)),
    ("last weekend", Weekend(1)),
    ("past weekend", LatestWeekend),
    ("over the weekend", LatestWeekend),
    ("recently", Recent),
    ("recent", Recent),
    ("lately", Recent),
    ("last time", Recent),
    ("the other day", Ago(Count::FEW, Unit::Day)),
    ("just now", Last(3, Unit::Hour)),
    ("a moment ago", Last(3, Unit::Hour)),
    ("moments ago", Last(3, Unit::Hour)),
    ("half an hour ago", Ago(Count::exactly(30), Unit::Minute)),
    ("half a year ago", Ago(Count::exactly(6), Unit::Month)),
    ("last half hour", Last(30, Unit::Minute)),
    ("last half year", Last(6, Unit::Month)),
    // Words that only look like a time.
    ("for the last time", Nothing),
    ("one last time", Nothing),
    ("weather today", Nothing),
    ("weather like today", Nothing),
    ("today weather", Nothing),
    ("the last night", Nothing),
    ("recent years", Nothing),
];

const PARTS: &[(&str, Part)] = &[
    ("morning", Part::Morning),
    ("noon", Part::Noon),
    ("at noon", Part::Noon),
    ("afternoon", Part::Afternoon),
    ("evening", Part::Evening),
    ("night", Part::Evening),
    ("in the morning", Part::Morning),
    ("in the afternoon", Part::Afternoon),
    ("in the evening", Part::Evening),
    ("at night", Part::Evening),
];

impl English<'_> {
    /// The phrase at `at`.
    pub(super) fn phrase_at(&self, at: usize) -> Option<Reading> {
        let fits = |(phrase, meaning): &(&str, Meaning)| Some((self.follows(at, phrase)?, *meaning));
        let (next, meaning) = PHRASES.iter().filter_map(fits).max_by_key(|(next, _)| *next)?;
        if matches!(meaning, Of(..) | Last(..)) && self.word(next) == "of" {
            // "the last week of school" is counted from something else.
            return Some(Reading::new(None, at + 1, Named::Other));
        }
        if let Day(ago) = meaning
            && let Some((part, next)) = self.part_at(next)
        {
            let period = self.calendar.part(self.calendar.days_ago(ago)?, part);
            return Some(Reading::new(period, next, Named::Other));
        }
        Some(Reading::new(self.calendar.resolve(meaning), next, Named::of(meaning)))
    }

    /// The part of a day that is named at `at`, and the place after it.
    pub(super) fn part_at(&self, at: usize) -> Option<(Part, usize)> {
        let fits = |(phrase, part): &(&str, Part)| Some((*part, self.follows(at, phrase)?));
        PARTS.iter().find_map(fits)
    }
}
