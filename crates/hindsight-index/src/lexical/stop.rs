//! Words that are everywhere and tell nothing apart.

use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// Auxiliary verbs that the list of the library lacks. "may" is not among them: it is a month too.
const AUXILIARIES: [&str; 5] = ["could", "might", "must", "shall", "would"];

/// English stop words in lower case, contractions among them.
static ENGLISH: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    stop_words::lookup("en").unwrap_or_default().iter().copied().chain(AUXILIARIES).collect()
});

/// Chinese characters that mostly serve grammar. They count inside a bigram (的 in 目的), and not alone.
const CHINESE: &str = "的了是在吗呢吧啊呀嘛哦我你您他她它们这那什么怎有和就都也很还会要说已被把让给与或之而但其并从到为以对过个能可去来得";

/// Whether a word in lower case is an English stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    ENGLISH.contains(word)
}

/// Whether a character alone means nothing in Chinese.
pub(crate) fn is_function_character(character: char) -> bool {
    CHINESE.contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar_is_stopped_and_content_is_not() {
        for word in ["the", "don't", "you're", "which", "s", "would"] {
            assert!(is_stop_word(word), "{word}");
        }
        for word in ["error", "may", "python", "us", "第"] {
            assert!(!is_stop_word(word), "{word}");
        }
        assert!(is_function_character('的') && !is_function_character('猫'));
    }
}
