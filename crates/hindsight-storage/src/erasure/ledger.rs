//! The ledger of erasures: one small file, written anew for every change, so that it is there whole or as it was.

use std::{
    io,
    path::{Path, PathBuf},
};

use hindsight_core::{Lsn, Timestamp};

use super::{Erasure, ErasureDone};
use crate::{
    codec::{self, CodecError},
    error::{At, IoFailure, StorageError},
    io::{Io, IoFile, OpenMode, read_full_at, uninterrupted, write_all_at},
};

/// Its name inside the data directory.
pub const LEDGER_FILE: &str = "ERASED";
/// Its name until it is complete.
pub(crate) const LEDGER_TMP: &str = "ERASED.tmp";
/// The version that is written, and the newest that is read.
pub const LEDGER_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"HSerased";
const HEADER_BYTES: usize = 24;
const HASH_BYTES: usize = 32;
/// Longer than any ledger can become: its entries must fit into the memory anyway.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// Why a file is not the ledger of a database.
#[derive(Debug, thiserror::Error)]
pub enum LedgerFault {
    /// It does not begin as one, or is too short or too long.
    #[error("it is no erasure ledger")]
    NotALedger,
    /// Written by a newer version.
    #[error("version {found}: at most {LEDGER_VERSION} can be read, use a newer hindsight")]
    Version {
        /// The version that stands in it.
        found: u32,
    },
    /// Its BLAKE3 is another one.
    #[error("its checksum is wrong")]
    Checksum,
    /// It belongs to another database.
    #[error("it is of database {found:016x}, and this one is {expected:016x}")]
    Foreign {
        /// This database.
        expected: u64,
        /// The one that stands in it.
        found: u64,
    },
    /// Its entries do not decode.
    #[error("its entries can't be decoded")]
    Payload(#[from] CodecError),
}

impl LedgerFault {
    /// Whether a newer version could read it.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        match self {
            LedgerFault::Version { .. } => true,
            LedgerFault::Payload(source) => source.is_newer(),
            _ => false,
        }
    }
}

/// Whether these bytes are the ledger of this database. Returns how many purges are in it.
///
/// # Errors
/// What is wrong with them.
pub fn check_ledger(bytes: &[u8], store_id: u64) -> Result<usize, LedgerFault> {
    decode(bytes, store_id).map(|entries| entries.len())
}

/// All erasures of a data directory, in the order of their positions.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    path: PathBuf,
    store_id: u64,
    entries: Vec<Erasure>,
    /// Whether the file lacks something of them.
    is_ahead: bool,
}

impl Ledger {
    /// Reads it; an empty one where there is no file.
    ///
    /// # Errors
    /// [`StorageError::CorruptLedger`], and calls of the system that failed.
    pub(crate) fn open<I: Io>(io: &I, dir: &Path, store_id: u64) -> Result<Ledger, StorageError> {
        let path = dir.join(LEDGER_FILE);
        let entries = match examine_ledger(io, &path, Some(store_id)) {
            Ok(entries) => entries,
            Err(StorageError::Io(failure)) if failure.source.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Ledger { path, store_id, entries, is_ahead: false })
    }

    pub(crate) fn entries(&self) -> &[Erasure] {
        &self.entries
    }

    /// Enters a purge that was logged, unless it is there. It is durable after [`Ledger::save`].
    pub(crate) fn begin(&mut self, erasure: Erasure) {
        if let Err(place) = self.entries.binary_search_by_key(&erasure.lsn, |entry| entry.lsn) {
            self.entries.insert(place, erasure);
            self.is_ahead = true;
        }
    }

    /// Those that are not done, with a position below this one.
    pub(crate) fn begun_below(&self, lsn: Lsn) -> impl Iterator<Item = &Erasure> {
        self.entries.iter().filter(move |entry| entry.done.is_none() && entry.lsn < lsn)
    }

    /// Notes that all of these are done. It is durable after [`Ledger::save`].
    pub(crate) fn finish(&mut self, lsns: &[Lsn], done: ErasureDone) {
        for entry in self.entries.iter_mut().filter(|entry| lsns.contains(&entry.lsn)) {
            entry.done = Some(done);
            self.is_ahead = true;
        }
    }

    /// Takes the positions of the entries above `lsn` down to it: they are of another history of this database, and what
    /// they name was purged from this one. They count as done, for this one has its own purge of what they name.
    pub(crate) fn settle_above(&mut self, lsn: Lsn, at: Timestamp) {
        for entry in self.entries.iter_mut().filter(|entry| entry.lsn > lsn) {
            entry.lsn = lsn;
            entry.done.get_or_insert(ErasureDone { at, files_removed: 0, bytes_removed: 0, blake3: [0; 32] });
            self.is_ahead = true;
        }
    }

