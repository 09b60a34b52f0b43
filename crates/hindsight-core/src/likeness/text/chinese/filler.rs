//! Characters that may stand or not: 的, 地, 了, 很, 请, 一下.

use super::numeral::begins_numeral;
use crate::likeness::text::token::{Sort, Token, spells, spells_any};

/// Words after which 的 and 地 may stand or not: 我(的)妈妈, 认真(地)检查.
const BEFORE_DE: &[&str] = &[
    "我", "你", "您", "他", "她", "它", "我们", "你们", "他们", "她们", "咱们", "用户", "客户", "认真",
    "仔细", "快速", "慢慢", "手动", "小心", "轻松", "顺利", "努力", "主动", "及时", "耐心", "红色", "黑色",
    "白色", "蓝色", "绿色", "黄色", "灰色", "紫色", "粉色",
];

/// Behind 的 these make one word with what is before it: 帮助他的人 is not 帮助他人.
const JOINED: &[&str] = &["人", "们", "国", "乡", "方", "日", "家", "等", "自己", "校", "司"];

/// People of whom something is told: between one of these and an attribute 的 may stand or not.
const PEOPLE: &[&str] = &[
    "上司", "下属", "同事", "老板", "室友", "邻居", "父亲", "母亲", "爷爷", "奶奶", "外公", "外婆", "哥哥",
    "姐姐", "弟弟", "妹妹", "表哥", "表姐", "表弟", "表妹", "叔叔", "婶婶", "舅舅", "阿姨", "姑姑", "儿子",
    "女儿", "丈夫", "妻子", "老公", "老婆",
];

/// What is told of people.
const ATTRIBUTES: &[&str] = &[
    "老家",
    "邮箱",
    "生日",
    "电话",
    "手机",
    "工作",
    "职业",
    "职位",
    "学历",
    "身高",
    "体重",
    "年龄",
    "名字",
    "地址",
    "单位",
    "爱好",
    "联系电话",
    "性格",
];

/// What is measured: before its number 有 may stand or not.
const MEASURED: &[&str] = &["身高", "体重", "长度", "高度", "宽度", "面积", "距离", "重量", "年龄"];

/// What 请 may stand before without changing whom is asked to do it.
const AFTER_PLEASE: &[&str] = &[
    "不要",
    "别",
    "勿",
    "先",
    "在",
    "把",
    "将",
    "使用",
    "确保",
    "注意",
    "记住",
    "记得",
    "检查",
    "重启",
    "发送",
    "务必",
    "及时",
    "立即",
    "提前",
    "用中文",
    "用英文",
    "每次",
    "始终",
    "只",
    "尽量",
    "直接",
    "保持",
    "按",
];

/// Particles that may end a clause. 吗, 呢 and 吧 are not among them: they ask or guess.
const PARTICLES: &[&str] = &["啊", "呀", "哦", "噢", "哟", "嘛", "哈"];

/// Words of degree, which say nothing where nothing is denied: 很喜欢 is 喜欢, but 不很喜欢 is not 不喜欢.
const DEGREE: &[&str] = &["很", "非常"];

/// What they say nothing before. Elsewhere they make another word: 很少, 很多, 很快.
const GRADED: &[&str] = &[
    "喜欢",
    "喜爱",
    "爱",
    "讨厌",
    "想",
    "高兴",
    "开心",
    "难过",
    "重要",
    "累",
    "忙",
    "热",
    "冷",
    "贵",
    "便宜",
    "漂亮",
    "聪明",
    "努力",
    "担心",
    "害怕",
    "感兴趣",
    "满意",
    "健康",
    "方便",
    "安全",
    "复杂",
    "简单",
    "困难",
    "紧张",
    "认真",
    "清楚",
    "稳定",
];

/// Behind 一下 these make it another word: 一下子, 一下午.
const NOT_A_BIT: &[&str] = &[
    "子", "午", "班", "车", "周", "个", "次", "架", "单", "线", "雨", "楼", "课", "台", "载", "降", "滑",
    "跌", "来", "去",
];

/// Drops what may stand or not. Runs while the punctuation is still there.
pub(in crate::likeness::text) fn drop_fillers(tokens: &[Token]) -> Vec<Token> {
    let denied = tokens.iter().any(|token| token.sort == Sort::Not);
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some(count) = filler_at(tokens, at, denied) {
            at += count;
        } else {
            kept.push(token.clone());
            at += 1;
        }
    }
    kept
}

fn filler_at(tokens: &[Token], at: usize, denied: bool) -> Option<usize> {
    let rest = tokens.get(at..)?;
    let before = tokens.get(..at)?;
    let next = rest.get(1);
    let next_is_han = next.is_some_and(|token| token.sort == Sort::Han || token.sort == Sort::Word);
    let token = rest.first().filter(|token| token.is_text())?;
    match token.key.as_str() {
        "的" | "地" => {
            let about = rest.get(1..).and_then(|rest| spells_any(rest, ATTRIBUTES)).is_some();
            let told = about && ends_with_any(before, PEOPLE);
            let joined = next.is_some_and(|token| token.is_one_of(JOINED));
            (next_is_han && !joined && (ends_with_any(before, BEFORE_DE) || told)).then_some(1)
        }
        "有" => {
            let counted = next.is_some_and(|token| token.sort == Sort::Number || begins_numeral(token));
            (counted && ends_with_any(before, MEASURED)).then_some(1)
        }
        "请" => {
            let first = before.last().is_none_or(|token| token.sort == Sort::Pause);
            (first && spells_any(rest.get(1..)?, AFTER_PLEASE).is_some()).then_some(1)
        }
        "一" => spells(rest, "一下", |key, part| key == part).filter(|_| {
            !rest.get(2).is_some_and(|token| token.is_one_of(NOT_A_BIT))
                && before.last().is_some_and(|token| token.sort == Sort::Han && !token.is_word("等"))
        }),
        // With 已经 before it, 了 repeats that it is done; behind an age it says that time has passed.
        "了" => {
            let clause = before.rsplit(|token| token.sort == Sort::Pause).next().unwrap_or_default();
            let particles = rest.iter().skip(1).take_while(|token| token.is_one_of(PARTICLES)).count();
            let ends = rest.get(1 + particles).is_none_or(|token| token.sort == Sort::Pause);
            let aged = clause.last().is_some_and(|token| token.is_word("岁"));
            (ends && (aged || clause.iter().any(|token| token.is_word("已")))).then_some(1)
        }
        key if PARTICLES.contains(&key) => {
            let ends = next.is_none_or(|token| token.sort == Sort::Pause);
            (ends && before.last().is_some_and(|token| token.sort == Sort::Han)).then_some(1)
        }
        _ if denied => None,
        _ => spells_any(rest, DEGREE)
            .filter(|count| rest.get(*count..).and_then(|rest| spells_any(rest, GRADED)).is_some()),
    }
}

fn ends_with_any(tokens: &[Token], words: &[&str]) -> bool {
    words.iter().any(|word| {
        let from = tokens.len().checked_sub(word.chars().count());
        let tail = from.and_then(|from| tokens.get(from..)).unwrap_or_default();
        spells(tail, word, |key, part| key == part).is_some()
    })
}
