//! Writes the new data directory.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use hindsight_core::{Lsn, Namespace, Settings};
use parking_lot::RwLock;

use super::{Damaged, REPAIR_JSON, REPAIR_TEXT, RepairError, RepairReport, images::Images};
use crate::{
    backup::{check_opens, remove_tree},
    error::{At, IoFailure, StorageError},
    io::{Io, IoFile, OpenMode, read_full_at, uninterrupted, write_all_at},
    log::Log,
    manifest::{Edit, Manifest, ManifestState, is_unfinished_manifest, parse_manifest_name},
    options::LogOptions,
    records::{NS_DIR, NamespaceId, RecordFileHeader, RecordWriter, namespace_dir, record_path},
    recovery::Floor,
    segment::{LogEnd, LogPlace},
    space::RESERVE_FILE,
    store::{FORMAT_FILE, FORMAT_TMP, Format, LOCK_FILE, LOG_DIR},
    verify::{FileState, verify},
};

/// Bytes of one read of a file that is copied.
const COPY_BYTES: usize = 1 << 20;

/// The new directory, under a name beside its own.
pub(super) struct Target<'a, I: Io> {
    io: &'a Arc<I>,
    into: PathBuf,
    tmp: PathBuf,
    store_id: u64,
    /// Open from the first write to the last, so that the one sync of the file system tells of every one that failed.
    handle: I::File,
    edits: Vec<Edit>,
    next_id: u32,
}

impl<'a, I: Io> Target<'a, I> {
    pub(super) fn begin(io: &'a Arc<I>, damaged: &Damaged<'_, I>, into: &Path) -> Result<Self, RepairError> {
        check_place(io.as_ref(), damaged.dir, into)?;
        let parent = parent_of(into);
        let name = into.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let number = io.random().at("take random bits for", into)?;
        let tmp = parent.join(format!(".{name}.repair-{number:016x}"));
        io.create_dir_all(&tmp).at("make", &tmp)?;
        let lock = tmp.join(LOCK_FILE);
        let handle = io.open(&lock, OpenMode::CreateEmpty).at("create", &lock)?;
        let store_id = damaged.store_id;
        let target =
            Target { io, into: into.to_owned(), tmp, store_id, handle, edits: Vec::new(), next_id: 1 };
        match target.prepare(damaged) {
            Ok(()) => Ok(target),
            Err(error) => {
                target.discard();
                Err(error.into())
            }
        }
    }

    fn prepare(&self, damaged: &Damaged<'_, I>) -> Result<(), StorageError> {
        Format::create_for(self.io.as_ref(), &self.tmp, self.store_id)?;
        let ns = self.tmp.join(NS_DIR);
        self.io.create_dir(&ns).at("make", &ns)?;
        for name in damaged.list(damaged.dir)? {
            let is_own = [FORMAT_FILE, FORMAT_TMP, LOCK_FILE, RESERVE_FILE, REPAIR_JSON, REPAIR_TEXT]
                .iter()
                .any(|own| name.as_os_str() == *own)
                || parse_manifest_name(&name).is_some()
                || is_unfinished_manifest(&name);
            let from = damaged.dir.join(&name);
            // Folders are the log, the record files, and what is derived of them.
            if !is_own && self.io.list(&from).is_err() {
                copy(self.io.as_ref(), &from, &self.tmp.join(&name))?;
            }
        }
        Ok(())
    }

    /// Writes what is left of a namespace.
    pub(super) fn namespace(&mut self, name: &Namespace, images: &Images) -> Result<(), RepairError> {
        let id = NamespaceId(self.next_id);
        self.next_id += 1;
        self.edits.push(Edit::AddNamespace { id, name: name.clone(), next_file: 1 });
        let requests = images.requests();
        if !(images.records.is_empty() && requests.is_empty()) {
            let (io, ns) = (self.io.as_ref(), self.tmp.join(NS_DIR));
            let folder = namespace_dir(&ns, id);
            io.create_dir(&folder).at("make", &folder)?;
            let path = record_path(&ns, id, 1);
            let salt = io.random().at("take random bits for", &path)?;
            let header = RecordFileHeader { store_id: self.store_id, salt, namespace: id, number: 1 };
            let mut writer = RecordWriter::create(io, &path, &header)?;
            for (lsn, record) in images.records.values() {
                writer.record(*lsn, record)?;
            }
            requests.into_iter().try_for_each(|request| writer.request(request))?;
            let (_, file) = writer.finish()?;
            self.edits.push(Edit::AddFile { namespace: id, number: 1, file });
        }
        if let Some(model) = images.model.clone() {
            self.edits.push(Edit::SetModel { id, model });
        }
        if images.settings != Settings::default() {
            self.edits.push(Edit::SetSettings { id, settings: images.settings.clone() });
        }
        self.edits.push(Edit::SetNamespace {
            id,
            applied: images.applied,
            last_at: images.last_at,
            live: images.live(),
            forgotten: images.forgotten(),
            digest: images.digest(),
        });
        Ok(())
    }

