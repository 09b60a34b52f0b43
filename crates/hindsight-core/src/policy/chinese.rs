//! Chinese: whether a text advises an action.

use super::Manner;
use super::words::HAN;
use crate::Prohibition;

/// How many characters before a word of action a denial may stand.
const DENIAL_REACH: usize = 5;

const DENIALS: &[&str] = &[
    "不要",
    "不能",
    "不得",
    "不可",
    "不应",
    "不必",
    "不许",
    "不准",
    "不再",
    "禁止",
    "避免",
    "无需",
    "无须",
    "严禁",
    "防止",
    "切忌",
    "勿",
    "千万别",
    "而不是",
    "没有",
    "尚未",
];

/// These deny only what follows at once: 不足 and 特别 deny nothing.
const CLOSE_DENIALS: &[&str] = &["不", "别", "未", "没"];

/// Words that only end like a denial.
const NO_DENIALS: &[&str] = &["特别", "分别", "级别", "类别"];

/// What stands right before a word of action in a request.
const REQUESTS: &[&str] = &[
    "请", "先", "再", "然后", "应", "应该", "应当", "需要", "需", "必须", "要", "可以", "务必", "记得",
    "立即", "直接", "马上", "并", "就", "后",
];

/// What is acted on stands before the word of action behind one of these: 把旧文件删除.
const HANDLES: &[&str] = &["把", "将"];

/// Right behind a word of action these make it a noun, or a thing that was done: 退款政策, 付款方式, 删除了.
const AFTER_NOUNS: &[&str] = &[
    "政策", "方式", "记录", "状态", "申请", "页面", "流程", "时间", "权限", "按钮", "日志", "失败", "成功",
    "规则", "单", "通知", "频率", "的",
];

/// The first word of action of a text that a prohibition forbids.
pub(super) fn action(text: &str, manner: Manner, prohibition: Prohibition) -> Option<String> {
    clauses(text).find_map(|clause| {
        HAN.iter().filter(|(_, act)| act.is_against(prohibition)).find_map(|(word, _)| {
            let mut places = clause.match_indices(word);
            let counts = places.any(|(at, _)| {
                let before = clause.get(..at).unwrap_or_default();
                let after = clause.get(at + word.len()..).unwrap_or_default();
                counts(before.trim(), after.trim(), manner)
            });
            counts.then(|| (*word).to_owned())
        })
    })
}

fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        matches!(
            c,
            '。' | '，' | '；' | '：' | '！' | '？' | '、' | '\n' | '（' | '）' | '.' | ',' | ';' | '!' | '?'
        )
    })
}

fn counts(before: &str, after: &str, manner: Manner) -> bool {
    let near: String =
        before.chars().rev().take(DENIAL_REACH).collect::<Vec<_>>().into_iter().rev().collect();
    let ends = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
    let is_denied =
        DENIALS.iter().any(|denial| near.contains(denial)) || ends(CLOSE_DENIALS) && !ends(NO_DENIALS);
    if is_denied || AFTER_NOUNS.iter().any(|noun| after.starts_with(noun)) {
        return false;
    }
    let is_request = before.is_empty()
        || REQUESTS.iter().any(|word| before.ends_with(word))
        || HANDLES.iter().any(|word| before.starts_with(word));
    let was_done = after.starts_with('了')
        || after.starts_with('过')
        || before.ends_with('已')
        || before.ends_with("已经");
    match manner {
        Manner::Advice => !was_done,
        Manner::Tale => is_request || was_done && before.chars().count() <= 2,
        Manner::Request => is_request && !was_done,
    }
}
