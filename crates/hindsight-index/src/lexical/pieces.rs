//! Where an identifier has its joints: `update_status`, `updateStatus`, `HTTPServer`, `E1042`.

/// Most parts of one word.
const PIECES_MAX: usize = 16;
/// Most changes between letters and digits in a word without punctuation. With more it is a hash or a random key, and its
/// parts would match by chance only.
const CHANGES_MAX: usize = 4;

/// Whether a word is capitals with an s behind (`APIs`), which has no joint inside.
pub(crate) fn is_acronym_plural(word: &str) -> bool {
    word.strip_suffix('s')
        .is_some_and(|capitals| capitals.len() > 1 && capitals.chars().all(char::is_uppercase))
}

/// The parts between the joints of a word; the word itself if it has none.
pub(crate) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    word.split(|character: char| !character.is_alphanumeric())
        .filter(|part| !is_random(part))
        .flat_map(|part| Humps { rest: part })
        .filter(|piece| !piece.is_empty())
        .take(PIECES_MAX)
}

fn is_random(part: &str) -> bool {
    let mut kinds = part.chars().map(char::is_numeric);
    let mut last = kinds.next();
    let changes = kinds.filter(|kind| last.replace(*kind) != Some(*kind));
    changes.take(CHANGES_MAX + 1).count() > CHANGES_MAX
}

/// Parts a word without punctuation where digits meet letters and where a capital begins a new word.
struct Humps<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Humps<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut characters = self.rest.char_indices();
        let (_, mut last) = characters.next()?;
        let mut end = self.rest.len();
        let mut at = characters.next();
        while let Some((place, character)) = at {
            at = characters.next();
            if is_joint(last, character, at.map(|(_, next)| next)) {
                end = place;
                break;
            }
            last = character;
        }
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(piece)
    }
}

/// Whether a new part begins at `at`.
fn is_joint(before: char, at: char, after: Option<char>) -> bool {
    if before.is_numeric() != at.is_numeric() {
        return true;
    }
    let begins_hump = before.is_lowercase() && at.is_uppercase();
    let ends_acronym = before.is_uppercase() && at.is_uppercase() && after.is_some_and(char::is_lowercase);
    begins_hump || ends_acronym
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints() {
        let parts = |word| pieces(word).collect::<Vec<_>>();
        assert_eq!(parts("update_status"), ["update", "status"]);
        assert_eq!(parts("parseHTTPResponse2xx"), ["parse", "HTTP", "Response", "2", "xx"]);
        assert_eq!(parts("E1042"), ["E", "1042"]);
        assert_eq!(parts("plain"), ["plain"]);
        assert_eq!(parts("PLAIN"), ["PLAIN"]);
        assert_eq!(parts("a_b__c"), ["a", "b", "c"]);
        assert_eq!(parts("getUser2FactorTokenById").len(), 7);
        assert_eq!(parts("9f86d081884c7d659a"), Vec::<&str>::new());
        assert_eq!(parts(&"a_".repeat(40)).len(), PIECES_MAX);
        assert!(is_acronym_plural("APIs") && !is_acronym_plural("As") && !is_acronym_plural("apis"));
    }
}
