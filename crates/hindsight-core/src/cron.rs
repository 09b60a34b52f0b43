//! When something is to happen, as five fields: minute, hour, day of the month, month, day of the week.
//!
//! `30 3 * * *` is every day at half past three; `0 4 * * sun` every Sunday at four. A field is `*`, a number, a name, a range
//! `1-5`, each with an optional step `/2`, or several of them with commas. Days of the week count from 0, Sunday, which is
//! also 7. Where both days are restricted, one of the two is enough, as cron has it. `@hourly`, `@daily`, `@weekly`,
//! `@monthly` and `@yearly` are short for the first moment of each.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::Timestamp;

/// A schedule can skip a 29th of February for eight years; beyond that it never comes.
const DAYS_SEARCHED: usize = 9 * 366;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A schedule that comes at least once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether the day of the month, and the day of the week, are left open.
    is_open: (bool, bool),
}

/// A text that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is no schedule: {problem}; expected minute hour day month weekday, such as \"30 3 * * *\" for every day at 03:30"
)]
pub struct BadCron {
    /// The text as it was given, cut to 80 characters.
    pub given: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What a field may hold.
struct Field {
    name: &'static str,
    least: u8,
    most: u8,
    /// Names, the first of which stands for `least`.
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", least: 0, most: 59, names: &[] },
    Field { name: "hour", least: 0, most: 23, names: &[] },
    Field { name: "day", least: 1, most: 31, names: &[] },
    Field { name: "month", least: 1, most: 12, names: &MONTHS },
    Field { name: "weekday", least: 0, most: 7, names: &WEEKDAYS },
];

impl Field {
    fn number(&self, text: &str) -> Result<u8, String> {
        let named = self.names.iter().position(|name| text.eq_ignore_ascii_case(name));
        let number = match named {
            Some(at) => u8::try_from(at).ok().map(|at| at + self.least),
            None => text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit())),
        };
        let Field { name, least, most, .. } = self;
        number
            .filter(|number| (*least..=*most).contains(number))
            .ok_or_else(|| format!("{name} {text:?} is none of {least} to {most}"))
    }

    /// The values of one part between commas.
    fn part(&self, part: &str) -> Result<u64, String> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (self.least, self.most),
            Some((from, to)) => (self.number(from)?, self.number(to)?),
            // From there on, where a step follows.
            None if step.is_some() => (self.number(range)?, self.most),
            None => (self.number(range)?, self.number(range)?),
        };
        if from > to {
            return Err(format!("{} {range:?} goes backwards", self.name));
        }
        let step = match step {
            None => 1,
            Some(step) => {
                step.parse().ok().filter(|step| (1..=self.most).contains(step)).ok_or_else(|| {
                    format!("{} has the step {step:?}: expected 1 to {}", self.name, self.most)
                })?
            }
        };
        Ok((from..=to).step_by(usize::from(step)).fold(0, |bits, value| bits | 1 << value))
    }

    fn bits(&self, text: &str) -> Result<u64, String> {
        text.split(',').try_fold(0, |bits, part| Ok(bits | self.part(part)?))
    }
}

