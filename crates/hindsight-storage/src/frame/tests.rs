use proptest::prelude::*;

use super::*;

const SALT: u64 = 0x0123_4567_89ab_cdef;

fn frame(header: &FrameHeader, payload: &[u8]) -> Vec<u8> {
    let (bytes, _) = header.encode(SALT);
    [bytes.as_slice(), payload].concat()
}

fn hello() -> (FrameHeader, &'static [u8]) {
    let payload = "hello 你好".as_bytes();
    let header = FrameHeader {
        kind: FrameKind::Batch,
        lsn: Lsn(7),
        synced_lsn: Lsn(5),
        prev_crc: 0xdead_beef,
        payload_crc: payload_crc(payload),
        payload_bytes: u32::try_from(payload.len()).unwrap(),
    };
    (header, payload)
}

/// The bytes that `docs/disk-format.md` shows. A difference here is a new format version.
#[test]
fn golden_bytes() {
    let (header, payload) = hello();
    let hex = frame(&header, payload).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let golden = include_str!("../../tests/golden/frame.hex").split_whitespace().collect::<String>();
    assert_eq!(hex, golden);
}

/// The page that describes the bytes shows the same ones.
#[test]
fn the_document_shows_the_golden_bytes() {
    let document = include_str!("../../../../docs/disk-format.md");
    assert!(document.contains(include_str!("../../tests/golden/frame.hex")));
    assert!(document.contains(include_str!("../../tests/golden/segment.hex")));
}

#[test]
fn what_was_written_is_read() {
    let (header, payload) = hello();
    let bytes = frame(&header, payload);
    let (read, crc, read_payload) = decode(&bytes, SALT).unwrap();
    assert_eq!((read, read_payload), (header, payload));
    assert_eq!(crc, header.encode(SALT).1);
}

#[test]
fn every_flipped_bit_is_noticed() {
    let (header, payload) = hello();
    let good = frame(&header, payload);
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&bad, SALT).is_err(), "bit {bit}");
    }
}

#[test]
fn every_cut_and_every_other_salt_is_noticed() {
    let (header, payload) = hello();
    let good = frame(&header, payload);
    for len in 0..good.len() {
        assert_eq!(decode(&good[..len], SALT), Err(FrameFault::CutOff), "{len} bytes");
    }
    assert!(matches!(decode(&good, SALT + 1), Err(FrameFault::HeaderCrc { .. })));
}

#[test]
fn a_frame_at_another_place_is_noticed() {
    let (header, _) = hello();
    assert_eq!(header.check_place(Lsn(6), 0xdead_beef), Ok(()));
    assert_eq!(header.check_place(Lsn(7), 0xdead_beef), Err(FrameFault::Lsn { found: Lsn(7) }));
    assert_eq!(header.check_place(Lsn(6), 1), Err(FrameFault::Chain { expected: 1, found: 0xdead_beef }));
    let boast = FrameHeader { synced_lsn: Lsn(7), ..header };
    assert_eq!(boast.check_place(Lsn(6), 0xdead_beef), Err(FrameFault::Witness { found: Lsn(7) }));
    let marker = FrameHeader { kind: FrameKind::Marker, lsn: Lsn(6), synced_lsn: Lsn(6), ..header };
    assert_eq!(marker.check_place(Lsn(6), 0xdead_beef), Ok(()));
}

#[test]
fn a_length_beyond_the_limit_is_refused_before_anything_is_read() {
    let (header, _) = hello();
    let (bytes, _) = FrameHeader { payload_bytes: PAYLOAD_BYTES_MAX + 1, ..header }.encode(SALT);
    assert_eq!(decode(&bytes, SALT), Err(FrameFault::Length { found: PAYLOAD_BYTES_MAX + 1 }));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), salt: u64) {
        prop_assert!(decode(&bytes, salt).is_err());
    }

    /// Hostile fields under a right checksum: only what the checksum can't tell may be accepted.
    #[test]
    fn hostile_fields_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 40..200), salt: u64) {
        bytes[..4].copy_from_slice(&MAGIC);
        let head: [u8; HEADER_BYTES] = bytes[..HEADER_BYTES].try_into().unwrap();
        bytes[4..8].copy_from_slice(&header_crc(salt, &head).to_le_bytes());
        if let Ok((header, _, payload)) = decode(&bytes, salt) {
            prop_assert_eq!(payload_crc(payload), header.payload_crc);
        }
    }

    #[test]
    fn round_trip(lsn: u64, synced: u64, prev_crc: u32, salt: u64, payload in proptest::collection::vec(any::<u8>(), 0..300)) {
        let header = FrameHeader {
            kind: FrameKind::Batch, lsn: Lsn(lsn), synced_lsn: Lsn(synced), prev_crc,
            payload_crc: payload_crc(&payload), payload_bytes: u32::try_from(payload.len()).unwrap(),
        };
        let (head, crc) = header.encode(salt);
        let bytes = [head.as_slice(), &payload].concat();
        prop_assert_eq!(decode(&bytes, salt), Ok((header, crc, payload.as_slice())));
    }
}
