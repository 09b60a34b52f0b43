//! Names and the header of manifests. They are described in `docs/disk-format.md`, section "Manifest".

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::ManifestFault;
use crate::segment::LSN_MAX;
use crate::{records::parse_number, segment::TMP_SUFFIX};

/// The version of manifests that this code writes, and the newest that it reads.
pub const MANIFEST_VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 60;

const MAGIC: [u8; 8] = *b"HSmanfst";
const PREFIX: &str = "MANIFEST-";

/// What stands at the beginning of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestHeader {
    /// Which database it belongs to.
    pub store_id: u64,
    /// Goes into the checksum of every frame header of this file.
    pub salt: u64,
    /// Which manifest it is; also its name.
    pub number: u32,
    /// The number of the next new namespace when the image was written.
    pub next_namespace: u32,
    /// The number of the first batch of the image. Numbers go on from one manifest to the next.
    pub first: u64,
    /// The number of the last batch of the image, all of which was durable before the file had its name.
    pub image_last: u64,
    /// The header checksum of the last frame of the manifest before; 0 in the first.
    pub prev_crc: u32,
}

impl ManifestHeader {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &MANIFEST_VERSION.to_le_bytes());
        put(16, &self.store_id.to_le_bytes());
        put(24, &self.salt.to_le_bytes());
        put(32, &self.number.to_le_bytes());
        put(36, &self.next_namespace.to_le_bytes());
        put(40, &self.first.to_le_bytes());
        put(48, &self.image_last.to_le_bytes());
        put(56, &self.prev_crc.to_le_bytes());
        let crc = header_crc(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<ManifestHeader, ManifestFault> {
        let head = bytes.first_chunk::<HEADER_BYTES>().ok_or(ManifestFault::BadHeader)?;
        if head[..8] != MAGIC || u32::from_le_bytes(field(head, 12)) != header_crc(head) {
            return Err(ManifestFault::BadHeader);
        }
        match u32::from_le_bytes(field(head, 8)) {
            MANIFEST_VERSION => {}
            found => return Err(ManifestFault::Version { found }),
        }
        let (first, image_last) = (u64::from_le_bytes(field(head, 40)), u64::from_le_bytes(field(head, 48)));
        if first.max(image_last) > LSN_MAX {
            return Err(ManifestFault::BadHeader);
        }
        Ok(ManifestHeader {
            store_id: u64::from_le_bytes(field(head, 16)),
            salt: u64::from_le_bytes(field(head, 24)),
            number: u32::from_le_bytes(field(head, 32)),
            next_namespace: u32::from_le_bytes(field(head, 36)),
            first,
            image_last,
            prev_crc: u32::from_le_bytes(field(head, 56)),
        })
    }
}

fn header_crc(bytes: &[u8; HEADER_BYTES]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..12]);
    hasher.update(&bytes[16..]);
    hasher.finalize()
}

fn field<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

/// The header that a manifest begins with, where that is sound.
pub(crate) fn manifest_header_of(bytes: &[u8]) -> Option<ManifestHeader> {
    ManifestHeader::decode(bytes).ok()
}

/// The path of a manifest in the data directory.
#[must_use]
pub fn manifest_path(dir: &Path, number: u32) -> PathBuf {
    dir.join(format!("{PREFIX}{number:08}"))
}

/// The number that a manifest's name stands for.
#[must_use]
pub fn parse_manifest_name(name: &OsStr) -> Option<u32> {
    parse_number(name.to_str()?.strip_prefix(PREFIX)?)
}

/// Whether a name is that of a manifest that was never finished.
pub(crate) fn is_unfinished_manifest(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(TMP_SUFFIX));
    name.is_some_and(|name| parse_manifest_name(OsStr::new(name)).is_some())
}