impl Cron {
    /// The first time after `after` at which it comes, by the clock of `zone`. `None` only beyond the year 9999.
    #[must_use]
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let begin = zone.to_datetime(after.to_jiff());
        let mut date = begin.date();
        for day in 0..DAYS_SEARCHED {
            if self.has_day(date) {
                let earliest = if day == 0 { begin.time() } else { Time::midnight() };
                let times = self
                    .times()
                    .filter(|time| (time.hour(), time.minute()) >= (earliest.hour(), earliest.minute()));
                // A time that a change of the clock skips comes that much later; one that comes twice counts once.
                let mut moments = times.filter_map(|time| {
                    let moment = zone.to_ambiguous_timestamp(date.to_datetime(time)).compatible().ok()?;
                    Timestamp::checked_from_ms(moment.as_millisecond())
                });
                if let Some(found) = moments.find(|moment| *moment > after) {
                    return Some(found);
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    /// How it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn has_day(&self, date: Date) -> bool {
        let has = |bits: u64, value: i8| u32::try_from(value).is_ok_and(|value| bits >> value & 1 == 1);
        let by_month = has(self.days, date.day());
        let by_week = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        let by_day = match self.is_open {
            (false, false) => by_month || by_week,
            _ => by_month && by_week,
        };
        has(self.months, date.month()) && by_day
    }

    fn times(&self) -> impl Iterator<Item = Time> {
        let hours = (0..24i8).filter(|hour| self.hours >> *hour & 1 == 1);
        hours.flat_map(|hour| {
            let minutes = (0..60i8).filter(|minute| self.minutes >> *minute & 1 == 1);
            minutes.filter_map(move |minute| Time::new(hour, minute, 0, 0).ok())
        })
    }
}

impl std::str::FromStr for Cron {
    type Err = BadCron;

    fn from_str(text: &str) -> Result<Cron, BadCron> {
        let bad = |problem: String| BadCron { given: text.chars().take(80).collect(), problem };
        let long = match text.trim().to_ascii_lowercase().as_str() {
            "@hourly" => "0 * * * *".to_owned(),
            "@daily" | "@midnight" => "0 0 * * *".to_owned(),
            "@weekly" => "0 0 * * 0".to_owned(),
            "@monthly" => "0 0 1 * *".to_owned(),
            "@yearly" | "@annually" => "0 0 1 1 *".to_owned(),
            long => long.to_owned(),
        };
        let parts: Vec<&str> = long.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = parts.as_slice() else {
            return Err(bad(format!("it has {} fields, not five", parts.len())));
        };
        let [minutes, hours, days, months, weekdays] = &FIELDS;
        let cron = Cron {
            text: text.trim().to_owned(),
            minutes: minutes.bits(minute).map_err(bad)?,
            hours: hours.bits(hour).map_err(bad)?,
            days: days.bits(day).map_err(bad)?,
            months: months.bits(month).map_err(bad)?,
            weekdays: weekdays.bits(weekday).map(|bits| bits | bits >> 7 & 1).map_err(bad)?,
            is_open: (day.starts_with('*'), weekday.starts_with('*')),
        };
        match cron.next_after(Timestamp::from_ms(0), &TimeZone::UTC) {
            Some(_) => Ok(cron),
            None => Err(bad("it never comes: no month that it names has such a day".to_owned())),
        }
    }
}

impl std::fmt::Display for Cron {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

crate::words::text_form!(Cron);

#[cfg(test)]
mod tests {
    use super::*;

    fn next(cron: &str, after: &str, zone: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        cron.parse::<Cron>().unwrap().next_after(after.parse().unwrap(), &zone).unwrap().to_string()
    }

    #[test]
    fn l5_a_schedule_comes_when_its_fields_say() {
        let table = [
            ("30 3 * * *", "2026-12-01T03:29:59Z", "2026-12-01T03:30:00Z"),
            ("30 3 * * *", "2026-12-01T03:30:00Z", "2026-12-02T03:30:00Z"),
            ("*/20 * * * *", "2026-12-01T03:41:00Z", "2026-12-01T04:00:00Z"),
            ("5/20 * * * *", "2026-12-01T03:26:00Z", "2026-12-01T03:45:00Z"),
            ("0 4 * * sun", "2026-12-01T00:00:00Z", "2026-12-06T04:00:00Z"),
            ("0 4 * * 7", "2026-12-01T00:00:00Z", "2026-12-06T04:00:00Z"),
            ("0 9-17/4 * * MON-FRI", "2026-12-04T17:00:00Z", "2026-12-07T09:00:00Z"),
            ("0 0 29 feb *", "2026-12-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            // Either day is enough: the 13th, or a Friday.
            ("0 0 13 * 5", "2026-12-01T00:00:00Z", "2026-12-04T00:00:00Z"),
            ("0 0 13 * 5", "2026-12-12T00:00:00Z", "2026-12-13T00:00:00Z"),
            ("@weekly", "2026-12-01T00:00:00Z", "2026-12-06T00:00:00Z"),
            ("@yearly", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ];
        for (cron, after, expected) in table {
            assert_eq!(next(cron, after, "UTC"), expected, "{cron} after {after}");
        }
    }

    #[test]
    fn l5_the_clock_of_a_zone_skips_and_repeats_an_hour() {
        // Berlin goes from 02:00 to 03:00 on 29 March 2026, and from 03:00 to 02:00 on 25 October 2026.
        assert_eq!(next("30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin"), "2026-03-29T01:30:00Z");
        assert_eq!(next("30 2 * * *", "2026-10-24T12:00:00Z", "Europe/Berlin"), "2026-10-25T00:30:00Z");
        assert_eq!(next("30 2 * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"), "2026-10-26T01:30:00Z");
        assert_eq!(next("0 3 * * *", "2026-12-01T12:00:00Z", "Asia/Shanghai"), "2026-12-01T19:00:00Z");
    }

    #[test]
    fn l5_what_never_comes_or_is_no_schedule_is_refused_with_the_reason() {
        let table = [
            ("0 0 30 2 *", "never comes"),
            ("0 0 31 4,6,9,11 *", "never comes"),
            ("", "0 fields"),
            ("* * * *", "4 fields"),
            ("0 0 3 * * *", "6 fields"),
            ("60 * * * *", "minute \"60\" is none of 0 to 59"),
            ("* * * * mo", "weekday \"mo\" is none of 0 to 7"),
            ("* * 0 * *", "day \"0\" is none of 1 to 31"),
            ("*/0 * * * *", "step \"0\""),
            ("5-1 * * * *", "goes backwards"),
            ("1,,2 * * * *", "minute \"\""),
            ("+5 * * * *", "minute \"+5\""),
            ("@noon", "1 fields"),
        ];
        for (cron, reason) in table {
            let error = cron.parse::<Cron>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("30 3 * * *"), "{cron}: {error}");
        }
    }
}
