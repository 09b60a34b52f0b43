//! Removes what nothing names any more.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use hindsight_core::Lsn;

use super::{CheckpointReport, round::SYNC_EACH_MAX};
use crate::{
    erasure::LEDGER_TMP,
    error::{At, IoFailure},
    io::{Io, IoFile, uninterrupted},
    manifest::{StoredNamespace, is_unfinished_manifest, parse_manifest_name},
    records::{NamespaceId, RecordFiles, namespace_dir, parse_namespace_dir, record_path},
    snapshot::{is_unnamed, snapshot_path},
};

/// Files and folders that are to be removed. Their names are never used again.
#[derive(Debug, Default)]
pub(crate) struct Garbage {
    files: BTreeSet<PathBuf>,
    dirs: BTreeSet<PathBuf>,
}

impl Garbage {
    pub(super) fn len(&self) -> usize {
        self.files.len() + self.dirs.len()
    }

    /// One of them.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.files.first().or(self.dirs.first()).map(PathBuf::as_path)
    }

    pub(super) fn add_files<I: Io>(&mut self, files: &RecordFiles<I>, gone: &[(NamespaceId, u32)]) {
        files.forget(gone);
        self.files.extend(gone.iter().map(|(id, number)| record_path(files.ns(), *id, *number)));
    }

    pub(super) fn add_snapshots<I: Io>(&mut self, files: &RecordFiles<I>, gone: &[(NamespaceId, Lsn)]) {
        self.files.extend(gone.iter().map(|(id, lsn)| snapshot_path(files.ns(), *id, *lsn)));
    }

    pub(super) fn add_namespaces<I: Io>(&mut self, files: &RecordFiles<I>, gone: &[StoredNamespace]) {
        for namespace in gone {
            let numbers = namespace.files.keys();
            let numbers: Vec<_> = numbers.map(|number| (namespace.id, *number)).collect();
            self.add_files(files, &numbers);
            let snapshot: Vec<_> =
                namespace.snapshot.iter().map(|snapshot| (namespace.id, snapshot.lsn)).collect();
            self.add_snapshots(files, &snapshot);
            self.dirs.insert(namespace_dir(files.ns(), namespace.id));
        }
    }

    /// Removes what it can, and keeps the rest for the next time. The removals are durable when this returns; that
    /// matters only to who wants to be sure that the content is gone, for the next start would remove the files, too.
    ///
    /// # Errors
    /// When a sync fails.
    pub(crate) fn sweep<I: Io>(
        &mut self,
        files: &RecordFiles<I>,
        handle: Option<&I::File>,
        report: &mut CheckpointReport,
    ) -> Result<(), IoFailure> {
        // A backup still reads what the manifest named when it began.
        if files.is_pinned() {
            return Ok(());
        }
        let io = files.io();
        let mut touched = BTreeSet::new();
        self.files.retain(|path| match io.unlink(path) {
            Ok(()) => {
                report.files_removed += 1;
                touched.extend(path.parent().map(Path::to_owned));
                false
            }
            Err(error) => stays(path, &error),
        });
        self.dirs.retain(|dir| match io.remove_dir(dir) {
            Ok(()) => {
                touched.remove(dir);
                touched.insert(files.ns().to_owned());
                false
            }
            Err(error) => stays(dir, &error),
        });
        match handle {
            Some(file) if touched.len() > SYNC_EACH_MAX => {
                uninterrupted(|| file.sync_fs()).at("sync the file system of", files.ns())
            }
            _ => touched.iter().try_for_each(|dir| uninterrupted(|| io.sync_dir(dir)).at("sync", dir)),
        }
    }
}

/// Whether a file that could not be removed is still there.
fn stays(path: &Path, error: &io::Error) -> bool {
    let is_there = error.kind() != io::ErrorKind::NotFound;
    if is_there {
        tracing::warn!(path = %path.display(), %error, "a file that is not needed stays");
    }
    is_there
}

/// Removes what crashes have left: files that were never finished, and those that the manifest does not name. Everything
/// has been validated before. Files with other names are left alone. Returns what was removed.
///
/// # Errors
/// Calls of the system that failed.
pub(crate) fn remove_orphans<I: Io>(
    files: &RecordFiles<I>,
    dir: &Path,
    manifest: u32,
) -> Result<Vec<PathBuf>, IoFailure> {
    let io = files.io().as_ref();
    let mut removed = Vec::new();
    // The newest manifest and the one before stay.
    let is_outdated = |number: u32| number + 1 < manifest;
    let is_leftover = |name: &OsStr| {
        name == LEDGER_TMP
            || is_unfinished_manifest(name)
            || parse_manifest_name(name).is_some_and(is_outdated)
    };
    unlink_all(io, dir, is_leftover, &mut removed)?;
    let has_leftovers = !removed.is_empty();
    let mut has_strays = false;
    for name in list(io, files.ns())? {
        let Some(id) = parse_namespace_dir(&name) else { continue };
        let folder = namespace_dir(files.ns(), id);
        let state = files.state().read();
        let namespace = state.namespaces.get(&id);
        unlink_all(io, &folder, |name| is_unnamed(name, namespace) == Some(true), &mut removed)?;
        if namespace.is_none() && list(io, &folder)?.is_empty() {
            io.remove_dir(&folder).at("remove", &folder)?;
            removed.push(folder);
            has_strays = true;
        }
    }
    // The folders in which files were removed are not synced: what comes back is removed by the next start.
    if has_leftovers {
        uninterrupted(|| io.sync_dir(dir)).at("sync", dir)?;
    }
    if has_strays {
        uninterrupted(|| io.sync_dir(files.ns())).at("sync", files.ns())?;
    }
    Ok(removed)
}

fn unlink_all<I: Io>(
    io: &I,
    dir: &Path,
    is_one: impl Fn(&OsStr) -> bool,
    removed: &mut Vec<PathBuf>,
) -> Result<(), IoFailure> {
    for name in list(io, dir)?.into_iter().filter(|name| is_one(name)) {
        let path = dir.join(name);
        io.unlink(&path).at("remove", &path)?;
        removed.push(path);
    }
    Ok(())
}

/// The names in a folder; none when it is no folder.
fn list<I: Io>(io: &I, dir: &Path) -> Result<Vec<std::ffi::OsString>, IoFailure> {
    match io.list(dir) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        result => result.at("list", dir),
    }
}
