//! What can still be read of a damaged record file: every entry whose own checksum is right.

use super::{
    Loaded, NamespaceId, RecordPosition,
    layout::{
        ENTRY_HEADER_BYTES, EntryHeader, EntryKind, FOOTER_BYTES, Footer, HEADER_BYTES, RecordFileHeader,
    },
    scan::open_entry,
};

/// A part of a file that can't be read, in bytes from its start.
pub(crate) type Gap = std::ops::Range<u64>;

/// What was found in a damaged record file.
#[derive(Debug, Default)]
pub(crate) struct Salvaged {
    /// Its header, where that is sound.
    pub(crate) header: Option<RecordFileHeader>,
    pub(crate) entries: Vec<Loaded>,
    pub(crate) records: u64,
    pub(crate) requests: u64,
    pub(crate) gaps: Vec<Gap>,
}

/// The header that a file begins with, where that is sound.
pub(crate) fn header_of(bytes: &[u8]) -> Option<RecordFileHeader> {
    RecordFileHeader::decode(bytes).ok()
}

/// Reads what can be read. `id` and `number` say which file it is, for the positions.
pub(crate) fn salvage(bytes: &[u8], id: NamespaceId, number: u32) -> Salvaged {
    let mut found = Salvaged { header: RecordFileHeader::decode(bytes).ok(), ..Salvaged::default() };
    let len = bytes.len() as u64;
    let Some(salt) = salt(bytes) else {
        // Without the salt no entry can be told from other bytes.
        found.gaps.extend((len > 0).then_some(0..len));
        return found;
    };
    let mut entries = Entries { bytes, salt, end: entries_end(bytes, salt), hashed: 0 };
    if found.header.is_none() {
        found.gaps.push(0..(HEADER_BYTES as u64).min(len));
    }
    let mut at = HEADER_BYTES;
    while at < entries.end {
        let next = match entries.at(at) {
            Some((header, payload)) => {
                let position = RecordPosition { namespace: id, file: number, offset: at as u64 };
                let next = at + ENTRY_HEADER_BYTES + payload.len();
                match open_entry(position, &header, payload) {
                    Ok(loaded) => {
                        match header.kind {
                            EntryKind::Record => found.records += 1,
                            EntryKind::Request => found.requests += 1,
                        }
                        found.entries.push(loaded);
                    }
                    Err(_) => found.gaps.push(at as u64..next as u64),
                }
                next
            }
            None => {
                let next = entries.behind(at);
                found.gaps.push(at as u64..next as u64);
                next
            }
        };
        at = next;
    }
    if entries.end == bytes.len() {
        // No footer: whatever followed is gone.
        found.gaps.push(len..len);
    }
    found
}

fn entries_end(bytes: &[u8], salt: u64) -> usize {
    let end = bytes.len().saturating_sub(FOOTER_BYTES);
    let is_footer = bytes.get(end..).is_some_and(|foot| Footer::decode(salt, foot).is_ok());
    if is_footer { end } else { bytes.len() }
}

/// The salt, once something proves it: a sound header, or an entry or a footer that it fits. A header of which one bit
/// is wrong still gives it.
fn salt(bytes: &[u8]) -> Option<u64> {
    if let Ok(header) = RecordFileHeader::decode(bytes) {
        return Some(header.salt);
    }
    let read = u64::from_le_bytes(*bytes.get(24..32)?.first_chunk()?);
    let flips = (0..64).map(|bit| read ^ 1 << bit);
    std::iter::once(read).chain(flips).find(|salt| {
        let mut entries = Entries { bytes, salt: *salt, end: bytes.len(), hashed: 0 };
        entries_end(bytes, *salt) < bytes.len() || entries.at(HEADER_BYTES).is_some()
    })
}

struct Entries<'a> {
    bytes: &'a [u8],
    salt: u64,
    end: usize,
    /// How many bytes were hashed in vain, so that content that looks like entries can't make this take for ever.
    hashed: usize,
}

