//! Words that mean the opposite of each other.

use super::text::token::{Token, spells};

/// Opposites of one kind: the words of one side, and those of the other.
type Pair = (&'static [&'static str], &'static [&'static str]);

/// Words that say the opposite of a thing. Which side is first does not matter.
pub(super) const OPPOSITES: &[Pair] = &[
    (
        &[
            "gain muscle",
            "build muscle",
            "gain weight",
            "put on weight",
            "bulk up",
            "增肌",
            "增重",
            "增肥",
            "长胖",
            "长肌肉",
        ],
        &[
            "lose fat",
            "lose weight",
            "burn fat",
            "cut weight",
            "slim down",
            "减脂",
            "减肥",
            "减重",
            "瘦身",
            "瘦下来",
        ],
    ),
    (
        &[
            "like", "love", "enjoy", "adore", "prefer", "fond of", "喜欢", "喜爱", "热爱", "最爱", "爱",
            "偏爱", "偏好",
        ],
        &[
            "dislike",
            "hate",
            "detest",
            "loathe",
            "despise",
            "allergic to",
            "讨厌",
            "厌恶",
            "反感",
            "恨",
            "嫌弃",
            "过敏",
        ],
    ),
    (
        &[
            "increase", "raise", "grow", "grew", "rise", "rose", "expand", "增加", "提高", "上升", "上涨",
            "提升", "扩大", "上调", "增长", "增",
        ],
        &[
            "decrease", "reduce", "lower", "drop", "fall", "fell", "shrink", "shrank", "cut", "减少", "降低",
            "下降", "下跌", "缩小", "缩减", "下调", "减",
        ],
    ),
    (&["gain", "win", "won", "赢", "获得"], &["lose", "lost", "输", "失去"]),
    (
        &["accept", "approve", "接受", "批准", "通过", "同意"],
        &["reject", "decline", "refuse", "拒绝", "驳回", "反对"],
    ),
    (&["agree", "support", "支持", "赞成"], &["disagree", "oppose", "反对"]),
    (&["trust", "信任", "相信"], &["distrust", "mistrust", "怀疑"]),
    (&["join", "加入", "进入"], &["leave", "left", "退出", "离开"]),
    (
        &["add", "include", "insert", "添加", "包含", "加上"],
        &["remove", "delete", "exclude", "删除", "移除", "排除", "去掉"],
    ),
    (&["buy", "bought", "买"], &["sell", "sold", "卖"]),
    (
        &["succeed", "success", "successful", "pass", "成功", "及格"],
        &["fail", "failure", "unsuccessful", "失败", "挂科"],
    ),
    (&["happy", "glad", "开心", "高兴", "快乐"], &["unhappy", "sad", "难过", "伤心"]),
    (&["married", "已婚", "结婚"], &["single", "unmarried", "divorced", "单身", "未婚", "离婚"]),
    (&["available", "可用"], &["unavailable"]),
    (&["able"], &["unable"]),
    (&["possible", "可能"], &["impossible"]),
    (&["legal", "合法"], &["illegal", "非法", "违法"]),
    (&["safe", "secure", "安全"], &["unsafe", "insecure", "dangerous", "危险"]),
    (&["healthy", "健康"], &["unhealthy", "sick", "ill", "生病"]),
    (&["good", "great", "好"], &["bad", "terrible", "坏", "差"]),
    (&["best", "最好"], &["worst", "最差"]),
    (&["high", "高"], &["low", "低"]),
    (&["fast", "quick", "快"], &["slow", "慢"]),
    (&["early", "早"], &["late", "晚"]),
    (&["hot", "warm", "热"], &["cold", "cool", "冷", "凉"]),
    (&["easy", "simple", "容易", "简单"], &["hard", "difficult", "困难", "难"]),
    (&["cheap", "便宜"], &["expensive", "贵"]),
    (&["more", "多"], &["less", "fewer", "少"]),
    (&["true", "正确"], &["false", "错误"]),
    (&["correct", "right"], &["incorrect", "wrong"]),
    (&["valid", "有效"], &["invalid", "无效"]),
    (&["online", "在线", "上线"], &["offline", "离线", "下线"]),
    (&["public", "公开"], &["private", "私密", "私有"]),
    (&["automatic", "automatically", "自动"], &["manual", "manually", "手动"]),
    (&["required", "mandatory", "必填", "必选", "必需"], &["optional", "可选", "选填"]),
    (&["enough", "sufficient", "足够"], &["insufficient", "不足"]),
    (&["up", "向上"], &["down", "向下"]),
    (&["左"], &["右"]),
];

