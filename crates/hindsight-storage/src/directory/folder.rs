//! The folder in which sled keeps its files. Together with sled these are the only file calls of this crate that do
//! not go through `Io`: sled can't be given one, so the simulated disk runs the twin in memory instead.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::fs::{FlockOperation, flock};

use crate::error::{At, IoFailure};

/// sled keeps its files in the folder and in one folder inside it.
const DEPTH_MAX: usize = 2;
/// The file that sled locks.
const LOCKED_FILE: &str = "db";
const LOCK_TRIES_MAX: u32 = 1_000;
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// Whether anything has that name.
pub(super) fn exists(path: &Path) -> Result<bool, IoFailure> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).at("look at", path),
    }
}

/// Makes the folder for its owner only, which covers the files: sled makes them for everyone.
pub(super) fn create(path: &Path) -> Result<(), IoFailure> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result.at("create", path),
    }?;
    sync_parent(path)
}

/// Takes away whatever has that name, durably, so that no old file can come back beside new ones.
pub(super) fn remove(path: &Path) -> Result<(), IoFailure> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.at("remove", path),
    }?;
    sync_parent(path)
}

/// Makes every file in the folder durable, then the names of them. sled's own flush starts the writing of its pages
/// and waits for it; it does not ask the disk to keep them.
pub(super) fn sync(path: &Path) -> Result<(), IoFailure> {
    sync_to_depth(path, DEPTH_MAX)
}

/// Waits, a second at most, until sled has let go of its file. Threads of its own hold it for a moment after a
/// database is closed, and who opens it again in that moment is turned away.
pub(super) fn wait_until_unlocked(path: &Path) -> Result<(), IoFailure> {
    let path = path.join(LOCKED_FILE);
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.at("open", &path)?,
    };
    let mut result = Ok(());
    for _ in 0..LOCK_TRIES_MAX {
        result = flock(&file, FlockOperation::NonBlockingLockExclusive);
        match result {
            Err(rustix::io::Errno::WOULDBLOCK) => thread::sleep(LOCK_PAUSE),
            _ => break,
        }
    }
    result.map_err(io::Error::from).at("lock", &path)
}

fn sync_to_depth(path: &Path, depth: usize) -> Result<(), IoFailure> {
    for entry in fs::read_dir(path).at("list", path)? {
        let entry = entry.at("list", path)?;
        let inner = entry.path();
        let is_dir = entry.file_type().at("look at", &inner)?.is_dir();
        match is_dir {
            true if depth > 1 => sync_to_depth(&inner, depth - 1)?,
            true => {}
            false => match File::open(&inner).and_then(|file| file.sync_all()) {
                // sled drops files that it no longer needs whenever it likes.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result.at("sync", &inner)?,
            },
        }
    }
    sync_names(path)
}

fn sync_parent(path: &Path) -> Result<(), IoFailure> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    sync_names(parent)
}

fn sync_names(path: &Path) -> Result<(), IoFailure> {
    File::open(path).and_then(|folder| folder.sync_all()).at("sync", path)
}

/// A folder that goes when it is dropped.
pub(super) struct Copy(PathBuf);

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "a copy of the directory stays");
        }
    }
}

impl Copy {
    /// Copies a folder into a new one among the temporary files.
    pub(super) fn of(path: &Path) -> io::Result<Copy> {
        let number = getrandom::u64().map_err(io::Error::from)?;
        let to = std::env::temp_dir().join(format!("hindsight-verify-{number:016x}"));
        DirBuilder::new().mode(0o700).create(&to)?;
        let to = Copy(to);
        copy(path, &to.0)?;
        Ok(to)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

/// Copies the files of a folder and of those in it into one that is there.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&to)?;
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
