//! The record files of a part of the namespaces of a checkpoint: written, synced and named together.

use std::{collections::HashSet, path::PathBuf, sync::Arc};

use hindsight_core::{Lsn, MemoryId, Namespace, Record};

use super::{CheckpointReport, CheckpointSource, NamespaceCheckpoint, StoredCheckpoint, UnfitCheckpoint};
use crate::{
    error::{At, IoFailure, StorageError},
    io::{Io, IoFile, uninterrupted},
    log::Log,
    manifest::{Edit, StoredModel, StoredNamespace},
    records::{
        Digest, NamespaceId, RecordFileHeader, RecordFiles, RecordPosition, RecordWriter, StoredFile,
        VectorFile, checks, namespace_dir, put_away, record_digest, record_path,
    },
    segment::TMP_SUFFIX,
    snapshot::{self, NewSnapshot, StoredSnapshot, snapshot_path},
};

/// Namespaces of one round at most: their edits have to fit into a frame of the manifest.
const NAMESPACES_MAX: usize = 4_096;
/// Records of one round, but for its last namespace: their positions are held in memory.
const RECORDS_MAX: u64 = 1 << 18;
/// Up to this many files are synced one by one; more of them with the whole file system.
pub(super) const SYNC_EACH_MAX: usize = 16;

/// A part of a checkpoint.
pub(super) struct Round<'a, I: Io> {
    files: &'a RecordFiles<I>,
    log: &'a Log<I>,
    next_namespace: u32,
    seen: HashSet<Namespace>,
    edits: Vec<Edit>,
    written: Vec<Written>,
    /// The first files, still open: each is synced by itself, or the first of them with everything.
    open: Vec<I::File>,
    outdated: Vec<(NamespaceId, u32)>,
    outdated_snapshots: Vec<(NamespaceId, Lsn)>,
    stored: Vec<StoredCheckpoint>,
    moved: Vec<Moved<I>>,
    has_new_folder: bool,
    records: u64,
    bytes: u64,
    snapshot_bytes: u64,
}

/// The records of a file whose vectors are read from it once the manifest names it.
struct Moved<I: Io> {
    file: Arc<VectorFile<I>>,
    records: Vec<(Arc<Record>, u64, Vec<u32>)>,
}

/// A file of the round.
struct Written {
    id: NamespaceId,
    tmp: PathBuf,
    path: PathBuf,
}

