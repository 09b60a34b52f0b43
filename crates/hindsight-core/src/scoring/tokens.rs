//! An estimate of how many tokens a text costs a language model.

/// Tokens that `text` is likely to cost: one per CJK character, one per four other characters, rounded up.
/// Tokenisers differ by a fifth either way; the estimate errs on the high side for English prose.
#[must_use]
pub fn estimate(text: &str) -> usize {
    if text.is_ascii() {
        return text.len().div_ceil(4);
    }
    let (mut wide, mut narrow) = (0, 0);
    for c in text.chars() {
        if is_cjk(c) { wide += 1 } else { narrow += 1 }
    }
    wide + usize::div_ceil(narrow, 4)
}

/// Whether `c` belongs to the scripts that are written without spaces (Han, kana, hangul and their punctuation).
#[must_use]
pub fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3000..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x20000..=0x323AF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_count() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("I am allergic to peanuts"), 6);
        assert_eq!(estimate("我对花生过敏"), 6);
    }
}
