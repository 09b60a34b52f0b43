//! Weeks, months and quarters by their place (上周, 这个月, 本季度) and the days in them (上周三, 上个月5号, 周一).

use jiff::civil::Date;

use super::Chinese;
use super::word::TAKES_ABOVE;
use crate::timewords::meaning::{Meaning, Unit};
use crate::timewords::reading::{Named, Reading};

/// Which one it is; longer words first.
const PLACES: &[(&str, i32)] = &[
    ("上上个", 2),
    ("上上", 2),
    ("上一个", 1),
    ("上一", 1),
    ("上个", 1),
    ("上", 1),
    ("这个", 0),
    ("这", 0),
    ("本", 0),
];

/// 基|本月薪: characters that take 本 as their own.
const TAKES_THIS: &str = "日基资成版样副文脚书课根标剧原";

/// With these behind it the unit is another word: 上|周围, 本|周期, 上|月球.
const UNITS: &[(&str, Unit, &str)] = &[
    ("星期", Unit::Week, ""),
    ("礼拜", Unit::Week, ""),
    ("周", Unit::Week, "围边转岁折旋密济杰年期"),
    ("季度", Unit::Quarter, ""),
    ("月", Unit::Month, "球亮台饼"),
];

/// The days of a week, each with the characters behind it that make it another word: 上周|一起, 上周|日志.
const WEEKDAYS: &[(char, i8, &str)] = &[
    ('一', 0, "共起些样直般次个下度致定切律边同旦路遍位名条份家台笔"),
    ('二', 1, "个次家笔台位条件名份场张遍百千万十"),
    ('三', 2, "个次家笔台位条件名份场张遍百千万十"),
    ('四', 3, "个次家笔台位条件名份场张遍百千万十"),
    ('五', 4, "个次家笔台位条件名份场张遍百千万十"),
    ('六', 5, "个次家笔台位条件名份场张遍百千万十"),
    ('日', 6, "志常程报本期均记历用元"),
    ('天', 6, "气津猫"),
];

/// Before a weekday these make it a habit, a plan or a count: 每周一, 下周三, 一个星期三次.
const NOT_A_DATE: &str = "每逢下上这本个各两一二三四五六七八九十几半隔0123456789";

/// What may stand behind a bare 周一, which is also how names begin (周一鸣): function words and common verbs.
const AFTER_BARE: &str = "的我你他她它们咱开去有做发早中晚上下吃见聊讨部那是干说在跟和与出执运备谁为会交写看买约定失报到至凌夜不没都也才";

impl Chinese<'_> {
    /// 上周, 上周三下午, 上周末, 这个月, 上个月5号.
    pub(super) fn unit_at(&self, at: usize) -> Option<Reading> {
        let place = |(words, ago): &(&str, i32)| Some((*ago, self.glyphs.follows(at, words)?));
        let (ago, unit_at) = PLACES.iter().find_map(place)?;
        let other = match self.glyphs.at(at)? {
            '上' => self.glyphs.is_before_any(at, TAKES_ABOVE),
            '本' => self.glyphs.is_before_any(at, TAKES_THIS),
            _ => false,
        };
        let unit = |(words, unit, not_before): &(&str, Unit, &'static str)| {
            Some((*unit, *not_before, self.glyphs.follows(unit_at, words)?))
        };
        let (unit, not_before, next) = UNITS.iter().find_map(unit)?;
        if other || self.glyphs.is_any(next, not_before) {
            return None;
        }
        let whole = || Reading::new(self.calendar.unit(unit, ago), next, Named::Other);
        match unit {
            Unit::Week => Some(self.day_of_week(ago, next).unwrap_or_else(whole)),
            Unit::Month => Some(self.day_of_month(ago, next).unwrap_or_else(whole)),
            _ => Some(whole()),
        }
    }

    fn day_of_week(&self, weeks: i32, at: usize) -> Option<Reading> {
        if let Some(next) = self.glyphs.follows(at, "末") {
            return Some(Reading::new(self.calendar.resolve(Meaning::Weekend(weeks)), next, Named::Other));
        }
        let weekday = self.weekday_at(at)?;
        Some(self.day_found(self.calendar.weekday_of_week(weekday, weeks)?, at + 1, Named::FixedWeekday))
    }

    fn day_of_month(&self, months: i32, at: usize) -> Option<Reading> {
        let (day, next) = self.day_at(at)?;
        let first = self.calendar.unit_start(Unit::Month, months)?;
        Some(self.day_found(Date::new(first.year(), first.month(), day).ok()?, next, Named::FixedMonth))
    }

    /// 星期三, 周一上午: the latest before today.
    pub(super) fn bare_weekday(&self, at: usize) -> Option<Reading> {
        let short = self.glyphs.follows(at, "周");
        let day_at = short.or_else(|| self.glyphs.follows_any(at, &["星期", "礼拜"]))?;
        let weekday = self.weekday_at(day_at)?;
        if self.glyphs.is_before_any(at, NOT_A_DATE) {
            return None;
        }
        let next = day_at + 1;
        let is_range = self.glyphs.is_any(next, "到至和、~～-");
        let from = self.glyphs.before(at) == Some('从');
        // What is not Han can't go on a name.
        let after = self.glyphs.at(next).filter(|c| matches!(c, '\u{4E00}'..='\u{9FFF}'));
        let name = short.is_some() && after.is_some_and(|c| !AFTER_BARE.contains(c));
        if name || (is_range && !from) {
            return None;
        }
        Some(self.day_found(self.calendar.latest_weekday(weekday)?, next, Named::Weekday))
    }

    fn weekday_at(&self, at: usize) -> Option<i8> {
        let c = self.glyphs.at(at)?;
        let (_, weekday, not_before) = WEEKDAYS.iter().find(|(name, ..)| *name == c)?;
        (!self.glyphs.is_any(at + 1, not_before)).then_some(*weekday)
    }

    pub(super) fn day_found(&self, date: Date, at: usize, named: Named) -> Reading {
        match self.part_at(at) {
            Some((part, next)) => Reading::new(self.calendar.part(date, part), next, named),
            None => Reading::new(self.calendar.day(date), at, named),
        }
    }
}
