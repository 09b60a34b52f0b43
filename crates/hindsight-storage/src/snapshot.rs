//! Index snapshots: what an engine derived of a namespace's records at one position, so that it need not do so again.
//!
//! A namespace has one at most, `ns/<id>/index-<lsn>.idx`. What is in it is the engine's: here it is bytes with a header, the
//! BLAKE3 in the manifest, described in `docs/disk-format.md`, section "Index snapshot". It is derived and no authority:
//! whatever is wrong with it is told to who asks, and nothing is refused for it. It is written like a record file, under a
//! temporary name by a checkpoint, and removed like one, because words of memories are in it.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use hindsight_core::Lsn;

use crate::{
    error::{At, IoFailure},
    io::{Io, IoFile, OpenMode, read_full_at, write_all_at},
    manifest::StoredNamespace,
    records::{NamespaceId, RecordFiles, is_unfinished_record_file, namespace_dir, parse_record_file},
    sabotage::{self, Sabotage},
    segment::{LSN_MAX, TMP_SUFFIX},
};

/// The version of the header that is written, and the only one that is read.
pub const SNAPSHOT_FILE_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"HSindexs";
const HEADER_BYTES: usize = 32;
const PREFIX: &str = "index-";
const SUFFIX: &str = ".idx";

/// What the manifest says of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredSnapshot {
    /// The newest batch of the namespace that is in it; also its name.
    pub lsn: Lsn,
    /// Its length.
    pub bytes: u64,
    /// The BLAKE3 of all its bytes.
    pub blake3: [u8; 32],
}

/// What becomes of a namespace's snapshot at a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum NewSnapshot {
    /// It stays, if there is one.
    #[default]
    Keep,
    /// It goes: something is in it that must not stay.
    Drop,
    /// It is replaced by these bytes, which stand at the position that the namespace is handed over at. When they can't be
    /// written, there is none.
    Write(Vec<u8>),
}

/// A snapshot that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The newest batch of the namespace that is in it.
    pub lsn: Lsn,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// What the engine has put into it.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.bytes.get(HEADER_BYTES..).unwrap_or_default()
    }
}

/// Why a snapshot can't be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SnapshotFault {
    /// It can't be read, or is not there.
    #[error(transparent)]
    Io(#[from] IoFailure),
    /// It is not what the manifest names.
    #[error("{} is not what the manifest names", path.display())]
    NotInManifest {
        /// The file.
        path: PathBuf,
    },
    /// It was written by another version.
    #[error("{} is of version {found}: {SNAPSHOT_FILE_VERSION} can be read", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Its header belongs to another file.
    #[error("{} belongs to another place", path.display())]
    Place {
        /// The file.
        path: PathBuf,
    },
}

/// The path of a snapshot, in the folder of all namespaces.
#[must_use]
pub fn snapshot_path(ns: &Path, id: NamespaceId, lsn: Lsn) -> PathBuf {
    namespace_dir(ns, id).join(format!("{PREFIX}{:020}{SUFFIX}", lsn.0))
}

/// The position that a snapshot's name stands for.
#[must_use]
pub fn parse_snapshot(name: &OsStr) -> Option<Lsn> {
    let digits = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let lsn: u64 = digits.parse().ok()?;
    (digits == format!("{lsn:020}") && lsn <= LSN_MAX).then_some(Lsn(lsn))
}

/// Whether a file in a namespace's folder, finished or not, is one that nothing names; `None` for what is no part of a
/// database. `namespace` is what the manifest says of it.
pub(crate) fn is_unnamed(name: &OsStr, namespace: Option<&StoredNamespace>) -> Option<bool> {
    let unfinished = name.to_str().and_then(|name| name.strip_suffix(TMP_SUFFIX)).map(OsStr::new);
    if is_unfinished_record_file(name) || unfinished.is_some_and(|name| parse_snapshot(name).is_some()) {
        return Some(true);
    }
    if let Some(number) = parse_record_file(name) {
        return Some(!namespace.is_some_and(|namespace| namespace.files.contains_key(&number)));
    }
    let lsn = parse_snapshot(name)?;
    let named = namespace.and_then(|namespace| namespace.snapshot);
    Some(named.is_none_or(|snapshot| snapshot.lsn != lsn))
}

