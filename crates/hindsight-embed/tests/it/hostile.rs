//! Texts made to hurt: each gets an answer, and a bounded amount of work.

use hindsight_embed::{Embedder, limits::TEXT_BYTES_MAX};

use super::{embedder, vector};

const MEBIBYTE: usize = 1024 * 1024;

#[test]
fn a_mebibyte_of_anything_is_answered() {
    let embedder = embedder();
    for (unit, known) in [
        ("a", true),
        ("花", true),
        (" ", false),
        (".", true),
        ("\0", false),
        ("\u{301}", false),
        ("e\u{301}\u{323}", true),
        ("\u{FDFA}", false),
        ("\u{3316}", false),
        ("🎉", false),
        ("▁", false),
        ("a ", true),
        ("▁a", true),
        ("<s>", true),
    ] {
        let text = unit.repeat(MEBIBYTE / unit.len());
        let answer = embedder.embed_one(&text).unwrap();
        assert_eq!(answer.is_some(), known, "{unit:?}");
    }
}

#[test]
fn what_follows_the_limit_has_no_part() {
    let embedder = embedder();
    let spaces = " ".repeat(TEXT_BYTES_MAX - 7);
    let inside = format!("peanuts{spaces}");
    assert_eq!(inside.len(), TEXT_BYTES_MAX);
    assert_eq!(vector(&embedder, &format!("{inside}deploy")), vector(&embedder, "peanuts"));
    assert_ne!(vector(&embedder, &format!("peanuts{}deploy", &spaces[..100])), vector(&embedder, "peanuts"));
}

#[test]
fn pieces_past_the_models_limit_have_no_part() {
    let embedder = embedder();
    let full = "tea ".repeat(2048);
    let more = format!("{full}{}", "deployment failed ".repeat(500));
    assert_eq!(vector(&embedder, &more), vector(&embedder, &full));
}

#[test]
fn odd_characters_between_words_do_no_harm() {
    let embedder = embedder();
    for text in [
        "tea\0with\0milk",
        "\u{301}tea",
        "tea\u{FFFD}\u{FFFF}",
        "\u{202E}tea",
        "\u{10FFFF} tea",
        "\u{E000}tea",
    ] {
        vector(&embedder, text);
    }
}
