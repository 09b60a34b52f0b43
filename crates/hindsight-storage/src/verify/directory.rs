//! The directory: whether it holds where the records lie. It is derived, so what is wrong with it is no damage; a
//! manifest that names a wrong one would be.

use std::path::Path;

use super::{Checker, FileState};
use crate::{
    directory::{DIRECTORY_DIR, check_copy},
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
