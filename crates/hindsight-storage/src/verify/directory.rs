//! The directory: whether it holds where the records lie. It is derived, so what is wrong with it is no damage; a
//! manifest that names a wrong one would be.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use super::{Checker, FileState};
use crate::{
    directory::{DIRECTORY_DIR, Doubt, SledDirectory, Stamp},
    io::Io,
};

impl<I: Io> Checker<'_, I> {
    /// Holds what the manifest says of the directory against the record files.
    pub(super) fn stamp(&mut self) {
        let (Some(named), Some(places)) = (self.state.directory, self.places) else { return };
        if (named.records, named.digest) != (places.records, places.digest) {
            let note = format!(
                "the manifest names a directory of {} records, and the record files make another one, of {}",
                named.records, places.records
            );
            self.tell(&self.dir.join(DIRECTORY_DIR), FileState::Wrong, note);
        }
    }

    /// Holds a copy of the directory against the manifest: sled writes to what it opens.
    pub(super) fn directory(&mut self, path: &Path) {
        let Some(named) = self.state.directory else {
            let note = "the manifest does not say what it should hold: the next start makes it anew";
            return self.tell(path, FileState::Leftover, note);
        };
        match check_copy(path, named) {
            Ok(Ok(())) => {
                self.tell(path, FileState::Ok, format_args!("where {} records lie", named.records));
            }
            Ok(Err(doubt)) => {
                self.tell(path, FileState::Leftover, format_args!("{doubt}: the next start makes it anew"));
            }
            Err(error) => {
                let note = format_args!(
                    "not checked, because it can't be copied: {error}; the next start checks it"
                );
                self.tell(path, FileState::Leftover, note);
            }
        }
    }
}

/// A folder that goes when it is dropped.
struct Copy(PathBuf);

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(path = %self.0.display(), %error, "a copy of the directory stays");
        }
    }
}

fn check_copy(path: &Path, named: Stamp) -> io::Result<Result<(), Doubt>> {
    let number = getrandom::u64().map_err(io::Error::from)?;
    let to = std::env::temp_dir().join(format!("hindsight-verify-{number:016x}"));
    fs::DirBuilder::new().mode(0o700).create(&to)?;
    let to = Copy(to);
    copy(path, &to.0)?;
    let opened = SledDirectory::open(&to.0, Default::default()).map_err(Doubt::from);
    Ok(opened.and_then(|directory| directory.check(named)))
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
