//! Civil days, weeks, months and years around one `now` in one zone. Everything outside the calendar's range is none.

use jiff::Span;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::RECENT_DAYS;
use super::meaning::{Count, Meaning, Part, Unit};
use super::reading::Named;
use crate::Timestamp;
use crate::time::HOUR_MS;

const MINUTE_MS: i64 = 60_000;

/// A span of time that holds `from` and not `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

impl Period {
    /// What both hold, if anything.
    pub(crate) fn overlap(self, other: Period) -> Option<Period> {
        let both = Period { from: self.from.max(other.from), to: self.to.min(other.to) };
        (both.from < both.to).then_some(both)
    }

    /// From the first of both to the last.
    pub(crate) fn hull(self, other: Period) -> Period {
        Period { from: self.from.min(other.from), to: self.to.max(other.to) }
    }
}

/// The calendar as it stands at `now`.
pub(crate) struct Calendar<'a> {
    now: Timestamp,
    today: Date,
    zone: &'a TimeZone,
}

impl<'a> Calendar<'a> {
    pub(crate) fn new(now: Timestamp, zone: &'a TimeZone) -> Calendar<'a> {
        Calendar { now, today: zone.to_datetime(now.to_jiff()).date(), zone }
    }

    /// The span that a word means.
    pub(crate) fn resolve(&self, meaning: Meaning) -> Option<Period> {
        match meaning {
            Meaning::Day(ago) => self.day(self.days_ago(ago)?),
            Meaning::Part(ago, part) => self.part(self.days_ago(ago)?, part),
            Meaning::Unit(unit, ago) => self.unit(unit, ago),
            Meaning::Weekend(weeks) => {
                self.days(self.weekday_of_week(5, weeks)?, self.weekday_of_week(0, weeks - 1)?)
            }
            Meaning::LatestWeekend => {
                let begun = self.today.weekday().to_monday_zero_offset() >= 5;
                self.resolve(Meaning::Weekend(i32::from(!begun)))
            }
            Meaning::Last(count, unit) => self.last(count, unit),
            Meaning::Ago(count, unit) => self.ago(count, unit),
            Meaning::Recent => self.last(RECENT_DAYS, Unit::Day),
            Meaning::Nothing => None,
        }
    }

    pub(crate) fn days_ago(&self, days: i32) -> Option<Date> {
        back(self.today, days, Unit::Day)
    }

    /// The year that lies so many before the present one.
    pub(crate) fn years_ago(&self, years: i16) -> i16 {
        self.today.year() - years
    }

    /// The latest such weekday before today; 0 is Monday.
    pub(crate) fn latest_weekday(&self, weekday: i8) -> Option<Date> {
        let days = (self.today.weekday().to_monday_zero_offset() - weekday).rem_euclid(7);
        self.days_ago(if days == 0 { 7 } else { i32::from(days) })
    }

    /// A weekday of the week that lies so many before the present one; 0 is Monday.
    pub(crate) fn weekday_of_week(&self, weekday: i8, weeks: i32) -> Option<Date> {
        back(self.unit_start(Unit::Week, weeks)?, -i32::from(weekday), Unit::Day)
    }

    /// A whole day.
    pub(crate) fn day(&self, date: Date) -> Option<Period> {
        self.days(date, date.tomorrow().ok()?)
    }

    /// A part of a day.
    pub(crate) fn part(&self, date: Date, part: Part) -> Option<Period> {
        let at = |hour: i8| {
            let date = if hour < 24 { date } else { date.tomorrow().ok()? };
            self.moment(date, Time::new(hour % 24, 0, 0, 0).ok()?)
        };
        let (from, to) = part.hours();
        Some(Period { from: at(from)?, to: at(to)? })
    }

    /// The days from one date to the day before another.
    pub(crate) fn days(&self, from: Date, to: Date) -> Option<Period> {
        Some(Period { from: self.moment(from, Time::midnight())?, to: self.moment(to, Time::midnight())? })
    }

    /// A whole year.
    pub(crate) fn year(&self, year: i16) -> Option<Period> {
        self.days(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(1)?, 1, 1).ok()?)
    }

    /// A month of a year; without one, the latest such month that has begun.
    pub(crate) fn month(&self, year: Option<i16>, month: i8) -> Option<Period> {
        let first = match year {
            Some(year) => Date::new(year, month, 1).ok()?,
            None => self.latest(|year| Date::new(year, month, 1).ok())?,
        };
        self.days(first, back(first, -1, Unit::Month)?)
    }

    /// The latest such month that is over.
    pub(crate) fn month_over(&self, month: i8) -> Option<Period> {
        let year = self.today.year() - i16::from(month >= self.today.month());
        self.month(Some(year), month)
    }

