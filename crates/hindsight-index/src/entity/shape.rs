//! What a query names by its shape: codes and identifiers (`E1042`, `update_status`, `WES-5.4.5`, `alice@example.com`),
//! and whatever stands in quotation marks.

use crate::lexical::{each_quotation, is_cjk, normalise, tokenise};

/// Most names by shape that are read off one query.
const SHAPES_MAX: usize = 16;
/// Longest code or quotation, in characters.
const SHAPE_CHARS_MAX: usize = 64;
/// Most words of a quotation.
const QUOTED_TERMS_MAX: usize = 8;

/// Signs that belong to a code when they stand inside it.
const INNER: [char; 8] = ['_', '-', '.', ':', '/', '@', '#', '+'];

/// Something that a query names by its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    /// As the query spells it, without quotation marks.
    pub(super) surface: String,
    /// The terms that a text must hold to name it: a code's one, a quotation's all.
    pub(super) terms: Vec<String>,
}

/// The shapes in a text: quotations first, then codes, each once.
pub(super) fn shapes(text: &str) -> Vec<Shape> {
    let mut found: Vec<Shape> = Vec::new();
    let mut take = |surface: &str, terms: Vec<String>| {
        let is_new = found.iter().all(|shape| shape.terms != terms);
        if is_new && !terms.is_empty() && found.len() < SHAPES_MAX {
            found.push(Shape { surface: surface.to_owned(), terms });
        }
    };
    each_quotation(text, &mut |quoted| {
        if (2..=SHAPE_CHARS_MAX).contains(&quoted.chars().take(SHAPE_CHARS_MAX + 1).count()) {
            take(&normalise(quoted), terms_of(quoted));
        }
    });
    let text = normalise(text);
    for word in
        text.split(|character: char| character.is_whitespace() || is_cjk(character) || is_mark(character))
    {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        if is_code(word) {
            take(word, whole(word).into_iter().collect());
        }
    }
    found
}

fn is_mark(character: char) -> bool {
    !character.is_alphanumeric() && !INNER.contains(&character)
}

/// Whether a word is a code or an identifier: letters before digits (`E1042`), an underscore, a hump (`updateStatus`),
/// an address, or a path of names. `3pm` and `20th` begin with a digit and are none.
fn is_code(word: &str) -> bool {
    if !(3..=SHAPE_CHARS_MAX).contains(&word.len()) || !word.is_ascii() {
        return false;
    }
    let has_hump = word.as_bytes().windows(2).any(|pair| {
        pair.first().is_some_and(u8::is_ascii_lowercase) && pair.last().is_some_and(u8::is_ascii_uppercase)
    });
    let begins_with_letter = word.starts_with(|first: char| first.is_ascii_alphabetic());
    begins_with_letter
        && (word.contains(|character: char| character.is_ascii_digit())
            || word.contains(['_', '@'])
            || word.contains("::")
            || has_hump)
}

/// The term of a whole code.
fn whole(code: &str) -> Option<String> {
    let mut longest: Option<(usize, String)> = None;
    tokenise(code, &mut |token| {
        if longest.as_ref().is_none_or(|(length, _)| token.surface.len() > *length) {
            longest = Some((token.surface.len(), token.term.to_owned()));
        }
    });
    longest.map(|(_, term)| term)
}

/// The terms of a quotation, each once; none when it is too long to be a name.
fn terms_of(quoted: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    tokenise(quoted, &mut |token| terms.push(token.term.to_owned()));
    terms.sort_unstable();
    terms.dedup();
    if terms.len() > QUOTED_TERMS_MAX * 4 {
        return Vec::new();
    }
    // Of many terms (a Chinese phrase gives two a character) the longest say the most.
    terms.sort_by_key(|term| std::cmp::Reverse(term.len()));
    terms.truncate(QUOTED_TERMS_MAX);
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surfaces(text: &str) -> Vec<String> {
        shapes(text).into_iter().map(|shape| shape.surface).collect()
    }

    #[test]
    fn codes_and_identifiers() {
        assert_eq!(
            surfaces("Why did E1042 come from update_status, updateStatus() or WES-5.4.5?"),
            ["E1042", "update_status", "updateStatus", "WES-5.4.5"]
        );
        assert_eq!(surfaces("错误E1042怎么处理，联系 alice@example.com"), ["E1042", "alice@example.com"]);
        assert_eq!(surfaces("use std::mem and mia_li_3668"), ["std::mem", "mia_li_3668"]);
    }

    #[test]
    fn plain_words_and_times_are_no_codes() {
        assert_eq!(
            surfaces("On May 20th at 3pm it's 2023-05-08, a well-known 4x4 e.g. and/or 1042"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn quotations_name_all_of_their_words() {
        let found = shapes("who said \"support group\" and 《百年孤独》 or “x” and \"never closed");
        assert_eq!(
            found[0],
            Shape {
                surface: "support group".to_owned(),
                terms: vec!["support".to_owned(), "group".to_owned()]
            }
        );
        assert_eq!(found[1].surface, "百年孤独");
        assert!(found[1].terms.contains(&"百年".to_owned()) && found.len() == 2, "{found:?}");
    }

    #[test]
    fn a_code_is_looked_for_whole() {
        assert_eq!(shapes("WES-5.4.5")[0].terms, ["wes-5.4.5"]);
        assert_eq!(shapes("see E1042, and e1042 again").len(), 1);
        assert_eq!(shapes(&(0..40).map(|n| format!("code{n} ")).collect::<String>()).len(), SHAPES_MAX);
    }
}
