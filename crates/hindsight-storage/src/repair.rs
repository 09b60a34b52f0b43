//! A new data directory of what is left of a damaged one (D4).
//!
//! The damaged directory is not written to: whatever a repair gets wrong can be done again, by other means. So a repair
//! needs room for the database beside it.
//!
//! [`RepairMode::Salvage`] keeps whatever can be proved: a record by its own checksum, a batch of the log by that of its
//! frame; of each memory the newest image that is left. What is missing in between is named: the positions of the log
//! that can't be read, the entries of the files that can't, and the memories of which a later change is known that can't
//! be carried out. [`RepairMode::TruncateAt`] goes back to the state before a position of the log, which must be whole.
//!
//! What comes out is written as a checkpoint writes it: one record file a namespace, a manifest, and a log that goes on
//! behind everything that ever had a number.
//!
//! Reading order: here, `files` and `log` (what can be read), `images` (what it means), `write`, `report`.

mod error;
mod files;
mod images;
mod log;
mod report;
mod write;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use hindsight_core::{Batch, Lsn, Namespace};

use crate::{
    erasure::Ledger,
    error::{At, StorageError},
    io::{Io, OpenMode},
    manifest::{ManifestState, StoredNamespace, examine, examine_prefix, manifest_path, parse_manifest_name},
    records::NamespaceId,
    recovery::Floor,
    store::{DirLock, Format},
};
pub use error::RepairError;
use files::{FoundFiles, Wanted, name_of};
use images::Images;
use log::FoundLog;
pub use report::{BadBytes, Fate, LsnRange, ManifestFound, RepairReport, RepairedFile, RepairedNamespace};
use write::Target;

/// The report of a repair in the directory it made, for programs.
pub const REPAIR_JSON: &str = "REPAIR.json";
/// The same for people.
pub const REPAIR_TEXT: &str = "REPAIR.txt";

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairMode {
    /// Whatever can be proved to have been written.
    Salvage,
    /// The state before this position of the log: everything from it on is given up.
    TruncateAt(Lsn),
}

/// Finds out what can be kept of the data directory `dir`, and, given `into`, makes a new data directory there, which must
/// be missing or empty. The damaged one is locked meanwhile, and not changed. The new one is made beside its place, opened
/// once, verified, and moved there when it is whole and durable.
///
/// # Errors
/// [`RepairError::NoDatabase`] when nothing in `dir` tells which database it is; [`RepairError::Truncate`] when the state
/// before that position is not whole; [`RepairError::NotEmpty`] and [`RepairError::Inside`] when `into` can't be taken;
/// [`RepairError::Storage`] when a server has `dir` open, a newer version wrote it, or a call of the system fails.
pub fn repair<I: Io>(
    io: &Arc<I>,
    dir: &Path,
    mode: RepairMode,
    into: Option<&Path>,
) -> Result<RepairReport, RepairError> {
    let lock = DirLock::hold(io.as_ref(), dir)?;
    let mut damaged = Damaged::look(io.as_ref(), dir)?;
    let log = FoundLog::read(&damaged)?;
    damaged.compare(&log);
    let files = FoundFiles::list(&damaged)?;
    let target = into.map(|into| Target::begin(io, &damaged, into)).transpose()?;
    let mut repair = Repair { damaged, mode, target, last: Lsn(0) };
    let result = repair.run(log, &files).and_then(|report| match repair.target.take() {
        Some(target) => target.finish(repair.last, report),
        None => Ok(report),
    });
    if result.is_err()
        && let Some(target) = repair.target.take()
    {
        target.discard();
    }
    drop(lock);
    result
}

/// A data directory that may be damaged.
struct Damaged<'a, I: Io> {
    io: &'a I,
    dir: &'a Path,
    store_id: u64,
    found: ManifestFound,
    state: ManifestState,
    manifests: Vec<RepairedFile>,
    /// What was purged must not come back, whatever of the log is lost.
    ledger: Ledger,
}

impl<'a, I: Io> Damaged<'a, I> {
    fn look(io: &'a I, dir: &'a Path) -> Result<Self, RepairError> {
        let mut damaged = Damaged {
            io,
            dir,
            store_id: 0,
            found: ManifestFound::Nothing,
            state: ManifestState::default(),
            manifests: Vec::new(),
            ledger: Ledger::default(),
        };
        damaged.store_id = match Format::read(io, dir) {
            Ok(format) => format.store_id,
            Err(error @ (StorageError::FormatTooNew { .. } | StorageError::Io(_))) => {
                return Err(error.into());
            }
            Err(_) => {
                let store_id = error::store_id(io, dir)?;
                store_id.ok_or(RepairError::NoDatabase { path: dir.to_owned() })?
            }
        };
        damaged.ledger = Ledger::open(io, dir, damaged.store_id)?;
        damaged.read_manifest()?;
        Ok(damaged)
    }

