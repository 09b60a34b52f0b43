//! Makes checksums right, so that what stands behind them is read. `docs/disk-format.md` says where they stand.

const STORE_ID: [u8; 8] = 0x1111_2222_3333_4444_u64.to_le_bytes();

fn crc(parts: &[&[u8]]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().to_le_bytes()
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + 4)?;
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}

/// The header that a file begins with: its magic, its checksum over all but itself, the database.
fn header(bytes: &mut [u8], magic: &[u8; 8], len: usize) -> Option<[u8; 8]> {
    let head = bytes.get_mut(..len)?;
    head[..8].copy_from_slice(magic);
    head[8..12].copy_from_slice(&1_u32.to_le_bytes());
    head[16..24].copy_from_slice(&STORE_ID);
    let sum = crc(&[&head[..12], &head[16..]]);
    head[12..16].copy_from_slice(&sum);
    head[24..32].try_into().ok()
}

/// The frames from byte 4096 on: each that begins behind another one, or on a sector.
fn frames(bytes: &mut [u8], salt: [u8; 8], mut prev: [u8; 4]) {
    let mut at = 4096;
    while at + 40 <= bytes.len() {
        if !bytes[at..].starts_with(b"HSfr") {
            at = if at.is_multiple_of(512) { at + 512 } else { at.next_multiple_of(512) };
            continue;
        }
        let end = at + 40 + number(bytes, at + 32).unwrap_or(0);
        if let Some(payload) = bytes.get(at + 40..end) {
            let sum = crc(&[payload]);
            bytes[at + 8..at + 12].copy_from_slice(&sum);
        }
        bytes[at + 12..at + 16].copy_from_slice(&prev);
        prev = crc(&[&salt, &bytes[at..at + 4], &bytes[at + 8..at + 40]]);
        bytes[at + 4..at + 8].copy_from_slice(&prev);
        at = end;
    }
}

/// A segment of the log. Returns the number that it should be named by.
pub(crate) fn segment(bytes: &mut [u8]) -> u64 {
    let Some(salt) = header(bytes, b"HSsegmnt", 56) else { return 1 };
    let prev = bytes[48..52].try_into().unwrap_or_default();
    frames(bytes, salt, prev);
    u64::from_le_bytes(bytes[32..40].try_into().unwrap_or_default())
}

/// A manifest with the number 1.
pub(crate) fn manifest(bytes: &mut [u8]) {
    if let Some(number) = bytes.get_mut(32..36) {
        number.copy_from_slice(&1_u32.to_le_bytes());
    }
    let Some(salt) = header(bytes, b"HSmanfst", 60) else { return };
    let prev = bytes[56..60].try_into().unwrap_or_default();
    frames(bytes, salt, prev);
}

/// A record file.
pub(crate) fn record_file(bytes: &mut [u8]) {
    let Some(salt) = header(bytes, b"HSrecord", 40) else { return };
    let mut at = 40;
    while let Some(end) = number(bytes, at).map(|len| at + 36 + len).filter(|end| *end <= bytes.len()) {
        let entry = &mut bytes[at..end];
        let sum = crc(&[&salt, &entry[..4], &entry[8..]]);
        entry[4..8].copy_from_slice(&sum);
        at = end;
    }
}

/// A backup: its header, the entries up to the trailer, and the trailer.
pub(crate) fn backup(bytes: &mut [u8]) {
    if bytes.len() < 56 + 68 {
        return;
    }
    header(bytes, b"HSbackup", 56);
    let (mut at, mut entries) = (56, 0_u64);
    let trailer = bytes.len() - 68;
    while at + 32 <= trailer {
        let Some(end) = number(bytes, at).map(|len| at + 32 + len).filter(|end| *end <= trailer) else {
            break;
        };
        let entry = &mut bytes[at..end];
        let sum = crc(&[&entry[..4], &entry[8..]]);
        entry[4..8].copy_from_slice(&sum);
        (at, entries) = (end, entries + 1);
    }
    let hash = blake3::hash(&bytes[..trailer]);
    let lsn: [u8; 8] = bytes[24..32].try_into().unwrap_or_default();
    let foot = &mut bytes[trailer..];
    foot[..8].copy_from_slice(b"HSbckend");
    foot[8..16].copy_from_slice(&entries.to_le_bytes());
    foot[16..24].copy_from_slice(&lsn);
    foot[24..32].copy_from_slice(&(trailer as u64).to_le_bytes());
    foot[32..64].copy_from_slice(hash.as_bytes());
    let sum = crc(&[&foot[..64]]);
    foot[64..].copy_from_slice(&sum);
}
