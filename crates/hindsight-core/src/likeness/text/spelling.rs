//! Words that are spelled in two ways and mean one thing.

use std::{collections::HashMap, sync::LazyLock};

use compact_str::{CompactString, format_compact};

use super::token::FirstBytes;

/// The common spelling first, then the others.
const SPELLINGS: &[(&str, &[&str])] = &[
    ("ok", &["okay"]),
    ("color", &["colour"]),
    ("colors", &["colours"]),
    ("favorite", &["favourite"]),
    ("favorites", &["favourites"]),
    ("behavior", &["behaviour"]),
    ("labor", &["labour"]),
    ("neighbor", &["neighbour"]),
    ("neighbors", &["neighbours"]),
    ("honor", &["honour"]),
    ("flavor", &["flavour"]),
    ("harbor", &["harbour"]),
    ("center", &["centre"]),
    ("theater", &["theatre"]),
    ("fiber", &["fibre"]),
    ("meter", &["metre"]),
    ("liter", &["litre"]),
    ("gray", &["grey"]),
    ("catalog", &["catalogue"]),
    ("dialog", &["dialogue"]),
    ("defense", &["defence"]),
    ("license", &["licence"]),
    ("aluminum", &["aluminium"]),
    ("jewelry", &["jewellery"]),
    ("canceled", &["cancelled"]),
    ("canceling", &["cancelling"]),
    ("traveled", &["travelled"]),
    ("traveling", &["travelling"]),
    ("traveler", &["traveller"]),
    ("labeled", &["labelled"]),
    ("labeling", &["labelling"]),
    ("modeled", &["modelled"]),
    ("modeling", &["modelling"]),
    ("signaled", &["signalled"]),
    ("fueled", &["fuelled"]),
    ("fulfill", &["fulfil"]),
    ("enroll", &["enrol"]),
    ("judgment", &["judgement"]),
    ("acknowledgment", &["acknowledgement"]),
    ("aging", &["ageing"]),
    ("analyze", &["analyse"]),
    ("analyzed", &["analysed"]),
    ("analyzing", &["analysing"]),
    ("learned", &["learnt"]),
    ("burned", &["burnt"]),
    ("while", &["whilst"]),
    ("among", &["amongst"]),
    ("toward", &["towards"]),
    ("afterward", &["afterwards"]),
    ("pajamas", &["pyjamas"]),
    ("yogurt", &["yoghurt"]),
    ("donut", &["doughnut"]),
    ("tv", &["television"]),
    ("repo", &["repository"]),
    ("config", &["configuration"]),
];

/// The common spelling of each other one.
static COMMON: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs =
        SPELLINGS.iter().flat_map(|(common, others)| others.iter().map(move |other| (*other, *common)));
    pairs.collect()
});

/// Beginnings of verbs that end in -ize or -ise.
const IZE: &[&str] = &[
    "author", "organ", "real", "recogn", "optim", "summar", "custom", "minim", "maxim", "priorit", "categor",
    "final", "normal", "initial", "serial", "synchron", "standard", "special", "apolog", "memor", "util",
    "visual", "local", "token", "stabil", "critic", "emphas", "modern", "general", "item", "random",
    "capital",
];

/// The common spelling of a word in lower case.
pub(super) fn common_spelling(word: &str) -> CompactString {
    if let Some(common) = COMMON.get(word) {
        return (*common).into();
    }
    for (british, american) in
        [("isation", "ization"), ("ise", "ize"), ("ised", "ized"), ("ises", "izes"), ("ising", "izing")]
    {
        if let Some(stem) = word.strip_suffix(british)
            && IZE.contains(&stem)
        {
            return format_compact!("{stem}{american}");
        }
    }
    word.into()
}

/// What the phrases begin with.
pub(super) static PHRASES_BEGIN: FirstBytes = {
    let mut all = [""; PHRASES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = PHRASES[at].0;
        at += 1;
    }
    FirstBytes::of(&all)
};

/// Phrases that are written in several ways, each with its common form. One that stays as it is keeps a shorter one
/// from being seen in it.
pub(super) const PHRASES: &[(&str, &str)] = &[
    ("per cent", "percent"),
    ("e mail", "email"),
    ("e mails", "emails"),
    ("wi fi", "wifi"),
    ("on line", "online"),
    ("in order to", "to"),
    ("no one", "nobody"),
    ("以及", "和"),
    ("要不要", "要不要"),
    ("有没有", "有没有"),
    ("不要", "别"),
    ("没有", "没"),
    ("无法", "不能"),
    ("今日", "今天"),
    ("昨日", "昨天"),
    ("明日", "明天"),
    ("星期天", "周日"),
    ("星期日", "周日"),
    ("礼拜天", "周日"),
    ("礼拜日", "周日"),
    ("星期", "周"),
    ("礼拜", "周"),
    ("爸爸", "父亲"),
    ("妈妈", "母亲"),
    ("登陆", "登录"),
    ("帐号", "账号"),
    ("帐户", "账户"),
    ("其它", "其他"),
    ("计算机", "电脑"),
    ("手机号码", "手机号"),
    ("电话号码", "电话号"),
    ("身份证号码", "身份证号"),
];
