//! The vocabulary: which pieces exist, how probable each is, and the most probable cut of a word into them.
//!
//! A Unigram tokenizer: the probability of a cut is the product of its pieces' probabilities. One pass of an
//! Aho-Corasick automaton reports every piece that ends at a character, longest first; the best cut up to there
//! extends the best cut up to the start of one of them. Linear in the word, whatever the word.

use daachorse::CharwiseDoubleArrayAhoCorasick;

use crate::error::LoadError;

/// Ids below are the tokenizer's own marks (`<s>`, `<pad>`, `</s>`, `<unk>`) and carry nothing.
pub(crate) const FIRST_PIECE: u32 = 4;

/// What no piece covers.
pub(crate) const UNKNOWN: u32 = 3;

/// The mark that stands for the space before a word.
pub(crate) const WORD_START: char = '\u{2581}';

/// How much less than the rarest piece an unknown character is worth, in logarithms. The figure of the tokenizer
/// the vocabulary was made with (`kUnkPenalty` of SentencePiece's Unigram model).
const UNKNOWN_PENALTY: f64 = 10.0;

/// All pieces and their scores.
pub(crate) struct Pieces {
    automaton: CharwiseDoubleArrayAhoCorasick<u32>,
    scores: &'static [[u8; size_of::<f64>()]],
    unknown_score: f64,
    word_start: Option<u32>,
}

/// The best cut of a word up to one byte position. A buffer of these is reused from word to word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Sum of the scores of its pieces.
    score: f64,
    /// Where its last piece starts.
    start: usize,
    /// Its last piece.
    id: u32,
}

impl Cut {
    const EMPTY: Cut = Cut { score: 0.0, start: 0, id: UNKNOWN };
    const NONE: Cut = Cut { score: f64::NEG_INFINITY, start: 0, id: UNKNOWN };
}

impl Pieces {
    /// Reads the tables that `build.rs` writes.
    pub(crate) fn load(automaton: &[u8], scores: &'static [u8]) -> Result<Pieces, LoadError> {
        let (automaton, _) = CharwiseDoubleArrayAhoCorasick::deserialize(automaton)
            .map_err(|reason| LoadError::Automaton { reason })?;
        let (score_bytes, rest) = scores.as_chunks();
        let lowest = score_bytes.iter().map(|bytes| f64::from_le_bytes(*bytes)).reduce(f64::min);
        let lowest = lowest.filter(|score| score.is_finite() && rest.is_empty());
        let lowest = lowest.ok_or(LoadError::Scores { size_bytes: scores.len() })?;

        let mut pieces = Pieces {
            automaton,
            scores: score_bytes,
            unknown_score: lowest - UNKNOWN_PENALTY,
            word_start: None,
        };
        let mark = WORD_START.to_string();
        pieces.word_start = pieces.automaton.find_overlapping_iter(&mark).map(|found| found.value()).next();
        Ok(pieces)
    }

    /// How many pieces there are, the tokenizer's own marks included.
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether a text that has this piece says something. Neither the tokenizer's marks nor a space alone do.
    pub(crate) fn says_something(&self, id: u32) -> bool {
        id >= FIRST_PIECE && Some(id) != self.word_start
    }

    /// Appends the pieces of a word's most probable cut to `ids`. Neighbouring unknown characters are one
    /// [`UNKNOWN`]. Of two cuts that are equally probable the one with the longer last piece is taken.
    pub(crate) fn cut_word(&self, word: &str, cuts: &mut Vec<Cut>, ids: &mut Vec<u32>) {
        cuts.clear();
        cuts.resize(word.len() + 1, Cut::NONE);
        cuts[0] = Cut::EMPTY;

        let mut matches = self.automaton.find_overlapping_iter(word).peekable();
        for (start, character) in word.char_indices() {
            let end = start + character.len_utf8();
            let mut character_known = false;
            while let Some(found) = matches.next_if(|found| found.end() == end) {
                character_known |= found.start() == start;
                let score = f64::from_le_bytes(self.scores[found.value() as usize]);
                extend(cuts, found.start(), end, score, found.value());
            }
            if !character_known {
                extend(cuts, start, end, self.unknown_score, UNKNOWN);
            }
        }
        append_backwards(cuts, ids);
    }
}

