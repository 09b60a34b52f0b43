//! The fixed words of Chinese, as one table. Text has no spaces, so each says where it is part of another word.

use super::Chinese;
use crate::timewords::meaning::Meaning::{self, Ago, Day, Last, Part as PartOf, Recent, Unit as Of};
use crate::timewords::meaning::{Count, Part, Unit};
use crate::timewords::reading::{Named, Reading};

/// A time word.
struct Word {
    text: &'static str,
    meaning: Meaning,
    /// Characters before it with which it is another word: 以前|天天.
    not_after: &'static str,
    /// Words behind it with which it is another word, or asks for something else: 今日头条.
    not_before: &'static [&'static str],
}

const fn word(text: &'static str, meaning: Meaning) -> Word {
    Word { text, meaning, not_after: "", not_before: &[] }
}

/// 早|上次, 以|上次, 桌|上周: characters that take 上 as their own.
pub(super) const TAKES_ABOVE: &str = "早晚马网路身以桌车线楼墙船街地海天手头蓬";

/// 上次|仁: second halves of Tibetan names that begin with 次, and words such as 次序.
const TAKES_TIME: &[&str] = &["仁", "旦", "旺", "珍", "央", "卓", "序", "级", "要"];

/// Whoever asks for the nearest 最近的 of these does not ask for a time.
const PLACES: &[&str] = &[
    "的地铁",
    "的车站",
    "的医院",
    "的超市",
    "的药店",
    "的机场",
    "的餐厅",
    "的饭店",
    "的酒店",
    "的加油站",
    "的银行",
    "的停车",
    "的公交",
    "的商场",
    "的便利店",
    "的充电",
    "的路",
    "的节点",
    "的机房",
];

const WORDS: &[Word] = &[
    word("大前天", Day(3)),
    Word { not_after: "以目当之面眼门跟生空从", ..word("前天", Day(2)) },
    word("昨天", Day(1)),
    Word { not_before: &["重现"], ..word("昨日", Day(1)) },
    word("昨儿", Day(1)),
    Word { not_before: &["天气", "的天气", "气温"], ..word("今天", Day(0)) },
    Word { not_before: &["头条", "说法", "天气"], ..word("今日", Day(0)) },
    word("今早", PartOf(0, Part::Morning)),
    word("今晨", PartOf(0, Part::Morning)),
    word("今晚", PartOf(0, Part::Evening)),
    word("昨晚", PartOf(1, Part::Evening)),
    word("昨夜", PartOf(1, Part::Evening)),
    Word { not_after: "以目当之", ..word("前晚", PartOf(2, Part::Evening)) },
    word("刚才", Last(3, Unit::Hour)),
    Word { not_before: &["好", "够"], ..word("刚刚", Last(3, Unit::Hour)) },
    Word { not_before: PLACES, ..word("最近", Recent) },
    Word { not_after: "附将接临最靠", ..word("近期", Recent) },
    Word { not_after: "附将接临最靠", ..word("近来", Recent) },
    Word { not_after: "附将接临最靠", not_before: &["点"], ..word("近日", Recent) },
    Word { not_after: TAKES_ABOVE, not_before: TAKES_TIME, ..word("上次", Recent) },
    Word { not_after: TAKES_ABOVE, ..word("上一次", Recent) },
    Word { not_after: TAKES_ABOVE, ..word("上回", Recent) },
    word("前阵子", Recent),
    word("前一阵", Recent),
    word("这阵子", Recent),
    word("前段时间", Recent),
    word("前些日子", Recent),
    word("前些天", Recent),
    word("这段时间", Recent),
    word("不久前", Recent),
    word("前不久", Recent),
    Word { not_after: "以之", ..word("前几天", Ago(Count::FEW, Unit::Day)) },
    Word { not_after: "以之", ..word("前两天", Ago(Count { least: 1, most: 3 }, Unit::Day)) },
    Word { not_after: "过失", ..word("去年", Of(Unit::Year, 1)) },
    Word { not_after: "如", not_before: &["轻"], ..word("今年", Of(Unit::Year, 0)) },
    Word { not_after: "以目之", ..word("前年", Of(Unit::Year, 2)) },
    word("大前年", Of(Unit::Year, 3)),
];

const PARTS: &[(&str, Part)] = &[
    ("凌晨", Part::Dawn),
    ("早上", Part::Morning),
    ("早晨", Part::Morning),
    ("清晨", Part::Morning),
    ("上午", Part::Morning),
    ("一早", Part::Morning),
    ("中午", Part::Noon),
    ("下午", Part::Afternoon),
    ("午后", Part::Afternoon),
    ("傍晚", Part::Evening),
    ("晚上", Part::Evening),
    ("晚间", Part::Evening),
    ("夜里", Part::Evening),
    ("夜间", Part::Evening),
    ("半夜", Part::Evening),
    ("深夜", Part::Evening),
];

/// How far before 最近 a 离 may stand that makes it a place: 离我家最近.
const DISTANCE_CHARS: usize = 10;

impl Chinese<'_> {
    /// The fixed word at `at`.
    pub(super) fn word_at(&self, at: usize) -> Option<Reading> {
        let fits = |word: &Word| {
            let next = self.glyphs.follows(at, word.text)?;
            let other = self.glyphs.is_before_any(at, word.not_after)
                || self.glyphs.follows_any(next, word.not_before).is_some()
                || (word.meaning == Recent && self.is_distance(at));
            Some(next).filter(|_| !other)
        };
        let (next, meaning) = WORDS.iter().find_map(|word| Some((fits(word)?, word.meaning)))?;
        if let Day(ago) = meaning
            && let Some((part, next)) = self.part_at(next)
        {
            let period = self.calendar.part(self.calendar.days_ago(ago)?, part);
            return Some(Reading::new(period, next, Named::Other));
        }
        Some(Reading::new(self.calendar.resolve(meaning), next, Named::of(meaning)))
    }

    /// The part of a day that is named at `at`, and the place after it.
    pub(super) fn part_at(&self, at: usize) -> Option<(Part, usize)> {
        let at = self.glyphs.follows(at, "的").unwrap_or(at);
        PARTS.iter().find_map(|(words, part)| Some((*part, self.glyphs.follows(at, words)?)))
    }

    fn is_distance(&self, at: usize) -> bool {
        (at.saturating_sub(DISTANCE_CHARS)..at).any(|before| self.glyphs.at(before) == Some('离'))
    }
}