impl<'a, I: Io> Round<'a, I> {
    pub(super) fn new(files: &'a RecordFiles<I>, log: &'a Log<I>) -> Round<'a, I> {
        Round {
            files,
            log,
            next_namespace: files.state().read().next_namespace,
            seen: HashSet::new(),
            edits: Vec::new(),
            written: Vec::new(),
            open: Vec::new(),
            outdated: Vec::new(),
            outdated_snapshots: Vec::new(),
            stored: Vec::new(),
            moved: Vec::new(),
            has_new_folder: false,
            records: 0,
            bytes: 0,
            snapshot_bytes: 0,
        }
    }

    /// Writes the files of the next namespaces under temporary names. Returns whether there are no more.
    pub(super) fn write(&mut self, source: &mut dyn CheckpointSource) -> Result<bool, StorageError> {
        while self.stored.len() < NAMESPACES_MAX && self.records < RECORDS_MAX {
            match source.next() {
                Some(namespace) => self.namespace(namespace)?,
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    fn namespace(&mut self, namespace: NamespaceCheckpoint) -> Result<(), StorageError> {
        let stored = self.files.namespace(&namespace.name);
        self.check(&namespace, stored.as_ref())?;
        let (id, number) = match &stored {
            Some(stored) => (stored.id, stored.next_file),
            None => (NamespaceId(self.next_namespace), 1),
        };
        let NamespaceCheckpoint { name, applied, last_at, live, forgotten, digest, rewrite, .. } = &namespace;
        let model = namespace.model.clone();
        if stored.is_none() {
            self.next_namespace += 1;
            self.edits.push(Edit::AddNamespace { id, name: name.clone(), next_file: number });
        }
        let mut positions = Vec::new();
        if !(namespace.records.is_empty() && namespace.requests.is_empty()) {
            let is_first = stored.as_ref().is_none_or(|stored| stored.files.is_empty());
            let file;
            (file, positions) = self.file(&namespace, id, number, is_first)?;
            self.edits.push(Edit::AddFile { namespace: id, number, file });
        }
        if *rewrite {
            for number in stored.iter().flat_map(|stored| stored.files.keys()) {
                self.edits.push(Edit::RemoveFile { namespace: id, number: *number });
                self.outdated.push((id, *number));
            }
        }
        // One that began anew may have none where its old life had one.
        if model != stored.as_ref().and_then(|stored| stored.model.clone()) {
            self.edits.push(Edit::SetModel { id, model: model.unwrap_or_else(StoredModel::none) });
        }
        let before = stored.as_ref().map(|stored| stored.settings.clone()).unwrap_or_default();
        if namespace.settings != before {
            self.edits.push(Edit::SetSettings { id, settings: namespace.settings.clone() });
        }
        let (applied, live, forgotten, digest) = (*applied, *live, *forgotten, *digest);
        self.edits.push(Edit::SetNamespace { id, applied, last_at: *last_at, live, forgotten, digest });
        let rewritten = *rewrite;
        let before = stored.and_then(|stored| stored.snapshot);
        let snapshot = self.snapshot((id, applied), before.as_ref(), &namespace.snapshot);
        let NamespaceCheckpoint { name, .. } = namespace;
        self.stored.push(StoredCheckpoint { name, id, applied, positions, rewritten, snapshot });
        Ok(())
    }

    /// Writes an index snapshot, or drops the one there is. What can't be written is left out: nothing depends on it. Returns
    /// whether there is a new one.
    fn snapshot(
        &mut self,
        at: (NamespaceId, Lsn),
        before: Option<&StoredSnapshot>,
        new: &NewSnapshot,
    ) -> bool {
        let payload = match new {
            NewSnapshot::Keep => return false,
            NewSnapshot::Drop => None,
            NewSnapshot::Write(payload) => Some(payload),
        };
        let written = payload.and_then(|payload| self.write_snapshot(at, payload));
        if written.is_some() || before.is_some() {
            self.edits.push(Edit::SetSnapshot { id: at.0, snapshot: written });
        }
        self.outdated_snapshots.extend(before.map(|before| (at.0, before.lsn)));
        written.is_some()
    }

    fn write_snapshot(&mut self, at: (NamespaceId, Lsn), payload: &[u8]) -> Option<StoredSnapshot> {
        let io = self.files.io().as_ref();
        let path = snapshot_path(self.files.ns(), at.0, at.1);
        let mut tmp = path.clone().into_os_string();
        tmp.push(TMP_SUFFIX);
        let tmp = PathBuf::from(tmp);
        match snapshot::write(io, &tmp, self.files.store_id(), at, payload) {
            Ok((file, stored)) => {
                self.written.push(Written { id: at.0, tmp, path });
                if self.open.len() < SYNC_EACH_MAX {
                    self.open.push(file);
                }
                self.snapshot_bytes += stored.bytes;
                Some(stored)
            }
            Err(error) => {
                tracing::warn!(%error, "no index snapshot: the namespace is loaded from its records");
                // What stays is removed by the next start.
                let _ = io.unlink(&tmp);
                None
            }
        }
    }

    /// Refuses what would be noticed only after a restart, when the log no longer has it.
    fn check(
        &mut self,
        namespace: &NamespaceCheckpoint,
        stored: Option<&StoredNamespace>,
    ) -> Result<(), UnfitCheckpoint> {
        let NamespaceCheckpoint { name, applied, live, records, .. } = namespace;
        if !self.seen.insert(name.clone()) {
            return Err(UnfitCheckpoint::Twice { name: name.clone() });
        }
        // What was appended meanwhile may be in there, too.
        let (from, to) = (stored.map_or(Lsn(0), |stored| stored.applied), self.log.newest_lsn());
        if !(from..=to).contains(applied) {
            return Err(UnfitCheckpoint::Position { name: name.clone(), applied: *applied, from, to });
        }
        let mut digest = Digest::default();
        for (lsn, record) in records {
            let id = record.memory.id;
            if record.memory.namespace != *name || lsn > applied {
                return Err(UnfitCheckpoint::Record { name: name.clone(), id, lsn: *lsn });
            }
            if namespace.rewrite {
                digest.add(record_digest(id, record.memory.version, *lsn));
            }
        }
        let count = records.len() as u64;
        if namespace.rewrite && (count, digest) != (*live, namespace.digest) {
            return Err(UnfitCheckpoint::Incomplete { name: name.clone(), live: *live, records: count });
        }
        Ok(())
    }

    fn file(
        &mut self,
        namespace: &NamespaceCheckpoint,
        id: NamespaceId,
        number: u32,
        is_first: bool,
    ) -> Result<(StoredFile, Vec<(MemoryId, RecordPosition)>), StorageError> {
        let (io, ns) = (self.files.io().as_ref(), self.files.ns());
        if is_first {
            let dir = namespace_dir(ns, id);
            io.create_dir(&dir).at("make", &dir)?;
            self.has_new_folder = true;
        }
        let path = record_path(ns, id, number);
        let mut tmp = path.clone().into_os_string();
        tmp.push(TMP_SUFFIX);
        let tmp = PathBuf::from(tmp);
        let salt = io.random().at("take random bits for", &tmp)?;
        let header = RecordFileHeader { store_id: self.files.store_id(), salt, namespace: id, number };
        let mut writer = RecordWriter::create(io, &tmp, &header)?;
        self.written.push(Written { id, tmp, path });
        let mut positions = Vec::with_capacity(namespace.records.len());
        let mut moved = Vec::with_capacity(namespace.records.len());
        for (lsn, record) in &namespace.records {
            // A vector that can't be read back is damage of the file that it lies in, and named as that.
            let named = |error| self.files.check_vectors(&namespace.name).err().unwrap_or(error);
            let (offset, end) = writer.record(*lsn, record).map_err(named)?;
            if !record.vectors.is_empty() {
                moved.push((Arc::clone(record), end, checks(record)));
            }
            positions.push((record.memory.id, RecordPosition { namespace: id, file: number, offset }));
        }
        namespace.requests.iter().try_for_each(|request| writer.request(request))?;
        let (file, stored) = writer.finish()?;
        // IMPORTANT: the first stays open from here on, so that the sync of the file system tells of every write that
        // failed since.
        if self.open.len() < SYNC_EACH_MAX {
            self.open.push(file);
        }
        self.records += stored.records;
        self.bytes += stored.bytes;
        self.moved.push(Moved { file: self.files.vector_file(id, number), records: moved });
        Ok((stored, positions))
    }

    /// Makes the files durable, gives them their names, and makes those durable.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] when a sync failed: nobody knows what is durable. [`StorageError::Io`] when a name
    /// could not be given, which changes nothing.
    pub(super) fn publish(&self) -> Result<(), StorageError> {
        self.sync_content().map_err(StorageError::Poisoned)?;
        let io = self.files.io();
        for Written { tmp, path, .. } in &self.written {
            io.rename(tmp, path).at("rename", tmp)?;
        }
        self.sync_names().map_err(StorageError::Poisoned)
    }

    fn sync_content(&self) -> Result<(), IoFailure> {
        if self.written.len() > SYNC_EACH_MAX {
            return self.sync_fs();
        }
        for (file, written) in self.open.iter().zip(&self.written) {
            uninterrupted(|| file.sync_all()).at("sync", &written.tmp)?;
        }
        Ok(())
    }

    fn sync_fs(&self) -> Result<(), IoFailure> {
        let ns = self.files.ns();
        self.handle()
            .map_or(Ok(()), |file| uninterrupted(|| file.sync_fs()).at("sync the file system of", ns))
    }

    fn sync_names(&self) -> Result<(), IoFailure> {
        let (io, ns) = (self.files.io().as_ref(), self.files.ns());
        if self.written.len() > SYNC_EACH_MAX {
            return self.sync_fs();
        }
        for Written { id, .. } in &self.written {
            let dir = namespace_dir(ns, *id);
            uninterrupted(|| io.sync_dir(&dir)).at("sync", &dir)?;
        }
        if self.has_new_folder {
            uninterrupted(|| io.sync_dir(ns)).at("sync", ns)?;
        }
        Ok(())
    }

    /// Removes the files that were written. What can't be removed now is removed by the next start.
    pub(super) fn discard(&self) {
        let io = self.files.io();
        for Written { tmp, path, .. } in &self.written {
            if io.unlink(tmp).is_err() {
                let _ = io.unlink(path);
            }
        }
    }

    pub(super) fn take_edits(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.edits)
    }

    /// What will be stored once the manifest names it.
    pub(super) fn stored(&self) -> &[StoredCheckpoint] {
        &self.stored
    }

    /// The files that the round replaces.
    pub(super) fn outdated(&self) -> &[(NamespaceId, u32)] {
        &self.outdated
    }

    /// The index snapshots that the round replaces.
    pub(super) fn outdated_snapshots(&self) -> &[(NamespaceId, Lsn)] {
        &self.outdated_snapshots
    }

    /// A file of the round, through which the whole file system can be synced.
    pub(super) fn handle(&self) -> Option<&I::File> {
        self.open.first()
    }

    /// Says what is stored now.
    pub(super) fn tell(&mut self, source: &mut dyn CheckpointSource, report: &mut CheckpointReport) {
        report.namespaces += self.stored.len();
        report.records += self.records;
        report.bytes += self.bytes;
        report.snapshots += self.stored.iter().filter(|stored| stored.snapshot).count();
        report.snapshot_bytes += self.snapshot_bytes;
        // Before anything is removed: the vectors in replaced files are read from the new ones from here on.
        for Moved { file, records } in self.moved.drain(..) {
            records.iter().for_each(|(record, end, checks)| put_away(&file, record, *end, checks));
        }
        std::mem::take(&mut self.stored).into_iter().for_each(|stored| source.stored(stored));
    }
}
