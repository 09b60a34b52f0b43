//! Makes a data directory of a backup.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use hindsight_core::Lsn;
use parking_lot::RwLock;

use super::{
    BackupError, BackupFault, BackupHeader, BackupReport,
    read::{BackupReader, Part},
};
use crate::{
    erasure::{LEDGER_FILE, check_ledger},
    error::{At, IoFailure, StorageError},
    io::{Io, IoFile, OpenMode, uninterrupted, write_all_at},
    log::Log,
    manifest::Manifest,
    options::LogOptions,
    records::{NS_DIR, NamespaceId, namespace_dir, record_path},
    recovery::Floor,
    segment::{LogEnd, LogPlace},
    store::{Format, LOCK_FILE, LOG_DIR, Storage, StorageOptions},
};

/// Makes the data directory `dir`, which must be missing or empty, of a backup. It is made beside its place, opened
/// once to see that it can be, and moved there when it is whole and durable: when this fails there is nothing at `dir`
/// that was not there before. A crash on the way leaves a folder `.<name>.restore-<number>` beside it, which may be
/// removed.
///
/// # Errors
/// [`BackupError::NotEmpty`]; [`BackupError::NotABackup`], [`BackupError::Version`] and [`BackupError::Damaged`] when
/// the backup is none, newer than this program, damaged or not complete; [`BackupError::Read`] when `from` fails, and
/// [`BackupError::Storage`] when the directory can't be written.
pub fn restore<I: Io>(io: &Arc<I>, from: impl Read, dir: &Path) -> Result<BackupReport, BackupError> {
    make(io, from, None, dir)
}

/// As [`restore`], with the erasure ledger of the same database beside it: what it names as purged after the backup was
/// taken is purged from the restored database, too, before anybody reads it.
///
/// # Errors
/// As [`restore`]; [`BackupError::Ledger`] when `ledger` is none, or another database's.
pub fn restore_with_ledger<I: Io>(
    io: &Arc<I>,
    from: impl Read,
    ledger: &[u8],
    dir: &Path,
) -> Result<BackupReport, BackupError> {
    make(io, from, Some(ledger), dir)
}

fn make<I: Io>(
    io: &Arc<I>,
    from: impl Read,
    ledger: Option<&[u8]>,
    dir: &Path,
) -> Result<BackupReport, BackupError> {
    check_target(io.as_ref(), dir)?;
    // Nothing is made before it is known to be a backup.
    let mut reader = BackupReader::begin(from)?;
    if let Some(ledger) = ledger {
        check_ledger(ledger, reader.header().store_id).map_err(BackupError::Ledger)?;
    }
    let parent = match dir.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let number = io.random().at("take random bits for", dir)?;
    let tmp = parent.join(format!(".{name}.restore-{number:016x}"));
    io.create_dir_all(&tmp).at("make", &tmp)?;
    let restored = fill(io, &mut reader, ledger, &tmp).and_then(|report| {
        check_opens(io, &tmp)?;
        io.rename(&tmp, dir).at("move the restored database to", dir)?;
        Ok(report)
    });
    match restored {
        Ok(report) => {
            uninterrupted(|| io.sync_dir(&parent)).at("sync", &parent)?;
            Ok(report)
        }
        Err(error) => {
            if let Err(failure) = remove_tree(io.as_ref(), &tmp) {
                tracing::warn!(path = %tmp.display(), error = %failure.source, "what was restored so far stays: remove it");
            }
            Err(error)
        }
    }
}

