//! What a batch of the manifest changes, on disk. The long ones are boxed, so that a list of many short ones takes
//! no more memory than its bytes can mean.

use bincode::{Decode, Encode};
use hindsight_core::{Lsn, Timestamp};

use super::{parts::time_if, settings::StoredSettings};
use crate::segment::LSN_MAX;
use crate::{
    codec::CodecError,
    directory::Stamp,
    manifest::{Edit, StoredModel},
    records::{Digest, NamespaceId, StoredFile},
    snapshot::StoredSnapshot,
};

#[derive(Debug, Encode, Decode)]
pub(crate) enum StoredEdit {
    AddNamespace {
        id: u32,
        name: String,
        next_file: u32,
    },
    DropNamespace {
        id: u32,
    },
    AddFile(Box<StoredFileEdit>),
    RemoveFile {
        namespace: u32,
        number: u32,
    },
    SetNamespace(Box<StoredNamespaceEdit>),
    Checkpoint {
        lsn: u64,
        durable_lsn: u64,
    },
    /// Since schema 2.
    Directory(Box<StoredStamp>),
    /// Since schema 2.
    SetModel {
        id: u32,
        name: String,
        dimension: u32,
    },
    /// Since schema 3.
    SetSettings {
        id: u32,
        settings: Box<StoredSettings>,
    },
    /// Since schema 4.
    SetSnapshot {
        id: u32,
        snapshot: Option<Box<StoredSnapshotEdit>>,
    },
}

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredSnapshotEdit {
    lsn: u64,
    bytes: u64,
    blake3: [u8; 32],
}

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredStamp {
    lsn: u64,
    records: u64,
    digest: u128,
}

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredFileEdit {
    namespace: u32,
    number: u32,
    bytes: u64,
    blake3: [u8; 32],
    records: u64,
    requests: u64,
    digest: u128,
}

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredNamespaceEdit {
    id: u32,
    applied_lsn: u64,
    last_at_ms: Option<i64>,
    live: u64,
    forgotten: u64,
    digest: u128,
}

impl From<&Edit> for StoredEdit {
    fn from(edit: &Edit) -> Self {
        match edit {
            Edit::AddNamespace { id, name, next_file } => {
                StoredEdit::AddNamespace { id: id.0, name: name.as_str().to_owned(), next_file: *next_file }
            }
            Edit::DropNamespace { id } => StoredEdit::DropNamespace { id: id.0 },
            Edit::AddFile { namespace, number, file } => StoredEdit::AddFile(Box::new(StoredFileEdit {
                namespace: namespace.0,
                number: *number,
                bytes: file.bytes,
                blake3: file.blake3,
                records: file.records,
                requests: file.requests,
                digest: file.digest.as_u128(),
            })),
            Edit::RemoveFile { namespace, number } => {
                StoredEdit::RemoveFile { namespace: namespace.0, number: *number }
            }
            Edit::SetNamespace { id, applied, last_at, live, forgotten, digest } => {
                StoredEdit::SetNamespace(Box::new(StoredNamespaceEdit {
                    id: id.0,
                    applied_lsn: applied.0,
                    last_at_ms: last_at.map(Timestamp::as_ms),
                    live: *live,
                    forgotten: *forgotten,
                    digest: digest.as_u128(),
                }))
            }
            Edit::SetModel { id, model: StoredModel { name, dimension } } => {
                StoredEdit::SetModel { id: id.0, name: name.clone(), dimension: *dimension }
            }
            Edit::SetSettings { id, settings } => {
                StoredEdit::SetSettings { id: id.0, settings: Box::new(settings.into()) }
            }
            Edit::SetSnapshot { id, snapshot } => StoredEdit::SetSnapshot {
                id: id.0,
                snapshot: snapshot.map(|StoredSnapshot { lsn, bytes, blake3 }| {
                    Box::new(StoredSnapshotEdit { lsn: lsn.0, bytes, blake3 })
                }),
            },
            Edit::Checkpoint { lsn, durable } => {
                StoredEdit::Checkpoint { lsn: lsn.0, durable_lsn: durable.0 }
            }
            Edit::Directory { stamp: Stamp { lsn, records, digest } } => {
                StoredEdit::Directory(Box::new(StoredStamp {
                    lsn: lsn.0,
                    records: *records,
                    digest: *digest,
                }))
            }
        }
    }
}

impl TryFrom<StoredEdit> for Edit {
    type Error = CodecError;

    fn try_from(stored: StoredEdit) -> Result<Self, CodecError> {
        Ok(match stored {
            StoredEdit::AddNamespace { id, name, next_file } => Edit::AddNamespace {
                id: NamespaceId(id),
                name: name.parse().map_err(CodecError::field("namespace"))?,
                next_file,
            },
            StoredEdit::DropNamespace { id } => Edit::DropNamespace { id: NamespaceId(id) },
            StoredEdit::AddFile(file) => {
                let StoredFileEdit { namespace, number, bytes, blake3, records, requests, digest } = *file;
                let digest = Digest::from_u128(digest);
                let file = StoredFile { bytes, blake3, records, requests, digest };
                Edit::AddFile { namespace: NamespaceId(namespace), number, file }
            }
            StoredEdit::RemoveFile { namespace, number } => {
                Edit::RemoveFile { namespace: NamespaceId(namespace), number }
            }
            StoredEdit::SetNamespace(namespace) => {
                let StoredNamespaceEdit { id, applied_lsn, last_at_ms, live, forgotten, digest } = *namespace;
                Edit::SetNamespace {
                    id: NamespaceId(id),
                    applied: position("applied_lsn", applied_lsn)?,
                    last_at: time_if("last_at", last_at_ms)?,
                    live,
                    forgotten,
                    digest: Digest::from_u128(digest),
                }
            }
            StoredEdit::SetModel { id, name, dimension } => {
                Edit::SetModel { id: NamespaceId(id), model: StoredModel { name, dimension } }
            }
            StoredEdit::SetSettings { id, settings } => {
                Edit::SetSettings { id: NamespaceId(id), settings: (*settings).try_into()? }
            }
            StoredEdit::SetSnapshot { id, snapshot } => {
                let snapshot = snapshot.map(|snapshot| {
                    let StoredSnapshotEdit { lsn, bytes, blake3 } = *snapshot;
                    Ok::<_, CodecError>(StoredSnapshot { lsn: position("snapshot", lsn)?, bytes, blake3 })
                });
                Edit::SetSnapshot { id: NamespaceId(id), snapshot: snapshot.transpose()? }
            }
            StoredEdit::Checkpoint { lsn, durable_lsn } => Edit::Checkpoint {
                lsn: position("lsn", lsn)?,
                durable: position("durable_lsn", durable_lsn)?,
            },
            StoredEdit::Directory(stamp) => {
                let StoredStamp { lsn, records, digest } = *stamp;
                Edit::Directory { stamp: Stamp { lsn: position("lsn", lsn)?, records, digest } }
            }
        })
    }
}

/// A position of the log.
fn position(field: &'static str, found: u64) -> Result<Lsn, CodecError> {
    if found <= LSN_MAX { Ok(Lsn(found)) } else { Err(CodecError::Position { field, found }) }
}