fn header(store_id: u64, id: NamespaceId, lsn: Lsn) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &MAGIC);
    put(8, &SNAPSHOT_FILE_VERSION.to_le_bytes());
    put(12, &id.0.to_le_bytes());
    put(16, &store_id.to_le_bytes());
    put(24, &lsn.0.to_le_bytes());
    bytes
}

/// Writes a snapshot to `tmp`. It is not synced, and has a temporary name.
pub(crate) fn write<I: Io>(
    io: &I,
    tmp: &Path,
    store_id: u64,
    (id, lsn): (NamespaceId, Lsn),
    payload: &[u8],
) -> Result<(I::File, StoredSnapshot), IoFailure> {
    let file = io.open(tmp, OpenMode::CreateEmpty).at("create", tmp)?;
    let header = header(store_id, id, lsn);
    write_all_at(&file, 0, &header).at("write", tmp)?;
    write_all_at(&file, HEADER_BYTES as u64, payload).at("write", tmp)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header).update(payload);
    let bytes = (header.len() + payload.len()) as u64;
    Ok((file, StoredSnapshot { lsn, bytes, blake3: *hasher.finalize().as_bytes() }))
}

impl<I: Io> RecordFiles<I> {
    /// The snapshot of a namespace, checked against the manifest; `None` when it has none.
    ///
    /// # Errors
    /// [`SnapshotFault`]: it is to be done without it.
    pub fn snapshot(&self, id: NamespaceId) -> Result<Option<Snapshot>, SnapshotFault> {
        // Held while the file is opened, so that no checkpoint removes it before.
        let state = self.state().read();
        let Some(stored) = state.namespaces.get(&id).and_then(|namespace| namespace.snapshot) else {
            return Ok(None);
        };
        let path = snapshot_path(self.ns(), id, stored.lsn);
        let file = self.io().open(&path, OpenMode::Read).at("open", &path)?;
        drop(state);
        read(&file, &path, &stored, self.store_id(), id).map(Some)
    }
}

/// Reads a snapshot and holds it against what the manifest says.
pub(crate) fn read<F: IoFile>(
    file: &F,
    path: &Path,
    stored: &StoredSnapshot,
    store_id: u64,
    id: NamespaceId,
) -> Result<Snapshot, SnapshotFault> {
    let not_in_manifest = || SnapshotFault::NotInManifest { path: path.to_owned() };
    // No more memory is taken than the file has bytes.
    if file.len().at("read", path)? != stored.bytes {
        return Err(not_in_manifest());
    }
    let mut bytes = vec![0; usize::try_from(stored.bytes).map_err(|_| too_large(path))?];
    let read = read_full_at(file, 0, &mut bytes).at("read", path)?;
    let is_it = read == bytes.len() && *blake3::hash(&bytes).as_bytes() == stored.blake3;
    if !is_it && !sabotage::has(Sabotage::TrustSnapshots) {
        return Err(not_in_manifest());
    }
    let head = bytes.first_chunk::<HEADER_BYTES>().ok_or_else(not_in_manifest)?;
    let mut version = [0; 4];
    version.copy_from_slice(&head[8..12]);
    match u32::from_le_bytes(version) {
        SNAPSHOT_FILE_VERSION => {}
        found => return Err(SnapshotFault::Version { path: path.to_owned(), found }),
    }
    if *head != header(store_id, id, stored.lsn) && !sabotage::has(Sabotage::TrustSnapshots) {
        return Err(SnapshotFault::Place { path: path.to_owned() });
    }
    Ok(Snapshot { lsn: stored.lsn, bytes })
}

fn too_large(path: &Path) -> IoFailure {
    let source = Arc::new(io::Error::from(io::ErrorKind::FileTooLarge));
    IoFailure { op: "read", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
