//! The dump of a manifest, and edits in words.

use std::{io, ops::ControlFlow};

use super::{
    Edit,
    layout::{HEADER_BYTES, ManifestHeader},
};
use crate::{
    codec,
    frame::FrameKind,
    inspect::{Each, Found, Frames, InspectLine, read_range},
    io::IoFile,
    segment::FRAMES_START,
    snapshot::StoredSnapshot,
};

/// Hands over a line for the header, each batch and each edit in it.
pub(crate) fn dump<F: IoFile>(file: &F, _with_content: bool, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let header = match ManifestHeader::decode(&read_range(file, 0, HEADER_BYTES as u64)?) {
        Ok(header) => header,
        // Without its salt no frame can be told from other bytes.
        Err(fault) => return Ok(each(InspectLine::damaged(0, &fault))),
    };
    let ManifestHeader { store_id, salt, number, next_namespace, first, image_last, .. } = header;
    let note = format!(
        "database {store_id:016x}, salt {salt:016x}, manifest {number}, next namespace {next_namespace}, image in batches {first} to {image_last}"
    );
    if each(InspectLine::sound("manifest", 0, HEADER_BYTES as u64, note)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let mut frames = Frames::begin(file, salt, FRAMES_START)?;
    loop {
        let (mut line, edits) = match frames.next()? {
            Found::End => return Ok(ControlFlow::Continue(())),
            Found::Damaged { offset, bytes, fault } => {
                (InspectLine { bytes, ..InspectLine::damaged(offset, &fault) }, Vec::new())
            }
            Found::Frame { offset, bytes, header, .. } => {
                let mut line = InspectLine::sound("marker", offset, bytes, String::new());
                line.note = format!("batch {}, durable up to batch {}", header.lsn, header.synced_lsn);
                let mut edits = Vec::new();
                if header.kind == FrameKind::Batch {
                    line.kind = "edits";
                    edits = edits_of(&mut line, frames.payload(&header));
                }
                (line, edits)
            }
        };
        let offset = line.offset;
        if !edits.is_empty() {
            line.note = format!("{}, {} edits", line.note, edits.len());
        }
        let lines = std::iter::once(line).chain(edits.iter().map(|edit| edit_line(offset, edit)));
        for line in lines {
            if each(line).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

/// The edits of a payload; one that does not decode makes the line unsound.
pub(crate) fn edits_of(line: &mut InspectLine, payload: &[u8]) -> Vec<Edit> {
    codec::decode_edits(payload).unwrap_or_else(|error| {
        line.is_sound = false;
        line.note = error.to_string();
        Vec::new()
    })
}

/// The line of one edit of the batch that begins at `offset`.
pub(crate) fn edit_line(offset: u64, edit: &Edit) -> InspectLine {
    let mut line = InspectLine::sound("edit", offset, 0, edit_text(edit));
    if let Edit::AddNamespace { name, .. } = edit {
        line.namespace = Some(name.as_str().to_owned());
    }
    line
}

fn edit_text(edit: &Edit) -> String {
    match edit {
        Edit::AddNamespace { id, name, next_file } => {
            format!("add namespace {id}: {name}, next file {next_file}")
        }
        Edit::DropNamespace { id } => format!("drop namespace {id}"),
        Edit::AddFile { namespace, number, file } => format!(
            "add file {number} of namespace {namespace}: {} bytes, {} records, {} requests, blake3 {}",
            file.bytes,
            file.records,
            file.requests,
            blake3::Hash::from_bytes(file.blake3).to_hex()
        ),
        Edit::RemoveFile { namespace, number } => format!("remove file {number} of namespace {namespace}"),
        Edit::SetNamespace { id, applied, live, .. } => {
            format!("namespace {id} is at lsn {applied} with {live} memories")
        }
        Edit::SetModel { id, model } if model.is_none() => format!("namespace {id} has no vectors"),
        Edit::SetModel { id, model } => {
            format!("namespace {id} has vectors of {} with {} numbers", model.name, model.dimension)
        }
        Edit::SetSettings { id, settings } => {
            let pairs = settings.pairs();
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key} {value}")).collect();
            let settings = if pairs.is_empty() { "no settings".to_owned() } else { pairs.join(", ") };
            format!("namespace {id} has {settings}")
        }
        Edit::SetSnapshot { id, snapshot: Some(StoredSnapshot { lsn, bytes, blake3 }) } => format!(
            "namespace {id} has an index snapshot at lsn {lsn}: {bytes} bytes, blake3 {}",
            blake3::Hash::from_bytes(*blake3).to_hex()
        ),
        Edit::SetSnapshot { id, snapshot: None } => format!("namespace {id} has no index snapshot"),
        Edit::Checkpoint { lsn, durable } => format!("checkpoint at lsn {lsn}, durable up to {durable}"),
        Edit::Directory { stamp } => {
            format!(
                "directory of {} records at lsn {}, digest {:032x}",
                stamp.records, stamp.lsn, stamp.digest
            )
        }
    }
}
