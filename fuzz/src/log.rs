//! Bytes that stand on disk: damaged, cut off or made up, they are refused by name or read as they were written.

use hindsight_storage::{decode_batch, encode_batch, frame};

use crate::memory::bounded;

/// Any salt will do; a segment has a random one.
const SALT: u64 = 0x5a17;

/// A frame that decodes encodes to the same bytes.
pub fn log_decode(data: &[u8]) {
    let Ok((header, crc, payload)) = frame::decode(data, SALT) else { return };
    let (bytes, encoded_crc) = header.encode(SALT);
    assert_eq!(encoded_crc, crc);
    assert_eq!(data[..bytes.len()], bytes);
    assert_eq!(frame::payload_crc(payload), header.payload_crc);
}

/// A batch that decodes is written in one form, and that form decodes to the same batch. Checksums stand before this
/// door; here they are left out, so that the fuzzer gets past them.
pub fn batch_decode(data: &[u8]) {
    let Ok(batch) = bounded(data.len(), || decode_batch(data)) else { return };
    let bytes = encode_batch(&batch).expect("a batch that was read can be written");
    let again = decode_batch(&bytes).expect("a batch that was written can be read");
    // Compared as bytes: a NaN is not equal to itself.
    assert_eq!(encode_batch(&again).expect("a batch that was read can be written"), bytes, "{batch:?}");
}
