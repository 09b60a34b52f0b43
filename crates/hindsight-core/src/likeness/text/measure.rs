//! Units behind numbers, and versions: "5 kilometres", 5km and 五公里 are one.

use super::token::{FirstBytes, Sort, Token, join as join_tokens, spells, spells_any};

/// Each unit with the ways to write it, as words in lower case. A sign that reads otherwise in another case (Mb, MB) is not here.
const UNITS: &[(&str, &[&str])] = &[
    ("%", &["%", "percent", "pct"]),
    ("km", &["km", "kms", "kilometer", "kilometers", "kilometre", "kilometres", "公里", "千米"]),
    ("m", &["m", "meter", "meters", "metre", "metres", "米"]),
    ("cm", &["cm", "centimeter", "centimeters", "centimetre", "centimetres", "厘米", "公分"]),
    ("mm", &["mm", "millimeter", "millimeters", "millimetre", "millimetres", "毫米"]),
    ("kg", &["kg", "kgs", "kilo", "kilos", "kilogram", "kilograms", "公斤", "千克"]),
    ("g", &["g", "gram", "grams", "克"]),
    ("mg", &["mg", "milligram", "milligrams", "毫克"]),
    ("lb", &["lb", "lbs"]),
    ("l", &["l", "liter", "liters", "litre", "litres", "升"]),
    ("ml", &["ml", "milliliter", "milliliters", "millilitre", "millilitres", "毫升"]),
    ("ms", &["ms", "millisecond", "milliseconds", "毫秒"]),
    ("s", &["s", "sec", "secs", "second", "seconds", "秒", "秒钟"]),
    ("min", &["min", "mins", "minute", "minutes", "分钟"]),
    ("h", &["h", "hr", "hrs", "hour", "hours", "小时", "个小时", "钟头", "个钟头"]),
    ("day", &["day", "days", "天"]),
    ("week", &["week", "weeks", "wk", "wks", "周", "个周"]),
    ("month", &["month", "months", "个月"]),
    ("year", &["year", "years", "yr", "yrs", "年"]),
    ("km/h", &["km/h", "kmh", "kph"]),
    ("°c", &["°c", "℃", "摄氏度"]),
    ("°f", &["°f", "℉", "华氏度"]),
    ("$", &["$", "dollar", "dollars"]),
    ("usd", &["usd", "美元", "美金"]),
    ("€", &["€", "euro", "euros", "eur", "欧元"]),
    ("£", &["£", "gbp", "英镑"]),
    ("元", &["元", "块钱", "元钱", "yuan", "rmb", "cny", "人民币"]),
    ("th", &["st", "nd", "rd", "th"]),
];

/// Signs of which the case tells bits from bytes.
const CASED: &[&str] = &["kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib", "kbps", "mbps", "gbps"];

/// Words before a number that make it a version.
const VERSION: &[&str] = &["version", "ver", "v", "版本"];

/// The unit that stands right behind a number's digits, if it is one.
pub(super) fn attached_unit(suffix: &str) -> Option<String> {
    let lower = suffix.to_lowercase();
    if CASED.contains(&lower.as_str()) {
        return Some(suffix.to_owned());
    }
    // "5M" may be millions, where "5m" is not; a single letter counts as written.
    let spelling = if suffix.chars().count() == 1 { suffix } else { lower.as_str() };
    let unit = UNITS.iter().find(|(_, forms)| forms.contains(&spelling));
    unit.map(|(unit, _)| (*unit).to_owned())
}

static VERSION_BEGIN: FirstBytes = FirstBytes::of(VERSION);

/// Makes units of the words behind numbers, and versions of the numbers behind their word.
pub(super) fn join(tokens: Vec<Token>, text: &str) -> Vec<Token> {
    join_tokens(tokens, |before, rest| {
        let counted = before.is_some_and(|last| last.sort == Sort::Number);
        let unit = || unit_at(rest, text).map(|(unit, count)| (Sort::Unit, unit, count));
        let version = || version_at(rest).map(|(version, count)| (Sort::Version, version, count));
        let (sort, key, count) = if counted { unit().or_else(version) } else { version() }?;
        Some((Token::instead_of(rest.get(..count).unwrap_or_default(), sort, key), count))
    })
}

fn unit_at(tokens: &[Token], text: &str) -> Option<(String, usize)> {
    let first = tokens.first()?;
    if first.sort == Sort::Word && CASED.contains(&first.key.as_str()) {
        return Some((text.get(first.start..first.end)?.to_owned(), 1));
    }
    if first.sort == Sort::Word && first.key.len() == 1 {
        return Some((attached_unit(text.get(first.start..first.end)?)?, 1));
    }
    if first.sort == Sort::Symbol || first.sort == Sort::Code {
        return Some((attached_unit(&first.key)?, 1));
    }
    let longest = |(unit, forms): &(&str, &[&str])| {
        let count = forms.iter().filter_map(|form| spells(tokens, form, |key, part| key == part)).max()?;
        Some(((*unit).to_owned(), count))
    };
    UNITS.iter().filter(|(unit, _)| *unit != "th").filter_map(longest).max_by_key(|(_, count)| *count)
}

fn version_at(tokens: &[Token]) -> Option<(String, usize)> {
    let count = tokens
        .first()
        .filter(|token| VERSION_BEGIN.may_begin(token))
        .and_then(|_| spells_any(tokens, VERSION))?;
    let number = tokens.get(count)?;
    let numeric = number.key.starts_with(|c: char| c.is_ascii_digit());
    let fits = matches!(number.sort, Sort::Number | Sort::Code | Sort::Version) && numeric;
    fits.then(|| (number.key.to_string(), count + 1))
}
