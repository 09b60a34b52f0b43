//! `/memory/purge` and `/namespaces/drop`: gone for good.

use axum::extract::{Request, State};
use hindsight_core::{MemoryId, Timestamp};
use hindsight_engine::{DropRequest, ErasureFile, ErasureReceipt, PurgeDone};
use hindsight_proto::call::{PurgeCall, PurgeTarget};
use serde::Serialize;

use super::{Http, Reply, answer};
use crate::app::shown;

#[derive(Serialize)]
struct PurgeReply {
    count: u32,
    ids: Vec<MemoryId>,
    /// What was made from them and stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    derived: Vec<MemoryId>,
    revision: u64,
    replayed: bool,
    /// Absent when nothing was purged.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<ReceiptReply>,
}

/// What was erased from where; at most 1,000 files of each list.
#[derive(Serialize)]
struct ReceiptReply {
    revision: u64,
    purged_at: Timestamp,
    erased_at: Timestamp,
    memories: u64,
    files_removed: u64,
    bytes_removed: u64,
    files_kept: usize,
    removed: Vec<FileReply>,
    kept: Vec<FileReply>,
    blake3: String,
}

#[derive(Serialize)]
struct FileReply {
    path: String,
    bytes: u64,
    blake3: String,
}

#[derive(Serialize)]
struct DropReply {
    count: u32,
    revision: u64,
    replayed: bool,
}

/// Erases memories for good: those named, those that match, or all of the namespace.
pub(super) async fn purge(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let ids = call.fields.ids()?;
    let filter = call.filter()?;
    let whole = call.fields.take("whole_namespace")?.unwrap_or(false);
    let expected_count: Option<u32> = call.fields.take("expected_count")?;
    let validate_only = call.fields.take("validate_only")?.unwrap_or(false);
    let with_derived = call.fields.take("with_derived")?.unwrap_or(false);
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let target = PurgeTarget::new(ids, filter, whole, expected_count)?;
    let purge = PurgeCall { namespace, target, with_derived, validate_only, request_id };
    let PurgeDone { count, ids, derived, replayed, revision, receipt } = http.app.purge(purge).await?;
    let receipt = receipt.map(ReceiptReply::from);
    answer(&PurgeReply { count, ids, derived, revision: revision.0, replayed, receipt })
}

/// Drops a namespace.
pub(super) async fn drop_namespace(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let expected_count = call.fields.take("expected_count")?;
    let validate_only = call.fields.take("validate_only")?.unwrap_or(false);
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let dropped =
        http.app.drop_namespace(namespace, DropRequest { expected_count, validate_only, request_id }).await?;
    answer(&DropReply { count: dropped.count, revision: dropped.revision.0, replayed: dropped.replayed })
}

impl From<ErasureReceipt> for ReceiptReply {
    fn from(receipt: ErasureReceipt) -> Self {
        let ErasureReceipt { lsn, purged_at, memories, done, removed, kept } = receipt;
        ReceiptReply {
            revision: lsn.0,
            purged_at,
            erased_at: done.at,
            memories,
            files_removed: done.files_removed,
            bytes_removed: done.bytes_removed,
            files_kept: kept.len(),
            removed: shown(&removed).map(FileReply::from).collect(),
            kept: shown(&kept).map(FileReply::from).collect(),
            blake3: hex(&done.blake3),
        }
    }
}

impl From<&ErasureFile> for FileReply {
    fn from(ErasureFile { path, bytes, blake3 }: &ErasureFile) -> Self {
        FileReply { path: path.display().to_string(), bytes: *bytes, blake3: hex(blake3) }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