impl<'a> Entries<'a> {
    /// The entry that begins here, if one does.
    fn at(&mut self, at: usize) -> Option<(EntryHeader, &'a [u8])> {
        let room = self.bytes.get(at..self.end)?;
        let head = room.first_chunk::<ENTRY_HEADER_BYTES>()?;
        if !matches!(head.get(32..36)?, [1 | 2, 0, 0, 0]) {
            return None;
        }
        let entry = room.get(..ENTRY_HEADER_BYTES + EntryHeader::claimed_bytes(head).ok()?)?;
        let opened = EntryHeader::open(self.salt, entry).ok();
        self.hashed += if opened.is_none() { entry.len() } else { 0 };
        opened
    }

    /// Where entries go on behind an unreadable one.
    fn behind(&mut self, at: usize) -> usize {
        // Most often only its payload is damaged and its length is right.
        let head = self.bytes.get(at..).and_then(|bytes| bytes.first_chunk::<ENTRY_HEADER_BYTES>());
        let claimed = head.and_then(|head| EntryHeader::claimed_bytes(head).ok());
        if let Some(next) = claimed.map(|bytes| at + ENTRY_HEADER_BYTES + bytes)
            && (next == self.end || next < self.end && self.at(next).is_some())
        {
            return next;
        }
        let hashed_max = self.bytes.len().saturating_mul(64).saturating_add(1 << 20);
        (at + 1..self.end)
            .find(|next| self.hashed > hashed_max || self.at(*next).is_some())
            .filter(|_| self.hashed <= hashed_max)
            .unwrap_or(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        records::{RecordWriter, SeenRequest},
        testing::stores::{disk, record},
    };
    use hindsight_core::{Lsn, RequestKey};
    use std::path::Path;

    const ID: NamespaceId = NamespaceId(7);

    /// A file of twelve records and a request.
    fn file() -> Vec<u8> {
        let (io, path) = (disk(1), Path::new("/x.rec"));
        let header = RecordFileHeader { store_id: 9, salt: 0x1234_5678, namespace: ID, number: 3 };
        let mut writer = RecordWriter::create(&io, path, &header).unwrap();
        let name = "a".parse().unwrap();
        for number in 1..=12_u64 {
            writer.record(Lsn(number), &record(&name, u128::from(number), 1)).unwrap();
        }
        let key = RequestKey { id: "r".to_owned(), digest: 5 };
        writer.request(&SeenRequest { key, ids: Vec::new(), lsn: Lsn(3) }).unwrap();
        writer.finish().unwrap();
        io.read_file(path).unwrap()
    }

    fn lsns(found: &Salvaged) -> Vec<u64> {
        let of = |loaded: &Loaded| match loaded {
            Loaded::Record { lsn, .. } => Some(lsn.0),
            Loaded::Request(_) => None,
        };
        found.entries.iter().filter_map(of).collect()
    }

    #[test]
    fn a_flipped_bit_costs_one_entry_at_most_and_nothing_is_read_wrong() {
        let bytes = file();
        let whole = salvage(&bytes, ID, 3);
        assert_eq!((lsns(&whole), whole.requests, whole.gaps.len()), ((1..=12).collect(), 1, 0));
        for at in (0..bytes.len()).step_by(3) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            let found = salvage(&bad, ID, 3);
            assert!(!found.gaps.is_empty(), "byte {at}");
            assert!(found.entries.len() >= 12, "byte {at}: {:?}", found.gaps);
            assert!(found.entries.iter().all(|entry| whole.entries.contains(entry)), "byte {at}");
        }
    }

    #[test]
    fn behind_a_range_of_garbage_it_goes_on() {
        let bytes = file();
        for (from, len) in [(300, 700), (2_000, 3_000), (10, 900)] {
            let mut bad = bytes.clone();
            bad[from..from + len].fill(0xa5);
            let found = salvage(&bad, ID, 3);
            // With the salt everything is gone.
            assert_eq!(found.entries.is_empty(), from == 10);
            assert!(from == 10 || lsns(&found).ends_with(&[12]), "{:?}", found.gaps);
        }
        let cut = salvage(&bytes[..bytes.len() / 2], ID, 3);
        assert!(cut.records > 0 && cut.records < 12 && !cut.gaps.is_empty());
        assert!(salvage(b"", ID, 3).entries.is_empty());
    }
}
