//! A purge, on disk: in the log as a change, in the erasure ledger as an entry.

use bincode::{Decode, Encode};
use hindsight_core::{Lsn, Purge, PurgeRequestHash, Purged, Timestamp};

use crate::erasure::{Erasure, ErasureDone};

#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredPurge {
    key: [u8; 32],
    target: StoredPurged,
    memories: u64,
    request: Option<StoredPurgeRequest>,
}

#[derive(Debug, Encode, Decode)]
enum StoredPurged {
    Memories(Vec<u128>),
    Namespace(u128),
    // From here on since schema 3.
    MemoriesAndValues(Vec<u128>, Vec<u128>),
}

#[derive(Debug, Encode, Decode)]
struct StoredPurgeRequest {
    id: u128,
    digest: u128,
}

/// An entry of the ledger.
#[derive(Debug, Encode, Decode)]
pub(crate) struct StoredErasure {
    lsn: u64,
    at_ms: i64,
    purge: StoredPurge,
    done: Option<StoredDone>,
}

#[derive(Debug, Encode, Decode)]
struct StoredDone {
    at_ms: i64,
    files_removed: u64,
    bytes_removed: u64,
    blake3: [u8; 32],
}

impl From<&Purge> for StoredPurge {
    fn from(Purge { key, target, memories, request, values }: &Purge) -> Self {
        let target = match target {
            Purged::Memories(hashes) if !values.is_empty() => {
                StoredPurged::MemoriesAndValues(hashes.clone(), values.clone())
            }
            Purged::Memories(hashes) => StoredPurged::Memories(hashes.clone()),
            Purged::Namespace(hash) => StoredPurged::Namespace(*hash),
        };
        let request = request.map(|PurgeRequestHash { id, digest }| StoredPurgeRequest { id, digest });
        StoredPurge { key: *key, target, memories: *memories, request }
    }
}

impl From<StoredPurge> for Purge {
    fn from(StoredPurge { key, target, memories, request }: StoredPurge) -> Self {
        let (target, values) = match target {
            StoredPurged::Memories(hashes) => (Purged::Memories(hashes), Vec::new()),
            StoredPurged::MemoriesAndValues(hashes, values) => (Purged::Memories(hashes), values),
            StoredPurged::Namespace(hash) => (Purged::Namespace(hash), Vec::new()),
        };
        let request = request.map(|StoredPurgeRequest { id, digest }| PurgeRequestHash { id, digest });
        Purge { key, target, memories, request, values }
    }
}

impl From<&Erasure> for StoredErasure {
    fn from(Erasure { lsn, at, purge, done }: &Erasure) -> Self {
        let done = done.map(|ErasureDone { at, files_removed, bytes_removed, blake3 }| StoredDone {
            at_ms: at.as_ms(),
            files_removed,
            bytes_removed,
            blake3,
        });
        StoredErasure { lsn: lsn.0, at_ms: at.as_ms(), purge: purge.into(), done }
    }
}

impl From<StoredErasure> for Erasure {
    fn from(StoredErasure { lsn, at_ms, purge, done }: StoredErasure) -> Self {
        let done = done.map(|StoredDone { at_ms, files_removed, bytes_removed, blake3 }| ErasureDone {
            at: Timestamp::from_ms(at_ms),
            files_removed,
            bytes_removed,
            blake3,
        });
        Erasure { lsn: Lsn(lsn), at: Timestamp::from_ms(at_ms), purge: purge.into(), done }
    }
}
