//! Words of scripts that part them, and the codes between them.
//!
//! A plain word gives its stem. An identifier, a code or a name with joints (`permission_denied`, `E1042`, `updateStatus`,
//! `WES-5.4.5`) gives itself whole and its parts, so that it is found by either.

use frostem::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation as _;

use super::pieces::{is_acronym_plural, pieces};
use super::stop::is_stop_word;
use super::tokeniser::Token;

/// Characters that join two words into one code when nothing else stands between them.
const JOINERS: [char; 9] = ['-', '/', '.', ':', '@', '+', '&', '#', '~'];
/// Most words of one code; a longer chain is cut into several.
const JOINED_MAX: usize = 8;
/// Longest word or code in bytes; of a longer one only so much of the beginning counts.
const WORD_BYTES_MAX: usize = 64;

/// Parts stretches of text into terms. Holds the buffers that are used again from word to word.
pub(crate) struct Words {
    lower: String,
    stemmer: Stemmer,
}

impl Default for Words {
    fn default() -> Self {
        Words { lower: String::new(), stemmer: Stemmer::new(Algorithm::English) }
    }
}

impl Words {
    /// Emits the terms of a stretch of text.
    pub(crate) fn tokenise_stretch(&mut self, text: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let mut words = text.unicode_word_indices().peekable();
        while let Some((start, word)) = words.next() {
            let (mut end, mut joined) = (start + word.len(), 1);
            self.word(word, emit);
            while let Some((next_start, next)) = words.peek().copied()
                && joined < JOINED_MAX
                && is_joint(text.get(end..next_start).unwrap_or_default(), next)
            {
                self.word(next, emit);
                end = next_start + next.len();
                joined += 1;
                words.next();
            }
            end += sign_length(text.get(end..).unwrap_or_default());
            let code = text.get(start..end).unwrap_or_default();
            if code.len() > word.len() {
                self.whole(code.trim_matches('_'), emit);
            }
        }
    }

    /// One word in the sense of Unicode: letters and digits, with underscores, and points or apostrophes inside.
    fn word(&mut self, word: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let word = cut(word.trim_matches(['_', '\'', '.']));
        if word.chars().all(char::is_alphabetic) {
            self.letters(word, word, emit);
            // Small letters alone have no joint.
            if !word.bytes().all(|byte| byte.is_ascii_lowercase()) && !is_acronym_plural(word) {
                self.pieces(word, emit);
            }
        } else if word.starts_with(|first: char| first.is_numeric()) && word.chars().all(is_part_of_number) {
            self.number(word, emit);
        } else if word.contains('\'') {
            self.with_apostrophe(word, emit);
        } else {
            self.whole(word, emit);
            self.pieces(word, emit);
        }
    }

