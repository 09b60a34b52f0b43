//! The answer to a purge, for the wire.

use hindsight_engine::{ErasureFile, ErasureReceipt, PurgeDone};
use hindsight_proto::{time, v1};

use crate::app::shown;

pub(super) fn purged(done: PurgeDone) -> v1::PurgeResponse {
    let PurgeDone { count, ids, derived, replayed, revision, receipt } = done;
    v1::PurgeResponse {
        count,
        ids: ids.iter().map(ToString::to_string).collect(),
        derived: derived.iter().map(ToString::to_string).collect(),
        replayed,
        revision: revision.0,
        receipt: receipt.map(receipt_to_wire),
    }
}

fn receipt_to_wire(receipt: ErasureReceipt) -> v1::PurgeReceipt {
    let ErasureReceipt { lsn, purged_at, memories, done, removed, kept } = receipt;
    v1::PurgeReceipt {
        revision: lsn.0,
        purged_at: Some(time::to_wire(purged_at)),
        erased_at: Some(time::to_wire(done.at)),
        memories,
        files_removed: done.files_removed,
        bytes_removed: done.bytes_removed,
        removed: shown(&removed).map(file).collect(),
        files_kept: kept.len() as u64,
        kept: shown(&kept).map(file).collect(),
        blake3: done.blake3.to_vec().into(),
    }
}

fn file(ErasureFile { path, bytes, blake3 }: &ErasureFile) -> v1::PurgedFile {
    v1::PurgedFile { path: path.display().to_string(), bytes: *bytes, blake3: blake3.to_vec().into() }
}