/// Words that say whether the rest is so, is done or may be done; the second side denies it.
pub(super) const OPERATORS: &[Pair] = &[
    (
        &["allow", "permit", "authorize", "let", "允许", "准许", "可以", "能", "能够"],
        &["forbid", "forbidden", "prohibit", "ban", "disallow", "deny", "block", "禁止", "严禁", "不得"],
    ),
    (
        &["enable", "activate", "turn on", "switch on", "open", "启用", "开启", "打开", "激活"],
        &["disable", "deactivate", "turn off", "switch off", "close", "shut", "禁用", "停用", "关闭", "关掉"],
    ),
    (
        &["start", "begin", "began", "begun", "resume", "continue", "keep", "开始", "继续", "恢复", "坚持"],
        &[
            "stop", "quit", "cease", "give up", "gave up", "given up", "pause", "停止", "暂停", "戒", "戒掉",
            "戒了", "放弃", "不再",
        ],
    ),
    (&["use", "do", "always", "使用", "总是", "始终"], &["avoid", "避免"]),
    (&["remember", "记得"], &["forget", "forgot", "forgotten", "忘记", "忘了"]),
    (&["hold", "keep", "举行"], &["cancel", "canceled", "取消"]),
    (
        &[
            "can", "may", "must", "should", "shall", "will", "would", "could", "会", "要", "应该", "必须",
            "应",
        ],
        &[],
    ),
];

/// Whether one row has a word of which the other has the opposite.
pub(super) fn oppose(old: &[Token], new: &[Token]) -> bool {
    OPPOSITES.iter().chain(OPERATORS).any(|(first, second)| {
        let has = |row, words: &[&str]| contains(row, words);
        (has(old, first) && !has(old, second) && has(new, second) && !has(new, first))
            || (has(old, second) && !has(old, first) && has(new, first) && !has(new, second))
    })
}

fn contains(row: &[Token], words: &[&str]) -> bool {
    (0..row.len()).any(|at| starts_with(row.get(at..).unwrap_or_default(), words).is_some())
}

/// How many tokens at the front are the longest of `words` that fits, in whatever form.
pub(super) fn starts_with(tokens: &[Token], words: &[&str]) -> Option<usize> {
    words.iter().filter_map(|word| spells(tokens, word, |key, part| stem(key) == stem(part))).max()
}

/// An English word without the endings of its forms; rough, and the same for every form.
pub(super) fn stem(word: &str) -> &str {
    let stem = ["ing", "ies", "ied", "ed", "es", "s"]
        .iter()
        .find_map(|ending| {
            let stem = word.strip_suffix(ending).filter(|stem| stem.len() >= 3)?;
            (*ending != "s" || !stem.ends_with('s')).then_some(stem)
        })
        .unwrap_or(word);
    let short = stem.trim_end_matches(['e', 'y']);
    let stem = if short.len() >= 3 { short } else { stem };
    let mut last = stem.chars().rev();
    match (last.next(), last.next()) {
        (Some(a), Some(b)) if a == b && !"aeiousl".contains(a) && stem.is_ascii() && stem.len() > 3 => {
            stem.get(..stem.len() - 1).unwrap_or(stem)
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likeness::text::Text;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for (a, b) in [
            ("loves", "love"),
            ("loving", "love"),
            ("stopped", "stop"),
            ("stopping", "stops"),
            ("carries", "carry"),
            ("carried", "carry"),
            ("enabled", "enable"),
            ("eats", "eat"),
            ("agreed", "agree"),
            ("increased", "increase"),
            ("passed", "pass"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        assert_ne!(stem("class"), stem("clas"));
        assert_eq!(stem("喜欢"), "喜欢");
    }

    #[test]
    fn opposites_of_both_languages() {
        let oppose = |a, b| oppose(&Text::of(a).tokens, &Text::of(b).tokens);
        assert!(oppose("the user loves tea", "the user hates tea"));
        assert!(oppose("用户喜欢咖啡", "用户讨厌咖啡"));
        assert!(oppose("我想减脂", "我想增肌"));
        assert!(!oppose("loves tea, hates coffee", "hates coffee, loves tea"));
        assert!(!oppose("likes tea", "loves tea"));
    }

    #[test]
    fn no_word_is_its_own_opposite() {
        for (first, second) in OPPOSITES.iter().chain(OPERATORS) {
            assert!(first.iter().all(|word| !second.contains(word)), "{first:?}");
        }
    }
}