    /// A date of a year; without one, the latest such date that is not in the future.
    pub(crate) fn date(&self, year: Option<i16>, month: i8, day: i8) -> Option<Date> {
        match year {
            Some(year) => Date::new(year, month, day).ok(),
            None => self.latest(|year| Date::new(year, month, day).ok()),
        }
    }

    /// A calendar unit that lies so many before the present one.
    pub(crate) fn unit(&self, unit: Unit, ago: i32) -> Option<Period> {
        self.days(self.unit_start(unit, ago)?, self.unit_start(unit, ago - 1)?)
    }

    /// From the beginning of `period` to the end of today.
    pub(crate) fn since(&self, period: Period) -> Option<Period> {
        let to = self.moment(self.today.tomorrow().ok()?, Time::midnight())?;
        Some(Period { from: period.from, to })
    }

    /// The same name one turn earlier: the Monday before, the March before.
    pub(crate) fn earlier(&self, period: Period, named: Named) -> Option<Period> {
        let unit = match named {
            Named::Weekday => Unit::Week,
            Named::Month => Unit::Year,
            _ => return None,
        };
        let moved = |time: Timestamp| {
            let civil = self.zone.to_datetime(time.to_jiff());
            self.moment(back(civil.date(), 1, unit)?, civil.time())
        };
        Some(Period { from: moved(period.from)?, to: moved(period.to)? })
    }

    fn last(&self, count: i32, unit: Unit) -> Option<Period> {
        if let Some(unit_ms) = exact_ms(unit) {
            // The window ends after the present moment, so that what happens now lies inside.
            let from = self.now.plus_ms(-unit_ms * i64::from(count));
            return Some(Period { from, to: self.now.plus_ms(1) });
        }
        self.days(back(self.today, count, unit)?, self.today.tomorrow().ok()?)
    }

    fn ago(&self, count: Count, unit: Unit) -> Option<Period> {
        let Some(unit_ms) = exact_ms(unit) else {
            return self.days(self.unit_start(unit, count.most)?, self.unit_start(unit, count.least - 1)?);
        };
        let (far, near) = (unit_ms * i64::from(count.most), unit_ms * i64::from(count.least));
        let slack = |distance: i64| (distance / 4).max(unit_ms / 2);
        let (from, to) = (self.now.plus_ms(-far - slack(far)), self.now.plus_ms(slack(near) - near));
        Some(Period { from, to: to.min(self.now.plus_ms(1)) })
    }

    /// The first day of the calendar unit that lies so many before the present one.
    pub(crate) fn unit_start(&self, unit: Unit, ago: i32) -> Option<Date> {
        let start = match unit {
            Unit::Minute | Unit::Hour => return None,
            Unit::Day => self.today,
            Unit::Week => back(self.today, self.today.weekday().to_monday_zero_offset().into(), Unit::Day)?,
            Unit::Month => self.today.first_of_month(),
            Unit::Quarter => {
                back(self.today.first_of_month(), i32::from((self.today.month() - 1) % 3), Unit::Month)?
            }
            Unit::Year => self.today.first_of_year(),
        };
        back(start, ago, unit)
    }

    /// The latest date that is not in the future. Eight years hold every date, 29 February across 2100 too.
    fn latest(&self, in_year: impl Fn(i16) -> Option<Date>) -> Option<Date> {
        let years = (0..=8).filter_map(|ago| self.today.year().checked_sub(ago));
        years.filter_map(in_year).find(|date| *date <= self.today)
    }

    /// A civil time as a point in time. A time that the clocks skip is taken after the gap, one that they repeat is
    /// taken the first time.
    fn moment(&self, date: Date, time: Time) -> Option<Timestamp> {
        self.zone.to_timestamp(date.to_datetime(time)).ok().map(Timestamp::from)
    }
}

fn exact_ms(unit: Unit) -> Option<i64> {
    match unit {
        Unit::Minute => Some(MINUTE_MS),
        Unit::Hour => Some(HOUR_MS),
        _ => None,
    }
}

/// The date so many units earlier; a negative count is later. The day of a shorter month is its last.
fn back(date: Date, count: i32, unit: Unit) -> Option<Date> {
    let span = match unit {
        Unit::Minute | Unit::Hour => return None,
        Unit::Day => Span::new().try_days(-count),
        Unit::Week => Span::new().try_weeks(-count),
        Unit::Month => Span::new().try_months(-count),
        Unit::Quarter => Span::new().try_months(-count.checked_mul(3)?),
        Unit::Year => Span::new().try_years(-count),
    };
    date.checked_add(span.ok()?).ok()
}