    /// The bytes of a ledger that has the entries up to a position; none when there is no such entry.
    ///
    /// # Errors
    /// When they can't be encoded.
    pub(crate) fn encoded_up_to(&self, lsn: Lsn) -> Result<Vec<u8>, StorageError> {
        let entries = self.entries.partition_point(|entry| entry.lsn <= lsn);
        match self.entries.get(..entries) {
            Some(entries) if !entries.is_empty() => encode(self.store_id, entries),
            _ => Ok(Vec::new()),
        }
    }

    /// Makes the file say what the entries do.
    ///
    /// # Errors
    /// [`StorageError::Io`] when nothing has changed on the disk; [`StorageError::Poisoned`] when nobody knows what did.
    pub(crate) fn save<I: Io>(&mut self, io: &I) -> Result<(), StorageError> {
        if self.is_ahead {
            write(io, &self.path, &encode(self.store_id, &self.entries)?)?;
            self.is_ahead = false;
        }
        Ok(())
    }
}

/// Reads a ledger and checks it.
///
/// # Errors
/// As [`Ledger::open`], but a file that is missing is an error.
pub(crate) fn examine_ledger<I: Io>(
    io: &I,
    path: &Path,
    store_id: Option<u64>,
) -> Result<Vec<Erasure>, StorageError> {
    let corrupt = |fault| StorageError::CorruptLedger { path: path.to_owned(), fault };
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    let len = file.len().at("read", path)?;
    let len = usize::try_from(len).ok().filter(|len| *len as u64 <= FILE_BYTES_MAX);
    let mut bytes = vec![0; len.ok_or_else(|| corrupt(LedgerFault::NotALedger))?];
    let read = read_full_at(&file, 0, &mut bytes).at("read", path)?;
    bytes.truncate(read);
    let found = bytes.get(16..24).and_then(|id| id.try_into().ok()).map_or(0, u64::from_le_bytes);
    decode(&bytes, store_id.unwrap_or(found)).map_err(corrupt)
}

fn encode(store_id: u64, entries: &[Erasure]) -> Result<Vec<u8>, StorageError> {
    let payload = codec::encode_erasures(entries).map_err(StorageError::Unencodable)?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len() + HASH_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&LEDGER_VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&store_id.to_le_bytes());
    bytes.extend_from_slice(&payload);
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    Ok(bytes)
}

fn decode(bytes: &[u8], store_id: u64) -> Result<Vec<Erasure>, LedgerFault> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(LedgerFault::NotALedger)?;
    let (payload, hash) = rest.split_last_chunk::<HASH_BYTES>().ok_or(LedgerFault::NotALedger)?;
    let [m0, m1, m2, m3, m4, m5, m6, m7, v0, v1, v2, v3, _, _, _, _, id @ ..] = *header;
    if [m0, m1, m2, m3, m4, m5, m6, m7] != *MAGIC {
        return Err(LedgerFault::NotALedger);
    }
    let version = u32::from_le_bytes([v0, v1, v2, v3]);
    if version > LEDGER_VERSION {
        return Err(LedgerFault::Version { found: version });
    }
    let hashed = bytes.get(..bytes.len() - HASH_BYTES).unwrap_or_default();
    if blake3::hash(hashed) != *hash {
        return Err(LedgerFault::Checksum);
    }
    let found = u64::from_le_bytes(id);
    if found != store_id {
        return Err(LedgerFault::Foreign { expected: store_id, found });
    }
    Ok(codec::decode_erasures(payload)?)
}

fn write<I: Io>(io: &I, path: &Path, bytes: &[u8]) -> Result<(), StorageError> {
    let tmp = path.with_file_name(LEDGER_TMP);
    let prepare = || -> Result<I::File, IoFailure> {
        let file = io.open(&tmp, OpenMode::CreateEmpty).at("create", &tmp)?;
        write_all_at(&file, 0, bytes).at("write", &tmp)?;
        Ok(file)
    };
    let file = prepare().inspect_err(|_| {
        // Only to give the space back; the next start would remove it, too.
        let _ = io.unlink(&tmp);
    })?;
    let publish = || -> Result<(), IoFailure> {
        uninterrupted(|| file.sync_all()).at("sync", &tmp)?;
        io.rename(&tmp, path).at("rename", &tmp)?;
        let dir = path.parent().unwrap_or(Path::new("."));
        uninterrupted(|| io.sync_dir(dir)).at("sync", dir)
    };
    publish().map_err(StorageError::Poisoned)
}
