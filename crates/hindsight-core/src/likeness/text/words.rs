//! Runs of letters: words, joined words, shortened words.

use super::lexer::lower_case;
use super::spelling::common_spelling;
use super::token::{Sort, Token};

/// Words that are short for two, where cutting at the apostrophe would not do. Without one they are typed in haste.
const SHORT: &[(&str, &str, &str)] = &[
    ("can't", "can", "not"),
    ("cannot", "can", "not"),
    ("cant", "can", "not"),
    ("won't", "will", "not"),
    ("shan't", "shall", "not"),
    ("ain't", "is", "not"),
    ("dont", "do", "not"),
    ("doesnt", "does", "not"),
    ("didnt", "did", "not"),
    ("isnt", "is", "not"),
    ("arent", "are", "not"),
    ("wasnt", "was", "not"),
    ("werent", "were", "not"),
    ("hasnt", "has", "not"),
    ("havent", "have", "not"),
    ("hadnt", "had", "not"),
    ("couldnt", "could", "not"),
    ("wouldnt", "would", "not"),
    ("shouldnt", "should", "not"),
    ("gonna", "going", "to"),
    ("wanna", "want", "to"),
    ("gotta", "got", "to"),
    ("im", "i", "am"),
    ("ive", "i", "have"),
];

/// What stands behind the apostrophe, and the word it is short for.
const ENDINGS: &[(&str, &str)] =
    &[("n't", "not"), ("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will")];

/// After these an 's is short for "is"; after a name it may be the name's possession, and stays.
const BEFORE_IS: &[&str] =
    &["it", "he", "she", "that", "this", "there", "here", "what", "where", "who", "how", "everything"];

/// Words that negate what follows.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "without", "neither", "nor", "none", "nobody", "nothing", "nowhere", "non",
    "hardly",
];

/// Signs that are read as a word.
const SIGNS: &[(&str, &str)] = &[("&", "and"), ("w/o", "without"), ("w/", "with")];

/// Reads `run` if it is made of letters, and says whether it was.
pub(super) fn read(run: &str, start: usize, tokens: &mut Vec<Token>) -> bool {
    let end = start + run.len();
    if let Some((_, word)) = SIGNS.iter().find(|(sign, _)| run.eq_ignore_ascii_case(sign)) {
        tokens.push(word_token(word, start, end));
        return true;
    }
    if let Some(initials) = initials(run) {
        tokens.push(word_token(&initials, start, end));
        return true;
    }
    let letters = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphabetic() || c == '\'');
    if !run.split('-').all(letters) {
        return false;
    }
    let mut at = start;
    for part in run.split('-') {
        read_word(part, at, tokens);
        at += part.len() + 1;
    }
    true
}

/// Initials in small letters; others may be names in a program.
const SMALL_INITIALS: &[&str] = &["e.g", "i.e", "a.m", "p.m", "p.s", "a.k.a"];

/// "U.S." and "e.g" without their stops. The last one may have ended the sentence, and is gone.
fn initials(run: &str) -> Option<String> {
    if !run.contains('.') {
        return None;
    }
    let run = run.strip_suffix('.').unwrap_or(run);
    let single = |part: &str| part.chars().count() == 1 && part.chars().all(char::is_uppercase);
    let initials = SMALL_INITIALS.contains(&run) || run.contains('.') && run.split('.').all(single);
    initials.then(|| run.replace('.', "").to_lowercase())
}

fn read_word(word: &str, start: usize, tokens: &mut Vec<Token>) {
    let end = start + word.len();
    let lower = lower_case(word);
    if let Some((_, first, second)) = SHORT.iter().find(|(short, ..)| *short == lower) {
        tokens.push(word_token(first, start, end));
        tokens.push(word_token(second, start, end));
        return;
    }
    if lower.contains('\'') {
        let ending = ENDINGS.iter().find_map(|(end, word)| Some((lower.strip_suffix(end)?, word)));
        if let Some((stem, word)) = ending {
            tokens.push(word_token(stem, start, end));
            tokens.push(word_token(word, start, end));
            return;
        }
        if let Some(stem) = lower.strip_suffix("'s") {
            tokens.push(word_token(stem, start, end));
            tokens.push(word_token(if BEFORE_IS.contains(&stem) { "is" } else { "'s" }, start, end));
            return;
        }
    }
    // A capital inside the text may make a name of it: Grey and Gray are two people.
    let sort = sort_of(&lower);
    let named = start > 0 && word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
    let key = if named { lower } else { common_spelling(&lower) };
    tokens.push(Token::new(sort, key, start, end));
}

fn word_token(word: &str, start: usize, end: usize) -> Token {
    Token::new(sort_of(word), common_spelling(word), start, end)
}

/// Whether a word in lower case negates.
pub(super) fn sort_of(word: &str) -> Sort {
    if NEGATIONS.contains(&word) { Sort::Not } else { Sort::Word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(run: &str) -> String {
        let mut tokens = Vec::new();
        assert!(read(run, 0, &mut tokens), "{run}");
        tokens.iter().map(|token| token.key.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn shortened_words_are_written_out() {
        assert_eq!(keys("Don't"), "do not");
        assert_eq!(keys("WON'T"), "will not");
        assert_eq!(keys("I'm"), "i am");
        assert_eq!(keys("it's"), "it is");
        assert_eq!(keys("Anna's"), "anna 's");
        assert_eq!(keys("follow-up"), "follow up");
        assert_eq!(keys("U.S."), "us");
    }

    #[test]
    fn what_is_not_made_of_letters_is_left() {
        for run in ["a1", "--force", "a.b", "x_y", "user@host", "C++"] {
            assert!(!read(run, 0, &mut Vec::new()), "{run}");
        }
    }
}
