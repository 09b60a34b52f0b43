//! Where two texts say different things, and what sort of difference it is.

use super::token::{Sort, Token};
use super::{Text, date};
use crate::likeness::opposites;
use crate::likeness::reason::{Aspect, Difference};

/// Words that name one thing with a capital and another without.
const HOMOGRAPHS: &[&str] = &[
    "us", "it", "who", "may", "march", "august", "polish", "turkey", "china", "apple", "amazon", "meta",
    "windows", "oracle", "target", "rust", "go", "swift", "slack", "bill", "mark", "will", "rose", "hope",
    "joy", "grace", "max", "art", "frank", "rich", "jack", "python", "excel", "word", "teams", "outlook",
    "discord", "notion", "bash", "chrome", "safari", "edge", "twitter", "visa", "gap", "shell", "ford",
    "dove", "tide", "reading", "nice", "mobile", "job",
];

/// What is told of one of these ("password is", "key:") may be a secret, in which every capital counts.
const SECRETS: &[&str] =
    &["password", "passphrase", "passwd", "secret", "token", "key", "pin", "passcode", "credential"];

/// The sorts of token that stand for a value, and the difference that two values make.
const VALUES: &[(Sort, Aspect)] = &[
    (Sort::Version, Aspect::Version),
    (Sort::Code, Aspect::Code),
    (Sort::Date, Aspect::Date),
    (Sort::Time, Aspect::Time),
    (Sort::Number, Aspect::Number),
    (Sort::Unit, Aspect::Number),
];

/// The difference between what two texts say, if there is one. `names` are the entities of both memories.
pub(crate) fn difference(old: &Text, new: &Text, names: &[&str]) -> Option<Difference> {
    let (old_part, new_part) = apart(&old.tokens, &new.tokens);
    if old_part.is_empty() && new_part.is_empty() {
        return capitals(old, new);
    }
    let (gone, come) = (missing(old_part, new_part), missing(new_part, old_part));
    let shown = |aspect, gone: &[&Token], come: &[&Token]| {
        Some(Difference::new(aspect, old.shown(gone), new.shown(come)))
    };
    if gone.is_empty() && come.is_empty() {
        let (old_part, new_part): (Vec<&Token>, Vec<&Token>) =
            (old_part.iter().collect(), new_part.iter().collect());
        return shown(Aspect::Order, &old_part, &new_part);
    }
    let negated = |tokens: &[&Token]| tokens.iter().any(|token| token.sort == Sort::Not);
    if negated(&gone) || negated(&come) || opposites::oppose(old_part, new_part) {
        return shown(Aspect::Polarity, &gone, &come);
    }
    if gone.is_empty() || come.is_empty() {
        return shown(Aspect::Added, &gone, &come);
    }
    for (sort, aspect) in VALUES {
        let of_sort = |tokens: &[&Token]| {
            let named = |token: &Token| *aspect == Aspect::Date && date::is_name(token);
            tokens.iter().any(|token| token.sort == *sort || named(token))
        };
        if of_sort(&gone) && of_sort(&come) {
            return shown(*aspect, &gone, &come);
        }
    }
    let named = old.names_any(&gone, names) && new.names_any(&come, names);
    shown(if named { Aspect::Name } else { Aspect::Wording }, &gone, &come)
}

/// What is left of two rows when what they begin and end with in common is gone.
fn apart<'a>(old: &'a [Token], new: &'a [Token]) -> (&'a [Token], &'a [Token]) {
    let front = old.iter().zip(new).take_while(|(a, b)| a.is_same(b)).count();
    let (old, new) = (old.get(front..).unwrap_or_default(), new.get(front..).unwrap_or_default());
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a.is_same(b)).count();
    (old.get(..old.len() - back).unwrap_or_default(), new.get(..new.len() - back).unwrap_or_default())
}

