//! The dump of a record file.

use std::{io, ops::ControlFlow};

use hindsight_core::MemoryId;

use super::layout::{
    ENTRY_HEADER_BYTES, EntryHeader, EntryKind, FOOTER_BYTES, Footer, HEADER_BYTES, RecordFileHeader,
};
use crate::{
    codec,
    inspect::{Each, InspectLine, read_range, record_content},
    io::IoFile,
};

/// Hands over a line for the header, each entry and the footer.
pub(crate) fn dump<F: IoFile>(file: &F, with_content: bool, each: Each<'_>) -> io::Result<ControlFlow<()>> {
    let header = match RecordFileHeader::decode(&read_range(file, 0, HEADER_BYTES as u64)?) {
        Ok(header) => header,
        // Without its salt no entry can be checked.
        Err(fault) => return Ok(each(InspectLine::damaged(0, &fault))),
    };
    let RecordFileHeader { store_id, salt, namespace, number } = header;
    let note =
        format!("database {store_id:016x}, salt {salt:016x}, file {number} of namespace number {namespace}");
    if each(InspectLine::sound("record file", 0, HEADER_BYTES as u64, note)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let footer_at = file.len()?.saturating_sub(FOOTER_BYTES as u64).max(HEADER_BYTES as u64);
    let mut offset = HEADER_BYTES as u64;
    while offset < footer_at {
        let line = entry(file, salt, offset, footer_at, with_content)?;
        offset += line.bytes.max(1);
        if each(line).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    let line = match Footer::decode(salt, &read_range(file, footer_at, FOOTER_BYTES as u64)?) {
        Ok(Footer { records, requests, digest }) => {
            let note = format!("{records} records, {requests} requests, digest {:032x}", digest.as_u128());
            InspectLine::sound("footer", footer_at, FOOTER_BYTES as u64, note)
        }
        Err(fault) => InspectLine::damaged(footer_at, &fault),
    };
    Ok(each(line))
}

/// The line of one entry. One that claims a length that can't be takes all that is left.
fn entry<F: IoFile>(
    file: &F,
    salt: u64,
    offset: u64,
    end: u64,
    with_content: bool,
) -> io::Result<InspectLine> {
    let left = end - offset;
    let head = read_range(file, offset, (ENTRY_HEADER_BYTES as u64).min(left))?;
    let claimed = head.first_chunk::<ENTRY_HEADER_BYTES>().map(EntryHeader::claimed_bytes);
    let bytes = match claimed {
        Some(Ok(payload_bytes)) => (ENTRY_HEADER_BYTES + payload_bytes) as u64,
        Some(Err(fault)) => return Ok(InspectLine { bytes: left, ..InspectLine::damaged(offset, &fault) }),
        None => u64::MAX,
    };
    if bytes > left {
        let fault = super::RecordFault::CutOff;
        return Ok(InspectLine { bytes: left, ..InspectLine::damaged(offset, &fault) });
    }
    let whole = read_range(file, offset, bytes)?;
    let (entry, payload) = match EntryHeader::open(salt, &whole) {
        Ok(opened) => opened,
        Err(fault) => return Ok(InspectLine { bytes, ..InspectLine::damaged(offset, &fault) }),
    };
    let mut line = InspectLine::sound("record", offset, bytes, String::new());
    line.lsn = Some(entry.lsn.0);
    let described = match entry.kind {
        EntryKind::Record => {
            line.ids.push(MemoryId::from_u128(entry.key).to_string());
            codec::decode_record(payload).map(|record| {
                line.namespace = Some(record.memory.namespace.as_str().to_owned());
                line.note = format!("version {}, {}", record.memory.version, record.memory.state);
                line.content = with_content.then(|| record_content(&record));
            })
        }
        EntryKind::Request => {
            line.kind = "request";
            codec::decode_request(payload, entry.lsn).map(|request| {
                line.ids = request.ids.iter().map(ToString::to_string).collect();
                line.note = "a request that was carried out".to_owned();
            })
        }
    };
    if let Err(error) = described {
        line.is_sound = false;
        line.note = error.to_string();
    }
    Ok(line)
}
