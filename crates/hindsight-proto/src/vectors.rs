//! Vectors that a client made, and the model it made them with.

use hindsight_core::{Embedding, Invalid, RawVector, RawVectors, VectorRole};

use crate::gather::Gather;
use crate::words::{self, Word};
use crate::{text, v1};

/// Vectors from the wire, unchecked apart from their roles; none when there are none.
///
/// # Errors
/// When a role is unknown, the model is missing, or a model comes without vectors.
pub fn from_wire(vectors: Vec<v1::Vector>, embedding_model: String) -> Result<Option<RawVectors>, Invalid> {
    check_model(vectors.is_empty(), &embedding_model, "vectors")?;
    if vectors.is_empty() {
        return Ok(None);
    }
    let mut gather = Gather::default();
    let mut read = Vec::with_capacity(vectors.len());
    for (index, vector) in vectors.into_iter().enumerate() {
        let role = words::optional(&format!("vectors[{index}].role"), vector.role);
        // The first bad role is enough: a hostile list must not grow an endless answer.
        let bad = role.is_err();
        let role = gather.keep(role).unwrap_or(VectorRole::Content);
        read.push(RawVector { role, values: vector.values });
        if bad {
            break;
        }
    }
    gather.finish()?;
    Ok(Some(RawVectors { model: embedding_model, vectors: read }))
}

/// Vectors for the wire, with the name of their model.
#[must_use]
pub fn to_wire(vectors: Option<RawVectors>) -> (Vec<v1::Vector>, String) {
    let Some(RawVectors { model, vectors }) = vectors else { return (Vec::new(), String::new()) };
    let vectors = vectors.into_iter();
    (vectors.map(|vector| v1::Vector { role: vector.role.number(), values: vector.values }).collect(), model)
}

/// The vector of a query, and its model.
///
/// # Errors
/// When the numbers are no vector, the model is missing, or a model comes without a vector.
pub(crate) fn query_from_wire(
    vector: &[f32],
    embedding_model: String,
) -> Result<(Option<Embedding>, Option<String>), Invalid> {
    check_model(vector.is_empty(), &embedding_model, "vector")?;
    if vector.is_empty() {
        return Ok((None, None));
    }
    let vector = Embedding::new(vector).map_err(|bad| Invalid::one("vector", bad.to_string()))?;
    Ok((Some(vector), text::optional(embedding_model)))
}

fn check_model(no_vectors: bool, model: &str, what: &str) -> Result<(), Invalid> {
    match (no_vectors, model.is_empty()) {
        (false, true) => {
            Err(Invalid::one("embedding_model", format!("is missing: name the model that made the {what}")))
        }
        (true, false) => Err(Invalid::one(
            what,
            "is missing: embedding_model names the model that made it; send both or none",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(role: i32) -> v1::Vector {
        v1::Vector { role, values: vec![0.5, 0.5] }
    }

    #[test]
    fn vectors_name_their_model() {
        let read = from_wire(vec![vector(0), vector(2)], "m".to_owned()).unwrap().unwrap();
        assert_eq!(read.model, "m");
        let roles: Vec<VectorRole> = read.vectors.iter().map(|vector| vector.role).collect();
        assert_eq!(roles, [VectorRole::Content, VectorRole::Summary]);
        assert_eq!(from_wire(Vec::new(), String::new()), Ok(None));
        let invalid = from_wire(vec![vector(0)], String::new()).unwrap_err();
        assert_eq!(invalid.to_string(), "embedding_model: is missing: name the model that made the vectors");
        assert_eq!(from_wire(Vec::new(), "m".to_owned()).unwrap_err().violations[0].field, "vectors");
    }

    #[test]
    fn bad_vectors_are_named() {
        let invalid = from_wire(vec![vector(1), vector(9)], "m".to_owned()).unwrap_err();
        assert_eq!(invalid.violations[0].field, "vectors[1].role");
        let invalid = query_from_wire(&[1.0, f32::NAN], "m".to_owned()).unwrap_err();
        assert_eq!(invalid.to_string(), "vector: component 1 is NaN: expected finite numbers");
    }
}
