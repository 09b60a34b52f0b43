//! What turns text into vectors.

use crate::error::EmbedError;

/// A model that gives texts a direction.
///
/// The same text gets the same vector, bit for bit, whenever it is asked for and whatever else is in the batch.
/// Vectors of different models must not be compared; [`model`](Embedder::model) is the name to keep beside them.
pub trait Embedder: Send + Sync {
    /// The name of the model, as stored with every vector it makes.
    fn model(&self) -> &str;

    /// How many components its vectors have.
    fn dimension(&self) -> usize;

    /// One answer for each text, in order: a vector of unit length, or `None` for a text in which the model
    /// recognises nothing (empty, only spaces, only emoji, an unknown script).
    ///
    /// # Errors
    /// [`EmbedError::BatchTooLarge`] for more than [`BATCH_TEXTS_MAX`](crate::limits::BATCH_TEXTS_MAX) texts.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError>;

    /// The vector of a single text; see [`embed`](Embedder::embed).
    ///
    /// # Errors
    /// Those of [`embed`](Embedder::embed).
    fn embed_one(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        Ok(self.embed(&[text])?.pop().flatten())
    }
}
