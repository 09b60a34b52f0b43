//! Vectors: finite, of unit length, named by the model that made them (M6, W12).

mod place;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::invalid::{Invalid, Violations};
use crate::limits::{DIMENSION_MAX, MODEL_CHARS_MAX, VECTORS_MAX};

pub use place::{Components, VectorSource};

/// A vector of unit length. Its components are finite by construction, so a dot product of two is their cosine. A clone is
/// the same vector: both lie in the same place, in memory or where its holder has put it away.
#[derive(Debug, Clone)]
pub struct Embedding(Arc<place::Shared>);

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

/// Vectors as a caller sends them, before they are checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawVectors {
    /// The model that made them.
    pub model: String,
    /// The vectors, at most one a role.
    pub vectors: Vec<RawVector>,
}

/// One vector as a caller sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawVector {
    /// Which text it stands for; the content when absent.
    #[serde(default = "content_role")]
    pub role: VectorRole,
    /// Its components; any length but zero.
    pub values: Vec<f32>,
}

const fn content_role() -> VectorRole {
    VectorRole::Content
}

impl RawVectors {
    /// Checks the model's name and every vector; all must have one dimension and each role may occur once.
    ///
    /// # Errors
    /// All violations, under `vectors[i]` and `embedding_model`.
    pub fn check(&self) -> Result<Vec<NamedVector>, Invalid> {
        let mut v = Violations::default();
        let name = self.model.chars().count();
        v.unless(!self.model.trim().is_empty(), "embedding_model", || {
            "is missing: name the model that made the vectors".to_owned()
        });
        v.unless(name <= MODEL_CHARS_MAX, "embedding_model", || {
            format!("has {name} characters: at most {MODEL_CHARS_MAX}")
        });
        v.unless(self.vectors.len() <= VECTORS_MAX, "vectors", || {
            format!("has {} vectors: at most {VECTORS_MAX}", self.vectors.len())
        });
        let mut checked: Vec<NamedVector> = Vec::new();
        for (index, raw) in self.vectors.iter().take(VECTORS_MAX).enumerate() {
            let field = format!("vectors[{index}].values");
            let Some(embedding) = v.take(&field, Embedding::new(&raw.values)) else { continue };
            let dimension =
                checked.first().map_or(embedding.dimension(), |first| first.embedding.dimension());
            v.unless(embedding.dimension() == dimension, &field, || {
                format!(
                    "has {} numbers, and the vector before it {dimension}: expected one dimension",
                    embedding.dimension()
                )
            });
            v.unless(
                checked.iter().all(|other| other.role != raw.role),
                &format!("vectors[{index}].role"),
                || "occurs twice: expected one vector a role".to_owned(),
            );
            checked.push(NamedVector { role: raw.role, embedding });
        }
        v.finish().map(|()| checked)
    }
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
        let components = values.iter().map(|value| (f64::from(*value) / length) as f32).collect();
        Ok(Embedding(Arc::new(place::Shared::new(components))))
    }

    /// Takes components that a log or snapshot holds, exactly as they were stored.
    ///
    /// # Errors
    /// [`BadVector`] when they could not have come from [`Embedding::new`].
    pub fn from_stored(values: Vec<f32>) -> Result<Embedding, BadVector> {
        Embedding::new(&values)?;
        Ok(Embedding(Arc::new(place::Shared::new(values.into()))))
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
            assert!((unit.components()[0] - 0.6).abs() < 1e-6 && (unit.components()[1] - 0.8).abs() < 1e-6);
        }
    }

    #[test]
    fn m6_vectors_of_a_memory_have_one_dimension_and_one_role_each() {
        let vector = |role, values: &[f32]| RawVector { role, values: values.to_vec() };
        let of = |vectors| RawVectors { model: "m".to_owned(), vectors };
        let good =
            of(vec![vector(VectorRole::Content, &[1.0, 0.0]), vector(VectorRole::Summary, &[0.0, 2.0])]);
        assert_eq!(good.check().unwrap().len(), 2);
        let bad = of(vec![
            vector(VectorRole::Content, &[1.0, 0.0]),
            vector(VectorRole::Content, &[f32::NAN]),
            vector(VectorRole::Content, &[1.0]),
        ]);
        let fields: Vec<String> = bad.check().unwrap_err().violations.into_iter().map(|v| v.field).collect();
        assert_eq!(fields, ["vectors[1].values", "vectors[2].values", "vectors[2].role"]);
    }
}
