//! What calls that take away for good give back.

use hindsight_core::{Invalid, Lsn, MemoryId, Timestamp};
use hindsight_proto::{time, v1};
use serde::Serialize;

/// What became of a purge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Purged {
    /// How many memories are gone (or would be), forgotten ones included.
    pub count: u32,
    /// Their ids, at most 1,000 of them; none when the request was carried out before.
    pub ids: Vec<MemoryId>,
    /// What was made from them and stays, at most 1,000 of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<MemoryId>,
    /// The request id was seen before.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
    /// What was erased from where; absent when nothing was purged.
    pub receipt: Option<PurgeReceipt>,
}

/// What was erased from where: made when no byte of it was left in the data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PurgeReceipt {
    /// The log position of the purge.
    pub revision: Lsn,
    /// When the purge was decided.
    pub purged_at: Timestamp,
    /// When no byte was left.
    pub erased_at: Timestamp,
    /// How many memories it took.
    pub memories: u64,
    /// How many files were removed.
    pub files_removed: u64,
    /// How many bytes they had.
    pub bytes_removed: u64,
    /// How many files are left.
    pub files_kept: u64,
    /// The files that were removed, at most 1,000; none when the server was restarted since.
    pub removed: Vec<PurgedFile>,
    /// The files that are left, at most 1,000; none when the server was restarted since.
    pub kept: Vec<PurgedFile>,
    /// The BLAKE3 over both lists, in hex.
    pub blake3: String,
}

/// A file of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PurgedFile {
    /// Its path below the data directory.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// The BLAKE3 of its content, in hex.
    pub blake3: String,
}

/// What became of a drop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// How many memories went with the namespace (or would), forgotten ones included.
    pub count: u32,
    /// The request id was seen before.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

impl Purged {
    pub(crate) fn from_wire(wire: v1::PurgeResponse) -> Result<Purged, Invalid> {
        let v1::PurgeResponse { count, ids, derived, replayed, revision, receipt } = wire;
        let ids: Result<Vec<MemoryId>, _> = ids.iter().map(|id| id.parse()).collect();
        let ids = ids.map_err(|_| Invalid::one("ids", "has one that is no id"))?;
        let derived = derived.iter().map(|id| hindsight_proto::call::memory_id(id));
        let derived = derived.collect::<Result<_, Invalid>>()?;
        let receipt = receipt.map(PurgeReceipt::from_wire).transpose()?;
        Ok(Purged { count, ids, derived, replayed, revision: Lsn(revision), receipt })
    }
}

impl PurgeReceipt {
    fn from_wire(wire: v1::PurgeReceipt) -> Result<PurgeReceipt, Invalid> {
        let files = |files: Vec<v1::PurgedFile>| {
            let file =
                |v1::PurgedFile { path, bytes, blake3 }| PurgedFile { path, bytes, blake3: hex(&blake3) };
            files.into_iter().map(file).collect()
        };
        Ok(PurgeReceipt {
            revision: Lsn(wire.revision),
            purged_at: time::required("purged_at", wire.purged_at.as_ref())?,
            erased_at: time::required("erased_at", wire.erased_at.as_ref())?,
            memories: wire.memories,
            files_removed: wire.files_removed,
            bytes_removed: wire.bytes_removed,
            files_kept: wire.files_kept,
            removed: files(wire.removed),
            kept: files(wire.kept),
            blake3: hex(&wire.blake3),
        })
    }
}

impl Dropped {
    pub(crate) fn from_wire(wire: &v1::DropNamespaceResponse) -> Dropped {
        Dropped { count: wire.count, replayed: wire.replayed, revision: Lsn(wire.revision) }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
