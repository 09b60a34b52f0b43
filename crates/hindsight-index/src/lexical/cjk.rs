//! Chinese (and Japanese and Korean) text: scripts that do not part their words.
//!
//! Every pair of neighbouring characters is a term: pairs need no dictionary, find any name, and beat segmentation on
//! every set measured. Single Chinese characters that carry meaning are terms too, so that 猫 alone finds 我的猫.

use super::stop::is_function_character;
use super::tokeniser::Token;

/// Whether a character belongs to a script that does not part its words.
pub(crate) const fn is_cjk(character: char) -> bool {
    is_han(character)
        || matches!(character,
            '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' // kana
            | '\u{3105}'..='\u{312f}' // bopomofo
            | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}') // hangul
}

const fn is_han(character: char) -> bool {
    matches!(character,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}'
        | '\u{3005}' | '\u{3007}')
}

/// Emits the terms of a run of such characters.
pub(crate) fn tokenise_run(run: &str, emit: &mut dyn FnMut(Token<'_>)) {
    let mut characters = run.char_indices().peekable();
    let is_single = run.chars().nth(1).is_none();
    while let Some((start, character)) = characters.next() {
        let end = start + character.len_utf8();
        let speaks_alone = if is_han(character) { !is_function_character(character) } else { is_single };
        if let (true, Some(alone)) = (speaks_alone, run.get(start..end)) {
            emit(Token { term: alone, surface: alone });
        }
        if let Some((_, next)) = characters.peek()
            && let Some(pair) = run.get(start..end + next.len_utf8())
        {
            emit(Token { term: pair, surface: pair });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(run: &str) -> Vec<String> {
        let mut terms = Vec::new();
        tokenise_run(run, &mut |token| terms.push(token.term.to_owned()));
        terms
    }

    #[test]
    fn pairs_and_characters_that_mean_something() {
        assert_eq!(terms("我的猫"), ["我的", "的猫", "猫"]);
        assert_eq!(terms("猫"), ["猫"]);
        assert_eq!(terms("的"), Vec::<String>::new());
        assert_eq!(terms("カメラ"), ["カメ", "メラ"]);
        assert_eq!(terms("𠮷野"), ["𠮷", "𠮷野", "野"]);
    }

    #[test]
    fn punctuation_and_latin_are_not_cjk() {
        assert!("，。、・「abc1é".chars().all(|character| !is_cjk(character)));
        assert!("花生ひカ한々〇".chars().all(is_cjk));
    }
}
