//! What a text is made of, once spelling no longer counts.

use compact_str::CompactString;

/// What a token is. Two tokens are the same only if sort and key are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Sort {
    /// A word of an alphabet, in lower case.
    Word,
    /// One Chinese character, or one Japanese syllable.
    Han,
    /// A word or character that negates: "not", 不.
    Not,
    /// A number, by its decimal digits.
    Number,
    /// What the number before it counts.
    Unit,
    /// A day or a month: `2024-03-05`, `--03-05`, `2024-03`.
    Date,
    /// A time of day; `17:00h` by a clock of 24 hours, `5:00` when morning or evening is open.
    Time,
    /// A version, without its "v".
    Version,
    /// A code, path, address or identifier.
    Code,
    /// A sign that is not punctuation: "?", "+", an emoji.
    Symbol,
    /// Punctuation that separates.
    Pause,
}

/// One token and the place in the text that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) sort: Sort,
    /// Most are short, and each pass over a text copies them: up to 24 bytes need no allocation.
    pub(crate) key: CompactString,
    /// Its first byte in the folded text, and the byte after it.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) fn new(sort: Sort, key: impl Into<CompactString>, start: usize, end: usize) -> Token {
        Token { sort, key: key.into(), start, end }
    }

    /// One token in the place of several; `tokens` is not empty.
    pub(crate) fn instead_of(tokens: &[Token], sort: Sort, key: impl Into<CompactString>) -> Token {
        let start = tokens.first().map_or(0, |token| token.start);
        Token::new(sort, key, start, tokens.last().map_or(start, |token| token.end))
    }

    pub(crate) fn is_same(&self, other: &Token) -> bool {
        self.sort == other.sort && self.key == other.key
    }

    /// Whether it is a piece of language, and not a number, code or sign.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.sort, Sort::Word | Sort::Han | Sort::Not)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.is_text() && self.key == word
    }

    pub(crate) fn is_one_of(&self, words: &[&str]) -> bool {
        self.is_text() && words.contains(&self.key.as_str())
    }

    /// Its value, if it is a whole number of few digits.
    pub(crate) fn whole(&self) -> Option<u32> {
        if self.sort == Sort::Number { self.key.parse().ok() } else { None }
    }
}

/// Whether a character is a token by itself: Chinese characters and Japanese syllables, which are written without spaces.
pub(crate) fn is_han(c: char) -> bool {
    c >= '々'
        && matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '々' | '〇'
        | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}' | 'ー' | '\u{20000}'..='\u{323AF}')
}

/// The parts of a phrase of a table, one for each token: words end at spaces, Chinese characters stand alone.
pub(crate) fn parts(phrase: &str) -> impl Iterator<Item = &str> {
    let mut rest = phrase.trim_start();
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length = if is_han(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| c == ' ' || is_han(c)).unwrap_or(rest.len())
        };
        let (part, tail) = rest.split_at(length);
        rest = tail.trim_start();
        Some(part)
    })
}

/// The first bytes of the phrases of a table: that a token begins none of them is mostly seen by one look at this.
#[derive(Debug)]
pub(crate) struct FirstBytes([bool; 256]);

impl FirstBytes {
    /// Of phrases that are not empty.
    pub(crate) const fn of(phrases: &[&str]) -> FirstBytes {
        let mut begins = [false; 256];
        let mut at = 0;
        while at < phrases.len() {
            begins[phrases[at].as_bytes()[0] as usize] = true;
            at += 1;
        }
        FirstBytes(begins)
    }

    /// Whether a phrase of the table may begin with this token.
    pub(crate) fn may_begin(&self, token: &Token) -> bool {
        let first = token.key.as_bytes().first().filter(|_| token.is_text());
        first.is_some_and(|first| self.0.get(usize::from(*first)) == Some(&true))
    }
}

/// Puts one token in the place of several wherever `find` sees them. It is asked at each place, with the token before it and
/// with those that follow, and says which token and how many it replaces, at least one. Most texts have nothing to be joined:
/// they are not copied.
pub(crate) fn join(
    tokens: Vec<Token>,
    find: impl Fn(Option<&Token>, &[Token]) -> Option<(Token, usize)>,
) -> Vec<Token> {
    let mut joined: Vec<Token> = Vec::new();
    // What stands before `kept` is in `joined`.
    let (mut at, mut kept) = (0, 0);
    while at < tokens.len() {
        let before = if kept == at { joined.last() } else { tokens.get(at - 1) };
        let Some((token, count)) = find(before, tokens.get(at..).unwrap_or_default()) else {
            at += 1;
            continue;
        };
        joined.extend_from_slice(tokens.get(kept..at).unwrap_or_default());
        joined.push(token);
        at += count;
        kept = at;
    }
    if joined.is_empty() {
        return tokens;
    }
    joined.extend_from_slice(tokens.get(kept..).unwrap_or_default());
    joined
}

/// How many tokens at the front spell `phrase`, as `same` compares a token's key with a part of it. Whatever is the same
/// begins alike: most phrases of a table are seen not to fit by one byte.
pub(crate) fn spells(tokens: &[Token], phrase: &str, same: impl Fn(&str, &str) -> bool) -> Option<usize> {
    let first = tokens.first()?;
    if first.key.as_bytes().first() != phrase.as_bytes().first() || !first.is_text() {
        return None;
    }
    let mut count = 0;
    for part in parts(phrase) {
        if !tokens.get(count).is_some_and(|token| token.is_text() && same(&token.key, part)) {
            return None;
        }
        count += 1;
    }
    (count > 0).then_some(count)
}

/// How many tokens at the front spell the longest of `phrases` that fits.
pub(crate) fn spells_any(tokens: &[Token], phrases: &[&str]) -> Option<usize> {
    phrases.iter().filter_map(|phrase| spells(tokens, phrase, |key, part| key == part)).max()
}
