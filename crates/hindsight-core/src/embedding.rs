//! Vectors: finite, of unit length, named by the model that made them (M6, W12).

use serde::{Deserialize, Serialize};

use crate::limits::DIMENSION_MAX;

/// A vector of unit length. Its components are finite by construction, so a dot product of two is their cosine.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Box<[f32]>);

/// Which text of a memory a vector stands for; a match on any of them counts once (M6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorRole {
    /// The content.
    Content,
    /// The summary.
    Summary,
    /// The keywords.
    Keywords,
}

/// A vector and the text it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedVector {
    /// Which text of the memory it stands for.
    pub role: VectorRole,
    /// The vector.
    pub embedding: Embedding,
}

/// Numbers that can't be a vector.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadVector {
    /// No components at all.
    #[error("is empty: expected 1 to {DIMENSION_MAX} numbers")]
    Empty,
    /// More components than any model has.
    #[error("has {found} numbers: expected 1 to {DIMENSION_MAX}")]
    TooLong {
        /// How many there are.
        found: usize,
    },
    /// NaN or an infinity.
    #[error("component {index} is {value}: expected finite numbers")]
    NotFinite {
        /// Where it stands, from 0.
        index: usize,
        /// What stands there.
        value: f32,
    },
    /// All components are zero, or so small that no direction is left.
    #[error("has no direction (its length is zero): expected at least one number that isn't zero")]
    Zero,
}

impl Embedding {
    /// Checks numbers and brings them to unit length.
    ///
    /// # Errors
    /// [`BadVector`] when there are no numbers, too many, one that is not finite, or only zeros.
    pub fn new(values: &[f32]) -> Result<Embedding, BadVector> {
        if values.is_empty() {
            return Err(BadVector::Empty);
        }
        if values.len() > DIMENSION_MAX {
            return Err(BadVector::TooLong { found: values.len() });
        }
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(BadVector::NotFinite { index, value: *value });
        }
        let length = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        if length < 1e-30 {
            return Err(BadVector::Zero);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector fits an f32")]
        Ok(Embedding(values.iter().map(|value| (f64::from(*value) / length) as f32).collect()))
    }

    /// Takes components that a log or snapshot holds, exactly as they were stored.
    ///
    /// # Errors
    /// [`BadVector`] when they could not have come from [`Embedding::new`].
    pub fn from_stored(values: Vec<f32>) -> Result<Embedding, BadVector> {
        Embedding::new(&values)?;
        Ok(Embedding(values.into_boxed_slice()))
    }

    /// The components.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// How many components there are.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_numbers_are_named() {
        assert_eq!(Embedding::new(&[]), Err(BadVector::Empty));
        assert_eq!(Embedding::new(&[0.0, -0.0]), Err(BadVector::Zero));
        assert!(matches!(Embedding::new(&[1.0, f32::NAN]), Err(BadVector::NotFinite { index: 1, .. })));
        assert!(matches!(Embedding::new(&[f32::INFINITY]), Err(BadVector::NotFinite { index: 0, .. })));
        assert_eq!(Embedding::new(&vec![1.0; 4097]), Err(BadVector::TooLong { found: 4097 }));
    }

    #[test]
    fn any_length_becomes_one() {
        for scale in [1e-20_f32, 1.0, 1e30] {
            let unit = Embedding::new(&[3.0 * scale, 4.0 * scale]).unwrap();
            assert!((unit.as_slice()[0] - 0.6).abs() < 1e-6 && (unit.as_slice()[1] - 0.8).abs() < 1e-6);
        }
    }
}