    /// The newest manifest; what can be read of it when it is damaged; else the one before.
    fn read_manifest(&mut self) -> Result<(), StorageError> {
        let names = self.list(self.dir)?;
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| parse_manifest_name(name)).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        let mut is_newest = true;
        for number in numbers {
            let path = manifest_path(self.dir, number);
            let (state, note) = match examine(self.io, &path, Some(self.store_id), number) {
                Ok(examined) => (Some(examined.state), String::new()),
                Err(StorageError::Io(failure)) => return Err(failure.into()),
                Err(StorageError::CorruptManifest { path, offset, fault }) if fault.is_newer() => {
                    return Err(StorageError::CorruptManifest { path, offset, fault });
                }
                Err(error) => {
                    let text = error::with_causes(&error);
                    (examine_prefix(self.io, &path, self.store_id, number)?, text)
                }
            };
            let fate = match (&state, note.is_empty()) {
                (Some(_), true) => Fate::Kept,
                (Some(_), false) => Fate::Partly,
                (None, _) => Fate::Lost,
            };
            let path = self.below(&path);
            self.manifests.push(RepairedFile { path, fate, kept: 0, lost: 0, bad: Vec::new(), note });
            if let (Some(state), ManifestFound::Nothing) = (state, self.found) {
                self.state = state;
                let is_whole = is_newest && fate == Fate::Kept;
                self.found = if is_whole { ManifestFound::Whole } else { ManifestFound::Part };
            }
            is_newest = false;
        }
        Ok(())
    }

    /// A manifest that ends before the log begins is older than the last checkpoint, or a segment is missing: then it
    /// does not tell all there has to be.
    fn compare(&mut self, log: &FoundLog) {
        let is_behind = log.first.is_some_and(|first| first.0 > self.state.floor.checkpoint_lsn.0 + 1);
        if self.found == ManifestFound::Whole && is_behind {
            self.found = ManifestFound::Behind;
        }
    }

    fn floor(&self) -> Floor {
        self.state.floor
    }

    /// Whether there is a manifest, in whatever state.
    fn has_manifest(&self) -> bool {
        !self.manifests.is_empty()
    }

    /// Whether it is known what there has to be.
    fn knows_all(&self) -> bool {
        self.found == ManifestFound::Whole
    }

    fn namespaces(&self) -> impl Iterator<Item = &StoredNamespace> {
        self.state.namespaces.values()
    }

    /// The names in a folder; none where there is no folder.
    fn list(&self, dir: &Path) -> Result<Vec<OsString>, StorageError> {
        match self.io.list(dir) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Vec::new())
            }
            result => Ok(result.at("list", dir)?),
        }
    }

    fn is_there(&self, path: &Path) -> bool {
        self.io.open(path, OpenMode::Read).is_ok()
    }

    fn below(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.dir).unwrap_or(path).to_owned()
    }
}

/// A repair under way.
struct Repair<'a, I: Io> {
    damaged: Damaged<'a, I>,
    mode: RepairMode,
    target: Option<Target<'a, I>>,
    /// The newest number that anything has.
    last: Lsn,
}

/// The batches of the log, by namespace.
type Logged = BTreeMap<Namespace, Vec<(Lsn, Batch)>>;

