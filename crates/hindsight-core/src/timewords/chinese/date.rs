//! Dates: 三月, 5月8日, 2023年5月, 去年三月, 5月8日到10日.

use super::Chinese;
use crate::timewords::reading::{Named, Reading};

/// Years by their distance; longer words first.
const YEARS: &[(&str, i16)] = &[("大前年", 3), ("前年", 2), ("去年", 1), ("今年", 0)];

/// Before a month these make it a habit, a plan or a count: 每年三月, 明年5月.
const NOT_A_MONTH: &str = "每第个年";

/// Behind a month these make it another word, or point away from it: 一月一次, 五月天, 3月前.
const NOT_BEFORE: &[&str] =
    &["一次", "一度", "一个", "天", "亮", "饼", "票", "前", "后", "以前", "以后", "之前", "之后"];

/// Behind a year these point away from it.
const NOT_THE_YEAR: &[&str] = &["前", "后", "以前", "以后", "之前", "之后"];

/// Behind a number with 号 these make it a name: 8号楼.
const NUMBERED: &str = "楼线机店院房厂码库柜馆门";

impl Chinese<'_> {
    /// The date at `at`.
    pub(super) fn date_at(&self, at: usize) -> Option<Reading> {
        if let Some((year, next)) = self.relative_year(at) {
            return self.month_at(Some(year), self.glyphs.follows(next, "的").unwrap_or(next));
        }
        if let Some((year, next)) = self.year_at(at)
            && let Some(next) = self.glyphs.follows(next, "年")
        {
            if let Some(found) = self.month_at(Some(year), self.glyphs.follows(next, "的").unwrap_or(next)) {
                return Some(found);
            }
            let elsewhere = self.glyphs.follows_any(next, NOT_THE_YEAR).is_some();
            return (!elsewhere).then(|| Reading::new(self.calendar.year(year), next, Named::Year));
        }
        if self.glyphs.is_before_any(at, NOT_A_MONTH) {
            return None;
        }
        self.month_at(None, at)
    }

    /// 5月, 5月8日, 5月8日到10日, 5月8-10号.
    fn month_at(&self, year: Option<i16>, at: usize) -> Option<Reading> {
        let (month, next) = self.number_at(at)?;
        let month = i8::try_from(month).ok()?;
        let next = self.glyphs.follows_any(next, &["月份", "月"])?;
        let named = if year.is_some() { Named::FixedMonth } else { Named::Month };
        let Some((days, next)) = self.days_at(next) else {
            let other = self.glyphs.follows_any(next, NOT_BEFORE).is_some();
            return Some(Reading::new(Some(self.calendar.month(year, month)?), next, named))
                .filter(|_| !other);
        };
        let first = self.calendar.date(year, month, days.0)?;
        if days.1 > days.0 {
            let last = self.calendar.date(Some(first.year()), month, days.1)?;
            return Some(Reading::new(self.calendar.days(first, last.tomorrow().ok()?), next, named));
        }
        Some(self.day_found(first, next, named))
    }

    /// One day or two, first and last, and the place after.
    fn days_at(&self, at: usize) -> Option<((i8, i8), usize)> {
        let joined =
            |at: usize| self.day_at(self.glyphs.follows_any(at, &["到", "至", "-", "~", "～", "—"])?);
        if let Some((first, next)) = self.day_at(at) {
            let (last, next) = joined(next).unwrap_or((first, next));
            return Some(((first, last), next));
        }
        let (first, next) = self.number_at(at)?;
        let (last, next) = joined(next)?;
        Some(((i8::try_from(first).ok()?, last), next))
    }

    /// 8日, 8号, and the place after it.
    pub(super) fn day_at(&self, at: usize) -> Option<(i8, usize)> {
        let (day, next) = self.day_number(at)?;
        let after = self.glyphs.follows_any(next, &["日", "号"])?;
        let name = self.glyphs.at(next) == Some('号') && self.glyphs.is_any(after, NUMBERED);
        (!name).then_some((day, after))
    }

    /// The number of a day. Behind a dash a number may begin, which elsewhere is the rest of another one.
    fn day_number(&self, at: usize) -> Option<(i8, usize)> {
        let (day, next) = self.number_at(at).or_else(|| self.digits_at(at))?;
        Some((i8::try_from(day).ok().filter(|day| (1..=31).contains(day))?, next))
    }

    /// The year that 去年 and the like name, and the place after it. The guards of the plain words hold here too.
    fn relative_year(&self, at: usize) -> Option<(i16, usize)> {
        self.word_at(at)?;
        let year = |(words, ago): &(&str, i16)| {
            Some((self.calendar.years_ago(*ago), self.glyphs.follows(at, words)?))
        };
        YEARS.iter().find_map(year)
    }
}
