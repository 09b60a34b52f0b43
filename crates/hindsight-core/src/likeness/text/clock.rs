//! Times of day: "5 pm" and 17:00 and 下午五点 are one. "5:00" alone may be morning or evening, and is neither.

use super::token::{Sort, Token, join as join_tokens, spells, spells_any};

/// Chinese words for the part of a day in which the hour counts as it stands.
const BEFORE_NOON: &[&str] = &["上午", "早上", "早晨", "清晨", "凌晨"];

/// Those in which hours up to eleven count from noon.
const AFTER_NOON: &[&str] = &["下午", "傍晚", "晚上"];

/// 17:05, 5:05pm, 5pm.
pub(super) fn read(run: &str) -> Option<String> {
    let lower = run.to_ascii_lowercase();
    let (digits, half) = match lower.strip_suffix("am").or_else(|| lower.strip_suffix("a.m")) {
        Some(digits) => (digits, Some(Half::Morning)),
        None => match lower.strip_suffix("pm").or_else(|| lower.strip_suffix("p.m")) {
            Some(digits) => (digits, Some(Half::Evening)),
            None => (lower.as_str(), None),
        },
    };
    let mut parts = digits.split(':');
    let hour = parts.next().filter(|hour| (1..=2).contains(&hour.len()))?;
    let rest: Vec<&str> = parts.collect();
    let two = |part: &&str| part.len() == 2 && part.parse::<u32>().is_ok_and(|value| value < 60);
    let numeric = digits.bytes().all(|b| b.is_ascii_digit() || b == b':');
    let fits = numeric && rest.len() <= 2 && rest.iter().all(two) && (half.is_some() || !rest.is_empty());
    if !fits {
        return None;
    }
    let minutes = if rest.is_empty() { ":00".to_owned() } else { format!(":{}", rest.join(":")) };
    let sure = hour.len() == 2 && (hour.starts_with('0') || !matches!(hour, "10" | "11" | "12"));
    key(hour.parse().ok()?, &minutes, half.or(sure.then_some(Half::Exact)))
}

/// Joins the tokens of times that are written in several: "5 p.m.", 下午5点半.
pub(super) fn join(tokens: Vec<Token>) -> Vec<Token> {
    join_tokens(tokens, |_, rest| {
        let (key, count) = chinese(rest).or_else(|| english(rest))?;
        Some((Token::instead_of(rest.get(..count).unwrap_or_default(), Sort::Time, key), count))
    })
}

/// Which half of the day an hour is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Morning,
    Evening,
    /// The hour is one of twenty-four.
    Exact,
}

fn key(hour: u32, minutes: &str, half: Option<Half>) -> Option<String> {
    let hour = match half {
        Some(Half::Morning | Half::Evening) if !(1..=12).contains(&hour) => return None,
        Some(Half::Morning) => hour % 12,
        Some(Half::Evening) => hour % 12 + 12,
        Some(Half::Exact) | None if hour > 24 => return None,
        Some(Half::Exact) => hour,
        None => return Some(format!("{hour}{minutes}")),
    };
    Some(format!("{hour:02}{minutes}h"))
}

fn english(tokens: &[Token]) -> Option<(String, usize)> {
    let first = tokens.first()?;
    let second = tokens.get(1)?;
    let half = if second.is_one_of(&["am"]) {
        Half::Morning
    } else if second.is_one_of(&["pm"]) {
        Half::Evening
    } else {
        return None;
    };
    let (hour, minutes) = hour_of(first)?;
    Some((key(hour, &minutes, Some(half))?, 2))
}

/// The hour and the rest of a whole number, or of a time of which the half is open.
fn hour_of(token: &Token) -> Option<(u32, String)> {
    match token.sort {
        Sort::Number => Some((token.whole()?, ":00".to_owned())),
        Sort::Time if !token.key.ends_with('h') => {
            let at = token.key.find(':')?;
            let (hour, minutes) = token.key.split_at(at);
            Some((hour.parse().ok()?, minutes.to_owned()))
        }
        _ => None,
    }
}

fn chinese(tokens: &[Token]) -> Option<(String, usize)> {
    let (half, at) = if tokens.first()?.key.is_ascii() {
        (None, 0)
    } else if let Some(count) = spells_any(tokens, BEFORE_NOON) {
        (Some(Half::Morning), count)
    } else if let Some(count) = spells_any(tokens, AFTER_NOON) {
        (Some(Half::Evening), count)
    } else if let Some(count) = spells(tokens, "中午", |key, part| key == part) {
        (Some(Half::Exact), count)
    } else {
        (None, 0)
    };
    let first = tokens.get(at)?;
    let (hour, minutes) = hour_of(first)?;
    if first.sort == Sort::Time {
        return half.and_then(|half| Some((key(hour, &minutes, checked(half, hour)?)?, at + 1)));
    }
    if !tokens.get(at + 1)?.is_word("点") {
        return None;
    }
    let (minutes, next) = minutes_of(tokens.get(at + 2..).unwrap_or_default());
    let sure = half.map_or(Some((hour > 12).then_some(Half::Exact)), |half| checked(half, hour))?;
    Some((key(hour, &minutes, sure)?, at + 2 + next))
}

/// 晚上12点 is the next day's first hour, 上午12点 is noon to some, and 中午3点 is nothing: none of them is read. 下午15点 is one of twenty-four.
#[expect(clippy::option_option, reason = "none: not a time; some none: a time whose half is open")]
fn checked(half: Half, hour: u32) -> Option<Option<Half>> {
    match (half, hour) {
        (Half::Exact, 11..=13) | (Half::Evening, 13..=23) => Some(Some(Half::Exact)),
        (Half::Exact, _) | (Half::Morning, 12..) | (Half::Evening, 12 | 24..) => None,
        (half, _) => Some(Some(half)),
    }
}

fn minutes_of(tokens: &[Token]) -> (String, usize) {
    let whole = (":00".to_owned(), 0);
    let Some(first) = tokens.first() else { return whole };
    if first.is_word("半") {
        return (":30".to_owned(), 1);
    }
    if first.is_one_of(&["整", "钟"]) {
        return (":00".to_owned(), 1);
    }
    let written_out = tokens.get(1).is_some_and(|token| token.is_word("分"))
        && !tokens.get(2).is_some_and(|token| token.is_one_of(&["钟", "之"]));
    match first.whole().filter(|minutes| *minutes < 60 && written_out) {
        Some(minutes) => (format!(":{minutes:02}"), 2),
        None => whole,
    }
}
