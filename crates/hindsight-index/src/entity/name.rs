//! The form in which names are compared, and where a name may begin and end in a text.

use crate::lexical::{is_cjk, is_of_word, is_stop_word, normalise};

/// Longest name that is looked for in a query, in characters. A longer one is still an entity of its memories.
pub(super) const NAME_CHARS_MAX: usize = 64;

/// Values of claims that say yes or no: nobody's name.
const PLAIN_VALUES: [&str; 10] = ["true", "false", "yes", "none", "null", "unknown", "是", "否", "有", "无"];

/// A name or a text in lower case, with compatible forms as one and one space between words.
pub(crate) fn fold(text: &str) -> String {
    let normal = normalise(text);
    let mut folded = String::with_capacity(normal.len());
    for word in normal.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
    folded
}

/// The attribute of a claim: `favourite_colour` is "favourite colour".
pub(super) fn fold_attribute(attribute: &str) -> String {
    fold(&attribute.replace('_', " "))
}

/// The value of a claim, where it can be a name: short, with letters, and more than a yes or no.
pub(super) fn fold_value(value: &str) -> Option<String> {
    // Folding may shorten a text, by its spaces, and lengthen it, by compatible forms; a value this long is no name either way.
    if value.len() > NAME_CHARS_MAX * 8 {
        return None;
    }
    let folded = fold(value);
    (is_findable(&folded) && folded.contains(char::is_alphabetic) && !PLAIN_VALUES.contains(&folded.as_str()))
        .then_some(folded)
}

/// Whether a folded name is looked for in queries: one character, or a word that is everywhere, would be found by chance.
pub(super) fn is_findable(folded: &str) -> bool {
    let chars = folded.chars().take(NAME_CHARS_MAX + 1).count();
    (2..=NAME_CHARS_MAX).contains(&chars) && folded.contains(char::is_alphanumeric) && !is_stop_word(folded)
}

/// A folded text by characters.
#[derive(Debug)]
pub(super) struct Text {
    folded: String,
    chars: Vec<char>,
    /// Where each character begins, and where the last one ends, in bytes.
    offsets: Vec<usize>,
}

impl Text {
    /// Takes a folded text apart.
    pub(super) fn new(folded: String) -> Text {
        let chars = folded.chars().collect();
        let offsets = folded.char_indices().map(|(at, _)| at).chain([folded.len()]).collect();
        Text { folded, chars, offsets }
    }

    /// How many characters it has.
    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }

    /// The text between two characters.
    pub(super) fn slice(&self, from: usize, to: usize) -> &str {
        let at = |index: usize| self.offsets.get(index).copied().unwrap_or(self.folded.len());
        self.folded.get(at(from)..at(to)).unwrap_or_default()
    }

    /// Whether a name may begin or end before this character: not inside a word or an identifier. Between characters of
    /// a script that does not part its words one may everywhere.
    pub(super) fn is_boundary(&self, at: usize) -> bool {
        let is_word = |index: usize| self.chars.get(index).is_some_and(|character| is_of_word(*character));
        at == 0 || !(is_word(at - 1) && is_word(at))
    }

    /// How a name that begins here begins: two characters of such a script, a word, or a sign.
    pub(super) fn beginning(&self, at: usize) -> Option<&[char]> {
        let first = *self.chars.get(at)?;
        let end = if is_cjk(first) {
            at + 2
        } else if is_of_word(first) {
            let rest = self.chars.get(at..)?;
            at + rest.iter().position(|character| !is_of_word(*character)).unwrap_or(rest.len())
        } else if first == ' ' {
            return None;
        } else {
            at + 1
        };
        self.chars.get(at..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_folded() {
        assert_eq!(fold("  New   YORK "), "new york");
        assert_eq!(fold("ＡＰＩ　网关"), "api 网关");
        assert_eq!(fold("Caroline’s"), "caroline's");
        assert_eq!(fold_attribute("Favourite_Colour"), "favourite colour");
        assert_eq!(fold(" \t"), "");
    }

    #[test]
    fn a_value_that_says_yes_or_counts_is_no_name() {
        assert_eq!(fold_value("Peanuts").as_deref(), Some("peanuts"));
        assert_eq!(fold_value("花生").as_deref(), Some("花生"));
        for value in ["true", "No", "42", "12.5", "x", "是", "the", &"long ".repeat(20), &"a".repeat(4_000)]
        {
            assert_eq!(fold_value(value), None, "{value}");
        }
    }

    #[test]
    fn a_name_ends_where_a_word_ends() {
        let text = Text::new(fold("Bart在 update_status."));
        let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_boundary(*at)).collect();
        assert_eq!(boundaries, [0, 4, 5, 6, 19, 20]);
        let beginning = |at| text.beginning(at).map(|chars| chars.iter().collect::<String>());
        assert_eq!(beginning(0).as_deref(), Some("bart"));
        assert_eq!(beginning(4).as_deref(), Some("在 "));
        assert_eq!((beginning(5), beginning(20)), (None, None));
        assert_eq!(beginning(6).as_deref(), Some("update_status"));
        assert_eq!(beginning(19).as_deref(), Some("."));
        assert_eq!(text.slice(4, 12), "在 update");
    }
}
