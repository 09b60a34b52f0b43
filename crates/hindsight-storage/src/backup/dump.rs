//! The dump of a backup.

use std::{io, ops::ControlFlow};

use hindsight_core::Timestamp;

use super::{
    BackupHeader,
    layout::{ENTRY_HEADER_BYTES, EntryHeader, EntryKind, HEADER_BYTES, TRAILER_BYTES, Trailer},
};
use crate::{
    inspect::{Each, InspectLine, describe_batch, read_range},
    io::IoFile,
    manifest::{edit_line, edits_of},
};

/// Hands over a line for the header, each entry and the trailer. The BLAKE3 of the whole is for `backup::verify`.
pub(crate) fn dump<F: IoFile>(file: &F, with_content: bool, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let line = match BackupHeader::decode(&read_range(file, 0, HEADER_BYTES as u64)?) {
        Ok(header) => header_line(&header),
        Err(error) => InspectLine::damaged(0, &error),
    };
    let end = file.len()?;
    let mut offset = HEADER_BYTES as u64;
    if each(line).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    while offset < end {
        let (line, edits) = entry(file, offset, end - offset, with_content)?;
        let at = offset;
        offset += line.bytes.max(1);
        let lines = std::iter::once(line).chain(edits.iter().map(|edit| edit_line(at, edit)));
        for line in lines {
            if each(line).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn header_line(header: &BackupHeader) -> InspectLine {
    let BackupHeader { store_id, lsn, checkpoint, created_ms, next_namespace } = header;
    let created = Timestamp::from_ms(i64::try_from(*created_ms).unwrap_or(i64::MAX));
    let note = format!(
        "database {store_id:016x}, checkpoint at lsn {checkpoint}, begun {created}, next namespace {next_namespace}"
    );
    InspectLine { lsn: Some(lsn.0), ..InspectLine::sound("backup", 0, HEADER_BYTES as u64, note) }
}

/// The line of what begins at `offset`, and the edits in it. What claims a length that can't be takes all that is left.
fn entry<F: IoFile>(
    file: &F,
    offset: u64,
    left: u64,
    with_content: bool,
) -> io::Result<(InspectLine, Vec<crate::manifest::Edit>)> {
    let head = read_range(file, offset, (TRAILER_BYTES as u64).min(left))?;
    let damaged = |bytes, fault: &dyn std::error::Error| {
        (InspectLine { bytes, ..InspectLine::damaged(offset, fault) }, Vec::new())
    };
    if Trailer::begins(&head) {
        let trailer = head.first_chunk().ok_or(super::BackupFault::CutOff).and_then(Trailer::decode);
        return Ok(match trailer {
            Ok(trailer) => (trailer_line(offset, &trailer), Vec::new()),
            Err(fault) => damaged(left, &fault),
        });
    }
    let claimed = head.first_chunk::<ENTRY_HEADER_BYTES>().ok_or(super::BackupFault::CutOff);
    let bytes = match claimed.and_then(EntryHeader::claimed_bytes) {
        Ok(payload_bytes) => ENTRY_HEADER_BYTES as u64 + u64::from(payload_bytes),
        Err(fault) => return Ok(damaged(left, &fault)),
    };
    let whole = read_range(file, offset, bytes)?;
    let Some((head, payload)) = whole.split_first_chunk().filter(|_| bytes <= left) else {
        return Ok(damaged(left, &super::BackupFault::CutOff));
    };
    let header = match EntryHeader::open(head, payload) {
        Ok(header) => header,
        Err(fault) => return Ok(damaged(bytes, &fault)),
    };
    let mut line = InspectLine::sound("edits", offset, bytes, String::new());
    let mut edits = Vec::new();
    match header.kind {
        EntryKind::Edits => {
            edits = edits_of(&mut line, payload);
            line.note = format!("{} edits{}", edits.len(), line.note);
        }
        EntryKind::Ledger => {
            line.kind = "ledger";
            line.note = format!("the erasure ledger from {} on", header.position);
        }
        EntryKind::Piece => {
            line.kind = "piece";
            let EntryHeader { namespace, file, position, .. } = header;
            line.note = format!("file {file} of namespace number {namespace}, from byte {position}");
        }
        EntryKind::Batch => {
            line.kind = "batch";
            line.lsn = Some(header.position);
            describe_batch(&mut line, payload, with_content);
        }
    }
    Ok((line, edits))
}

fn trailer_line(offset: u64, trailer: &Trailer) -> InspectLine {
    let Trailer { entries, lsn, bytes, blake3 } = trailer;
    let hash = blake3::Hash::from_bytes(*blake3).to_hex();
    let note = format!("{entries} entries, {bytes} bytes before it, blake3 {hash}");
    InspectLine { lsn: Some(lsn.0), ..InspectLine::sound("trailer", offset, TRAILER_BYTES as u64, note) }
}
