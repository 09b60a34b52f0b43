//! Batches, records, requests and edits as bytes: a schema version, then bincode. The bytes are described in
//! `docs/disk-format.md`, section "Batch".
//!
//! The structs of `stored` are what bincode sees; the types of the core are not, so that they can change without
//! changing the disk. The configuration is bincode's `legacy`: fixed widths, little endian.

use bincode::{Decode, Encode, config, error::DecodeError};
use hindsight_core::{Batch, Change, Lsn, Namespace, Purge, Record};

use crate::{
    erasure::Erasure,
    manifest::Edit,
    records::SeenRequest,
    stored::{StoredBatch, StoredEdit, StoredErasure, StoredRecord, StoredSeen, remembers_where_it_was},
};

/// The newest schema that this version reads. What an older one can say is written in that one, so that an older
/// version reads it.
pub const SCHEMA_VERSION: u16 = 4;
/// The schema of records and requests, of batches of nothing but puts and changes of state, and of edits that name neither
/// the stamp of the directory nor the model of a namespace. But for what came with schema 2 the two are the same.
const SCHEMA_1: u16 = 1;
/// The schema of what schema 1 can't say, but for what came with schema 3.
const SCHEMA_2: u16 = 2;
/// The schema of batches and edits that set settings, and of purges that know values again.
const SCHEMA_3: u16 = 3;
/// The schema of a forgotten memory that remembers where it was before, and of edits that take a model away or name an index
/// snapshot.
const SCHEMA_4: u16 = SCHEMA_VERSION;
/// Bytes between the components of two vectors of a record, the last part of it: the role and the number of bytes.
pub(crate) const VECTOR_HEAD_BYTES: u64 = 1 + 8;

/// Why a batch can't become bytes, or bytes a batch.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// Written by a newer version.
    #[error("schema version {found}: at most {newest} can be read, use a newer hindsight")]
    Newer {
        /// The version that stands in the bytes.
        found: u16,
        /// The newest that can be read of such a value.
        newest: u16,
    },
    /// Too short to name its schema, or of a schema that never was.
    #[error("no schema version")]
    NoVersion,
    /// Bytes of another shape.
    #[error("not the shape of schema version {SCHEMA_VERSION}")]
    Shape(#[from] DecodeError),
    /// Bytes after the end of the value.
    #[error("{bytes} bytes after the end of the value")]
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
    /// A position that no log reaches.
    #[error("{field} is {found}, which no log reaches")]
    Position {
        /// The field.
        field: &'static str,
        /// The number.
        found: u64,
    },
    /// A time outside the years 1 to 9999, which nothing that was stored is.
    #[error("{field} is {found_ms} ms from 1970: expected a time in the years 1 to 9999")]
    Time {
        /// The field.
        field: &'static str,
        /// What stands there, in milliseconds since the Unix epoch.
        found_ms: i64,
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
    /// The components of a vector lie in a record file, and can't be read there.
    #[error("a vector can't be read back from its record file")]
    LostVector,
    /// The encoder refused.
    #[error("the value can't be encoded")]
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
    let mut bytes = Vec::with_capacity(BATCH_BYTES + batch.changes.iter().map(vector_bytes).sum::<usize>());
    let schema = batch.changes.iter().map(schema_of_change).max().unwrap_or(SCHEMA_1);
    encode_as(schema, StoredBatch::try_from(batch)?, &mut bytes)?;
    Ok(bytes)
}

/// What a batch of one short text takes: longer ones let their buffer grow.
const BATCH_BYTES: usize = 1_024;

fn vector_bytes(change: &Change) -> usize {
    let Change::Put(record) = change else { return 64 };
    512 + record.vectors.iter().map(|vector| 16 + vector.embedding.dimension() * 4).sum::<usize>()
}

/// The batch that [`encode_batch`] made these bytes of.
///
/// # Errors
/// Every [`CodecError`]; hostile bytes neither panic nor make it allocate more than in proportion to their length.
pub fn decode_batch(bytes: &[u8]) -> Result<Batch, CodecError> {
    decode::<StoredBatch>(bytes)?.try_into()
}

/// The namespace of a batch, without decoding the rest of it.
///
/// # Errors
/// As [`decode_batch`], as far as the beginning of the batch shows it.
pub fn batch_namespace(bytes: &[u8]) -> Result<Namespace, CodecError> {
    let (name, _) = decode_bounded::<String>(body(bytes)?)?;
    name.parse().map_err(CodecError::field("namespace"))
}

/// Puts a record behind what `bytes` holds already.
///
/// # Errors
/// As [`encode_batch`].
pub fn encode_record(record: &Record, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
    encode_as(schema_of_record(record), StoredRecord::try_from(record)?, bytes)
}

/// The record that `encode_record` made these bytes of.
///
/// # Errors
/// As [`decode_batch`].
pub fn decode_record(bytes: &[u8]) -> Result<Record, CodecError> {
    decode::<StoredRecord>(bytes)?.try_into()
}

/// Puts a request behind what `bytes` holds already, without its LSN.
pub(crate) fn encode_request(request: &SeenRequest, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
    encode(StoredSeen::from(request), bytes)
}

/// The request that [`encode_request`] made these bytes of.
pub(crate) fn decode_request(bytes: &[u8], lsn: Lsn) -> Result<SeenRequest, CodecError> {
    Ok(decode::<StoredSeen>(bytes)?.into_request(lsn))
}

/// A batch of the manifest as bytes.
///
/// # Errors
/// As [`encode_batch`].
pub fn encode_edits(edits: &[Edit]) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    let schema = edits.iter().map(schema_of_edit).max().unwrap_or(SCHEMA_1);
    encode_as(schema, edits.iter().map(StoredEdit::from).collect::<Vec<_>>(), &mut bytes)?;
    Ok(bytes)
}