/// The tokens of `row` that `other` has not as often, in order.
fn missing<'a>(row: &'a [Token], other: &[Token]) -> Vec<&'a Token> {
    let mut spare: Vec<(Sort, &str)> = other.iter().map(|token| (token.sort, token.key.as_str())).collect();
    spare.sort_unstable();
    let mut used = vec![false; spare.len()];
    row.iter()
        .filter(|token| {
            let key = (token.sort, token.key.as_str());
            let mut at = spare.partition_point(|other| *other < key);
            while spare.get(at) == Some(&key) {
                if let Some(used) = used.get_mut(at).filter(|used| !**used) {
                    *used = true;
                    return false;
                }
                at += 1;
            }
            true
        })
        .collect()
}

/// A capital that tells a name from a word, or belongs to a secret.
fn capitals(old: &Text, new: &Text) -> Option<Difference> {
    let told = |pair: &[Token]| match pair {
        [word, next] => {
            word.is_one_of(SECRETS) && (next.is_one_of(&["is", "was", "'s"]) || next.sort == Sort::Pause)
        }
        _ => false,
    };
    let secret_at = old.tokens.windows(2).position(told).unwrap_or(usize::MAX);
    let (old_shouts, new_shouts) = (old.shouts(), new.shouts());
    old.tokens.iter().zip(&new.tokens).enumerate().find_map(|(at, (a, b))| {
        let (one, other) = (old.slice(a), new.slice(b));
        let respelled = one.to_lowercase() != a.key || other.to_lowercase() != b.key;
        if a.sort != Sort::Word || one == other || respelled || !(at > secret_at || a.is_one_of(HOMOGRAPHS)) {
            return None;
        }
        let (one_form, other_form) = (Form::of(one)?, Form::of(other)?);
        // The first word of a sentence has its capital from its place, and a text in capitals shows none.
        let by_place = at == 0 || old.begins_sentence(at) || new.begins_sentence(at);
        let free = by_place && (one_form == Form::Capital || other_form == Form::Capital);
        (one_form != other_form && !free && !old_shouts && !new_shouts)
            .then(|| Difference::new(Aspect::Name, one.to_owned(), other.to_owned()))
    })
}

/// How a word uses capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Lower,
    Capital,
    Upper,
    Mixed,
}

impl Form {
    fn of(word: &str) -> Option<Form> {
        let letters = || word.chars().filter(|c| c.is_alphabetic());
        let upper = letters().filter(|c| c.is_uppercase()).count();
        let first = letters().next()?.is_uppercase();
        Some(match upper {
            0 => Form::Lower,
            upper if upper == letters().count() && upper > 1 => Form::Upper,
            1 if first => Form::Capital,
            _ => Form::Mixed,
        })
    }
}

impl Text {
    /// The words that `tokens` were read from, with what stands between left out.
    fn shown(&self, tokens: &[&Token]) -> String {
        let mut shown = String::new();
        let mut last_end = None;
        for token in tokens {
            if last_end.is_some_and(|end| token.start > end) {
                shown.push(' ');
            }
            // Two tokens of one word, such as "don't", have the same place.
            if last_end.is_none_or(|end| token.start >= end) {
                shown.push_str(self.slice(token));
            }
            last_end = Some(token.end.max(last_end.unwrap_or(0)));
        }
        shown
    }

    fn slice(&self, token: &Token) -> &str {
        self.folded.get(token.start..token.end).unwrap_or_default()
    }

    fn shouts(&self) -> bool {
        !self.folded.contains(char::is_lowercase)
    }

    fn begins_sentence(&self, at: usize) -> bool {
        let before = self.tokens.get(at).and_then(|token| self.folded.get(..token.start)).unwrap_or_default();
        before.trim_end().trim_end_matches(['"', '\'', '(']).ends_with(['.', '!', '?', ':', '。', '\n'])
    }

    /// Whether `tokens` hold a name: a capital inside a sentence, or a part of an entity's name.
    fn names_any(&self, tokens: &[&Token], names: &[&str]) -> bool {
        let shown = self.shown(tokens).to_lowercase();
        let known =
            names.iter().any(|name| !name.is_empty() && (shown.contains(name) || name.contains(&shown)));
        known
            || tokens.iter().any(|token| {
                token.sort == Sort::Word
                    && token.start > 0
                    && self.slice(token).starts_with(char::is_uppercase)
            })
    }
}
