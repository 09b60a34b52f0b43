//! Deciding what a batch will say: times, ids and vectors, before anything is logged.

use hindsight_core::{Invalid, MemoryId, NamedVector, Namespace, RawVectors, Timestamp};
use hindsight_storage::io::Io;
use hindsight_storage::sabotage::{Sabotage, has};

use crate::error::EngineError;
use crate::reply::Model;
use crate::state::NamespaceState;

/// The time of the next batch: the clock's, but later than the batch before it. Order comes from the log, never from
/// the clock (D9).
pub(crate) fn next_time(io: &impl Io, state: &NamespaceState) -> Timestamp {
    let now = now(io);
    if has(Sabotage::TimeFromClock) {
        return now;
    }
    state.last_at.map_or(now, |last| now.max(last.plus_ms(1)))
}

/// The clock's time.
pub(crate) fn now(io: &impl Io) -> Timestamp {
    Timestamp::from_ms(i64::try_from(io.now_ms()).unwrap_or(i64::MAX))
}

/// A new id at `at` that no memory of the namespace has. Within a batch each id follows the `last` one, so that ids
/// sort as the items stood.
pub(crate) fn fresh_id(
    io: &impl Io,
    state: &NamespaceState,
    last: Option<MemoryId>,
    at: Timestamp,
) -> std::io::Result<MemoryId> {
    let mut id = match last {
        Some(last) => MemoryId::from_u128(last.as_u128().wrapping_add(1)),
        None => MemoryId::new(at, u128::from(io.random()?) << 64 | u128::from(io.random()?)),
    };
    while state.records.contains_key(&id) {
        id = MemoryId::from_u128(id.as_u128().wrapping_add(1));
    }
    Ok(id)
}

/// Vectors that were checked, with the model that made them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CheckedVectors {
    /// The model; absent when there are no vectors.
    pub(crate) model: Option<String>,
    /// The vectors.
    pub(crate) vectors: Vec<NamedVector>,
}

/// Checks a caller's vectors. A list without vectors is none at all.
pub(crate) fn check_vectors(raw: Option<&RawVectors>) -> Result<CheckedVectors, Invalid> {
    match raw {
        Some(raw) if !raw.vectors.is_empty() => {
            Ok(CheckedVectors { vectors: raw.check()?, model: Some(raw.model.clone()) })
        }
        _ => Ok(CheckedVectors::default()),
    }
}

/// Refuses vectors of another model or dimension than the namespace's, with both names (W12).
pub(crate) fn fits(
    namespace: &Namespace,
    model: Option<&Model>,
    given: &str,
    dimension: usize,
) -> Result<(), EngineError> {
    let Some(model) = model else { return Ok(()) };
    if model.name != given {
        return Err(EngineError::ModelMismatch {
            namespace: namespace.clone(),
            expected: model.name.clone(),
            given: given.to_owned(),
        });
    }
    if model.dimension != dimension {
        return Err(EngineError::DimensionMismatch {
            namespace: namespace.clone(),
            expected_model: model.name.clone(),
            expected: model.dimension,
            given_model: given.to_owned(),
            given: dimension,
        });
    }
    Ok(())
}

impl CheckedVectors {
    /// Refuses them when they do not fit the namespace, or `pending`, the model that this very batch brings.
    pub(crate) fn fit(
        &self,
        namespace: &Namespace,
        state: &NamespaceState,
        pending: Option<&Model>,
    ) -> Result<(), EngineError> {
        match (&self.model, self.vectors.first()) {
            (Some(name), Some(first)) => {
                fits(namespace, state.model.as_ref().or(pending), name, first.embedding.dimension())
            }
            _ => Ok(()),
        }
    }

    /// The model that they would fix, were they a namespace's first.
    pub(crate) fn as_model(&self) -> Option<Model> {
        let first = self.vectors.first()?;
        Some(Model { name: self.model.clone()?, dimension: first.embedding.dimension() })
    }
}
