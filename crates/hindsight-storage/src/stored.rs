//! What bincode sees: a mirror of the core's types, written out by hand. A change here is a new schema version.

mod edit;
mod episode;
mod memory;
mod parts;
mod purge;
mod settings;
mod standing;
mod words;

use bincode::{Decode, Encode};
use hindsight_core::{Batch, Change, Embedding, Lsn, MemoryId, NamedVector, Record, RequestKey};

use crate::{codec::CodecError, records::SeenRequest};
pub(crate) use edit::StoredEdit;
use memory::StoredMemory;
pub(crate) use purge::StoredErasure;
use purge::StoredPurge;
use settings::StoredSettings;
use standing::StoredStanding;
use words::Word;

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredBatch {
    namespace: String,
    at_ms: i64,
    request: Option<StoredRequest>,
    changes: Vec<StoredChange>,
}

#[derive(Debug, Encode, Decode)]
struct StoredRequest {
    id: String,
    digest: u128,
}

#[derive(Debug, Encode, Decode)]
enum StoredChange {
    Put(Box<StoredRecord>),
    SetState {
        id: u128,
        state: u8,
        version: u64,
        at_ms: i64,
    },
    // From here on since schema 2.
    Stand {
        id: u128,
        standing: Box<StoredStanding>,
        version: u64,
        at_ms: i64,
    },
    Access {
        id: u128,
        count: u32,
        at_ms: i64,
    },
    DropNamespace,
    Purge(Box<StoredPurge>),
    /// Since schema 3.
    Settings(Box<StoredSettings>),
}

/// What a record file keeps of a request: its key and the memories that it changed.
#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredSeen {
    request: StoredRequest,
    ids: Vec<u128>,
}

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredRecord {
    memory: StoredMemory,
    vectors: Vec<StoredVector>,
}

/// `components` are the vector's `f32`, little endian, one after the other.
#[derive(Debug, Encode, Decode)]
struct StoredVector {
    role: u8,
    components: Vec<u8>,
}

impl TryFrom<&Batch> for StoredBatch {
    type Error = CodecError;

