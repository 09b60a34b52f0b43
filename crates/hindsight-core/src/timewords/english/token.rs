//! English text as words: lower case, with where they stand. Punctuation is a word too, so that no phrase reaches
//! across it; so is a run of Chinese.

use crate::scoring::tokens::is_cjk;

/// A word, or a mark: `,` is a comma, `-` a dash between spaces, `.` everything else that separates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// In lower case, without a possessive 's.
    pub(crate) text: String,
    /// Its first byte in the query.
    pub(crate) start: usize,
    /// The byte after it.
    pub(crate) end: usize,
    /// Whether it begins with a capital letter.
    pub(crate) capital: bool,
}

/// The words of `text` in order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let byte = |at: usize| chars.get(at).map_or(text.len(), |(byte, _)| *byte);
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&(start, c)) = chars.get(at) {
        if is_word(c) {
            let end = word_end(&chars, at);
            let word = &text[start..byte(end)];
            tokens.push(Token {
                text: word.to_lowercase(),
                start,
                end: byte(end),
                capital: c.is_uppercase(),
            });
            at = if is_possessive(&chars, end) { end + 2 } else { end };
            continue;
        }
        let spaced = at > 0 && chars[at - 1].1.is_whitespace();
        let mark = match c {
            ',' => Some(","),
            '-' if !spaced => None,
            '-' | '–' | '—' => Some("-"),
            c if c.is_whitespace() => None,
            _ => Some("."),
        };
        if let Some(mark) = mark {
            tokens.push(Token { text: mark.to_owned(), start, end: byte(at + 1), capital: false });
        }
        at += 1;
    }
    tokens
}

fn is_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_cjk(c)
}

/// Where the word that begins at `at` ends. A point, hyphen or slash between two digits belongs to it (1.5, 2023-05-08),
/// and so does an apostrophe between letters (don't).
fn word_end(chars: &[(usize, char)], at: usize) -> usize {
    let char_at = |at: usize| chars.get(at).map(|(_, c)| *c);
    let mut end = at + 1;
    while let Some(c) = char_at(end) {
        let next = char_at(end + 1).filter(|next| is_word(*next));
        let between_digits =
            chars[end - 1].1.is_ascii_digit() && next.is_some_and(|next| next.is_ascii_digit());
        let goes_on = match c {
            '.' | '-' | '/' => between_digits,
            '\'' | '’' => next.is_some() && !is_possessive(chars, end),
            c => is_word(c),
        };
        if !goes_on {
            break;
        }
        end += 1;
    }
    end
}

/// Whether an apostrophe and a last "s" stand at `at`.
fn is_possessive(chars: &[(usize, char)], at: usize) -> bool {
    let char_at = |at: usize| chars.get(at).map(|(_, c)| *c);
    matches!(char_at(at), Some('\'' | '’'))
        && matches!(char_at(at + 1), Some('s' | 'S'))
        && !char_at(at + 2).is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_marks() {
        let texts =
            |text: &str| tokens(text).into_iter().map(|token| token.text).collect::<Vec<_>>().join(" ");
        assert_eq!(texts("Yesterday's build, don’t ask"), "yesterday build , don’t ask");
        assert_eq!(
            texts("1.5 hours; 2023-05-08. mid-March - May"),
            "1.5 hours . 2023-05-08 . mid march - may"
        );
        assert_eq!(texts("我yesterday看"), ". yesterday .");
        let all = tokens("a 昨 Bé");
        assert_eq!((all[2].start, all[2].end, all[2].capital), (6, 9, true));
    }
}
