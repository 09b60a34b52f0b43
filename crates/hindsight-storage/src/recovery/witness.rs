//! The scan behind a bad place: does any frame there say that the missing batch was durable?

use std::io;

use hindsight_core::Lsn;

use crate::{
    frame::{FrameHeader, HEADER_BYTES, MAGIC},
    io::{IoFile, read_full_at},
    reader::is_zero,
};

const CHUNK_BYTES: usize = 1 << 20;

/// What a scan found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    /// The newest LSN that any sound header says to be durable; 0 when there is none.
    pub(crate) synced_lsn: Lsn,
    /// Where the last byte that isn't zero ends, in bytes from the start of the file; 0 when all are zero.
    pub(crate) written_end: u64,
}

/// Looks at every offset from `from` to the end of the file for a header with a right checksum. Payloads are not
/// read: the header alone is the witness, and so the scan takes time in proportion to the bytes.
pub(crate) fn scan<F: IoFile>(file: &F, from: u64, salt: u64) -> io::Result<Scan> {
    let mut scan = Scan { synced_lsn: Lsn(0), written_end: 0 };
    let mut window: Vec<u8> = Vec::new();
    let mut window_start = from;
    let file_len = file.len()?;
    loop {
        let held = window.len();
        let at = window_start + held as u64;
        let left = usize::try_from(file_len.saturating_sub(at)).unwrap_or(usize::MAX);
        window.resize(held + CHUNK_BYTES.min(left), 0);
        let read = read_full_at(file, at, window.get_mut(held..).unwrap_or_default())?;
        window.truncate(held + read);
        let fresh = window.get(held..).unwrap_or_default();
        if !is_zero(fresh) {
            let last = fresh.iter().rposition(|byte| *byte != 0).unwrap_or(0);
            scan.written_end = window_start + (held + last) as u64 + 1;
            look_for_headers(&window, salt, &mut scan);
        }
        if read < CHUNK_BYTES {
            return Ok(scan);
        }
        // A header may lie across the border of two reads.
        let keep_from = window.len().saturating_sub(HEADER_BYTES - 1);
        window.drain(..keep_from);
        window_start += keep_from as u64;
    }
}

fn look_for_headers(window: &[u8], salt: u64, scan: &mut Scan) {
    for (at, head) in window.windows(HEADER_BYTES).enumerate() {
        if !head.starts_with(&MAGIC) {
            continue;
        }
        let head = window.get(at..).and_then(|bytes| bytes.first_chunk::<HEADER_BYTES>());
        if let Some(Ok((header, _))) = head.map(|head| FrameHeader::decode(head, salt)) {
            scan.synced_lsn = scan.synced_lsn.max(header.synced_lsn);
        }
    }
}