impl<I: Io> Repair<'_, I> {
    fn run(&mut self, mut log: FoundLog, files: &FoundFiles) -> Result<RepairReport, RepairError> {
        let damaged = &self.damaged;
        // Where nothing tells how far the files go, they go up to where the log begins.
        let begun = log.first.map_or(Lsn(0), |first| Lsn(first.0 - 1));
        let checkpoint = damaged.floor().checkpoint_lsn;
        let is_floor = matches!(damaged.found, ManifestFound::Whole | ManifestFound::Behind);
        let checkpoint = if is_floor { checkpoint } else { checkpoint.max(begun) };
        let newest = log.batches.last_key_value().map_or(Lsn(0), |(lsn, _)| *lsn);
        self.last = newest.max(log.durable).max(checkpoint);
        let mut lost_lsns = log.lost(checkpoint);
        if let RepairMode::TruncateAt(at) = self.mode {
            self.check_cut(at, checkpoint, &lost_lsns)?;
            let given_up = log.batches.split_off(&at);
            lost_lsns.retain(|range| range.from >= at.0);
            if !given_up.is_empty() {
                lost_lsns = vec![LsnRange { from: at.0, to: (!log.has_open_end).then_some(self.last.0) }];
            }
        }
        let mut report = RepairReport {
            data: damaged.dir.to_owned(),
            into: None,
            mode: if self.mode == RepairMode::Salvage { "salvage" } else { "truncate-at" },
            store_id: format!("{:016x}", damaged.store_id),
            manifest: damaged.found,
            checkpoint_lsn: checkpoint.0,
            durable_lsn: log.durable.0,
            last_lsn: 0,
            lost_lsns,
            files: damaged.manifests.clone(),
            namespaces: Vec::new(),
        };
        report.files.append(&mut log.files);
        let mut logged = Logged::new();
        for (lsn, batch) in std::mem::take(&mut log.batches) {
            logged.entry(batch.namespace.clone()).or_default().push((lsn, batch));
        }
        self.stored(files, &mut logged, &mut report)?;
        for (name, batches) in logged {
            self.namespace(name, Images::default(), batches, (0, None), &mut report)?;
        }
        report.last_lsn = self.last.0;
        Ok(report)
    }

    /// Whether the state before `at` is whole.
    fn check_cut(&self, at: Lsn, checkpoint: Lsn, lost: &[LsnRange]) -> Result<(), RepairError> {
        let refuse = |reason: String| Err(RepairError::Truncate { at, reason });
        if !self.damaged.knows_all() {
            return refuse("the manifest is damaged, and only a salvage can do without".to_owned());
        }
        let applied = self.damaged.namespaces().map(|namespace| namespace.applied).max().unwrap_or_default();
        let (lowest, highest) = (applied.max(checkpoint).0 + 1, self.last.0 + 1);
        if !(lowest..=highest).contains(&at.0) {
            return refuse(format!(
                "expected {lowest} to {highest}: record files hold what came before, and the log ends there"
            ));
        }
        match lost.iter().find(|range| range.from < at.0) {
            Some(range) => refuse(format!("{range} can't be read: expected at most {}", range.from)),
            None => Ok(()),
        }
    }

    /// The namespaces that have record files.
    fn stored(
        &mut self,
        files: &FoundFiles,
        logged: &mut Logged,
        report: &mut RepairReport,
    ) -> Result<(), RepairError> {
        let mut ids: Vec<NamespaceId> = self.damaged.namespaces().map(|namespace| namespace.id).collect();
        ids.extend(files.by_id.keys());
        ids.sort_unstable();
        ids.dedup();
        // Of two namespaces of one name, which only a damaged manifest can't tell apart, the newer one has it.
        for id in ids.into_iter().rev() {
            let known = self.damaged.state.namespaces.get(&id).cloned();
            let wanted = files.by_id.get(&id).map(Vec::as_slice).unwrap_or_default();
            self.stored_namespace(known, files, wanted, logged, report)?;
        }
        report.namespaces.reverse();
        Ok(())
    }

    fn stored_namespace(
        &mut self,
        known: Option<StoredNamespace>,
        files: &FoundFiles,
        wanted: &[Wanted],
        logged: &mut Logged,
        report: &mut RepairReport,
    ) -> Result<(), RepairError> {
        let mut images = Images::default();
        let (mut name, mut lost, mut entries) = (None, 0, Vec::new());
        for wanted in wanted {
            let found = files.read(&self.damaged, wanted)?;
            if self.mode != RepairMode::Salvage && found.report.fate != Fate::Kept {
                let reason = format!("{} is damaged or missing: use a salvage", found.report.path.display());
                let RepairMode::TruncateAt(at) = self.mode else { continue };
                return Err(RepairError::Truncate { at, reason });
            }
            lost += found.report.lost;
            report.files.push(found.report);
            entries.push(found.entries);
        }
        for entries in &entries {
            name = name.or_else(|| name_of(known.as_ref(), entries));
        }
        let Some(name) = name.or(known.as_ref().map(|known| known.name.clone())) else { return Ok(()) };
        if report.namespaces.iter().any(|namespace| namespace.name == name.as_str()) {
            return Ok(());
        }
        entries.into_iter().flatten().for_each(|loaded| images.stored(&name, loaded));
        let batches = logged.remove(&name).unwrap_or_default();
        self.namespace(name, images, batches, (lost, known.as_ref()), report)
    }

    fn namespace(
        &mut self,
        name: Namespace,
        mut images: Images,
        batches: Vec<(Lsn, Batch)>,
        (lost_entries, known): (u64, Option<&StoredNamespace>),
        report: &mut RepairReport,
    ) -> Result<(), RepairError> {
        if let Some(known) = known {
            images.applied = images.applied.max(known.applied);
            images.last_at = images.last_at.max(known.last_at);
            images.model = known.model.clone().or(images.model);
            (images.settings, images.settings_at) = (known.settings.clone(), known.applied);
        }
        for (lsn, batch) in batches {
            images.logged(lsn, batch);
        }
        for erasure in self.damaged.ledger.entries() {
            images.purge(&name, erasure.lsn, &erasure.purge);
        }
        self.last = self.last.max(images.applied);
        report.namespaces.push(RepairedNamespace {
            name: name.as_str().to_owned(),
            kept: images.live(),
            lost_entries,
            incomplete: images.incomplete(),
            requests: images.requests().len() as u64,
        });
        match &mut self.target {
            Some(target) => target.namespace(&name, &images),
            None => Ok(()),
        }
    }
}
