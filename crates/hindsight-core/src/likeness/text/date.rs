//! Days and months, however they are written. What may be read in two ways (03/05/2024) stays as it is.

use super::token::{FirstBytes, Sort, Token, join as join_tokens};

/// The months by name and by abbreviation, in order.
const MONTHS: &[&[&str]] = &[
    &["january", "jan"],
    &["february", "feb"],
    &["march", "mar"],
    &["april", "apr"],
    &["may"],
    &["june", "jun"],
    &["july", "jul"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct"],
    &["november", "nov"],
    &["december", "dec"],
];

/// The days of the week.
const WEEKDAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Years that a date may have without a word that says so.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2100;

/// 2024-03-05, 2024/3/5, and 13/5/2024 or 5/13/2024, of which only one reading is a date.
pub(super) fn read(run: &str) -> Option<String> {
    let separator = if run.contains('/') { '/' } else { '-' };
    let mut parts = run.split(separator);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |part: &str, most: usize| part.len() <= most && part.bytes().all(|b| b.is_ascii_digit());
    if parts.next().is_some() || ![first, second, third].iter().all(|part| digits(part, 4)) {
        return None;
    }
    let number = |part: &str| part.parse::<u32>().ok();
    if first.len() == 4 {
        return day(Some(number(first)?), number(second)?, number(third)?);
    }
    if third.len() != 4 || separator != '/' {
        return None;
    }
    let (a, b, year) = (number(first)?, number(second)?, number(third)?);
    match (day(Some(year), a, b), day(Some(year), b, a)) {
        (Some(one), Some(other)) if one != other => None,
        (Some(one), _) | (_, Some(one)) => Some(one),
        (None, None) => None,
    }
}

/// What the names of months begin with.
static MONTHS_BEGIN: FirstBytes = FirstBytes::of(&["j", "f", "m", "a", "s", "o", "n", "d"]);

/// Words before which a month's name is a month, and not "may" or "march".
const BEFORE_MONTH: &[&str] =
    &["in", "since", "until", "till", "during", "last", "next", "this", "of", "every", "by"];

/// Whether a word names a month or a day of the week.
pub(super) fn is_name(token: &Token) -> bool {
    token.is_one_of(WEEKDAYS) || MONTHS.iter().any(|names| token.is_one_of(names))
}

/// Joins the tokens of dates that are written in several: "March 5th, 2024", "5 Mar", 2024年3月5日.
pub(super) fn join(tokens: Vec<Token>) -> Vec<Token> {
    join_tokens(tokens, |before, rest| {
        let month = month_at(rest, 0);
        if month.is_none() && rest.first()?.sort != Sort::Number {
            return None;
        }
        let lone = || month.filter(|_| before.is_some_and(|last| last.is_one_of(BEFORE_MONTH)));
        let (key, count) =
            chinese(rest).or_else(|| english(rest)).or_else(|| Some((format!("--{:02}", lone()?), 1)))?;
        Some((Token::instead_of(rest.get(..count).unwrap_or_default(), Sort::Date, key), count))
    })
}

/// The key of a day; the day must be one that some year has.
fn day(year: Option<u32>, month: u32, day: u32) -> Option<String> {
    let last = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    Some(match year {
        Some(year) => format!("{year:04}-{month:02}-{day:02}"),
        None => format!("--{month:02}-{day:02}"),
    })
}

fn chinese(tokens: &[Token]) -> Option<(String, usize)> {
    let number = |at: usize, unit: &[&str]| {
        let value = tokens.get(at)?.whole()?;
        tokens.get(at + 1)?.is_one_of(unit).then_some(value)
    };
    let year = number(0, &["年"]).filter(|year| YEARS.contains(year));
    let at = if year.is_some() { 2 } else { 0 };
    let month = number(at, &["月"]).filter(|month| (1..=12).contains(month))?;
    let days = number(at + 2, &["日", "号"]);
    match (year, days) {
        (_, Some(days)) => Some((day(year, month, days)?, at + 4)),
        (Some(year), None) => Some((format!("{year:04}-{month:02}"), at + 2)),
        (None, None) => None,
    }
}

fn month_at(tokens: &[Token], at: usize) -> Option<u32> {
    let token = tokens.get(at).filter(|token| MONTHS_BEGIN.may_begin(token))?;
    (1..).zip(MONTHS).find(|(_, names)| token.is_one_of(names)).map(|(month, _): (u32, _)| month)
}

fn english(tokens: &[Token]) -> Option<(String, usize)> {
    let month = |at: usize| month_at(tokens, at);
    let days = |at: usize| {
        let value = tokens.get(at)?.whole().filter(|day| (1..=31).contains(day))?;
        let ordinal = tokens.get(at + 1).is_some_and(|token| token.sort == Sort::Unit && token.key == "th");
        Some((value, at + 1 + usize::from(ordinal)))
    };
    let years = |at: usize| {
        let at = at + usize::from(tokens.get(at).is_some_and(|token| token.sort == Sort::Pause));
        let year = tokens.get(at)?.whole().filter(|year| YEARS.contains(year))?;
        Some((year, at + 1))
    };
    let (month, found, next) = if let Some(month) = month(0) {
        match days(1) {
            Some((day, next)) => (month, Some(day), next),
            None => (month, None, 1),
        }
    } else {
        let (day, next) = days(0)?;
        let next = next + usize::from(tokens.get(next).is_some_and(|token| token.is_word("of")));
        (month(next)?, Some(day), next + 1)
    };
    match (found, years(next)) {
        (Some(found), Some((year, next))) => Some((day(Some(year), month, found)?, next)),
        (Some(found), None) => Some((day(None, month, found)?, next)),
        (None, Some((year, next))) => Some((format!("{year:04}-{month:02}"), next)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_sure() {
        assert_eq!(read("2024-03-05").unwrap(), "2024-03-05");
        assert_eq!(read("13/5/2024").unwrap(), "2024-05-13");
        assert_eq!(read("5/5/2024").unwrap(), "2024-05-05");
        assert_eq!(read("03/05/2024"), None);
        assert_eq!(read("2024-13-05"), None);
        assert_eq!(read("2024-02-30"), None);
        assert_eq!(read("1-2-3"), None);
    }
}
