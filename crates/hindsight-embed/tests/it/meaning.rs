//! Texts that mean the same are near, others are not.

use super::{embedder, vector};

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Each pair is nearer to itself than either half is to any half of another pair.
fn check_pairs(pairs: &[(&str, &str)]) {
    let embedder = embedder();
    let vectors: Vec<_> = pairs.iter().map(|(a, b)| (vector(&embedder, a), vector(&embedder, b))).collect();
    for (i, (a, b)) in vectors.iter().enumerate() {
        let own = cosine(a, b);
        assert!(own > 0.4, "{:?}: {own}", pairs[i]);
        for (j, (c, d)) in vectors.iter().enumerate().filter(|(j, _)| *j != i) {
            let other =
                [cosine(a, c), cosine(a, d), cosine(b, c), cosine(b, d)].into_iter().fold(-1.0, f32::max);
            assert!(other < own - 0.1, "{:?} {own} against {:?} {other}", pairs[i], pairs[j]);
        }
    }
}

#[test]
fn english_paraphrases_are_near() {
    check_pairs(&[
        ("She can't eat peanuts because of an allergy.", "She is allergic to peanuts and must not eat them."),
        ("The nightly backup failed with a disk error.", "A disk error made last night's backup fail."),
        (
            "His train to Berlin leaves at seven in the morning.",
            "He takes the morning train to Berlin at seven.",
        ),
        ("The customer asked for a refund of the invoice.", "The client wants the invoice refunded."),
    ]);
}

#[test]
fn chinese_paraphrases_are_near() {
    check_pairs(&[
        ("她对花生过敏，不能吃花生酱。", "她吃花生会过敏，所以不碰花生酱。"),
        ("昨晚的备份因为磁盘错误失败了。", "磁盘出错导致昨天夜里备份失败。"),
        ("他早上七点坐火车去北京。", "他要乘早晨七点的火车前往北京。"),
        ("客户要求退还这张发票的款项。", "这张发票客户想要退款。"),
    ]);
}

#[test]
fn width_and_form_of_characters_do_not_matter() {
    let embedder = embedder();
    assert_eq!(vector(&embedder, "ＡＰＩ ｋｅｙ １２３"), vector(&embedder, "API key 123"));
    assert_eq!(vector(&embedder, "cafe\u{301}  au\tlait"), vector(&embedder, "caf\u{e9} au lait"));
}
