//! Punctuation: where it only marks what the words say already, it goes; where it may tell things apart, it stays.
//!
//! "In March, she moved" needs no comma. "Coconut, milk" does, and so does "no, deploy".

use super::token::{Sort, Token};

/// Words that open a clause: a mark behind them changes nothing.
const OPENERS: &[&str] = &[
    "and",
    "or",
    "but",
    "so",
    "because",
    "since",
    "if",
    "when",
    "while",
    "then",
    "however",
    "also",
    "therefore",
    "otherwise",
    "instead",
    "please",
    "yes",
    "ok",
    "well",
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "now",
    "there",
    "here",
    "first",
    "finally",
    "currently",
    "recently",
    "lately",
    "usually",
    "sometimes",
    "always",
    "afterward",
    "later",
    "is",
    "was",
    "are",
    "am",
    "were",
    "to",
    "of",
    "in",
    "on",
    "at",
    "by",
    "for",
    "from",
    "with",
    "as",
    "the",
    "a",
    "an",
    "thanks",
    "hi",
    "hello",
    "hey",
    "bye",
    "oh",
    "wow",
    "sorry",
];

/// Words that link what follows: a mark before them changes nothing. Articles and "my" are not among them: "cooking, my
/// family" is not "cooking my family".
const LINKS: &[&str] = &[
    "and",
    "or",
    "but",
    "so",
    "because",
    "since",
    "if",
    "when",
    "while",
    "where",
    "which",
    "who",
    "then",
    "than",
    "i",
    "he",
    "she",
    "we",
    "they",
    "however",
    "also",
    "therefore",
    "otherwise",
    "instead",
    "please",
    "although",
    "though",
    "unless",
    "until",
    "before",
    "after",
    "without",
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "is",
    "was",
    "are",
    "were",
    "has",
    "have",
    "will",
    "can",
    "should",
    "must",
];

/// Answers: what follows the mark behind them is another statement.
const ANSWERS: &[&str] = &["no", "not", "never", "nothing", "none", "不", "没", "别", "无", "未"];

/// Drops the marks that change nothing, and makes one of several.
pub(super) fn settle(tokens: Vec<Token>) -> Vec<Token> {
    if !tokens.iter().any(is_mark) {
        return tokens;
    }
    let mut settled: Vec<Token> = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        if !is_mark(token) {
            settled.push(token.clone());
            continue;
        }
        let next = tokens.iter().skip(at + 1).find(|token| !is_mark(token));
        let (Some(before), Some(next)) = (settled.last(), next) else { continue };
        let joins = token.sort == Sort::Symbol && before.sort == Sort::Number && next.sort == Sort::Number;
        if joins {
            settled.push(token.clone());
        } else if before.sort != Sort::Pause && counts(before, token, next) {
            let key = if token.key == "、" { "、" } else { "," };
            settled.push(Token::new(Sort::Pause, key, token.start, token.end));
        }
    }
    settled
}

/// A dash that stands alone is punctuation too, unless it joins two numbers.
fn is_mark(token: &Token) -> bool {
    token.sort == Sort::Pause || token.sort == Sort::Symbol && token.key.chars().all(|c| c == '-')
}

fn counts(before: &Token, mark: &Token, next: &Token) -> bool {
    if before.is_one_of(ANSWERS) || mark.key == "、" {
        return true;
    }
    let plain = |token: &Token| matches!(token.sort, Sort::Han | Sort::Symbol | Sort::Date | Sort::Time);
    let free = plain(before) || before.is_one_of(OPENERS) || plain(next) || next.is_one_of(LINKS);
    !free && next.sort != Sort::Not
}
