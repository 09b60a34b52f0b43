//! One expression as it was read, and how two of them make a range.

use super::Rank;
use super::calendar::{Calendar, Period};
use super::meaning::Meaning;

/// What a time was named by. Decides which bare word may go on with it ("from March to May"), and how far back the same
/// name comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// A vague word: "recently".
    Vague,
    /// Something else, such as "yesterday".
    Other,
    /// A weekday, without its week.
    Weekday,
    /// A month or a day of a month, without its year.
    Month,
    /// A weekday with its week.
    FixedWeekday,
    /// A month or a day of a month, with its year.
    FixedMonth,
    /// A year.
    Year,
}

impl Named {
    /// How definite a time of this name is.
    pub(crate) const fn rank(self) -> Rank {
        match self {
            Named::Vague => Rank::Vague,
            Named::Other | Named::Weekday | Named::FixedWeekday => Rank::Relative,
            Named::Month | Named::FixedMonth | Named::Year => Rank::Dated,
        }
    }

    /// The name without what fixes it: what may go on a range that begins with it.
    pub(crate) const fn alike(self) -> Named {
        match self {
            Named::FixedWeekday => Named::Weekday,
            Named::FixedMonth => Named::Month,
            named => named,
        }
    }

    /// The name of what a word means.
    pub(crate) fn of(meaning: Meaning) -> Named {
        if meaning == Meaning::Recent { Named::Vague } else { Named::Other }
    }

    /// After how many days the name comes again, at most.
    const fn turn_days(self) -> Option<f64> {
        match self {
            Named::Weekday => Some(7.0),
            Named::Month => Some(366.0),
            _ => None,
        }
    }
}

/// An expression that was read. Without a period, its words only look like a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) period: Option<Period>,
    /// The place after it.
    pub(crate) next: usize,
    pub(crate) named: Named,
}

impl Reading {
    pub(crate) fn new(period: Option<Period>, next: usize, named: Named) -> Reading {
        Reading { period, next, named }
    }

    /// From this time to `second`. A name that comes again is moved so that the range runs forward and is no longer
    /// than one turn: "from November to February" begins in the year before, "March 2023 to May" ends in 2023.
    pub(crate) fn to(self, second: Reading, calendar: &Calendar<'_>) -> Option<Reading> {
        let (mut from, mut to) = (self.period?, second.period?);
        for _ in 0..TURNS_MAX {
            if from.from <= to.from || self.named.turn_days().is_none() {
                break;
            }
            from = calendar.earlier(from, self.named)?;
        }
        for _ in 0..TURNS_MAX {
            let too_far = |turn_days| from.from.days_until(to.from) >= turn_days;
            if !matches!(self.named, Named::FixedWeekday | Named::FixedMonth)
                || !second.named.turn_days().is_some_and(too_far)
            {
                break;
            }
            to = calendar.earlier(to, second.named)?;
        }
        Some(Reading { period: Some(from.hull(to)), ..second })
    }
}

/// Most turns that an end of a range is moved: enough for years back to 1900, and for weekdays of the last years.
const TURNS_MAX: usize = 200;
