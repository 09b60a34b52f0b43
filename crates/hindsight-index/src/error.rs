//! What can go wrong when a record is applied. Nothing has changed when one of these comes back.

/// Why a record was not applied, or a query not prepared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// The shelf has no slot left.
    #[error(
        "the namespace holds {} memories, as many as it can: forget or archive some first",
        crate::Ordinal::LIMIT
    )]
    Full,
    /// A vector does not have as many components as the namespace's others.
    #[error("the vector has {found} components: the vectors of this namespace have {expected}")]
    Dimension {
        /// The dimension of the namespace, fixed by its first vector.
        expected: usize,
        /// The dimension that was given.
        found: usize,
    },
}
