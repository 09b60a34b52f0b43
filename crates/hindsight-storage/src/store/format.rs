//! The FORMAT file: which format a data directory has, and which database it is.
//! The text is described in `docs/disk-format.md`, section "FORMAT".

use std::{io, path::Path};

use serde::{Deserialize, Serialize};

use super::cannot_create;
use crate::{
    error::{At, StorageError},
    io::{Io, IoFile, OpenMode, read_small, uninterrupted, write_all_at},
};

/// The file's name.
pub(crate) const FILE_NAME: &str = "FORMAT";
/// Its name until it is finished.
pub(crate) const TMP_NAME: &str = "FORMAT.tmp";
/// The format that this version writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;
const FILE_BYTES_MAX: usize = 4096;

/// What the FORMAT file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// The format of the directory.
    pub format: u32,
    /// The oldest format that a reader has to know.
    pub min_reader: u32,
    /// The program that made the directory.
    pub created_by: String,
    /// A random number that tells this database from every other one.
    pub store_id: u64,
}

/// The file's JSON. Unknown fields are a newer writer's; `min_reader` says whether they matter.
#[derive(Debug, Serialize, Deserialize)]
struct Json {
    format: u32,
    min_reader: u32,
    created_by: String,
    store_id: String,
    /// Absent in directories that were made before there was one.
    #[serde(default)]
    crc32: Option<String>,
}

/// Why a FORMAT file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Longer than such a file is.
    #[error("more than {FILE_BYTES_MAX} bytes")]
    TooLong,
    /// Not the JSON it should be.
    #[error("not the right JSON")]
    Json(#[from] serde_json::Error),
    /// The checksum is wrong.
    #[error("crc32 {found:?}: computed {computed:08x}")]
    Crc {
        /// The checksum of the fields.
        computed: u32,
        /// What stands there.
        found: String,
    },
    /// The database's number isn't one.
    #[error("store_id {found:?}: expected 16 hex digits")]
    StoreId {
        /// What stands there.
        found: String,
    },
}

impl Format {
    /// Reads the file and checks that this version may read the directory.
    pub(crate) fn read<I: Io>(io: &I, dir: &Path) -> Result<Format, StorageError> {
        let path = dir.join(FILE_NAME);
        let file = io.open(&path, OpenMode::Read).map_err(|error| cannot_create(&path, error))?;
        let bytes = match read_small(&file, FILE_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(StorageError::BadFormatFile { path, source: FormatError::TooLong });
            }
            result => result.at("read", &path)?,
        };
        let format = Format::parse(&bytes)
            .map_err(|source| StorageError::BadFormatFile { path: path.clone(), source })?;
        if format.min_reader > FORMAT_VERSION {
            return Err(StorageError::FormatTooNew {
                path,
                found: format.min_reader,
                supported: FORMAT_VERSION,
            });
        }
        Ok(format)
    }

    /// Writes the file of a new database. It gets its name when it is complete: a directory with a FORMAT is a
    /// database, one without is not yet.
    pub(super) fn create<I: Io>(io: &I, dir: &Path) -> Result<Format, StorageError> {
        let store_id = io.random().at("take random bits for", &dir.join(FILE_NAME))?;
        Format::create_for(io, dir, store_id)
    }

    /// As [`Format::create`], of the database with this number.
    pub(crate) fn create_for<I: Io>(io: &I, dir: &Path, store_id: u64) -> Result<Format, StorageError> {
        let (path, tmp) = (dir.join(FILE_NAME), dir.join(TMP_NAME));
        let format = Format {
            format: FORMAT_VERSION,
            min_reader: FORMAT_VERSION,
            created_by: concat!("hindsight ", env!("CARGO_PKG_VERSION")).to_owned(),
            store_id,
        };
        let file = io.open(&tmp, OpenMode::CreateEmpty).map_err(|error| cannot_create(&tmp, error))?;
        write_all_at(&file, 0, format.to_json().as_bytes()).at("write", &tmp)?;
        uninterrupted(|| file.sync_all()).at("sync", &tmp)?;
        io.rename(&tmp, &path).at("rename", &tmp)?;
        uninterrupted(|| io.sync_dir(dir)).at("sync", dir)?;
        // The directory may have been made by this call or by one that was interrupted.
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match uninterrupted(|| io.sync_dir(parent)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            result => result.at("sync", parent)?,
        }
        Ok(format)
    }

    fn parse(bytes: &[u8]) -> Result<Format, FormatError> {
        let json: Json = serde_json::from_slice(bytes)?;
        let is_hex = json.store_id.len() == 16 && json.store_id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let store_id = u64::from_str_radix(&json.store_id, 16).ok().filter(|_| is_hex);
        let store_id = store_id.ok_or(FormatError::StoreId { found: json.store_id })?;
        let format = Format {
            format: json.format,
            min_reader: json.min_reader,
            created_by: json.created_by,
            store_id,
        };
        let computed = format.crc32();
        match json.crc32 {
            Some(found) if found != format!("{computed:08x}") => Err(FormatError::Crc { computed, found }),
            _ => Ok(format),
        }
    }

    /// The CRC-32 of the fields, as text with spaces between.
    fn crc32(&self) -> u32 {
        let Format { format, min_reader, created_by, store_id } = self;
        crc32fast::hash(format!("{format} {min_reader} {created_by} {store_id:016x}").as_bytes())
    }

    fn to_json(&self) -> String {
        let json = serde_json::json!({
            "format": self.format,
            "min_reader": self.min_reader,
            "created_by": self.created_by,
            "store_id": format!("{:016x}", self.store_id),
            "crc32": format!("{:08x}", self.crc32()),
        });
        format!("{json:#}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let format =
            Format { format: 1, min_reader: 1, created_by: "hindsight 0.1.0".to_owned(), store_id: 0x2a };
        assert_eq!(Format::parse(format.to_json().as_bytes()).unwrap(), format);
    }

    #[test]
    fn every_flipped_bit_is_noticed_or_changes_nothing_that_is_read() {
        let format =
            Format { format: 1, min_reader: 1, created_by: "hindsight 0.1.0".to_owned(), store_id: 0x2a };
        let text = format.to_json().into_bytes();
        for bit in 0..text.len() * 8 {
            let mut flipped = text.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // Such as a letter of the checksum's own name: then it is a file without one.
            if let Ok(read) = Format::parse(&flipped) {
                assert_eq!(read, format, "bit {bit}");
            }
        }
        let other_id = format.to_json().replace("00000000002a", "00000000002b");
        assert!(matches!(Format::parse(other_id.as_bytes()), Err(FormatError::Crc { .. })));
    }

    #[test]
    fn fields_of_a_newer_writer_are_no_error_and_wrong_ones_are() {
        let newer = br#"{"format": 3, "min_reader": 1, "created_by": "x", "store_id": "00000000000000ff", "extra": [1]}"#;
        assert_eq!(Format::parse(newer).unwrap().store_id, 255);
        for bad in [
            "",
            "{}",
            "[]",
            r#"{"format":1,"min_reader":1,"created_by":"x","store_id":"+0000000000000ff"}"#,
            "\u{0}",
        ] {
            assert!(Format::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
