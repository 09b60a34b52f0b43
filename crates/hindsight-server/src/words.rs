//! "Did you mean": the nearest of the words that are right.

/// The word of `known` that is spelled most like `word`, if any is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong; below that any word would do.
    let most = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_another_word_is_not() {
        let known = ["content", "context", "kind", "namespace", "tags"];
        assert_eq!(nearest("contnet", known), Some("content"));
        assert_eq!(nearest("tag", known), Some("tags"));
        assert_eq!(nearest("name_space", known), Some("namespace"));
        assert_eq!(nearest("banana", known), None);
    }
}
