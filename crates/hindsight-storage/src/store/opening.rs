//! A data directory on its way to be open: the manifest is read, the log is not.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use hindsight_core::{Batch, Lsn};
use parking_lot::{Mutex, RwLock};

use super::{LOG_DIR, Occupant, Storage, StorageOptions, cannot_create, format::Format, lock::DirLock};
use crate::{
    checkpoint::{Checkpointer, Garbage, remove_orphans},
    codec,
    directory::Slot,
    erasure::Ledger,
    error::{At, ReplayError, StorageError},
    io::{Io, OpenMode, uninterrupted},
    log::Log,
    manifest::{Manifest, ManifestState, StoredNamespace},
    records::RecordFiles,
    recovery::Recovered,
    segment::{LogPlace, parse_segment_name, read_header, segment_path},
    space::Space,
};

/// A data directory whose manifest was read. It can be read from already; [`Opening::replay`] opens it.
#[derive(Debug)]
pub struct Opening<I: Io> {
    io: Arc<I>,
    dir: PathBuf,
    options: StorageOptions,
    format: Format,
    state: Arc<RwLock<ManifestState>>,
    /// None in a new database.
    manifest: Option<Manifest<I>>,
    records: Arc<RecordFiles<I>>,
    ledger: Ledger,
    lock: DirLock<I::File>,
}

impl<I: Io> Opening<I> {
    pub(super) fn begin(io: Arc<I>, dir: &Path, options: StorageOptions) -> Result<Opening<I>, StorageError> {
        match Occupant::of(io.as_ref(), dir)? {
            Occupant::Database(_) => {}
            Occupant::Nothing => {
                io.create_dir_all(dir).map_err(|error| cannot_create(dir, error))?;
            }
        }
        let lock = DirLock::take(io.as_ref(), dir)?;
        // Looked at again: another process may have made the database before the lock was ours.
        let format = match Occupant::of(io.as_ref(), dir)? {
            Occupant::Database(format) => format,
            Occupant::Nothing => Format::create(io.as_ref(), dir)?,
        };
        let log_dir = dir.join(LOG_DIR);
        io.create_dir_all(&log_dir).map_err(|error| cannot_create(&log_dir, error))?;
        // A crash may have come between the making of a name in here and the sync of it.
        uninterrupted(|| io.sync_dir(dir)).at("sync", dir)?;
        let state = Arc::new(RwLock::new(ManifestState::default()));
        let manifest = Manifest::open(&io, dir, format.store_id, &state)?;
        let records = RecordFiles::new(Arc::clone(&io), dir, format.store_id, Arc::clone(&state));
        match &manifest {
            Some(_) => records.check_present()?,
            None => refuse_if_used(io.as_ref(), dir, records.ns())?,
        }
        let records = Arc::new(records);
        let ledger = Ledger::open(io.as_ref(), dir, format.store_id)?;
        Ok(Opening { io, dir: dir.to_owned(), options, format, state, manifest, records, ledger, lock })
    }

    /// The namespaces that checkpoints have stored, in the order of their numbers.
    #[must_use]
    pub fn namespaces(&self) -> Vec<StoredNamespace> {
        self.state.read().namespaces.values().cloned().collect()
    }

    /// Everything up to this batch is in record files, and will not be replayed.
    #[must_use]
    pub fn checkpoint_lsn(&self) -> Lsn {
        self.state.read().floor.checkpoint_lsn
    }

    /// The record files, so that a namespace can be loaded when the first replayed batch touches it.
    #[must_use]
    pub fn records(&self) -> &Arc<RecordFiles<I>> {
        &self.records
    }

    /// Hands every batch after the checkpoint to `replay`, in order, and opens the directory. A batch up to the LSN
    /// at which its namespace is stored is in the record files already. Commits wait for
    /// [`Storage::spawn_committer`] or [`Storage::commit_step`].
    ///
    /// # Errors
    /// Those of [`StorageError`] that tell where the log is damaged; the directory is unchanged then.
    /// [`StorageError::Replay`] when `replay` refuses a batch.
    pub fn replay(
        self,
        replay: &mut dyn FnMut(Lsn, Batch) -> Result<(), ReplayError>,
    ) -> Result<(Storage<I>, Recovered), StorageError> {
        self.replay_to_end(replay, &mut || Ok(()))
    }