    /// Writes the rest, makes all of it durable, opens and verifies it, and moves it to its place.
    pub(super) fn finish(self, last: Lsn, mut report: RepairReport) -> Result<RepairReport, RepairError> {
        report.into = Some(self.into.clone());
        let filled = self.fill(last, &report);
        match filled {
            Ok(()) => Ok(report),
            Err(error) => {
                self.discard();
                Err(error)
            }
        }
    }

    fn fill(&self, last: Lsn, report: &RepairReport) -> Result<(), RepairError> {
        let io = self.io;
        let mut state = ManifestState::default();
        let checkpoint = Edit::Checkpoint { lsn: last, durable: last };
        let edits: Vec<Edit> = self.edits.iter().cloned().chain([checkpoint]).collect();
        let change = state.check(&edits).map_err(|fault| StorageError::Unfit(fault.into()))?;
        state.carry_out(change);
        self.begin_log(last)?;
        Manifest::create(io, &self.tmp, self.store_id, &Arc::new(RwLock::new(state)))?;
        for (name, text) in [(REPAIR_JSON, report.to_json()), (REPAIR_TEXT, report.to_string())] {
            let path = self.tmp.join(name);
            let file = io.open(&path, OpenMode::CreateEmpty).at("create", &path)?;
            write_all_at(&file, 0, text.as_bytes()).at("write", &path)?;
        }
        uninterrupted(|| self.handle.sync_fs()).at("sync the file system of", &self.tmp)?;
        check_opens(io, &self.tmp)?;
        let mut wrong = None;
        let verified = verify(io.as_ref(), &self.tmp, &mut |file| {
            if file.state == FileState::Wrong {
                wrong.get_or_insert_with(|| format!("{}: {}", file.path.display(), file.note));
            }
        })?;
        if !verified.is_sound() {
            return Err(RepairError::Unsound { what: wrong.unwrap_or_default() });
        }
        io.rename(&self.tmp, &self.into).at("move the repaired database to", &self.into)?;
        let parent = parent_of(&self.into);
        uninterrupted(|| io.sync_dir(&parent)).at("sync", &parent)?;
        Ok(())
    }

    /// The log begins behind everything that ever had a number, and follows no other.
    fn begin_log(&self, last: Lsn) -> Result<(), StorageError> {
        // It is empty: the server that opens it fills it with zeros as it likes.
        let options = LogOptions { preallocate_bytes: 64 << 10, ..LogOptions::default() };
        let place = LogPlace { dir: self.tmp.join(LOG_DIR), store_id: self.store_id, options };
        self.io.create_dir(&place.dir).at("make", &place.dir)?;
        drop(place.create(self.io.as_ref(), Lsn(last.0 + 1), LogEnd::default())?);
        let io = Arc::clone(self.io);
        let LogPlace { dir, store_id, options } = place;
        let (log, _) = Log::open(io, &dir, store_id, options, Floor::at(last), &mut |_, _| Ok(()))?;
        log.close()
    }

    /// Removes what was made so far.
    pub(super) fn discard(self) {
        if let Err(failure) = remove_tree(self.io.as_ref(), &self.tmp) {
            tracing::warn!(path = %self.tmp.display(), error = %failure.source, "what was repaired so far stays: remove it");
        }
    }
}

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn check_place<I: Io>(io: &I, dir: &Path, into: &Path) -> Result<(), RepairError> {
    if into.starts_with(dir) {
        return Err(RepairError::Inside { path: into.to_owned() });
    }
    match io.list(into) {
        Ok(names) if names.is_empty() => Ok(()),
        Ok(_) => Err(RepairError::NotEmpty { path: into.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(StorageError::NotADirectory { path: into.to_owned() }.into())
        }
        Err(source) => Err(IoFailure { op: "list", path: into.to_owned(), source: Arc::new(source) }.into()),
    }
}

fn copy<I: Io>(io: &I, from: &Path, to: &Path) -> Result<(), IoFailure> {
    let source = io.open(from, OpenMode::Read).at("open", from)?;
    let target = io.open(to, OpenMode::CreateEmpty).at("create", to)?;
    let (mut offset, mut bytes) = (0, vec![0; COPY_BYTES]);
    loop {
        let read = read_full_at(&source, offset, &mut bytes).at("read", from)?;
        if read == 0 {
            return Ok(());
        }
        write_all_at(&target, offset, bytes.get(..read).unwrap_or_default()).at("write", to)?;
        offset += read as u64;
    }
}
