//! Text to piece ids: clip, normalise, split into words, cut each word.
//!
//! The recipe of `tokenizer.json`: NFKC, split at white space, put [`WORD_START`] before each word and start a new
//! word at each [`WORD_START`] the text itself brings. Control marks spelled in a text (`</s>`) are plain text.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::limits::TEXT_BYTES_MAX;
use crate::pieces::{Cut, Pieces, WORD_START};

/// Buffers that one call reuses from text to text. They hold text, so they end with the call.
#[derive(Default)]
pub(crate) struct Scratch {
    word: String,
    cuts: Vec<Cut>,
    ids: Vec<u32>,
}

/// The pieces of a text, at most `ids_max` of them, valid until the scratch is used again.
pub(crate) fn split<'a>(pieces: &Pieces, text: &str, ids_max: usize, scratch: &'a mut Scratch) -> &'a [u32] {
    let Scratch { word, cuts, ids } = scratch;
    ids.clear();
    let normal = normalise(clip(text));
    // Clipped again: NFKC can make one character eighteen.
    for part in clip(&normal).split_whitespace().flat_map(word_parts) {
        word.clear();
        word.push(WORD_START);
        word.push_str(part);
        pieces.cut_word(word, cuts, ids);
        if ids.len() >= ids_max {
            ids.truncate(ids_max);
            break;
        }
    }
    ids
}

/// The stretches of a word that each get a [`WORD_START`], without it.
fn word_parts(word: &str) -> impl Iterator<Item = &str> {
    word.strip_prefix(WORD_START).unwrap_or(word).split(WORD_START)
}

/// At most [`TEXT_BYTES_MAX`] bytes of a text, ending between two characters.
fn clip(text: &str) -> &str {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// NFKC. Most text is normal already, and seeing that is much cheaper than making it so.
fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

#[cfg(test)]
mod tests;
