//! Counted units: 三天前, 两周前, 最近三天, 过去7天, 这几天.

use super::Chinese;
use crate::timewords::meaning::{Count, Meaning, Unit};
use crate::timewords::reading::{Named, Reading};

/// Words before a number that make it a span that ends today; longer ones first.
const LAST: &[&str] = &["最近这", "最近的", "最近", "过去的", "过去这", "过去", "近", "这"];

/// With these before it, 近 is part of another word: 将近三天, 附近.
const TAKES_NEAR: &str = "将附接临靠最邻";

/// With these behind it, 前 belongs to them: 三天|前端.
const TAKES_BEFORE: &[&str] = &["端", "台", "缀", "置", "往", "提"];

/// More years than that before are a year of the calendar: 2023年前.
const YEARS_MAX: i32 = 200;

impl Chinese<'_> {
    /// 三天前, 半年以前.
    pub(super) fn ago_at(&self, at: usize) -> Option<Reading> {
        let (count, unit, next) = self.amount_at(at)?;
        let next = self.glyphs.follows_any(next, &["之前", "以前", "前"])?;
        let other = self.glyphs.follows_any(next, TAKES_BEFORE).is_some();
        let date = unit == Unit::Year && count.most > YEARS_MAX;
        (!other && !date).then(|| self.meant(Meaning::Ago(count, unit), next))
    }

    /// 最近三天, 过去的一年, 近7日.
    pub(super) fn last_at(&self, at: usize) -> Option<Reading> {
        let amount_at = self.glyphs.follows_any(at, LAST)?;
        let first = self.glyphs.at(at);
        if first == Some('近') && self.glyphs.is_before_any(at, TAKES_NEAR) {
            return None;
        }
        let (count, unit, next) = self.amount_at(amount_at).or_else(|| {
            let (number, next) = self.number_at(amount_at)?;
            Some((Count::exactly(number), Unit::Day, self.glyphs.follows(next, "日")?))
        })?;
        if first == Some('这') && unit == Unit::Day && count.most == 1 {
            return None; // 这一天 is a day of which was just spoken.
        }
        let next = self
            .glyphs
            .follows_any(next, &["以来", "之内", "以内", "之间", "里", "内", "来"])
            .unwrap_or(next);
        Some(self.meant(Meaning::Last(count.most, unit), next))
    }

    fn meant(&self, meaning: Meaning, next: usize) -> Reading {
        Reading::new(self.calendar.resolve(meaning), next, Named::Other)
    }
}
