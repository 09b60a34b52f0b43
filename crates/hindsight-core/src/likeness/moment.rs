//! Words that mean another time when they are said at another time: "today", "last week", 昨天.

use super::fields::is_dated;
use super::reason::{Aspect, Difference};
use super::text::Text;
use super::text::token::{Sort, spells_any};
use crate::time::DAY_MS;
use crate::{Memory, Timestamp};

/// A year, about.
const YEAR_MS: i64 = 366 * DAY_MS;

/// Words, and how far apart they may be said and still mean the same time: half of what they name.
const WORDS: &[(&[&str], i64)] = &[
    (&["now", "just now", "right now", "刚才", "刚刚", "此刻"], DAY_MS / 24),
    (
        &[
            "today",
            "tonight",
            "yesterday",
            "tomorrow",
            "this morning",
            "this afternoon",
            "this evening",
            "last night",
            "今天",
            "今早",
            "今晚",
            "昨天",
            "昨晚",
            "前天",
            "明天",
            "明早",
            "明晚",
            "后天",
            "当天",
            "ago",
            "天前",
            "天后",
            "小时前",
            "小时后",
            "分钟前",
            "分钟后",
        ],
        DAY_MS / 2,
    ),
    (
        &[
            "this week",
            "last week",
            "next week",
            "this weekend",
            "last weekend",
            "next weekend",
            "monday",
            "tuesday",
            "wednesday",
            "thursday",
            "friday",
            "saturday",
            "sunday",
            "上周",
            "本周",
            "这周",
            "下周",
            "周末",
            "周日",
        ],
        DAY_MS * 7 / 2,
    ),
    (
        &["this month", "last month", "next month", "上月", "上个月", "本月", "这个月", "下月", "下个月"],
        DAY_MS * 15,
    ),
    (&["this year", "last year", "next year", "今年", "去年", "前年", "明年", "后年"], YEAR_MS / 2),
];

/// With one of these a day recurs: "every Monday", 每周日, a birthday.
const HABITS: &[&str] = &[
    "every",
    "each",
    "always",
    "usually",
    "每",
    "每周",
    "每个",
    "总是",
    "通常",
    "一向",
    "birthday",
    "anniversary",
    "生日",
    "纪念日",
];

/// Another time, because such a word was said at another time. Both texts say the same otherwise.
pub(super) fn difference(old: &Memory, new: &Memory, text: &Text) -> Option<Difference> {
    let tokens = &text.tokens;
    let at = |words: &[&str]| {
        (0..tokens.len()).any(|at| spells_any(tokens.get(at..).unwrap_or_default(), words).is_some())
    };
    if is_dated(text) || at(HABITS) {
        return None;
    }
    let apart = apart_ms(old.occurred_at, new.occurred_at);
    // A day without its year is one of the year in which it was said.
    let open_date = apart > YEAR_MS / 2 && tokens.iter().any(|token| token.sort == Sort::Date);
    let moved = open_date || WORDS.iter().any(|(words, most)| apart > *most && at(words));
    moved.then(|| Difference::new(Aspect::Moment, old.occurred_at.to_string(), new.occurred_at.to_string()))
}

/// Whether a memory's text names its time by words that mean another one when they are said at another time.
#[must_use]
pub fn is_bound_to_its_time(memory: &Memory) -> bool {
    let text = Text::of(&memory.content);
    let tokens = &text.tokens;
    let at = |words: &[&str]| {
        (0..tokens.len()).any(|at| spells_any(tokens.get(at..).unwrap_or_default(), words).is_some())
    };
    let has_open_date = tokens.iter().any(|token| token.sort == Sort::Date);
    !is_dated(&text) && (has_open_date || WORDS.iter().any(|(words, _)| at(words)))
}

fn apart_ms(old: Timestamp, new: Timestamp) -> i64 {
    old.as_ms().saturating_sub(new.as_ms()).saturating_abs()
}
