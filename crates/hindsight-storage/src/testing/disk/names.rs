//! The names of files and folders, and the changes of them that are not durable yet.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// A change of a folder that is not durable yet.
#[derive(Debug, Clone)]
pub(super) enum DirChange {
    Create(PathBuf, u64),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf, u64),
    MakeDir(PathBuf),
    RemoveDir(PathBuf),
    RenameDir(PathBuf, PathBuf),
}

/// What has a name.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub(super) files: BTreeMap<PathBuf, u64>,
    pub(super) dirs: BTreeSet<PathBuf>,
}

impl Names {
    /// Gives a folder another name, with everything in it.
    pub(super) fn move_dir(&mut self, from: &Path, to: &Path) {
        let moved = |path: PathBuf| match path.strip_prefix(from) {
            Ok(rest) if rest.as_os_str().is_empty() => to.to_owned(),
            Ok(rest) => to.join(rest),
            Err(_) => path,
        };
        self.dirs = std::mem::take(&mut self.dirs).into_iter().map(moved).collect();
        let files = std::mem::take(&mut self.files);
        self.files = files.into_iter().map(|(path, inode)| (moved(path), inode)).collect();
    }

    /// A folder that did not survive takes with it what was in it.
    pub(super) fn drop_strays(&mut self) {
        let dirs = std::mem::take(&mut self.dirs);
        let is_whole = |path: &Path| {
            path.ancestors().skip(1).all(|dir| dir.as_os_str().is_empty() || dirs.contains(dir))
        };
        self.dirs = dirs.iter().filter(|dir| is_whole(dir)).cloned().collect();
        self.files.retain(|path, _| is_whole(path));
    }
}

impl DirChange {
    pub(super) fn dir(&self) -> Option<&Path> {
        match self {
            DirChange::Create(path, _)
            | DirChange::Unlink(path)
            | DirChange::Rename(_, path, _)
            | DirChange::MakeDir(path)
            | DirChange::RemoveDir(path)
            | DirChange::RenameDir(_, path) => path.parent(),
        }
    }

    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            DirChange::Create(path, inode) => {
                names.files.insert(path.clone(), *inode);
            }
            DirChange::Unlink(path) => {
                names.files.remove(path);
            }
            DirChange::Rename(from, to, inode) => {
                names.files.remove(from);
                names.files.insert(to.clone(), *inode);
            }
            DirChange::MakeDir(path) => {
                names.dirs.insert(path.clone());
            }
            DirChange::RemoveDir(path) => {
                names.dirs.remove(path);
            }
            DirChange::RenameDir(from, to) => names.move_dir(from, to),
        }
    }
}
