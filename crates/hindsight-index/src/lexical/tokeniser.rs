//! Text into terms. Memories and queries go through the same function, so what is the same text is the same terms.
//!
//! The text is brought to NFKC (ＡＰＩ is API, ① is 1), parted into runs of Chinese and the like (see `cjk`) and stretches of
//! everything else (see `words`). A term is what the index compares; its surface is the piece of text it came from.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

use super::cjk::{is_cjk, tokenise_run};
use super::words::Words;

/// One term of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What the index compares: lower case, stemmed where it is an English word.
    pub term: &'a str,
    /// The piece of the text it stands for, after normalisation.
    pub surface: &'a str,
}

/// Emits every term of a text, in the order of the text. A term may come more than once.
pub fn tokenise(text: &str, emit: &mut dyn FnMut(Token<'_>)) {
    let mut words = Words::default();
    if text.is_ascii() {
        words.tokenise_stretch(text, emit);
        return;
    }
    let text = normalise(text);
    let mut rest: &str = &text;
    while let Some(first) = rest.chars().next() {
        let is_run = is_cjk(first);
        let end = rest.find(|character| is_cjk(character) != is_run).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if is_run {
            tokenise_run(part, emit);
        } else {
            words.tokenise_stretch(part, emit);
        }
        rest = after;
    }
}

/// NFKC, with typographic apostrophes and hyphens as the ones on a keyboard.
pub(crate) fn normalise(text: &str) -> Cow<'_, str> {
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes
        && text.chars().all(|character| plain(character) == character)
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().map(plain).collect())
}

const fn plain(character: char) -> char {
    match character {
        '\u{2018}' | '\u{2019}' | '\u{02bc}' => '\'',
        '\u{2010}' | '\u{2011}' | '\u{2212}' => '-',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        tokenise(text, &mut |token| terms.push(token.term.to_owned()));
        terms
    }

    #[test]
    fn scripts_are_parted_and_forms_are_one() {
        assert_eq!(terms("用Python写API"), ["用", "python", "写", "api"]);
        assert_eq!(terms("ＡＰＩ　Ｅ１０４２"), terms("API E1042"));
        assert_eq!(terms("Caroline’s café"), terms("caroline's cafe\u{301}"));
    }

    proptest! {
        #[test]
        fn any_text_gives_terms_that_are_not_empty_and_surfaces_that_are(text in "\\PC{0,60}") {
            tokenise(&text, &mut |token| {
                assert!(!token.term.is_empty() && !token.surface.is_empty(), "{token:?} in {text:?}");
                assert!(token.term.chars().count() <= 70, "{token:?}");
            });
        }

        #[test]
        fn upper_case_changes_nothing_in_plain_words(text in "[a-z]{1,12}( [a-z]{1,12}){0,5}") {
            prop_assert_eq!(terms(&text.to_uppercase()), terms(&text));
        }
    }
}
