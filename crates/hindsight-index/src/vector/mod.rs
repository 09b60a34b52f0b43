//! Vectors: an exact search over the rows of one shelf.
//!
//! [`rows`] holds the matrix, [`quantised`] makes the eight-bit copy of a row and says how far it may be off,
//! [`scan`] reads the rows a selection allows, [`kernel`] has the two inner loops.
//!
//! A memory may have several vectors; its score is the best of them and it counts once (M6). The answer is exact, not
//! approximate: a large set is read in eight bits first, and every row that could still be among the best by the known
//! error of its copy is scored again in full. A graph, when there is one, is a shortcut to the same rows.

mod kernel;
mod quantised;
mod rows;
mod scan;

pub use scan::VectorQuery;

use hindsight_core::Embedding;

use crate::top::Ties;
use crate::{IndexError, Ordinal, Scored, Selection};
use rows::Rows;

/// The vectors of one shelf's memories.
#[derive(Debug, Default, Clone)]
pub struct VectorIndex {
    rows: Rows,
}

impl VectorIndex {
    /// The dimension of its vectors; none while it has never held one.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        self.rows.dimension()
    }

    /// How many vectors it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Prepares a query: a copy of the vector in the forms that the scan compares with.
    ///
    /// # Errors
    /// [`IndexError::Dimension`] when the vector does not fit this index's.
    pub fn query(&self, embedding: &Embedding) -> Result<VectorQuery, IndexError> {
        match self.dimension() {
            Some(expected) if expected != embedding.dimension() => {
                Err(IndexError::Dimension { expected, found: embedding.dimension() })
            }
            _ => Ok(VectorQuery::new(embedding)),
        }
    }

    /// The best `k` memories of the selection by cosine, best first. Memories without a vector are not among them.
    pub(crate) fn top(
        &self,
        selection: &Selection,
        query: &VectorQuery,
        k: usize,
        ties: Ties<'_>,
    ) -> Vec<Scored> {
        scan::top(&self.rows, selection, query, k, ties)
    }

    /// The cosine of the best of a memory's vectors.
    #[must_use]
    pub fn score(&self, ordinal: Ordinal, query: &VectorQuery) -> Option<f32> {
        scan::score(&self.rows, ordinal, query)
    }

    /// The cosine of the first vectors of two memories: how alike they are.
    #[must_use]
    pub fn similarity(&self, a: Ordinal, b: Ordinal) -> Option<f32> {
        let first = |ordinal| self.rows.of(ordinal).next().map(|row| self.rows.full(row));
        Some(kernel::dot(first(a)?, first(b)?))
    }

    /// The vectors of a memory, in the order they were given.
    pub fn vectors(&self, ordinal: Ordinal) -> impl Iterator<Item = &[f32]> + '_ {
        self.rows.of(ordinal).map(|row| self.rows.full(row))
    }

    /// Brings a memory's vectors to these, whatever they were before. All have the dimension of the index.
    pub(crate) fn set<'v>(&mut self, ordinal: Ordinal, vectors: impl Iterator<Item = &'v Embedding> + Clone) {
        if !self.vectors(ordinal).eq(vectors.clone().map(Embedding::as_slice)) {
            self.rows.remove(ordinal);
            self.rows.insert(ordinal, vectors.map(Embedding::as_slice));
        }
    }

    /// Drops the vectors of a memory; their bytes are overwritten.
    pub(crate) fn remove(&mut self, ordinal: Ordinal) {
        self.rows.remove(ordinal);
    }

    /// Estimated bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}

#[cfg(test)]
mod tests;
