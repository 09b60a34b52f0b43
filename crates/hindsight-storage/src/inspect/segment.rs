//! The dump of a log segment.

use std::{io, ops::ControlFlow};

use hindsight_core::Lsn;

use super::{
    Each, InspectLine, describe_batch,
    frames::{Found, Frames},
};
use crate::{
    frame::FrameKind,
    io::IoFile,
    segment::{FRAMES_START, SEGMENT_HEADER_BYTES, SegmentHeader, read_header},
};

pub(super) fn dump<F: IoFile>(file: &F, with_content: bool, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let header = match read_header(file)? {
        Ok(header) => header,
        // Without its salt no frame can be told from other bytes.
        Err(fault) => return Ok(each(InspectLine::damaged(0, &fault))),
    };
    if each(header_line(&header)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let mut frames = Frames::begin(file, header.salt, FRAMES_START)?;
    // What the next frame is held against; nothing behind damage.
    let mut before = Some((Lsn(header.first_lsn.0.saturating_sub(1)), header.prev.crc));
    loop {
        let line = match frames.next()? {
            Found::End => return Ok(ControlFlow::Continue(())),
            Found::Damaged { offset, bytes, fault } => {
                before = None;
                InspectLine { bytes, ..InspectLine::damaged(offset, &fault) }
            }
            Found::Frame { offset, bytes, header, crc } => {
                let mut line = InspectLine::sound(kind_name(header.kind), offset, bytes, String::new());
                line.lsn = Some(header.lsn.0);
                if header.kind == FrameKind::Batch {
                    describe_batch(&mut line, frames.payload(&header), with_content);
                }
                let durable = format!("durable up to {}", header.synced_lsn);
                line.note = if line.note.is_empty() { durable } else { format!("{}, {durable}", line.note) };
                let place = before.map_or(Ok(()), |(last, crc)| header.check_place(last, crc));
                if let Err(fault) = place {
                    line.note = format!("{}; does not belong here: {fault}", line.note);
                }
                before = Some((header.lsn, crc));
                line
            }
        };
        if each(line).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
}

fn header_line(header: &SegmentHeader) -> InspectLine {
    let SegmentHeader { store_id, salt, first_lsn, prev } = header;
    let note = format!(
        "database {store_id:016x}, salt {salt:016x}, begins with lsn {first_lsn}, the segment before ends at byte {} with frame {:08x}",
        prev.offset, prev.crc
    );
    InspectLine::sound("segment", 0, SEGMENT_HEADER_BYTES as u64, note)
}

const fn kind_name(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Batch => "batch",
        FrameKind::Marker => "marker",
        FrameKind::CleanShutdown => "clean shutdown",
    }
}
