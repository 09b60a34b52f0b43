//! What stands in quotation marks, English and Chinese alike.

use super::cjk::is_cjk;

/// A pair of marks. Those that are apostrophes too open and close a quotation only beside a word, never inside one.
struct Marks {
    open: char,
    close: char,
    is_apostrophe: bool,
}

const fn marks(open: char, close: char) -> Marks {
    Marks { open, close, is_apostrophe: false }
}

/// Marks that open a quotation, and what closes it.
const MARKS: [Marks; 10] = [
    marks('"', '"'),
    marks('＂', '＂'),
    marks('`', '`'),
    marks('“', '”'),
    marks('«', '»'),
    marks('「', '」'),
    marks('『', '』'),
    marks('《', '》'),
    Marks { open: '‘', close: '’', is_apostrophe: true },
    Marks { open: '\'', close: '\'', is_apostrophe: true },
];

/// Hands over what stands between quotation marks, without the spaces around it, as the text spells it. A mark that is
/// never closed quotes nothing; a quotation inside another one belongs to it.
pub(crate) fn each_quotation(text: &str, take: &mut dyn FnMut(&str)) {
    let mut from = 0;
    while let Some((marks, begin)) = next_open(text, from) {
        match end_of(text, begin, marks) {
            Some(end) => {
                take(text.get(begin..end).unwrap_or_default().trim());
                from = end + marks.close.len_utf8();
            }
            None => from = begin,
        }
    }
}

/// The next mark that opens a quotation at or after `from`, and where what is quoted begins.
fn next_open(text: &str, from: usize) -> Option<(&'static Marks, usize)> {
    for (at, character) in text.get(from..)?.char_indices() {
        let (at, begin) = (from + at, from + at + character.len_utf8());
        let Some(marks) = MARKS.iter().find(|marks| marks.open == character) else { continue };
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let opens = |next: char| !before.is_some_and(is_of_word) && !next.is_whitespace();
        if !marks.is_apostrophe || text.get(begin..).and_then(|rest| rest.chars().next()).is_some_and(opens) {
            return Some((marks, begin));
        }
    }
    None
}

/// Where the quotation that begins at `begin` ends.
fn end_of(text: &str, begin: usize, marks: &Marks) -> Option<usize> {
    let rest = text.get(begin..)?;
    let closes = |at: usize| {
        let after = rest.get(at + marks.close.len_utf8()..).and_then(|after| after.chars().next());
        !marks.is_apostrophe || !after.is_some_and(is_of_word)
    };
    rest.match_indices(marks.close).map(|(at, _)| at).find(|at| closes(*at)).map(|at| begin + at)
}

/// Whether a character belongs to a word or an identifier of a script that parts its words.
pub(crate) fn is_of_word(character: char) -> bool {
    (character.is_alphanumeric() && !is_cjk(character)) || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_quotation(text, &mut |one| found.push(one.to_owned()));
        found
    }

    #[test]
    fn english_marks() {
        assert_eq!(
            quoted("who said \"support group\" and “lost  luggage ”?"),
            ["support group", "lost  luggage"]
        );
        assert_eq!(quoted("the file `update_status` and «déjà vu»"), ["update_status", "déjà vu"]);
        assert_eq!(quoted("he said 'it's fine' and ‘it’s late’."), ["it's fine", "it’s late"]);
    }

    #[test]
    fn chinese_marks() {
        assert_eq!(
            quoted("谁写了《百年孤独》，谁说“花生过敏”和「退款」『成功』？"),
            ["百年孤独", "花生过敏", "退款", "成功"]
        );
        assert_eq!(quoted("他说‘好的’就走了，＂再见＂"), ["好的", "再见"]);
        assert_eq!(quoted("“他说‘好的’就走了”"), ["他说‘好的’就走了"]);
    }

    #[test]
    fn apostrophes_and_open_marks_quote_nothing() {
        for text in
            ["the dogs' food and Caroline's cats' toys", "\"never closed", "don't", "5' 10", "‘n", "'"]
        {
            assert_eq!(quoted(text), Vec::<String>::new(), "{text}");
        }
    }
}
