//! What a text says, apart from how it is written.
//!
//! A text becomes a row of tokens: folded characters (width, composition, script, quotes), cut into words, Chinese
//! characters, numbers, dates, codes; then what has several spellings is brought to one, and what says nothing is dropped.
//! Two texts say the same if their rows are the same. Nothing is guessed: what no table names stays a difference.
//!
//! Reading order: `fold`, `lexer` (with `words`, `numeric`), the joins (`chinese`, `english`, `date`, `clock`,
//! `measure`), `pause`, `difference`.

mod chinese;
mod clock;
mod date;
mod difference;
mod english;
mod fold;
mod lexer;
mod measure;
mod numeric;
mod pause;
mod spelling;
pub(super) mod token;
mod traditional;
mod words;

pub(super) use difference::difference;
use token::{Token, is_han, parts, spells};

/// A text as a row of tokens.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// The text with every character in its common form; the places of the tokens are places in it.
    pub(super) folded: String,
    pub(super) tokens: Vec<Token>,
}

impl Text {
    pub(super) fn of(text: &str) -> Text {
        let folded = fold::fold(text);
        let mut tokens = respell(lexer::lex(&folded));
        // The tables of these have Chinese words only.
        if !tokens.iter().all(|token| token.key.is_ascii()) {
            tokens = chinese::drop_fillers(&chinese::join_negations(&tokens));
            tokens = chinese::join_numerals(&tokens);
        }
        let tokens = english::join_numerals(tokens);
        let tokens = measure::join(clock::join(date::join(tokens)), &folded);
        let tokens = english::drop_fillers(pause::settle(english::drop_opening(tokens)), &folded);
        Text { folded, tokens }
    }

    /// One row for all texts that say the same words; the sort of a token is part of it.
    pub(super) fn row(&self) -> String {
        let mut row = String::with_capacity(self.folded.len());
        for token in &self.tokens {
            row.push(char::from_digit(token.sort as u32, 36).unwrap_or('z'));
            row.push_str(&token.key);
            row.push('\n');
        }
        row
    }

    /// The form in which short texts are compared: subjects, attributes, values, names of tools. Never empty for a
    /// text that is not.
    pub(super) fn key(text: &str) -> String {
        let read = Text::of(text);
        if read.tokens.is_empty() {
            return read.folded.trim().to_lowercase();
        }
        read.tokens.iter().map(|token| token.key.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// Writes phrases in their common form; at each place the longest that fits.
fn respell(tokens: Vec<Token>) -> Vec<Token> {
    let may_begin = |token: &Token| spelling::PHRASES_BEGIN.may_begin(token);
    if !tokens.iter().any(may_begin) {
        return tokens;
    }
    let mut respelled = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = tokens.get(at..).unwrap_or_default();
        let fits =
            |(from, to): &(&str, &'static str)| Some((spells(rest, from, |key, part| key == part)?, *to));
        let phrases = spelling::PHRASES.iter().filter(|_| may_begin(token));
        let Some((count, common)) = phrases.filter_map(fits).max_by_key(|(count, _)| *count) else {
            respelled.push(token.clone());
            at += 1;
            continue;
        };
        let read = rest.get(..count).unwrap_or_default();
        for part in parts(common) {
            let sort = if part.chars().all(is_han) { token::Sort::Han } else { words::sort_of(part) };
            respelled.push(Token::instead_of(read, sort, part));
        }
        at += count;
    }
    respelled
}

#[cfg(test)]
mod tests;
