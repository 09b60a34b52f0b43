//! English: whether a text advises an action.

use super::Manner;
use super::words::{Act, PHRASES, TOOL_PARTS, VERBS, Verb};
use crate::Prohibition;

/// How many words before a verb a denial may stand.
const DENIAL_REACH: usize = 4;

const DENIALS: &[&str] = &[
    "not",
    "never",
    "no",
    "don't",
    "dont",
    "doesn't",
    "cannot",
    "can't",
    "won't",
    "shouldn't",
    "mustn't",
    "without",
    "avoid",
    "avoids",
    "instead",
    "rather",
    "stop",
    "refuse",
    "nobody",
    "forbidden",
    "nothing",
];

/// Before a word these say that it is a noun, or what it is.
const BEFORE_NOUNS: &[&str] = &[
    "a", "an", "the", "this", "that", "each", "any", "every", "of", "per", "last", "latest", "next", "new",
    "old", "my", "your", "our", "their", "his", "her", "its", "full", "partial", "pending", "failed",
    "status", "bank", "free", "by", "via", "in", "is", "was", "are", "were", "be", "been", "for", "and",
    "or", "with", "on", "from", "about",
];

/// What an action acts on begins with one of these.
const OBJECTS: &[&str] = &[
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "those",
    "it",
    "them",
    "him",
    "her",
    "all",
    "any",
    "each",
    "every",
    "my",
    "your",
    "our",
    "their",
    "his",
    "its",
    "to",
    "money",
    "funds",
    "order",
    "orders",
    "everyone",
    "everything",
    "customers",
    "payment",
    "both",
    "one",
    "old",
    "new",
    "up",
];

/// After a word these say that both are one noun: "refund policy".
const AFTER_NOUNS: &[&str] = &[
    "policy",
    "policies",
    "request",
    "requests",
    "status",
    "window",
    "page",
    "history",
    "flow",
    "form",
    "fee",
    "fees",
    "rate",
    "process",
    "list",
    "log",
    "logs",
    "button",
    "date",
    "method",
    "plan",
    "address",
    "notes",
    "permission",
    "permissions",
    "rights",
    "access",
    "event",
    "events",
];

/// Before a verb these make it a request.
const REQUESTS: &[&str] =
    &["please", "should", "must", "always", "then", "first", "just", "simply", "run", "now"];

/// With "to" behind them these make a request: "remember to", "need to".
const REQUESTS_TO: &[&str] = &["need", "needs", "have", "has", "remember", "sure", "ought", "want"];

/// Before a form in -ing these make it advice: "by deleting".
const BEFORE_GERUNDS: &[&str] =
    &["by", "try", "consider", "after", "start", "requires", "means", "then", "recommend"];

/// Before the past of a verb these say that the teller did it.
const TELLERS: &[&str] = &["i", "we", "agent", "then", "and", "assistant", "first"];

struct Word {
    text: String,
    /// Its place in a name such as `delete_user`, from 0; none where it stands for itself.
    in_name: Option<usize>,
}

/// The first word of action of a text that a prohibition forbids.
pub(super) fn action(text: &str, manner: Manner, prohibition: Prohibition) -> Option<String> {
    clauses(text).find_map(|clause| {
        let words = words(clause);
        (0..words.len()).find_map(|at| {
            let found =
                phrase(&words, at, manner, prohibition).or_else(|| verb(&words, at, manner, prohibition))?;
            (!is_denied(&words, at)).then_some(found)
        })
    })
}

/// Whether the name of a tool says that it does what a prohibition forbids.
pub(super) fn tool_acts(tool: &str, prohibition: Prohibition) -> bool {
    let parts = name_parts(tool);
    let of_verb = |part: &str| VERBS.iter().find(|verb| verb.base == part).map(|verb| verb.act);
    let of_part = |part: &str| TOOL_PARTS.iter().find(|(word, _)| *word == part).map(|(_, act)| *act);
    // Asking about a payment is no payment, and "get_update_time" updates nothing.
    if parts.first().is_some_and(|first| READERS.contains(&first.as_str())) {
        return prohibition == Prohibition::NoExternal && parts.iter().any(|part| part == "http");
    }
    parts
        .iter()
        .any(|part| of_verb(part).or_else(|| of_part(part)).is_some_and(|act| act.is_against(prohibition)))
}

/// A tool whose name begins so only looks.
const READERS: &[&str] = &[
    "get", "list", "search", "find", "query", "read", "show", "check", "count", "describe", "fetch",
    "lookup", "view",
];

fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        matches!(
            c,
            '.' | ','
                | ';'
                | ':'
                | '!'
                | '?'
                | '\n'
                | '('
                | ')'
                | '。'
                | '，'
                | '；'
                | '：'
                | '！'
                | '？'
                | '、'
        )
    })
}

fn words(clause: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for name in clause.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | '’'))) {
        let parts: Vec<&str> = name.split('_').filter(|part| !part.is_empty()).collect();
        let is_name = parts.len() > 1;
        words.extend(parts.into_iter().enumerate().map(|(place, part)| Word {
            text: part.to_ascii_lowercase().replace('’', "'"),
            in_name: is_name.then_some(place),
        }));
    }
    words
}

/// The parts of a tool's name: `deleteUser`, `delete_user`, `billing.refund`.
fn name_parts(tool: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut was_lower = false;
    for c in tool.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && was_lower) {
            parts.push(std::mem::take(&mut part));
        }
        if c.is_ascii_alphanumeric() {
            part.push(c.to_ascii_lowercase());
        }
        was_lower = c.is_ascii_lowercase();
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

fn text_at(words: &[Word], at: Option<usize>) -> &str {
    at.and_then(|at| words.get(at)).map_or("", |word| word.text.as_str())
}

fn is_denied(words: &[Word], at: usize) -> bool {
    let before = words.get(at.saturating_sub(DENIAL_REACH)..at).unwrap_or_default();
    before.iter().any(|word| DENIALS.contains(&word.text.as_str()))
}

/// Whether what begins at `at` is phrased as a request.
fn is_request(words: &[Word], at: usize) -> bool {
    let (one, two) = (text_at(words, at.checked_sub(1)), text_at(words, at.checked_sub(2)));
    one.is_empty() || REQUESTS.contains(&one) || (one == "to" && REQUESTS_TO.contains(&two))
}

fn phrase(words: &[Word], at: usize, manner: Manner, prohibition: Prohibition) -> Option<String> {
    let fits = |phrase: &[&str]| {
        phrase.iter().enumerate().all(|(offset, part)| text_at(words, Some(at + offset)) == *part)
    };
    let counts =
        |act: &Act| act.is_against(prohibition) && (manner == Manner::Advice || is_request(words, at));
    let (phrase, _) = PHRASES.iter().find(|(phrase, act)| fits(phrase) && counts(act))?;
    Some(phrase.join(" "))
}

fn verb(words: &[Word], at: usize, manner: Manner, prohibition: Prohibition) -> Option<String> {
    let word = words.get(at)?;
    let text = word.text.as_str();
    let (before, after) = (text_at(words, at.checked_sub(1)), text_at(words, Some(at + 1)));
    let verb = VERBS.iter().find(|verb| is_form(verb, text) && verb.act.is_against(prohibition))?;
    let counts = if text == verb.base {
        // The name of a tool is advice where it is to be followed, and a thing like any other elsewhere.
        match (word.in_name, manner) {
            (Some(place), _) => place == 0 && manner == Manner::Advice,
            (None, Manner::Advice) => acts(verb, before, after),
            (None, Manner::Tale | Manner::Request) => acts(verb, before, after) && is_request(words, at),
        }
    } else if text == verb.past {
        manner == Manner::Tale && (before.is_empty() || TELLERS.contains(&before)) && !after.is_empty()
    } else {
        manner != Manner::Request && BEFORE_GERUNDS.contains(&before)
    };
    counts.then(|| text.to_owned())
}

/// Whether a base form is a verb here.
fn acts(verb: &Verb, before: &str, after: &str) -> bool {
    if AFTER_NOUNS.contains(&after) {
        return false;
    }
    let after_joint = matches!(before, "and" | "or" | "by");
    let is_noun = BEFORE_NOUNS.contains(&before) && !after_joint;
    if verb.named {
        let has_object = OBJECTS.contains(&after) || after.chars().any(|c| c.is_ascii_digit());
        return has_object && !is_noun;
    }
    !is_noun
}

/// The base form, the past, or the form in -ing.
fn is_form(verb: &Verb, text: &str) -> bool {
    if text == verb.base || text == verb.past {
        return true;
    }
    let Some(stem) = text.strip_suffix("ing") else { return false };
    let doubled = || {
        let mut letters = stem.chars().rev();
        letters.next() == letters.next() && stem.strip_suffix(|_: char| true) == Some(verb.base)
    };
    stem == verb.base || verb.base.strip_suffix('e') == Some(stem) || doubled()
}
