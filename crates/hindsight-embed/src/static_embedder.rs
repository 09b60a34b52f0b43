//! The built-in model: a vector for each piece of text, no inference.

use std::fmt;

use crate::assets;
use crate::config::ModelConfig;
use crate::embedder::Embedder;
use crate::error::{EmbedError, LoadError};
use crate::limits::BATCH_TEXTS_MAX;
use crate::pieces::Pieces;
use crate::splitter::{Scratch, split};
use crate::vectors::PieceVectors;

/// Below this length a sum has no direction worth the name: its pieces carry nothing or cancel out.
const LENGTH_MIN: f32 = 1e-12;

/// The model that is part of the binary: 60,000 pieces of English, other Latin-script languages and Chinese.
///
/// The sum of its pieces' vectors is the vector of a text, brought to unit length. The vectors hold the weight of
/// a piece already: the rarer, the heavier.
pub struct StaticEmbedder {
    config: ModelConfig,
    pieces: Pieces,
    vectors: PieceVectors,
}

impl StaticEmbedder {
    /// Reads the model from the binary: about two milliseconds and 2.5 MB of heap, as the vectors are used where
    /// they lie. Cheap enough to do before a server says it is ready.
    ///
    /// # Errors
    /// [`LoadError`] if the model in the binary is damaged or its parts do not belong together.
    pub fn load() -> Result<StaticEmbedder, LoadError> {
        let config = ModelConfig::from_json(assets::CONFIG)?;
        let pieces = Pieces::load(assets::AUTOMATON, assets::SCORES)?;
        let vectors = PieceVectors::load(assets::MODEL, config.dimension)?;
        if pieces.len() != vectors.len() {
            return Err(LoadError::VocabularySize { pieces: pieces.len(), vectors: vectors.len() });
        }
        Ok(StaticEmbedder { config, pieces, vectors })
    }

    fn embed_text(&self, text: &str, scratch: &mut Scratch) -> Option<Vec<f32>> {
        let ids = split(&self.pieces, text, self.config.max_tokens, scratch);
        if !ids.iter().any(|id| self.pieces.says_something(*id)) {
            return None;
        }
        let mut sum = vec![0.0; self.config.dimension];
        for id in ids {
            // The marks below FIRST_PIECE have rows of zeros, so they need no exception here.
            self.vectors.add(*id, &mut sum);
        }
        to_unit_length(sum)
    }
}

fn to_unit_length(mut sum: Vec<f32>) -> Option<Vec<f32>> {
    let length = sum.iter().map(|component| component * component).sum::<f32>().sqrt();
    if length < LENGTH_MIN {
        return None;
    }
    for component in &mut sum {
        *component /= length;
    }
    Some(sum)
}

impl Embedder for StaticEmbedder {
    fn model(&self) -> &str {
        &self.config.name
    }

    fn dimension(&self) -> usize {
        self.config.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        if texts.len() > BATCH_TEXTS_MAX {
            return Err(EmbedError::BatchTooLarge { texts: texts.len(), texts_max: BATCH_TEXTS_MAX });
        }
        let mut scratch = Scratch::default();
        Ok(texts.iter().map(|text| self.embed_text(text, &mut scratch)).collect())
    }
}

impl fmt::Debug for StaticEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticEmbedder").field("config", &self.config).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Reference {
        text: String,
        ids: Vec<u32>,
        vector: Vec<f32>,
    }

    #[test]
    fn ids_and_vectors_are_those_of_the_reference() {
        let references: Vec<Reference> =
            serde_json::from_str(include_str!("../assets/static-embedding/reference.json")).unwrap();
        assert_eq!(references.len(), 5);
        let embedder = StaticEmbedder::load().unwrap();
        for Reference { text, ids, vector } in references {
            assert_eq!(split(&embedder.pieces, &text, 2048, &mut Scratch::default()), ids, "{text}");
            let found = embedder.embed_one(&text).unwrap().unwrap();
            assert_eq!(found.len(), vector.len());
            let difference = found.iter().zip(&vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(difference < 1e-5, "{text}: {difference}");
        }
    }

    #[test]
    fn marks_carry_nothing() {
        let embedder = StaticEmbedder::load().unwrap();
        let mut sum = vec![0.0; embedder.dimension()];
        for id in 0..crate::pieces::FIRST_PIECE {
            embedder.vectors.add(id, &mut sum);
        }
        assert!(sum.iter().all(|component| *component == 0.0));
    }

    #[test]
    fn what_cancels_out_has_no_direction() {
        assert_eq!(to_unit_length(vec![0.0, -0.0]), None);
        assert_eq!(to_unit_length(vec![3.0, -4.0]), Some(vec![0.6, -0.8]));
    }
}