/// Takes the best cut up to `start` followed by the piece `start..end`, if that beats what is known for `end`.
fn extend(cuts: &mut [Cut], start: usize, end: usize, score: f64, id: u32) {
    let score = cuts[start].score + score;
    if score > cuts[end].score {
        cuts[end] = Cut { score, start, id };
    }
}

/// Follows the best cut from the end of the word to its beginning.
fn append_backwards(cuts: &[Cut], ids: &mut Vec<u32>) {
    let first = ids.len();
    let mut end = cuts.len() - 1;
    while end > 0 {
        let Cut { start, id, .. } = cuts[end];
        let continues_unknown = id == UNKNOWN && ids[first..].last() == Some(&UNKNOWN);
        if !continues_unknown {
            ids.push(id);
        }
        end = start;
    }
    ids[first..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids 0 to 3 are the marks, as in the real vocabulary; the others count up from 4.
    fn pieces(vocabulary: &[(&str, f64)]) -> Pieces {
        let patterns = vocabulary.iter().zip(FIRST_PIECE..).map(|((piece, _), id)| (*piece, id));
        let automaton = CharwiseDoubleArrayAhoCorasick::<u32>::with_values(patterns).unwrap();
        let scores = [0.0; 4].into_iter().chain(vocabulary.iter().map(|(_, score)| *score));
        let scores: Vec<u8> = scores.flat_map(f64::to_le_bytes).collect();
        Pieces::load(&automaton.serialize(), Box::leak(scores.into_boxed_slice())).unwrap()
    }

    fn cut(pieces: &Pieces, word: &str) -> Vec<u32> {
        let mut ids = vec![];
        pieces.cut_word(word, &mut vec![], &mut ids);
        ids
    }

    #[test]
    fn the_most_probable_cut_wins() {
        let pieces = pieces(&[("a", -4.0), ("b", -4.0), ("ab", -7.0), ("abc", -20.0), ("c", -5.0)]);
        assert_eq!(cut(&pieces, "ab"), [6], "-7 beats -8");
        assert_eq!(cut(&pieces, "abc"), [6, 8], "-12 beats -20");
        assert_eq!(cut(&pieces, ""), [0_u32; 0]);
    }

    #[test]
    fn of_equals_the_longer_last_piece_wins() {
        let pieces = pieces(&[("a", -1.0), ("b", -2.0), ("c", -2.0), ("ab", -3.0), ("bc", -4.0)]);
        assert_eq!(cut(&pieces, "ab"), [7]);
        assert_eq!(cut(&pieces, "abc"), [4, 8]);
    }

    #[test]
    fn unknown_neighbours_are_one() {
        let pieces = pieces(&[("过", -1.0), ("敏", -2.0)]);
        assert_eq!(cut(&pieces, "🎉🥜过é敏🎉"), [UNKNOWN, 4, UNKNOWN, 5, UNKNOWN]);
    }

    #[test]
    fn a_piece_inside_an_unknown_character_run_is_found() {
        let pieces = pieces(&[("▁", -1.0), ("xyz", -9.0)]);
        assert_eq!(cut(&pieces, "▁xyxyz"), [4, UNKNOWN, 5]);
        assert!(!pieces.says_something(4) && !pieces.says_something(UNKNOWN) && pieces.says_something(5));
    }

    #[test]
    fn damaged_tables_are_refused() {
        assert!(matches!(Pieces::load(b"?", &[]).err(), Some(LoadError::Automaton { .. })));
        let automaton = CharwiseDoubleArrayAhoCorasick::<u32>::with_values([("a", 4)]).unwrap().serialize();
        for scores in [&[][..], &[0; 9], &[0xFF; 8]] {
            let scores: &'static [u8] = Box::leak(scores.to_vec().into_boxed_slice());
            assert!(matches!(Pieces::load(&automaton, scores).err(), Some(LoadError::Scores { .. })));
        }
    }
}
