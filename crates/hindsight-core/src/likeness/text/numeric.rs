//! Runs that begin with a digit or a sign before one: numbers, amounts, dates, times of day, versions.

use compact_str::CompactString;

use super::lexer::code_key;
use super::measure::attached_unit;
use super::token::{Sort, Token};
use super::{clock, date};

/// More digits than that are an identifier, whose every digit counts as it stands.
const DIGITS_MAX: usize = 15;

/// Signs of money that stand before the amount.
const CURRENCIES: &[char] = &['$', '€', '£', '¥'];

/// Reads `run` if it is numeric, and says whether it was.
pub(super) fn read(run: &str, start: usize, tokens: &mut Vec<Token>) -> bool {
    let begins =
        |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | 'v' | 'V') || CURRENCIES.contains(&c);
    if !run.starts_with(begins) {
        return false;
    }
    let end = start + run.len();
    let one = if let Some(key) = date::read(run) {
        Some((Sort::Date, key.into()))
    } else if let Some(key) = clock::read(run) {
        Some((Sort::Time, key.into()))
    } else {
        version(run).map(|key| (Sort::Version, key))
    };
    if let Some((sort, key)) = one {
        tokens.push(Token::new(sort, key, start, end));
        return true;
    }
    if let Some((first, second)) = range(run) {
        let (first_end, second_start) = (start + first.len(), end - second.len());
        push(amount(first), start, first_end, tokens);
        tokens.push(Token::new(Sort::Symbol, "-", first_end, second_start));
        push(amount(second), second_start, end, tokens);
        return true;
    }
    let Some(found) = amount(run) else { return false };
    push(Some(found), start, end, tokens);
    true
}

fn push(found: Option<(String, Option<String>)>, start: usize, end: usize, tokens: &mut Vec<Token>) {
    if let Some((number, unit)) = found {
        tokens.push(Token::new(Sort::Number, number, start, end));
        tokens.extend(unit.map(|unit| Token::new(Sort::Unit, unit, start, end)));
    }
}

/// "5-10", "5~10km": two numbers and what joins them. A number with three parts is a telephone's, or a code.
fn range(run: &str) -> Option<(&str, &str)> {
    let (first, second) = run.split_once(['-', '~']).filter(|(first, _)| !first.is_empty())?;
    let plain = |part: &str| part.starts_with(|c: char| c.is_ascii_digit()) && amount(part).is_some();
    (plain(first) && plain(second)).then_some((first, second))
}

/// "-5", "1,000", "3.5%", "$20", "5km", "2nd": the number's digits and its unit.
fn amount(run: &str) -> Option<(String, Option<String>)> {
    // A plus stays too: it tells a change from a value.
    let rest = run.strip_prefix(['-', '+']).unwrap_or(run);
    let sign = run.strip_suffix(rest).unwrap_or_default();
    let currency = rest.chars().next().filter(|c| CURRENCIES.contains(c));
    let rest = currency.map_or(rest, |c| rest.strip_prefix(c).unwrap_or(rest));
    let length = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(length);
    let number = decimal(digits)?;
    let number = format!("{sign}{number}");
    match (currency, suffix) {
        (Some(currency), "") => Some((number, Some(currency.to_string()))),
        (None, "") => Some((number, None)),
        (None, suffix) => Some((number, Some(attached_unit(suffix)?))),
        (Some(_), _) => None,
    }
}

/// The digits without the commas that group thousands. Zeros stay where they are: 007 and 1.50 may be codes.
fn decimal(digits: &str) -> Option<String> {
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let grouped =
        rest.is_empty() || (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3);
    let fraction_fits =
        fraction.is_none_or(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    if first.is_empty() || !grouped || !fraction_fits {
        return None;
    }
    let whole = format!("{first}{}", rest.concat());
    Some(fraction.map_or(whole.clone(), |fraction| format!("{whole}.{fraction}")))
}

/// "v1.2", "V2.0-rc1": what stands behind the v.
fn version(run: &str) -> Option<CompactString> {
    let rest = run.strip_prefix(['v', 'V'])?;
    rest.starts_with(|c: char| c.is_ascii_digit()).then(|| code_key(rest))
}

/// The number times a power of ten, without a remainder: 1.5 and 万 are 15000.
pub(super) fn times_ten_to(number: &str, zeros: usize) -> Option<String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let plain = whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
    if !plain || fraction.len() > zeros || whole.len() + zeros > DIGITS_MAX {
        return None;
    }
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros - fraction.len()));
    let trimmed = digits.trim_start_matches('0');
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(run: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        if !read(run, 0, &mut tokens) {
            return vec!["-".to_owned()];
        }
        tokens.into_iter().map(|token| format!("{:?} {}", token.sort, token.key)).collect()
    }

    #[test]
    fn numbers_and_amounts() {
        assert_eq!(keys("1,000"), ["Number 1000"]);
        assert_eq!(keys("-3.50%"), ["Number -3.50", "Unit %"]);
        assert_eq!(keys("$20"), ["Number 20", "Unit $"]);
        assert_eq!(keys("5km"), ["Number 5", "Unit km"]);
        assert_eq!(keys("5-10min"), ["Number 5", "Symbol -", "Number 10", "Unit min"]);
        assert_eq!(keys("1,50"), ["-"]);
        assert_eq!(keys("5.3.1"), ["-"]);
        assert_eq!(keys("3x"), ["-"]);
    }

    #[test]
    fn dates_times_versions() {
        assert_eq!(keys("2024/3/5"), ["Date 2024-03-05"]);
        assert_eq!(keys("17:05"), ["Time 17:05h"]);
        assert_eq!(keys("5pm"), ["Time 17:00h"]);
        assert_eq!(keys("V1.2"), ["Version 1.2"]);
        assert_eq!(keys("v"), ["-"]);
    }

    #[test]
    fn powers_of_ten() {
        assert_eq!(times_ten_to("1.5", 4).unwrap(), "15000");
        assert_eq!(times_ten_to("1.55555", 4), None);
        assert_eq!(times_ten_to("0", 4), None);
    }
}
