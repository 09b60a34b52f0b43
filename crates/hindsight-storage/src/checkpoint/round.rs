//! The record files of a part of the namespaces of a checkpoint: written, synced and named together.

use std::{collections::HashSet, path::PathBuf};

use hindsight_core::{Lsn, MemoryId, Namespace};

use super::{CheckpointReport, CheckpointSource, NamespaceCheckpoint, StoredCheckpoint, UnfitCheckpoint};
use crate::{
    error::{At, IoFailure, StorageError},
    io::{Io, IoFile, uninterrupted},
    log::Log,
    manifest::{Edit, StoredModel, StoredNamespace},
    records::{
        Digest, NamespaceId, RecordFileHeader, RecordFiles, RecordPosition, RecordWriter, StoredFile,
        namespace_dir, record_digest, record_path,
    },
    segment::TMP_SUFFIX,
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
    stored: Vec<StoredCheckpoint>,
    has_new_folder: bool,
    records: u64,
    bytes: u64,
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
            stored: Vec::new(),
            has_new_folder: false,
            records: 0,
            bytes: 0,
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
        self.stored.push(StoredCheckpoint { name: namespace.name, id, applied, positions, rewritten });
        Ok(())
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
        for (lsn, record) in &namespace.records {
            let offset = writer.record(*lsn, record)?;
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

    /// A file of the round, through which the whole file system can be synced.
    pub(super) fn handle(&self) -> Option<&I::File> {
        self.open.first()
    }

    /// Says what is stored now.
    pub(super) fn tell(&mut self, source: &mut dyn CheckpointSource, report: &mut CheckpointReport) {
        report.namespaces += self.stored.len();
        report.records += self.records;
        report.bytes += self.bytes;
        std::mem::take(&mut self.stored).into_iter().for_each(|stored| source.stored(stored));
    }
}
