//! Batches as bytes: a schema version, then bincode. The bytes are described in `docs/disk-format.md`, section "Batch".
//!
//! The structs of `stored` are what bincode sees; the types of the core are not, so that they can change without
//! changing the disk. The configuration is bincode's `legacy`: fixed widths, little endian.

use bincode::{config, error::DecodeError};
use hindsight_core::Batch;

use crate::stored::StoredBatch;

/// The schema that this version writes, and the newest that it reads.
pub const SCHEMA_VERSION: u16 = 1;

/// Why a batch can't become bytes, or bytes a batch.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// Written by a newer version.
    #[error("schema version {found}: at most {SCHEMA_VERSION} can be read, use a newer hindsight")]
    Newer {
        /// The version that stands in the bytes.
        found: u16,
    },
    /// Too short to name its schema, or of a schema that never was.
    #[error("no schema version")]
    NoVersion,
    /// Bytes of another shape.
    #[error("not the shape of schema version {SCHEMA_VERSION}")]
    Shape(#[from] DecodeError),
    /// Bytes after the end of the batch.
    #[error("{bytes} bytes after the end of the batch")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A number that stands for no word.
    #[error("{field} has code {found}, which stands for nothing")]
    Word {
        /// The field.
        field: &'static str,
        /// The number.
        found: u8,
    },
    /// A field whose value the core does not accept.
    #[error("{field} can't be read")]
    Field {
        /// The field.
        field: &'static str,
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The encoder refused.
    #[error("the batch can't be encoded")]
    Encode(#[from] bincode::error::EncodeError),
}

impl CodecError {
    /// Whether a newer version could read the bytes.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        matches!(self, CodecError::Newer { .. })
    }

    /// For `map_err`: the field, and why its value is not accepted.
    pub(crate) fn field<E: std::error::Error + Send + Sync + 'static>(
        field: &'static str,
    ) -> impl FnOnce(E) -> CodecError {
        move |source| CodecError::Field { field, source: Box::new(source) }
    }
}

/// A batch as bytes.
///
/// # Errors
/// [`CodecError::Encode`] or [`CodecError::Field`]; none of them happens to a batch that the core made.
pub fn encode_batch(batch: &Batch) -> Result<Vec<u8>, CodecError> {
    let mut bytes = SCHEMA_VERSION.to_le_bytes().to_vec();
    bincode::encode_into_std_write(StoredBatch::try_from(batch)?, &mut bytes, config::legacy())?;
    Ok(bytes)
}

/// The batch that [`encode_batch`] made these bytes of.
///
/// # Errors
/// Every [`CodecError`]; hostile bytes neither panic nor make it allocate more than in proportion to their length.
pub fn decode_batch(bytes: &[u8]) -> Result<Batch, CodecError> {
    let (version, body) = bytes.split_first_chunk::<2>().ok_or(CodecError::NoVersion)?;
    match u16::from_le_bytes(*version) {
        SCHEMA_VERSION => {}
        0 => return Err(CodecError::NoVersion),
        found => return Err(CodecError::Newer { found }),
    }
    let (stored, read) = decode_bounded(body)?;
    match body.len() - read {
        0 => Batch::try_from(stored),
        bytes => Err(CodecError::Trailing { bytes }),
    }
}

/// Decodes with a limit on what the length prefixes may claim. The limit is a constant of the type, so the length
/// of the input picks one of several: at least 16 times the input, which no honest batch exceeds (the largest ratio
/// of a struct in memory to its bytes is that of an empty action, 8), at most 64 times, or 1 MiB.
fn decode_bounded(body: &[u8]) -> Result<(StoredBatch, usize), DecodeError> {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    fn decode<const LIMIT: usize>(body: &[u8]) -> Result<(StoredBatch, usize), DecodeError> {
        bincode::decode_from_slice(body, config::legacy().with_limit::<LIMIT>())
    }
    match body.len() {
        len if len <= 64 * KIB => decode::<{ MIB }>(body),
        len if len <= 256 * KIB => decode::<{ 4 * MIB }>(body),
        len if len <= MIB => decode::<{ 16 * MIB }>(body),
        len if len <= 4 * MIB => decode::<{ 64 * MIB }>(body),
        len if len <= 16 * MIB => decode::<{ 256 * MIB }>(body),
        _ => decode::<{ 1024 * MIB }>(body),
    }
}

#[cfg(test)]
mod tests;
