//! The steps of an erasure, from a logged purge to its receipt.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hindsight_core::{Lsn, Timestamp};

use super::{Erasure, ErasureDone, ErasureFile, ErasureReceipt, inventory::inventory};
use crate::{
    checkpoint::{CheckpointReport, CheckpointSource, Checkpointer, remove_orphans},
    error::{At, StorageError},
    io::Io,
    manifest::{AppendError, is_unfinished_manifest, parse_manifest_name},
    records::{namespace_dir, parse_namespace_dir},
    recovery::is_saved_tail,
    segment::parse_segment_name,
    snapshot::is_unnamed,
    store::{LOG_DIR, Storage},
};

/// What [`Storage::erase`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Erased {
    /// What is erased, in the order of positions.
    pub receipts: Vec<ErasureReceipt>,
    /// What it still waits for, when not everything is; then a later call goes on.
    pub waits_for: Option<String>,
}

type Files = BTreeMap<PathBuf, ErasureFile>;

impl<I: Io> Storage<I> {
    /// Erases what was purged: everything that was logged before is stored without it, and every file that held
    /// something of it is removed. Does it from the beginning whenever it is called, so it can be cut off anywhere.
    /// Without a committer thread it commits itself. One at a time: a second caller waits.
    ///
    /// # Errors
    /// As [`Storage::checkpoint`]; calls of the system that failed. What was purged stays out of every answer then, and a
    /// later call goes on.
    pub fn erase(&self, source: &mut dyn CheckpointSource) -> Result<Erased, StorageError> {
        let _one = self.eraser.lock();
        let (files, log) = (self.records(), self.log());
        // 1. Every purge so far is durable: nobody saw one that a crash takes back.
        let newest = log.newest_lsn();
        log.wait_synced_or_commit(newest)?;
        if !self.begin_erasures(source, newest)? {
            return Ok(Erased::default());
        }
        let before = inventory(files, self.dir())?;
        // 2. The log goes on in a new segment, so that no segment holds both what was purged and what comes now.
        let first = log.begin_segment()?;
        // 3. A checkpoint of everything: the purge goes into the ledger, the namespaces that it changed are rewritten, and
        // 4. replaced record files and old segments are removed.
        self.checkpoint(source)?;
        let mut checkpointer = self.checkpointer.lock();
        let begun: Vec<Erasure> = self.ledger.lock().begun_below(first).cloned().collect();
        if begun.is_empty() {
            return Ok(Erased::default());
        }
        // 5. Whatever else held something of it goes too.
        if let Some(waits_for) = self.remove_all(&mut checkpointer, first)? {
            return Ok(Erased { receipts: Vec::new(), waits_for: Some(waits_for) });
        }
        // 6. No name that was removed can come back.
        checkpointer.manifest.sync_fs().map_err(|failure| log.poison_by(failure))?;
        // 7. Nobody has to believe that the removals were carried out.
        if let Some(path) = self.leftover(&checkpointer, first)? {
            let waits_for = format!("{} is still there", path.display());
            return Ok(Erased { receipts: Vec::new(), waits_for: Some(waits_for) });
        }
        // 8. It is done, and the ledger says so.
        let (removed, kept, done) = self.compare(&before)?;
        let lsns: Vec<Lsn> = begun.iter().map(|erasure| erasure.lsn).collect();
        let mut ledger = self.ledger.lock();
        ledger.finish(&lsns, done);
        ledger.save(files.io().as_ref()).map_err(|error| self.settle(error))?;
        drop(ledger);
        drop(checkpointer);
        let receipts = begun.into_iter().filter_map(|erasure| {
            let receipt = Erasure { done: Some(done), ..erasure }.receipt()?;
            Some(ErasureReceipt { removed: removed.clone(), kept: kept.clone(), ..receipt })
        });
        Ok(Erased { receipts: receipts.collect(), waits_for: None })
    }

    /// Puts the purges up to `lsn` into the ledger. Returns whether any is not done.
    pub(crate) fn begin_erasures(
        &self,
        source: &mut dyn CheckpointSource,
        lsn: Lsn,
    ) -> Result<bool, StorageError> {
        let mut ledger = self.ledger.lock();
        source.erasures(lsn).into_iter().for_each(|erasure| ledger.begin(erasure));
        ledger.save(self.records().io().as_ref()).map_err(|error| self.settle(error))?;
        Ok(ledger.begun_below(Lsn(u64::MAX)).next().is_some())
    }

    /// What the ledger has of purges, done and begun, in the order of their positions.
    #[must_use]
    pub fn erasures(&self) -> Vec<Erasure> {
        self.ledger.lock().entries().to_vec()
    }

    /// Whether the ledger has a purge that is not done.
    #[must_use]
    pub fn is_erasure_due(&self) -> bool {
        self.ledger.lock().begun_below(Lsn(u64::MAX)).next().is_some()
    }

    /// Purges of another history of this database, which this one lacks: those after `lsn`, the newest batch that was
    /// found at the start. They are there when a ledger was put beside what was restored from a backup.
    #[must_use]
    pub fn erasures_after(&self, lsn: Lsn) -> Vec<Erasure> {
        self.ledger.lock().entries().iter().filter(|entry| entry.lsn > lsn).cloned().collect()
    }

