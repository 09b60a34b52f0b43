//! One way to write a character: composed, of common width, simplified, with plain quotes. Case is kept.

use unicode_normalization::UnicodeNormalization;

use super::traditional::simplified;

/// The text with every character in its common form.
///
/// Composition is canonical only: the compatible forms would make 10² of 102.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        let is_common = |byte: u8| byte != b'`' && !(b'\t'..=b'\r').contains(&byte);
        if text.bytes().all(is_common) {
            return text.to_owned();
        }
        return text.chars().map(common).collect();
    }
    text.nfc().filter(|c| !is_invisible(*c)).map(common).collect()
}

/// Zero-width characters, soft hyphens, byte order marks and the marks that choose a style of emoji.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{FEFF}' | '\u{00AD}' | '\u{FE00}'..='\u{FE0F}')
}

fn common(c: char) -> char {
    match c {
        '！'..='～' => u32::from(c).checked_sub(0xFEE0).and_then(char::from_u32).unwrap_or(c),
        '￥' => '¥',
        '\u{2018}' | '\u{2019}' | '\u{02BC}' | '`' => '\'',
        '\u{201C}' | '\u{201D}' | '„' | '«' | '»' => '"',
        '\u{2010}'..='\u{2013}' | '\u{2212}' => '-',
        '\u{2015}' => '—',
        c if c.is_whitespace() => ' ',
        c if u32::from(c) < 0x4E00 => c,
        c => simplified(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_composition_and_script_do_not_count() {
        assert_eq!(fold("Ｅ１０４２：　“don’t”"), "E1042: \"don't\"");
        assert_eq!(fold("cafe\u{301}"), "café");
        assert_eq!(fold("學習開發 說話"), "学习开发 说话");
        assert_eq!(fold("a\u{200B}b"), "ab");
    }

    #[test]
    fn what_means_something_else_stays() {
        assert_eq!(fold("10²"), "10²");
        assert_eq!(fold("ｍ½"), "m½");
    }

    #[test]
    fn the_table_holds_pairs_of_different_characters() {
        let all: Vec<char> = super::super::traditional::PAIRS.chars().collect();
        assert_eq!(all.len() % 2, 0);
        assert!(all.chunks(2).all(|pair| pair[0] != pair[1] && simplified(pair[1]) == pair[1]));
    }
}