    fn try_from(batch: &Batch) -> Result<Self, CodecError> {
        let Batch { namespace, at, request, changes } = batch;
        Ok(StoredBatch {
            namespace: namespace.as_str().to_owned(),
            at_ms: at.as_ms(),
            request: request.as_ref().map(StoredRequest::from),
            changes: changes.iter().map(StoredChange::try_from).collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<StoredBatch> for Batch {
    type Error = CodecError;

    fn try_from(stored: StoredBatch) -> Result<Self, CodecError> {
        let StoredBatch { namespace, at_ms, request, changes } = stored;
        Ok(Batch {
            namespace: namespace.parse().map_err(CodecError::field("namespace"))?,
            at: parts::time("at", at_ms)?,
            request: request.map(RequestKey::from),
            changes: changes.into_iter().map(Change::try_from).collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<&Change> for StoredChange {
    type Error = CodecError;

    fn try_from(change: &Change) -> Result<Self, CodecError> {
        Ok(match change {
            Change::Put(record) => StoredChange::Put(Box::new(record.as_ref().try_into()?)),
            Change::SetState { id, state, version, at } => StoredChange::SetState {
                id: id.as_u128(),
                state: state.code(),
                version: *version,
                at_ms: at.as_ms(),
            },
            Change::Stand { id, standing, version, at } => StoredChange::Stand {
                id: id.as_u128(),
                standing: Box::new(standing.as_ref().into()),
                version: *version,
                at_ms: at.as_ms(),
            },
            Change::Access { id, count, at } => {
                StoredChange::Access { id: id.as_u128(), count: *count, at_ms: at.as_ms() }
            }
            Change::DropNamespace => StoredChange::DropNamespace,
            Change::Purge(purge) => StoredChange::Purge(Box::new(purge.as_ref().into())),
            Change::Settings(settings) => StoredChange::Settings(Box::new(settings.as_ref().into())),
        })
    }
}

impl TryFrom<StoredChange> for Change {
    type Error = CodecError;

    fn try_from(stored: StoredChange) -> Result<Self, CodecError> {
        Ok(match stored {
            StoredChange::Put(record) => Change::Put(Box::new((*record).try_into()?)),
            StoredChange::SetState { id, state, version, at_ms } => Change::SetState {
                id: MemoryId::from_u128(id),
                state: Word::from_code("state", state)?,
                version,
                at: parts::time("at", at_ms)?,
            },
            StoredChange::Stand { id, standing, version, at_ms } => Change::Stand {
                id: MemoryId::from_u128(id),
                standing: Box::new((*standing).try_into()?),
                version,
                at: parts::time("at", at_ms)?,
            },
            StoredChange::Access { id, count, at_ms } => {
                Change::Access { id: MemoryId::from_u128(id), count, at: parts::time("at", at_ms)? }
            }
            StoredChange::DropNamespace => Change::DropNamespace,
            StoredChange::Purge(purge) => Change::Purge(Box::new((*purge).into())),
            StoredChange::Settings(settings) => Change::Settings(Box::new((*settings).try_into()?)),
        })
    }
}

impl TryFrom<&Record> for StoredRecord {
    type Error = CodecError;

    fn try_from(Record { memory, vectors }: &Record) -> Result<Self, CodecError> {
        let vectors = vectors.iter().map(StoredVector::from).collect();
        Ok(StoredRecord { memory: memory.try_into()?, vectors })
    }
}

impl TryFrom<StoredRecord> for Record {
    type Error = CodecError;

    fn try_from(StoredRecord { memory, vectors }: StoredRecord) -> Result<Self, CodecError> {
        let vectors = vectors.into_iter().map(NamedVector::try_from).collect::<Result<_, _>>()?;
        Ok(Record { memory: memory.try_into()?, vectors })
    }
}

impl From<&RequestKey> for StoredRequest {
    fn from(RequestKey { id, digest }: &RequestKey) -> Self {
        StoredRequest { id: id.clone(), digest: *digest }
    }
}

impl From<StoredRequest> for RequestKey {
    fn from(StoredRequest { id, digest }: StoredRequest) -> Self {
        RequestKey { id, digest }
    }
}

impl From<&SeenRequest> for StoredSeen {
    /// The batch stands beside it in the file.
    fn from(SeenRequest { key, ids, lsn: _ }: &SeenRequest) -> Self {
        StoredSeen { request: key.into(), ids: ids.iter().map(|id| id.as_u128()).collect() }
    }
}

impl StoredSeen {
    pub(crate) fn into_request(self, lsn: Lsn) -> SeenRequest {
        let ids = self.ids.into_iter().map(MemoryId::from_u128).collect();
        SeenRequest { key: self.request.into(), ids, lsn }
    }
}

impl From<&NamedVector> for StoredVector {
    fn from(vector: &NamedVector) -> Self {
        let NamedVector { role, embedding } = vector;
        let mut components = vec![0; embedding.dimension() * 4];
        // Places of a length that is known: where numbers lie like this in memory, it becomes one copy.
        for (place, component) in components.as_chunks_mut::<4>().0.iter_mut().zip(embedding.as_slice()) {
            *place = component.to_le_bytes();
        }
        StoredVector { role: role.code(), components }
    }
}

impl TryFrom<StoredVector> for NamedVector {
    type Error = CodecError;

    fn try_from(stored: StoredVector) -> Result<Self, CodecError> {
        let StoredVector { role, components } = stored;
        let (components, rest) = components.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(CodecError::Trailing { bytes: rest.len() });
        }
        let components = components.iter().map(|component| f32::from_le_bytes(*component)).collect();
        Ok(NamedVector {
            role: Word::from_code("vectors.role", role)?,
            embedding: Embedding::from_stored(components).map_err(CodecError::field("vectors"))?,
        })
    }
}
