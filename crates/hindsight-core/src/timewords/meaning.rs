//! What a time word can mean; the tables of both languages lead here.

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// A part of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// 凌晨.
    Dawn,
    Morning,
    Noon,
    Afternoon,
    /// Evening and night, which end on the next day.
    Evening,
}

impl Part {
    /// Its first hour and the hour after it, counted from the day's midnight; past 24 on the next day.
    pub(crate) const fn hours(self) -> (i8, i8) {
        match self {
            Part::Dawn => (0, 6),
            Part::Morning => (5, 12),
            Part::Noon => (11, 14),
            Part::Afternoon => (12, 18),
            Part::Evening => (18, 29),
        }
    }
}

/// How many, when words may be vague: "a few".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) least: i32,
    pub(crate) most: i32,
}

impl Count {
    /// "a few", "several", 几.
    pub(crate) const FEW: Count = Count { least: 2, most: 6 };
    /// "a couple of".
    pub(crate) const COUPLE: Count = Count { least: 2, most: 3 };

    pub(crate) const fn exactly(number: i32) -> Count {
        Count { least: number, most: number }
    }
}

/// What a time word means. Counts go back from the present: 0 is this one, 1 the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A day; a part of it may be named after it.
    Day(i32),
    /// A part of a day.
    Part(i32, Part),
    /// A calendar unit.
    Unit(Unit, i32),
    /// The Saturday and Sunday of a week.
    Weekend(i32),
    /// The latest weekend that has begun.
    LatestWeekend,
    /// A rolling span that ends today, or now.
    Last(i32, Unit),
    /// A point in the past.
    Ago(Count, Unit),
    /// The last [`super::RECENT_DAYS`] days.
    Recent,
    /// Words that only look like a time.
    Nothing,
}
