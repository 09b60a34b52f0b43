//! Folded text to tokens, one run of characters at a time.

use compact_str::CompactString;

use super::token::{Sort, Token, is_han};
use super::{numeric, words};

/// Punctuation that separates, inside a run of characters or between them.
fn is_pause(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '。' | '；' | '：' | '，' | '、' | '…' | '—')
}

/// Quotes and brackets beyond ASCII, which say nothing about what they hold.
fn is_bracket(c: char) -> bool {
    matches!(
        c,
        '「' | '」'
            | '『'
            | '』'
            | '《'
            | '》'
            | '〈'
            | '〉'
            | '【'
            | '】'
            | '〔'
            | '〕'
            | '“'
            | '”'
            | '‘'
            | '’'
            | '•'
            | '·'
    )
}

/// Signs that may stand before a number or a name: ">5", "≠".
fn is_relation(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '≥' | '≤' | '≠' | '≈')
}

/// The tokens of a text that [`super::fold`] has been over.
pub(super) fn lex(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = at + c.len_utf8();
        if is_han(c) {
            tokens.push(Token::new(Sort::Han, text.get(at..next).unwrap_or_default(), at, next));
            at = next;
        } else if is_border(c) {
            if matches!(c, '。' | '；' | '：' | '、' | '…' | '—') {
                tokens.push(pause(c, at, next));
            }
            at = next;
        } else {
            let run = text.get(at..).unwrap_or_default();
            let length = run.find(|c| is_han(c) || is_border(c)).unwrap_or(run.len());
            read_run(run.get(..length).unwrap_or_default(), at, &mut tokens);
            at += length;
        }
    }
    tokens
}

/// Whether a character ends a run wherever it stands.
fn is_border(c: char) -> bool {
    c == ' ' || (!c.is_ascii() && (is_bracket(c) || is_pause(c)))
}

/// An enumeration comma is kept apart: 苹果、香蕉 are two things whatever stands around it.
fn pause(c: char, start: usize, end: usize) -> Token {
    Token::new(Sort::Pause, if c == '、' { "、" } else { "," }, start, end)
}

/// Reads a run without spaces: what is around it, then each of its pieces.
fn read_run(run: &str, start: usize, tokens: &mut Vec<Token>) {
    let mut core = run.trim_start_matches(is_opening);
    if core.starts_with("**") || core.starts_with("__") {
        core = core.trim_start_matches(['*', '_']);
    }
    let core_at = start + run.len() - core.len();
    let (core, tail) = split_tail(core);
    if run.starts_with('(') {
        tokens.push(pause(',', start, start + 1));
    }
    if core.contains([',', ';']) {
        for (offset, piece) in pieces(core) {
            if offset > 0 {
                tokens.push(pause(',', core_at + offset - 1, core_at + offset));
            }
            read_piece(piece, core_at + offset, tokens);
        }
    } else {
        read_piece(core, core_at, tokens);
    }
    for (offset, c) in tail.char_indices() {
        let at = core_at + core.len() + offset;
        match c {
            '?' => tokens.push(Token::new(Sort::Symbol, "?", at, at + 1)),
            c if c == ')' || is_pause(c) => tokens.push(pause(c, at, at + c.len_utf8())),
            _ => {}
        }
    }
}

fn is_opening(c: char) -> bool {
    matches!(c, '"' | '\'' | '(' | '[' | '{' | '|' | ',' | ';' | ':')
}

/// Splits off the punctuation at the end. A bracket that was opened inside belongs to the core: "f(x)".
fn split_tail(run: &str) -> (&str, &str) {
    let mut core = run;
    while let Some(c) = core.chars().next_back() {
        let rest = core.strip_suffix(c).unwrap_or_default();
        let opened = match c {
            ')' => rest.contains('('),
            ']' => rest.contains('['),
            '}' => rest.contains('{'),
            '*' | '_' => !rest.ends_with(|c: char| c.is_alphanumeric() || c == '*' || c == '.'),
            '"' | '\'' | '|' | '?' => false,
            c => !is_pause(c),
        };
        if opened {
            break;
        }
        core = rest;
    }
    run.split_at(core.len())
}

/// The pieces between commas and semicolons, each with its offset; a comma between digits is part of a number.
fn pieces(core: &str) -> Vec<(usize, &str)> {
    let bytes = core.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, c) in core.char_indices() {
        let inside = digit(at.checked_sub(1)) && digit(Some(at + 1));
        if c == ';' || (c == ',' && !inside) {
            pieces.push((from, core.get(from..at).unwrap_or_default()));
            from = at + 1;
        }
    }
    pieces.push((from, core.get(from..).unwrap_or_default()));
    pieces
}

fn read_piece(piece: &str, start: usize, tokens: &mut Vec<Token>) {
    let rest = piece.trim_start_matches(is_relation);
    let sign = piece.strip_suffix(rest).unwrap_or_default();
    if !sign.is_empty() {
        tokens.push(Token::new(Sort::Symbol, sign, start, start + sign.len()));
    }
    let start = start + sign.len();
    let end = start + rest.len();
    if rest.is_empty() || numeric::read(rest, start, tokens) || words::read(rest, start, tokens) {
        return;
    }
    let sort = if rest.chars().any(char::is_alphanumeric) { Sort::Code } else { Sort::Symbol };
    tokens.push(Token::new(sort, code_key(rest), start, end));
}

/// A code in letters of one case is the same in the other; one of mixed case may be a secret or a name in a program.
pub(super) fn code_key(code: &str) -> CompactString {
    let is_mixed = code.contains(char::is_lowercase) && code.contains(char::is_uppercase);
    if is_mixed { code.into() } else { lower_case(code) }
}

/// A text in lower case.
pub(super) fn lower_case(text: &str) -> CompactString {
    if !text.is_ascii() {
        return text.to_lowercase().into();
    }
    let mut lower = CompactString::from(text);
    lower.make_ascii_lowercase();
    lower
}