/// The edits that a batch of the manifest was made of.
///
/// # Errors
/// As [`decode_batch`].
pub fn decode_edits(bytes: &[u8]) -> Result<Vec<Edit>, CodecError> {
    decode::<Vec<StoredEdit>>(bytes)?.into_iter().map(Edit::try_from).collect()
}

/// The entries of the erasure ledger as bytes.
pub(crate) fn encode_erasures(erasures: &[Erasure]) -> Result<Vec<u8>, CodecError> {
    let mut bytes = Vec::new();
    let stored: Vec<StoredErasure> = erasures.iter().map(StoredErasure::from).collect();
    let schema = erasures.iter().map(|erasure| schema_of_purge(&erasure.purge)).max().unwrap_or(SCHEMA_2);
    encode_as(schema, stored, &mut bytes)?;
    Ok(bytes)
}

/// The entries that [`encode_erasures`] made these bytes of.
pub(crate) fn decode_erasures(bytes: &[u8]) -> Result<Vec<Erasure>, CodecError> {
    Ok(decode::<Vec<StoredErasure>>(bytes)?.into_iter().map(Erasure::from).collect())
}

/// The oldest schema that can say it.
fn schema_of_record(record: &Record) -> u16 {
    if remembers_where_it_was(&record.memory) { SCHEMA_4 } else { SCHEMA_1 }
}

/// The oldest schema that can say it.
fn schema_of_change(change: &Change) -> u16 {
    match change {
        Change::Put(record) => schema_of_record(record),
        Change::SetState { .. } => SCHEMA_1,
        Change::Stand { .. } | Change::Access { .. } | Change::DropNamespace => SCHEMA_2,
        Change::Purge(purge) => schema_of_purge(purge),
        Change::Settings(_) => SCHEMA_3,
    }
}

/// The oldest schema that can say it.
fn schema_of_purge(purge: &Purge) -> u16 {
    if purge.values.is_empty() { SCHEMA_2 } else { SCHEMA_3 }
}

/// The oldest schema that can say it.
fn schema_of_edit(edit: &Edit) -> u16 {
    match edit {
        Edit::SetModel { model, .. } if model.is_none() => SCHEMA_4,
        Edit::Directory { .. } | Edit::SetModel { .. } => SCHEMA_2,
        Edit::SetSettings { .. } => SCHEMA_3,
        Edit::SetSnapshot { .. } => SCHEMA_4,
        _ => SCHEMA_1,
    }
}

fn encode(value: impl Encode, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
    encode_as(SCHEMA_1, value, bytes)
}

fn encode_as(version: u16, value: impl Encode, bytes: &mut Vec<u8>) -> Result<(), CodecError> {
    bytes.extend_from_slice(&version.to_le_bytes());
    bincode::encode_into_std_write(value, bytes, config::legacy())?;
    Ok(())
}

/// What comes after a schema version that can be read.
fn body(bytes: &[u8]) -> Result<&[u8], CodecError> {
    let (version, body) = bytes.split_first_chunk::<2>().ok_or(CodecError::NoVersion)?;
    match u16::from_le_bytes(*version) {
        0 => Err(CodecError::NoVersion),
        found if found > SCHEMA_VERSION => Err(CodecError::Newer { found, newest: SCHEMA_VERSION }),
        _ => Ok(body),
    }
}

fn decode<T: Decode<()>>(bytes: &[u8]) -> Result<T, CodecError> {
    let body = body(bytes)?;
    let (stored, read) = decode_bounded(body)?;
    match body.len() - read {
        0 => Ok(stored),
        bytes => Err(CodecError::Trailing { bytes }),
    }
}

/// Decodes with a limit on what the length prefixes may claim. The limit is a constant of the type, so the length
/// of the input picks one of several: at least 16 times the input, which no honest batch exceeds (the largest ratio
/// of a struct in memory to its bytes is that of an empty action, 8), at most 64 times, or 1 MiB.
fn decode_bounded<T: Decode<()>>(body: &[u8]) -> Result<(T, usize), DecodeError> {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    fn decode<const LIMIT: usize, T: Decode<()>>(body: &[u8]) -> Result<(T, usize), DecodeError> {
        bincode::decode_from_slice(body, config::legacy().with_limit::<LIMIT>())
    }
    match body.len() {
        len if len <= 64 * KIB => decode::<{ MIB }, T>(body),
        len if len <= 256 * KIB => decode::<{ 4 * MIB }, T>(body),
        len if len <= MIB => decode::<{ 16 * MIB }, T>(body),
        len if len <= 4 * MIB => decode::<{ 64 * MIB }, T>(body),
        len if len <= 16 * MIB => decode::<{ 256 * MIB }, T>(body),
        _ => decode::<{ 1024 * MIB }, T>(body),
    }
}

#[cfg(test)]
mod tests;
