use super::*;
use crate::assets;
use tokenizers::Tokenizer;

fn pieces() -> Pieces {
    Pieces::load(assets::AUTOMATON, assets::SCORES).unwrap()
}

fn ids(pieces: &Pieces, text: &str) -> Vec<u32> {
    split(pieces, text, 2048, &mut Scratch::default()).to_vec()
}

/// The tokenizer the vocabulary was made for, in its reference implementation.
fn oracle() -> Tokenizer {
    Tokenizer::from_bytes(include_bytes!("../../assets/static-embedding/tokenizer.json")).unwrap()
}

fn check_against(oracle: &Tokenizer, pieces: &Pieces, text: &str) {
    let expected = oracle.encode_fast(text, false).unwrap();
    assert_eq!(ids(pieces, text), expected.get_ids(), "{text:?}");
}

#[test]
fn clip_ends_between_characters() {
    assert_eq!(clip("short 短"), "short 短");
    let text = format!("a{}", "记".repeat(TEXT_BYTES_MAX / 3 + 1));
    assert_eq!(clip(&text).len(), TEXT_BYTES_MAX - (TEXT_BYTES_MAX - 1) % 3);
    assert!(text.starts_with(clip(&text)));
}

#[test]
fn word_parts_start_at_each_mark() {
    let parts = |word| word_parts(word).collect::<Vec<_>>();
    assert_eq!(parts("word"), ["word"]);
    assert_eq!(parts("▁word"), ["word"]);
    assert_eq!(parts("a▁▁b▁"), ["a", "", "b", ""]);
    assert_eq!(parts("▁"), [""]);
}

#[test]
fn known_difficult_texts_split_as_the_oracle_does() {
    let (oracle, pieces) = (oracle(), pieces());
    for text in [
        "",
        "   \t\n\u{3000}",
        "two  spaces,   three\u{00A0}and\u{3000}wide",
        "The deploy failed: error[E0308] at src/main.rs:42 — see #1234.",
        "ｆｕｌｌｗｉｄｔｈ１２３ ﬁne ① ㌔ ﷺ Å ﾊﾝｶｸ",
        "e\u{301}a\u{308}\u{301} n\u{303}o \u{301}\u{301}",
        "🎉 party🎉time 👩‍👩‍👧‍👦 1️⃣",
        "▁a▁▁b▁ ▁ ▁▁ mid▁dle",
        "上周我们讨论了报表的字段缺失问题，结论是：先补数据，再重跑！",
        "用户Alice在2024年3月5日18:30说“我对花生过敏”。",
        "繁體中文與簡體中文混合 mixed 中英文text混排",
        "Привет мир 안녕하세요 สวัสดี مرحبا नमस्ते",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa................................",
        "null\0byte \u{AD}soft\u{AD}hyphen \u{200B}zero\u{FEFF}width \u{202A}bidi\u{202C} \u{92}",
        "permission_denied: update_status failed (E1042)",
    ] {
        check_against(&oracle, &pieces, text);
    }
}

/// Texts put together from stretches of words, characters, spaces and marks by a fixed sequence of numbers.
#[test]
fn random_texts_split_as_the_oracle_does() {
    const STRETCHES: [&str; 40] = [
        "the ", "memory", "deploy", "ing", "un", "ö", "é", "ß", " ", "  ", "\n", ".", "...", ", ", "'s", "-",
        "_", "/", "E1042", "3.14", "2024", "花生", "过敏", "上周", "的", "我们", "。", "，", "《", "數據",
        "々", "🎉", "▁", "ﬀ", "Ａ", "\u{301}", "ж", "한", "\0", "kubectl",
    ];
    let (oracle, pieces) = (oracle(), pieces());
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..2_000 {
        let mut text = String::new();
        for _ in 0..next(24) {
            match next(8) {
                0 => text.push(char::from_u32(0x20 + u32::try_from(next(0x230)).unwrap()).unwrap()),
                1 => text.push(char::from_u32(0x4E00 + u32::try_from(next(0x5200)).unwrap()).unwrap()),
                _ => text.push_str(STRETCHES[next(STRETCHES.len())]),
            }
        }
        check_against(&oracle, &pieces, &text);
    }
}

#[test]
fn spelled_marks_are_plain_text() {
    let pieces = pieces();
    for text in ["<s>", "</s>", "<unk>", "<pad>", "a<s>b"] {
        let ids = ids(&pieces, text);
        assert!(ids.iter().all(|id| *id >= crate::pieces::FIRST_PIECE), "{text}: {ids:?}");
    }
}

#[test]
fn no_more_ids_than_asked_for() {
    let pieces = pieces();
    let all = ids(&pieces, "one two three four five six");
    let mut scratch = Scratch::default();
    for ids_max in 0..all.len() {
        assert_eq!(split(&pieces, "one two three four five six", ids_max, &mut scratch), &all[..ids_max]);
    }
}
