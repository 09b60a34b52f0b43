//! Turns `tokenizer.json` into the two tables the embedder reads at start, so that a start costs two
//! milliseconds and no garbage instead of parsing 60,000 pieces and building an automaton from them.
//!
//! Written to `OUT_DIR`:
//! - `automaton.bin`: the Aho-Corasick automaton of all pieces, in the serialised form of daachorse; the
//!   value of a pattern is its piece id.
//! - `scores.bin`: one little-endian f64 per piece id, the logarithm of the piece's probability.

use std::error::Error;
use std::fs;
use std::path::Path;

use daachorse::CharwiseDoubleArrayAhoCorasick;
use serde::Deserialize;
use serde_json::{Value, json};

const TOKENIZER: &str = "assets/static-embedding/tokenizer.json";

/// Ids 0 to 3 are `<s>`, `<pad>`, `</s>` and `<unk>`. They stay out of the automaton: a user's text that spells
/// one of them is text.
const SPECIAL_PIECES: usize = 4;

#[derive(Deserialize)]
struct TokenizerFile {
    normalizer: Value,
    pre_tokenizer: Value,
    post_processor: Value,
    model: Model,
}

#[derive(Deserialize)]
struct Model {
    #[serde(rename = "type")]
    kind: String,
    unk_id: usize,
    byte_fallback: bool,
    vocab: Vec<(String, f64)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TOKENIZER}");
    let tokenizer: TokenizerFile = serde_json::from_slice(&fs::read(TOKENIZER)?)?;
    check_recipe(&tokenizer)?;

    let mut patterns: Vec<(&str, u32)> = Vec::with_capacity(tokenizer.model.vocab.len());
    let mut scores: Vec<u8> = Vec::with_capacity(tokenizer.model.vocab.len() * size_of::<f64>());
    for (id, (piece, score)) in tokenizer.model.vocab.iter().enumerate() {
        if id >= SPECIAL_PIECES {
            patterns.push((piece, u32::try_from(id)?));
        }
        scores.extend_from_slice(&score.to_le_bytes());
    }
    let automaton = CharwiseDoubleArrayAhoCorasick::<u32>::with_values(patterns)
        .map_err(|error| format!("{TOKENIZER}: no automaton: {error}"))?;

    let out = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("automaton.bin"), automaton.serialize())?;
    fs::write(Path::new(&out).join("scores.bin"), scores)?;
    Ok(())
}

/// The splitter implements one recipe. A tokenizer file that asks for another fails the build, not the search.
fn check_recipe(tokenizer: &TokenizerFile) -> Result<(), Box<dyn Error>> {
    let expected = [
        (
            "normalizer",
            &tokenizer.normalizer,
            json!({"type": "Sequence", "normalizers": [
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ]}),
        ),
        (
            "pre_tokenizer",
            &tokenizer.pre_tokenizer,
            json!({"type": "Sequence", "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true},
            ]}),
        ),
        ("post_processor", &tokenizer.post_processor, Value::Null),
    ];
    for (part, found, wanted) in expected {
        if *found != wanted {
            return Err(format!("{TOKENIZER}: {part} is {found}: the splitter implements {wanted}").into());
        }
    }
    let model = &tokenizer.model;
    if model.kind != "Unigram" || model.unk_id != SPECIAL_PIECES - 1 || model.byte_fallback {
        return Err(format!(
            "{TOKENIZER}: model is {} with unk_id {} and byte_fallback {}: the splitter implements Unigram, {}, false",
            model.kind,
            model.unk_id,
            model.byte_fallback,
            SPECIAL_PIECES - 1
        )
        .into());
    }
    Ok(())
}