    /// As [`Opening::replay`], for who does not work through a batch at once: `end` is called when there are no more, and
    /// nothing is written before it returned Ok.
    ///
    /// # Errors
    /// As [`Opening::replay`]; [`StorageError::Replay`] also when `end` fails.
    pub fn replay_to_end(
        self,
        replay: &mut dyn FnMut(Lsn, Batch) -> Result<(), ReplayError>,
        end: &mut dyn FnMut() -> Result<(), ReplayError>,
    ) -> Result<(Storage<I>, Recovered), StorageError> {
        let Opening { io, dir, options, format, state, manifest, records, ledger, lock } = self;
        let last = Cell::new(Lsn(0));
        let mut end = || end().map_err(|source| StorageError::Replay { lsn: last.get(), source });
        let mut sink = |lsn: Lsn, payload: &[u8]| {
            last.set(lsn);
            let batch =
                codec::decode_batch(payload).map_err(|source| StorageError::Undecodable { lsn, source })?;
            replay(lsn, batch).map_err(|source| StorageError::Replay { lsn, source })
        };
        let floor = state.read().floor;
        let space = Arc::new(Space::of(&io, &dir, &options)?);
        let place = LogPlace { dir: dir.join(LOG_DIR), store_id: format.store_id, options: options.log };
        if manifest.is_some() {
            refuse_without_log(io.as_ref(), &place.dir, floor.checkpoint_lsn)?;
        }
        let (log, mut recovered) =
            Log::open_in(Arc::clone(&io), place, Arc::clone(&space), floor, &mut sink, &mut end)?;
        // Everything is validated: from here on the rest of the directory may be written, too.
        let mut manifest = match manifest {
            Some(manifest) => manifest,
            None => Manifest::create(&io, &dir, format.store_id, &state)?,
        };
        manifest.set_rewrite_min(options.manifest_rewrite_bytes);
        manifest.mend()?;
        io.create_dir_all(records.ns()).map_err(|error| cannot_create(records.ns(), error))?;
        recovered.removed.extend(remove_orphans(&records, &dir, manifest.number())?);
        space.begin()?;
        let checkpointer = Mutex::new(Checkpointer { manifest, garbage: Garbage::default() });
        let checkpoint_bytes = options.checkpoint_bytes;
        let checkpointed_bytes = AtomicU64::new(0);
        let storage = Storage {
            log,
            checkpointer,
            eraser: Mutex::new(()),
            ledger: Mutex::new(ledger),
            records,
            directory: Slot::default(),
            dir,
            format,
            space,
            checkpoint_bytes,
            checkpointed_bytes,
            _lock: lock,
        };
        Ok((storage, recovered))
    }
}

/// The first segment of the log is durable before the first manifest is made, and one is removed only after another was
/// made: where there is a manifest there is a segment with a header.
fn refuse_without_log<I: Io>(io: &I, log_dir: &Path, checkpoint_lsn: Lsn) -> Result<(), StorageError> {
    let names = io.list(log_dir).at("list", log_dir)?;
    let mut segments: Vec<Lsn> = names.iter().filter_map(|name| parse_segment_name(name)).collect();
    segments.sort_unstable();
    let begun = segments.partition_point(|first_lsn| first_lsn.0 <= checkpoint_lsn.0 + 1);
    match segments.get(begun.saturating_sub(1)..).unwrap_or_default() {
        [] => {
            let lsn = Lsn(checkpoint_lsn.0 + 1);
            Err(StorageError::MissingSegment { path: segment_path(log_dir, lsn), lsn })
        }
        [only] => {
            let path = segment_path(log_dir, *only);
            let file = io.open(&path, OpenMode::Read).at("open", &path)?;
            match read_header(&file).at("read", &path)? {
                Err(fault) => Err(StorageError::CorruptSegment { path, lsn: *only, fault }),
                Ok(_) => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// A directory without a manifest is a new one, or a crash came before its first manifest was durable. Then nothing
/// can be there that only a checkpoint leaves behind.
fn refuse_if_used<I: Io>(io: &I, dir: &Path, ns: &Path) -> Result<(), StorageError> {
    let refuse = |found: PathBuf| StorageError::NoManifest { path: dir.to_owned(), found };
    let names = io.list(dir).at("list", dir)?;
    if names.iter().any(|name| Some(name.as_os_str()) == ns.file_name()) {
        return Err(refuse(ns.to_owned()));
    }
    let log_dir = dir.join(LOG_DIR);
    let names = io.list(&log_dir).at("list", &log_dir)?;
    match names.iter().filter_map(|name| Some((parse_segment_name(name)?, name))).min() {
        Some((first_lsn, name)) if first_lsn > Lsn(1) => Err(refuse(log_dir.join(name))),
        _ => Ok(()),
    }
}
