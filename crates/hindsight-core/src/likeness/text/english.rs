//! English: number words, and the words that may stand or not.

use super::numeric::times_ten_to;
use super::token::{FirstBytes, Sort, Token, join, spells_any};

const SMALL: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// What number words begin with.
static SMALL_BEGIN: FirstBytes = FirstBytes::of(SMALL);
static TENS_BEGIN: FirstBytes = FirstBytes::of(TENS);

/// Words that multiply the number before them, and the zeros they stand for.
const POWERS: &[(&str, usize)] = &[("hundred", 2), ("thousand", 3), ("million", 6), ("billion", 9)];

/// Words that say nothing, wherever they stand.
const FILLERS: &[&str] = &["the", "please", "kindly", "actually", "basically", "also"];

/// Words of degree, which say nothing where nothing is denied: "not really" is not "not".
const DEGREE: &[&str] = &["really", "very"];

/// After these "a" is a name: vitamin A, plan A.
const LABELLED: &[&str] = &[
    "vitamin",
    "plan",
    "option",
    "type",
    "grade",
    "class",
    "team",
    "group",
    "hepatitis",
    "influenza",
    "section",
    "appendix",
    "part",
    "version",
    "point",
    "node",
    "server",
    "model",
    "series",
    "unit",
    "block",
    "building",
    "gate",
];

/// Before these "a" is more than an article: few are hardly any, a few are some.
const COUNTED: &[&str] = &["few", "little", "lot", "bit", "while", "couple", "number"];

/// After these "that" may stand or not.
const REPORTING: &[&str] = &[
    "say",
    "says",
    "said",
    "think",
    "thinks",
    "thought",
    "know",
    "knows",
    "knew",
    "believe",
    "believes",
    "believed",
    "mention",
    "mentions",
    "mentioned",
    "state",
    "states",
    "stated",
    "confirm",
    "confirms",
    "confirmed",
    "noted",
    "note",
    "notes",
    "remember",
    "found",
    "means",
    "ensure",
    "report",
    "reports",
    "reported",
];

/// Forms of one verb that follow from the subject.
const FORMS: &[(&str, &str)] = &[("am", "is"), ("are", "is"), ("were", "was")];

/// Openings that only ask for attention.
const OPENINGS: &[&str] =
    &["note that", "please note that", "remember that", "fyi", "btw", "by the way", "note"];

/// What words that may be dropped begin with.
static DROPPED_BEGIN: FirstBytes =
    FirstBytes::of(&["a", "that", "the", "please", "kindly", "basically", "really", "very"]);

/// Drops what may stand or not, and brings verb forms together.
pub(super) fn drop_fillers(mut tokens: Vec<Token>, text: &str) -> Vec<Token> {
    let denied = tokens.iter().any(|token| token.sort == Sort::Not);
    let mut last_kept = None;
    let mut dropped: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_name = || at > 0 && text.get(token.start..token.end) == Some("A");
        let before = last_kept.and_then(|kept: usize| tokens.get(kept));
        let may_drop = token.sort == Sort::Word && DROPPED_BEGIN.may_begin(token);
        if may_drop && is_filler(token, before, tokens.get(at + 1), denied) && !is_name() {
            dropped.push(at);
        } else {
            last_kept = Some(at);
        }
    }
    if !dropped.is_empty() {
        let mut places = 0..;
        tokens.retain(|_| places.next().is_none_or(|at| dropped.binary_search(&at).is_err()));
    }
    for token in &mut tokens {
        if let Some((_, form)) = FORMS.iter().find(|(other, _)| token.is_word(other)) {
            token.key = (*form).into();
        }
    }
    tokens
}

/// Drops what only asks for attention at the front. "Note" does with a mark behind it. Runs while the punctuation is
/// still there.
pub(super) fn drop_opening(mut tokens: Vec<Token>) -> Vec<Token> {
    let marks = tokens.iter().take_while(|token| token.sort == Sort::Pause).count();
    let opening = spells_any(tokens.get(marks..).unwrap_or_default(), OPENINGS).and_then(|count| {
        let marked = tokens.get(marks + count).is_some_and(|token| token.sort == Sort::Pause);
        let end = marks + count + usize::from(marked);
        ((count > 1 || marked) && end < tokens.len()).then_some(end)
    });
    tokens.drain(..opening.unwrap_or(marks));
    tokens
}

fn is_filler(token: &Token, before: Option<&Token>, next: Option<&Token>, denied: bool) -> bool {
    match token.key.as_str() {
        // The last word of a text is what it is about: "vitamin a".
        "a" | "an" => {
            let label = before.is_some_and(|word| word.is_one_of(LABELLED));
            let counted = next.is_none_or(|word| word.is_one_of(COUNTED) || word.sort == Sort::Pause);
            !label && !counted
        }
        "that" => before.is_some_and(|word| word.is_one_of(REPORTING)) && next.is_some(),
        key if FILLERS.contains(&key) => next.is_some() || key == "please",
        key => !denied && DEGREE.contains(&key) && next.is_some(),
    }
}

/// Makes numbers of number words: "twenty-five", "three hundred and five", "2 million".
pub(super) fn join_numerals(tokens: Vec<Token>) -> Vec<Token> {
    join(tokens, |_, rest| {
        let (key, count) = numeral(rest)?;
        Some((Token::instead_of(rest.get(..count).unwrap_or_default(), Sort::Number, key), count))
    })
}

fn numeral(tokens: &[Token]) -> Option<(String, usize)> {
    let power = |at: usize| POWERS.iter().find(|(word, _)| tokens.get(at).is_some_and(|t| t.is_word(word)));
    let (mut number, mut count) = match below_hundred(tokens) {
        Some((value, count)) => (value.to_string(), count),
        None => {
            let number = tokens.first().filter(|token| token.sort == Sort::Number)?;
            power(1)?;
            (number.key.to_string(), 1)
        }
    };
    while let Some((_, zeros)) = power(count) {
        number = times_ten_to(&number, *zeros)?;
        count += 1;
        let link = usize::from(tokens.get(count).is_some_and(|token| token.is_word("and")));
        if *zeros == 2
            && let Some((rest, more)) = tokens.get(count + link..).and_then(below_hundred)
        {
            number = (number.parse::<u64>().ok()? + rest).to_string();
            count += link + more;
        }
    }
    (count > 1 || tokens.first().is_some_and(|token| token.sort == Sort::Word)).then_some((number, count))
}

fn below_hundred(tokens: &[Token]) -> Option<(u64, usize)> {
    let place = |at: usize, words: &[&str], begin: &FirstBytes| {
        let token = tokens.get(at).filter(|token| token.sort == Sort::Word && begin.may_begin(token))?;
        (0_u64..).zip(words).find(|(_, word)| token.key == **word).map(|(place, _)| place)
    };
    if let Some(tens) = place(0, TENS, &TENS_BEGIN) {
        let ones = place(1, SMALL, &SMALL_BEGIN).filter(|ones| (1..=9).contains(ones));
        return Some(((tens + 2) * 10 + ones.unwrap_or(0), 1 + usize::from(ones.is_some())));
    }
    Some((place(0, SMALL, &SMALL_BEGIN)?, 1))
}
