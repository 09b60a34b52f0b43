//! What can go wrong, and what would be right.

use daachorse::errors::DaachorseError;
use safetensors::{Dtype, SafeTensorError};

/// Why texts got no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// More texts in one call than an embedder takes. Send them in several calls.
    #[error("a batch of {texts} texts is too large: expected at most {texts_max}, split it")]
    BatchTooLarge {
        /// How many texts came.
        texts: usize,
        /// How many are taken at most.
        texts_max: usize,
    },
}

/// Why a model can't be used. For the built-in model each of these is a fault of the build.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// `config.json` is not what it should be.
    #[error("config.json can't be read: expected a JSON object with name, dimension and max_tokens")]
    Config {
        /// What the JSON reader says.
        source: serde_json::Error,
    },
    /// `model.safetensors` is not a safetensors file, or a tensor is missing from it.
    #[error("model.safetensors can't be read: expected the tensors vectors and scales")]
    Tensors {
        /// What the safetensors reader says.
        source: SafeTensorError,
    },
    /// A tensor has elements of another type.
    #[error("model.safetensors: tensor {tensor} holds {found}: expected {expected}")]
    ElementType {
        /// The tensor.
        tensor: &'static str,
        /// The type of its elements.
        found: Dtype,
        /// The type they should have.
        expected: Dtype,
    },
    /// A tensor has another shape.
    #[error("model.safetensors: tensor {tensor} has the shape {found:?}: expected {expected:?}")]
    Shape {
        /// The tensor.
        tensor: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The shape it should have.
        expected: Vec<usize>,
    },
    /// A scale that is negative, infinite or not a number.
    #[error("model.safetensors: the scale of piece {id} is {scale}: expected a finite number of 0 or more")]
    Scale {
        /// The piece.
        id: usize,
        /// Its scale.
        scale: f32,
    },
    /// The automaton of the pieces is damaged.
    #[error("the automaton of the pieces is damaged ({reason}): build the crate again")]
    Automaton {
        /// What the automaton's reader says.
        reason: DaachorseError,
    },
    /// The table of scores is empty, has a broken end, or holds something that is not a number.
    #[error("the scores of the pieces are damaged ({size_bytes} bytes): expected finite 8-byte numbers")]
    Scores {
        /// How long the table is.
        size_bytes: usize,
    },
    /// Tokenizer and vectors belong to different models.
    #[error("the tokenizer has {pieces} pieces, model.safetensors {vectors} vectors: expected as many")]
    VocabularySize {
        /// Pieces of the tokenizer.
        pieces: usize,
        /// Rows of the tensor.
        vectors: usize,
    },
}