    /// Notes durably that this history has purged by itself whatever [`Storage::erasures_after`] told.
    ///
    /// # Errors
    /// When the ledger can't be written.
    pub fn settle_erasures_after(&self, lsn: Lsn, at: Timestamp) -> Result<(), StorageError> {
        let mut ledger = self.ledger.lock();
        ledger.settle_above(lsn, at);
        ledger.save(self.records().io().as_ref()).map_err(|error| self.settle(error))
    }

    /// Removes everything that a checkpoint leaves for a while. Returns what can't be removed now.
    fn remove_all(
        &self,
        checkpointer: &mut Checkpointer<I>,
        first: Lsn,
    ) -> Result<Option<String>, StorageError> {
        let (files, log) = (self.records(), self.log());
        if files.is_pinned() {
            return Ok(Some("a backup that is being read".to_owned()));
        }
        let Checkpointer { manifest, garbage } = checkpointer;
        let mut report = CheckpointReport::default();
        garbage.sweep(files, None, &mut report).map_err(|failure| log.poison_by(failure))?;
        let dropped = log.drop_segments_up_to(Lsn(first.0 - 1))?;
        if let Some(path) = garbage.first().map(Path::to_owned) {
            return Ok(Some(format!("{} can't be removed", path.display())));
        }
        if dropped.left > 0 {
            return Ok(Some("a segment of the log can't be removed".to_owned()));
        }
        let log_dir = self.dir().join(LOG_DIR);
        self.unlink_all(&log_dir, &is_saved_tail)?;
        // The manifest before names what is gone.
        manifest.rewrite().map_err(|error| match error {
            AppendError::Unknown(failure) => log.poison_by(failure),
            error => error.into_storage(),
        })?;
        let number = manifest.number();
        self.unlink_all(self.dir(), &|name| parse_manifest_name(name).is_some_and(|found| found < number))?;
        remove_orphans(files, self.dir(), number)?;
        Ok(None)
    }

    fn unlink_all(&self, dir: &Path, is_one: &dyn Fn(&std::ffi::OsStr) -> bool) -> Result<(), StorageError> {
        let io = self.records().io();
        for name in io.list(dir).at("list", dir)?.into_iter().filter(|name| is_one(name)) {
            let path = dir.join(name);
            io.unlink(&path).at("remove", &path)?;
        }
        Ok(())
    }

    /// A file that must be gone and is not.
    fn leftover(&self, checkpointer: &Checkpointer<I>, first: Lsn) -> Result<Option<PathBuf>, StorageError> {
        let io = self.records().io();
        let log_dir = self.dir().join(LOG_DIR);
        let names = io.list(&log_dir).at("list", &log_dir)?;
        let is_old = |name: &&std::ffi::OsString| {
            is_saved_tail(name) || parse_segment_name(name).is_some_and(|found| found < first)
        };
        if let Some(name) = names.iter().find(is_old) {
            return Ok(Some(log_dir.join(name)));
        }
        let number = checkpointer.manifest.number();
        let names = io.list(self.dir()).at("list", self.dir())?;
        let is_old = |name: &&std::ffi::OsString| {
            is_unfinished_manifest(name) || parse_manifest_name(name).is_some_and(|found| found != number)
        };
        if let Some(name) = names.iter().find(is_old) {
            return Ok(Some(self.dir().join(name)));
        }
        self.unnamed_file()
    }

    /// A record file or an index snapshot, finished or not, or the folder of a namespace, that the manifest does not name.
    fn unnamed_file(&self) -> Result<Option<PathBuf>, StorageError> {
        let (files, io) = (self.records(), self.records().io());
        for name in io.list(files.ns()).at("list", files.ns())? {
            let Some(id) = parse_namespace_dir(&name) else { continue };
            let folder = namespace_dir(files.ns(), id);
            let state = files.state().read();
            let Some(namespace) = state.namespaces.get(&id) else { return Ok(Some(folder)) };
            let is_old = |name: &&std::ffi::OsString| is_unnamed(name, Some(namespace)) == Some(true);
            if let Some(name) = io.list(&folder).at("list", &folder)?.iter().find(is_old) {
                return Ok(Some(folder.join(name)));
            }
        }
        Ok(None)
    }

    /// What is gone of what there was, and what there is.
    fn compare(
        &self,
        before: &Files,
    ) -> Result<(Vec<ErasureFile>, Vec<ErasureFile>, ErasureDone), StorageError> {
        let files = self.records();
        let now = inventory(files, self.dir())?;
        let removed: Vec<ErasureFile> =
            before.values().filter(|file| !now.contains_key(&file.path)).cloned().collect();
        let kept: Vec<ErasureFile> = now.into_values().collect();
        let at = Timestamp::from_ms(i64::try_from(files.io().now_ms()).unwrap_or(i64::MAX));
        let done = ErasureDone {
            at,
            files_removed: removed.len() as u64,
            bytes_removed: removed.iter().map(|file| file.bytes).sum(),
            blake3: hash_of_lists(&removed, &kept),
        };
        Ok((removed, kept, done))
    }
}

/// A line for each file, `-` or `+`, BLAKE3, length and path: what a holder of the receipt can hash, too.
fn hash_of_lists(removed: &[ErasureFile], kept: &[ErasureFile]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for (sign, files) in [('-', removed), ('+', kept)] {
        for ErasureFile { path, bytes, blake3 } in files {
            let blake3 = blake3::Hash::from_bytes(*blake3).to_hex();
            hasher.update(format!("{sign} {blake3} {bytes} {}\n", path.display()).as_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}