fn check_target<I: Io>(io: &I, dir: &Path) -> Result<(), BackupError> {
    match io.list(dir) {
        Ok(names) if names.is_empty() => Ok(()),
        Ok(_) => Err(BackupError::NotEmpty { path: dir.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(StorageError::NotADirectory { path: dir.to_owned() }.into())
        }
        Err(source) => Err(IoFailure { op: "list", path: dir.to_owned(), source: Arc::new(source) }.into()),
    }
}

fn fill<I: Io, R: Read>(
    io: &Arc<I>,
    reader: &mut BackupReader<R>,
    ledger: Option<&[u8]>,
    dir: &Path,
) -> Result<BackupReport, BackupError> {
    // Open from the first write to the last, so that the one sync of the file system tells of every one that failed.
    let lock = dir.join(LOCK_FILE);
    let handle = io.open(&lock, OpenMode::CreateEmpty).at("create", &lock)?;
    let header = *reader.header();
    Format::create_for(io.as_ref(), dir, header.store_id)?;
    let ns = dir.join(NS_DIR);
    io.create_dir(&ns).at("make", &ns)?;
    let mut open: Option<(PathBuf, I::File)> = None;
    let mut log: Option<Log<I>> = None;
    let log_of = |log: Option<Log<I>>| log.map_or_else(|| begin_log(io, dir, &header), Ok);
    let report = loop {
        match reader.next()? {
            Part::Edits => {}
            Part::Piece { namespace, number, offset, bytes, is_last } => {
                let (path, file) = match open.take() {
                    Some(open) => open,
                    None => create(io.as_ref(), &ns, namespace, number)?,
                };
                write_all_at(&file, offset, bytes).at("write", &path)?;
                open = (!is_last).then_some((path, file));
            }
            Part::Batch { lsn, payload } => {
                let begun = log_of(log.take())?;
                append(&begun, lsn, payload)?;
                log = Some(begun);
            }
            Part::End(report) => break report,
        }
    };
    // The one that is put beside the backup is newer than the one in it.
    let ledger = ledger.unwrap_or_else(|| reader.ledger());
    if !ledger.is_empty() {
        let path = dir.join(LEDGER_FILE);
        let file = io.open(&path, OpenMode::CreateEmpty).at("create", &path)?;
        write_all_at(&file, 0, ledger).at("write", &path)?;
    }
    log_of(log)?.close()?;
    let state = Arc::new(RwLock::new(reader.state().clone()));
    Manifest::create(io, dir, header.store_id, &state)?;
    uninterrupted(|| handle.sync_fs()).at("sync the file system of", dir)?;
    Ok(report)
}

/// The log of the restored database begins behind the checkpoint, and follows no other.
fn begin_log<I: Io>(io: &Arc<I>, dir: &Path, header: &BackupHeader) -> Result<Log<I>, BackupError> {
    let place =
        LogPlace { dir: dir.join(LOG_DIR), store_id: header.store_id, options: LogOptions::default() };
    io.create_dir(&place.dir).at("make", &place.dir)?;
    let first_lsn = Lsn(header.checkpoint.0.saturating_add(1));
    drop(place.create(io.as_ref(), first_lsn, LogEnd::default())?);
    let floor = Floor::at(header.checkpoint);
    let (log, _) =
        Log::open(Arc::clone(io), &place.dir, place.store_id, place.options, floor, &mut |_, _| Ok(()))?;
    Ok(log)
}

fn append<I: Io>(log: &Log<I>, expected: Lsn, payload: &[u8]) -> Result<(), BackupError> {
    let found = log.append(payload)?;
    if found != expected {
        return Err(BackupError::Damaged { offset: 0, fault: BackupFault::Batch { expected, found } });
    }
    Ok(())
}

fn create<I: Io>(
    io: &I,
    ns: &Path,
    namespace: NamespaceId,
    number: u32,
) -> Result<(PathBuf, I::File), IoFailure> {
    let folder = namespace_dir(ns, namespace);
    io.create_dir(&folder).at("make", &folder)?;
    let path = record_path(ns, namespace, number);
    let file = io.open(&path, OpenMode::CreateEmpty).at("create", &path)?;
    Ok((path, file))
}

/// Opens a new data directory once, to see that it can be.
pub(crate) fn check_opens<I: Io>(io: &Arc<I>, dir: &Path) -> Result<(), StorageError> {
    // Whoever serves it says what is kept back.
    let options = StorageOptions { reserve_bytes: 0, ..StorageOptions::default() };
    let opening = Storage::open(Arc::clone(io), dir, options)?;
    let (storage, _) = opening.replay(&mut |_, _| Ok(()))?;
    storage.close()?;
    Ok(())
}

/// Removes a folder with everything in it.
pub(crate) fn remove_tree<I: Io>(io: &I, dir: &Path) -> Result<(), IoFailure> {
    for name in io.list(dir).at("list", dir)? {
        let path = dir.join(name);
        match io.list(&path) {
            Ok(_) => remove_tree(io, &path)?,
            Err(_) => io.unlink(&path).at("remove", &path)?,
        }
    }
    io.remove_dir(dir).at("remove", dir)
}
