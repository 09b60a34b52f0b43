//! Numbers: 3, 三, 两, 十二, 二十五, 几, 两三, 半年.

use super::Chinese;
use crate::timewords::meaning::{Count, Unit};

const DIGITS: &str = "一二三四五六七八九";

/// Characters before which no number may begin: it would be the rest of another word.
const NOT_BEFORE: &str = "第每十百千几两一二三四五六七八九零〇";

/// Units as they stand behind a number.
const UNITS: &[(&str, Unit)] = &[
    ("分钟", Unit::Minute),
    ("个小时", Unit::Hour),
    ("小时", Unit::Hour),
    ("个钟头", Unit::Hour),
    ("钟头", Unit::Hour),
    ("天", Unit::Day),
    ("个星期", Unit::Week),
    ("星期", Unit::Week),
    ("个礼拜", Unit::Week),
    ("礼拜", Unit::Week),
    ("周", Unit::Week),
    ("个月", Unit::Month),
    ("个季度", Unit::Quarter),
    ("年", Unit::Year),
];

const HALVES: &[(&str, i32, Unit)] = &[
    ("半年", 6, Unit::Month),
    ("半个月", 15, Unit::Day),
    ("半个小时", 30, Unit::Minute),
    ("半小时", 30, Unit::Minute),
];

/// Longest run of digits that is read.
const RUN_MAX: usize = 4;

impl Chinese<'_> {
    /// A number with its unit, and the place after it.
    pub(super) fn amount_at(&self, at: usize) -> Option<(Count, Unit, usize)> {
        let half = |(words, number, unit): &(&str, i32, Unit)| {
            Some((Count::exactly(*number), *unit, self.glyphs.follows(at, words)?))
        };
        if let Some(found) = HALVES.iter().find_map(half) {
            return Some(found);
        }
        let (count, next) = self.count_at(at)?;
        UNITS.iter().find_map(|(words, unit)| Some((count, *unit, self.glyphs.follows(next, words)?)))
    }

    fn count_at(&self, at: usize) -> Option<(Count, usize)> {
        if let Some(next) = self.glyphs.follows_any(at, &["好几", "几", "数"]) {
            return Some((Count::FEW, next)).filter(|_| !self.glyphs.is_before_any(at, NOT_BEFORE));
        }
        if let (Some(least), Some(most)) = (self.digit(at), self.digit(at + 1))
            && least < most
            && !self.glyphs.is_before_any(at, NOT_BEFORE)
        {
            return Some((Count { least, most }, at + 2));
        }
        let (least, next) = self.number_at(at)?;
        let second =
            self.glyphs.follows_any(next, &["到", "至", "-", "~", "～"]).and_then(|at| self.number_at(at));
        let (most, next) = second.filter(|(most, _)| least < *most).unwrap_or((least, next));
        (least > 0).then_some((Count { least, most }, next))
    }

    /// A whole number that begins at `at`, and the place after it.
    pub(super) fn number_at(&self, at: usize) -> Option<(i32, usize)> {
        if self.glyphs.at(at)?.is_ascii_digit() {
            let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | ':');
            if self.glyphs.before(at).is_some_and(inside) || self.glyphs.is_before_any(at, "第每") {
                return None;
            }
            return self.digits_at(at);
        }
        if self.glyphs.is_before_any(at, NOT_BEFORE) {
            return None;
        }
        let (tens, next) = match self.digit(at) {
            Some(digit) => (digit, at + 1),
            None => (1, at),
        };
        if self.glyphs.at(next) != Some('十') {
            return (next > at).then_some((tens, next));
        }
        let ones = self.digit(next + 1);
        Some((tens * 10 + ones.unwrap_or(0), next + 1 + usize::from(ones.is_some())))
    }

    /// A run of at most four ASCII digits, and the place after it.
    pub(super) fn digits_at(&self, at: usize) -> Option<(i32, usize)> {
        let run = (at..).map_while(|at| self.glyphs.at(at)?.to_digit(10));
        let digits: Vec<u32> = run.take(RUN_MAX + 1).collect();
        let number = digits.iter().try_fold(0, |sum, digit| Some(sum * 10 + i32::try_from(*digit).ok()?))?;
        (1..=RUN_MAX).contains(&digits.len()).then_some((number, at + digits.len()))
    }

    /// A year as 2023 or 二〇二三, and the place after it.
    pub(super) fn year_at(&self, at: usize) -> Option<(i16, usize)> {
        let (number, next) = self.number_at(at).filter(|(_, next)| *next == at + RUN_MAX).or_else(|| {
            let digits = (at..at + RUN_MAX).map(|at| match self.glyphs.at(at)? {
                '零' | '〇' | '○' => Some(0),
                _ => self.digit(at),
            });
            let number = digits.into_iter().try_fold(0, |sum, digit| Some(sum * 10 + digit?))?;
            Some((number, at + RUN_MAX))
        })?;
        let year = i16::try_from(number).ok().filter(|year| (1900..=2100).contains(year))?;
        Some((year, next))
    }

    /// A single Chinese digit, 1–9.
    fn digit(&self, at: usize) -> Option<i32> {
        let c = self.glyphs.at(at)?;
        if c == '两' {
            return Some(2);
        }
        (1..).zip(DIGITS.chars()).find(|(_, digit)| *digit == c).map(|(value, _)| value)
    }
}
