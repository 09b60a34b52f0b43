use super::*;

fn row(text: &str) -> String {
    let tokens = Text::of(text).tokens;
    tokens.iter().map(|token| token.key.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn spelling_does_not_count() {
    for (a, b) in [
        ("The user lives in Berlin.", "user lives in berlin"),
        ("Don't deploy on Fridays!", "do not deploy on fridays"),
        ("Meet at 5 p.m. on March 5th, 2024.", "meet at 17:00 on 2024-03-05"),
        ("ran 5 kilometres", "ran 5km"),
        ("三十五个用户", "35个用户"),
        ("2024年3月5号下午五点", "2024/3/5 17:00"),
        ("增长百分之五", "增长5%"),
        ("學習「認真地」檢查", "学习认真检查"),
        ("version 1.2", "v1.2"),
        ("twenty-five users", "25 users"),
    ] {
        assert_eq!(row(a), row(b));
    }
}

#[test]
fn what_says_something_stays() {
    for (a, b) in [
        ("coconut, milk", "coconut milk"),
        ("No, deploy", "No deploy"),
        ("vitamin A", "vitamin"),
        ("a few users", "few users"),
        ("the limit is 10²", "the limit is 102"),
        ("三四个人", "34个人"),
        ("这不是我的", "这不是我"),
        ("at 5:00", "at 5:00 pm"),
        ("C++", "C"),
        ("5 Mb", "5 MB"),
        ("not really happy", "not happy"),
        ("我喜欢的人", "我喜欢人"),
    ] {
        assert_ne!(row(a), row(b));
    }
}

/// Whatever the text, there is a row, and its places lie in the folded text in order.
#[test]
fn any_text_has_a_row() {
    let pieces = [
        "1", "2024", "-", "/", "年", "月", "一", "百", "点", "pm", ".", ",", "'s", "n't", "$", "²", "é",
        "（", "a", "A", " ",
    ];
    for first in pieces {
        for second in pieces {
            for third in pieces {
                let text = format!("{first}{second}{third}{first}");
                let read = Text::of(&text);
                for token in &read.tokens {
                    assert!(
                        token.start <= token.end && read.folded.get(token.start..token.end).is_some(),
                        "{text:?}"
                    );
                }
                assert!(!Text::key(&text).is_empty() || text.trim().is_empty(), "{text:?}");
            }
        }
    }
}
