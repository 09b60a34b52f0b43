//! Time words: the span of time that a query names, "last week", "three days ago", 上周三, 2023年5月 (R3).
//!
//! By rule and by table, in English and Chinese; pure, with `now` and the time zone given. A query that names no
//! time, or only seems to ("the last mile", "may I", 以前天天), has no window. These are the conventions:
//!
//! - **Edges.** A window holds `from` and not `to`. Days begin at midnight of the zone, weeks on Monday.
//! - **Calendar units.** "yesterday", "last month", 去年, "3 weeks ago" are whole units: the day, week, month or year
//!   that lies so many before the present one. "this week" ends on Sunday, though most of it may be to come.
//! - **Rolling spans.** "in the last 3 days", "the past week", 最近三天, 过去一个月 hold today and the days back to the
//!   same date so many units earlier. "last week" is the calendar week, "the last week" rolls.
//! - **Hours and minutes** are exact: "the last 2 hours" ends now; "2 hours ago" is that moment and a quarter of the
//!   distance on both sides, at least half a unit.
//! - **Vague counts.** "a few", "several", 几 are 2 to 6; "a couple" is 2 to 3. A rolling span takes the larger number.
//! - **Just now**, 刚才 are the last 3 hours.
//! - **Recent.** "recently", "lately", "last time", 最近, 上次 mean the last 14 days: [`RECENT_DAYS`].
//! - **Weekdays.** "on Monday", "last Monday", 周一 are the latest Monday before today. "this Monday", 这周一, 上周一,
//!   "Monday of last week" are taken from that week. "on Mondays", 每周一 are habits and name no time.
//! - **Dates without a year** are the latest that is not in the future; "last March" is the latest March that is over.
//!   In a query about birthdays they recur, and name no time.
//! - **Parts of a day** count only with a day: "yesterday morning", 今早, 昨晚, 周三下午. Morning 5–12, noon 11–14,
//!   afternoon 12–18, evening and night 18–5, 凌晨 0–6. "in the morning" alone names no day.
//! - **Since.** "since Monday", 从上周开始, 昨天以来 reach to the end of today.
//! - **Several.** Dates count before relative words and those before vague ones: "recently, in May 2022" is May 2022. Of
//!   one sort, two times that overlap are taken together; two that do not, and "from March to May", give everything
//!   between the first and the last. More than [`NAMED_MAX`] are a story, not a window.
//! - **The future** ("tomorrow", 下周) gives no window: a plan is remembered when it was made. Seasons, feasts, bare
//!   days ("the 8th") and numeric dates other than 2023-05-08 are not read either.

mod calendar;
mod chinese;
mod english;
mod meaning;
mod reading;

use crate::Timestamp;
use calendar::{Calendar, Period};
use reading::Named;

/// How many days "recently", "last time", 最近 and 上次 reach back.
pub const RECENT_DAYS: i32 = 14;

/// Most different times that a query may name and still have a window.
pub const NAMED_MAX: usize = 3;

/// Who speaks of these names a day of each year, not a day that was.
const YEARLY: &[&str] = &["birthday", "Birthday", "anniversar", "生日", "纪念日"];

/// The span of time that a query names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its first moment.
    pub from: Timestamp,
    /// The first moment after it.
    pub to: Timestamp,
    /// The words that were understood, as the query has them, joined by `, ` when there are several.
    pub words: String,
}

/// One time that the query names: where in the text, which span, and by what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    start: usize,
    end: usize,
    period: Period,
    named: Named,
}

/// How definite a time is. Only the most definite times of a query count: "recently, in May 2022" is about May 2022.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// "recently", "last time".
    Vague,
    /// "yesterday", "last week on Monday".
    Relative,
    /// "in May", 2023-05-08.
    Dated,
}

/// The window that `query` names, as meant at `now` by somebody in `zone`; none when it names no time.
#[must_use]
pub fn window(query: &str, now: Timestamp, zone: &jiff::tz::TimeZone) -> Option<Window> {
    let calendar = Calendar::new(now, zone);
    let mut found = english::find(query, &calendar);
    found.extend(chinese::find(query, &calendar));
    if YEARLY.iter().any(|word| query.contains(word)) {
        found.retain(|time| time.named != Named::Month);
    }
    let rank = found.iter().map(|time| time.named.rank()).max()?;
    found.retain(|time| time.named.rank() == rank);
    found.sort_by_key(|time| (time.start, time.end));
    let period = found.iter().map(|time| time.period).reduce(|a, b| a.overlap(b).unwrap_or(a.hull(b)))?;
    let mut words: Vec<&str> = Vec::new();
    for word in found.iter().filter_map(|time| query.get(time.start..time.end)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let is_window = words.len() <= NAMED_MAX && period.from < period.to;
    is_window.then(|| Window { from: period.from, to: period.to, words: words.join(", ") })
}