    fn with_apostrophe(&mut self, word: &str, emit: &mut dyn FnMut(Token<'_>)) {
        self.lower_case(word);
        if is_stop_word(&self.lower) {
            return;
        }
        match word.strip_suffix("'s").or_else(|| word.strip_suffix("'S")) {
            Some(owner) => self.word(owner, emit),
            None => {
                self.whole(word, emit);
                self.pieces(word, emit);
            }
        }
    }

    /// A number: 1,000 is 1000. Of one with several points (a version, an address, a date) the longer parts count too.
    fn number(&mut self, word: &str, emit: &mut dyn FnMut(Token<'_>)) {
        self.lower.clear();
        self.lower.extend(word.chars().filter(|character| *character != ','));
        emit(Token { term: &self.lower, surface: word });
        if word.matches('.').count() > 1 {
            for part in word.split('.').filter(|part| part.len() > 1) {
                emit(Token { term: part, surface: part });
            }
        }
    }

    /// The parts of a word with joints: none if it has no joint.
    fn pieces(&mut self, word: &str, emit: &mut dyn FnMut(Token<'_>)) {
        for piece in pieces(word) {
            if piece.len() == word.len() {
                return;
            }
            if piece.starts_with(|first: char| first.is_numeric()) {
                emit(Token { term: piece, surface: piece });
            } else if piece.chars().nth(1).is_some() && !matches!(piece, "st" | "nd" | "rd" | "th") {
                self.letters(piece, piece, emit);
            }
        }
    }

    /// A word of letters only: nothing if it is a stop word, else its stem.
    fn letters(&mut self, letters: &str, surface: &str, emit: &mut dyn FnMut(Token<'_>)) {
        self.lower_case(letters);
        if self.lower.is_empty() || is_stop_word(&self.lower) {
            return;
        }
        if self.lower.is_ascii() {
            emit(Token { term: &self.stemmer.stem(&self.lower), surface });
        } else {
            emit(Token { term: &self.lower, surface });
        }
    }

    /// A code as it stands, in lower case.
    fn whole(&mut self, code: &str, emit: &mut dyn FnMut(Token<'_>)) {
        let code = cut(code);
        self.lower_case(code);
        if !self.lower.is_empty() {
            emit(Token { term: &self.lower, surface: code });
        }
    }

    /// Lower case, and Latin letters without their accents.
    fn lower_case(&mut self, word: &str) {
        self.lower.clear();
        if word.is_ascii() {
            self.lower.push_str(word);
            self.lower.make_ascii_lowercase();
            return;
        }
        let mut after_latin = false;
        for character in word.chars().flat_map(char::to_lowercase).nfd() {
            if is_combining_mark(character) && after_latin {
                continue;
            }
            after_latin = character.is_ascii_alphabetic();
            self.lower.push(character);
        }
        if !self.lower.is_ascii() {
            self.lower = self.lower.nfc().collect();
        }
    }
}

/// The beginning of a word, as much of it as counts.
fn cut(word: &str) -> &str {
    let boundary = |at: &usize| word.is_char_boundary(*at);
    (0..=WORD_BYTES_MAX.min(word.len())).rev().find(boundary).and_then(|end| word.get(..end)).unwrap_or(word)
}

/// Whether a gap joins two words: `AT&T` is one name, the `&` of `id=42&sort=asc` is not inside one.
fn is_joint(gap: &str, next: &str) -> bool {
    gap.len() == 1 && gap.starts_with(JOINERS) && (gap != "&" || next.starts_with(char::is_uppercase))
}

fn is_part_of_number(character: char) -> bool {
    character.is_numeric() || matches!(character, '.' | ',')
}

/// The bytes of signs that belong to the word before them: `C++`, `C#`.
fn sign_length(after: &str) -> usize {
    let signs = if after.starts_with("++") { 2 } else { usize::from(after.starts_with('#')) };
    let follows = after.get(signs..).unwrap_or_default();
    if follows.starts_with(|next: char| next.is_alphanumeric() || JOINERS.contains(&next)) {
        0
    } else {
        signs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        Words::default().tokenise_stretch(text, &mut |token| terms.push(token.term.to_owned()));
        terms
    }

    #[test]
    fn plain_words_are_stemmed_and_stop_words_left_out() {
        assert_eq!(terms("The deployments were failing because of timeouts"), ["deploy", "fail", "timeout"]);
        assert_eq!(terms("I don't like Caroline's dog"), ["like", "carolin", "dog"]);
    }

    #[test]
    fn codes_are_found_whole_and_in_parts() {
        assert_eq!(terms("permission_denied"), ["permission_denied", "permiss", "deni"]);
        assert_eq!(terms("E1042"), ["e1042", "1042"]);
        assert_eq!(terms("updateStatus"), ["updatestatus", "updat", "status"]);
        assert_eq!(terms("WES-5.4.5"), ["wes", "5.4.5", "wes-5.4.5"]);
        assert_eq!(terms("conv-26"), ["conv", "26", "conv-26"]);
        assert_eq!(terms("HTTPServer2"), ["httpserver2", "http", "server", "2"]);
        assert_eq!(terms("__init__"), ["init"]);
        assert_eq!(terms("C++ and C#, not c"), ["c", "c++", "c", "c#", "c"]);
        assert_eq!(terms("AT&T"), ["at&t"]);
        assert_eq!(terms("alice@example.com"), ["alic", "example.com", "exampl", "com", "alice@example.com"]);
        assert_eq!(terms("--dry-run"), ["dri", "run", "dry-run"]);
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(terms("paid $1,299.50 on 7th"), ["paid", "1299.50", "7th", "7"]);
        assert_eq!(terms("192.168.1.10"), ["192.168.1.10", "192", "168", "10"]);
        assert_eq!(terms("3.14"), ["3.14"]);
        assert_eq!(terms("2023-05-08"), ["2023", "05", "08", "2023-05-08"]);
    }

    #[test]
    fn names_with_apostrophes_accents_and_acronyms() {
        assert_eq!(terms("O'Brien"), ["o'brien", "brien"]);
        assert_eq!(terms("APIs"), ["api"]);
        assert_eq!(terms("Café"), ["cafe"]);
        assert_eq!(terms("Ёлка"), ["ёлка"]);
        assert_eq!(terms("naïveté"), terms("naivete"));
    }

    #[test]
    fn a_word_without_end_is_cut() {
        let long = "x".repeat(500);
        assert_eq!(terms(&long), ["x".repeat(64)]);
        assert_eq!(terms(&format!("a1{long}"))[0].len(), 64);
    }
}
