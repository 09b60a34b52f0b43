//! Which files there are, with the BLAKE3 of their content: for the receipt of a purge.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use super::ErasureFile;
use crate::{
    error::{At, IoFailure},
    io::{Io, IoFile, OpenMode, read_full_at},
    manifest::parse_manifest_name,
    records::{RecordFiles, record_path},
    snapshot::{StoredSnapshot, snapshot_path},
    store::LOG_DIR,
};

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Every file that holds something of memories: the log's, the record files and index snapshots that the manifest names, the manifests.
pub(super) fn inventory<I: Io>(
    files: &RecordFiles<I>,
    dir: &Path,
) -> Result<BTreeMap<PathBuf, ErasureFile>, IoFailure> {
    let io = files.io().as_ref();
    let mut found = BTreeMap::new();
    let mut put = |path: PathBuf, bytes: u64, blake3: [u8; 32]| {
        let path = path.strip_prefix(dir).unwrap_or(&path).to_owned();
        found.insert(path.clone(), ErasureFile { path, bytes, blake3 });
    };
    for namespace in files.state().read().namespaces.values() {
        for (number, file) in &namespace.files {
            put(record_path(files.ns(), namespace.id, *number), file.bytes, file.blake3);
        }
        if let Some(StoredSnapshot { lsn, bytes, blake3 }) = namespace.snapshot {
            put(snapshot_path(files.ns(), namespace.id, lsn), bytes, blake3);
        }
    }
    let log = dir.join(LOG_DIR);
    let in_log = io.list(&log).at("list", &log)?.into_iter().map(|name| log.join(name));
    let names = io.list(dir).at("list", dir)?.into_iter();
    let manifests = names.filter(|name| parse_manifest_name(name).is_some()).map(|name| dir.join(name));
    for path in in_log.chain(manifests) {
        // What a writer removes meanwhile was not to be kept.
        if let Some((bytes, blake3)) = hash(io, &path)? {
            put(path, bytes, blake3);
        }
    }
    Ok(found)
}

fn hash<I: Io>(io: &I, path: &Path) -> Result<Option<(u64, [u8; 32])>, IoFailure> {
    let file = match io.open(path, OpenMode::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        result => result.at("open", path)?,
    };
    let mut hasher = blake3::Hasher::new();
    let mut piece =
        vec![0; PIECE_BYTES.min(usize::try_from(file.len().at("read", path)?).unwrap_or(PIECE_BYTES))];
    let mut offset = 0;
    loop {
        let read = read_full_at(&file, offset, &mut piece).at("read", path)?;
        hasher.update(piece.get(..read).unwrap_or_default());
        offset += read as u64;
        if read < piece.len() || piece.is_empty() {
            break;
        }
    }
    Ok(Some((offset, *hasher.finalize().as_bytes())))
}
