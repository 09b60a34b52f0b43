//! Characters that negate, and words in which they do not.

use crate::likeness::text::token::{Sort, Token, spells_any};

/// Parts of words in which a character does not negate.
const NOT_NEGATING: &[&str] = &[
    "不仅",
    "不但",
    "不只",
    "不管",
    "不论",
    "无论",
    "不断",
    "不过",
    "不错",
    "不同",
    "不少",
    "不久",
    "不得不",
    "没问题",
    "无线",
    "无锡",
    "无非",
    "未来",
    "特别",
    "区别",
    "差别",
    "级别",
    "性别",
    "告别",
    "类别",
    "分别",
    "个别",
    "识别",
    "辨别",
    "别墅",
    "别人",
    "别的",
    "别名",
    "是不是",
    "有没有",
    "有没",
    "要不要",
    "能不能",
    "会不会",
    "好不好",
    "对不起",
    "差不多",
    "不好意思",
    "沉没",
    "淹没",
    "没收",
    "忍不住",
    "禁不住",
    "来不及",
    "不一会儿",
    "不知不觉",
    "了不起",
    "莫名",
    "非洲",
    "非常",
    "是非",
];

/// What negates.
const NEGATING: &[&str] =
    &["不", "没", "无", "未", "别", "勿", "莫", "非", "禁止", "严禁", "取消", "从未", "并非"];

/// Makes one token of each word that negates.
pub(in crate::likeness::text) fn join_negations(tokens: &[Token]) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = tokens.get(at..).unwrap_or_default();
        let (count, negates) = match spells_any(rest, NOT_NEGATING).filter(|_| token.sort == Sort::Han) {
            Some(count) => (count, false),
            None => spells_any(rest, NEGATING).map_or((1, false), |count| (count, true)),
        };
        let read = rest.get(..count).unwrap_or_default();
        if negates {
            let key: String = read.iter().map(|token| token.key.as_str()).collect();
            joined.push(Token::instead_of(read, Sort::Not, key));
        } else {
            joined.extend_from_slice(read);
        }
        at += count;
    }
    joined
}
