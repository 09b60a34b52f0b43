//! The manifests: the newest says what there has to be, the one before is kept.

use std::{ffi::OsString, path::Path};

use super::{Checker, FileState};
use crate::{
    error::{At, StorageError},
    io::{Io, OpenMode},
    manifest::{examine, manifest_path, parse_manifest_name},
    reader::is_zero,
    records::NS_DIR,
    segment::FRAMES_START,
};

/// Where the header of a manifest ends.
const HEADER_END: u64 = 60;

impl<I: Io> Checker<'_, I> {
    pub(super) fn manifests(&mut self, names: &[OsString]) -> Result<(), StorageError> {
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| parse_manifest_name(name)).collect();
        numbers.sort_unstable();
        let Some(newest) = numbers.last().copied() else {
            // Only checkpoints leave record files behind, and they have one.
            if names.iter().any(|name| name == NS_DIR) {
                self.tell(
                    &manifest_path(self.dir, 1),
                    FileState::Wrong,
                    "there is no manifest, and there was one",
                );
            }
            return Ok(());
        };
        for number in numbers {
            let path = manifest_path(self.dir, number);
            match examine(self.io, &path, self.store_id, number) {
                Ok(examined) => {
                    self.store_id.get_or_insert(examined.header.store_id);
                    let note = format!("{} batches of edits", examined.batches);
                    if number == newest {
                        self.state = examined.state;
                        self.has_manifest = true;
                    }
                    if !padding_is_zero(self.io, &path, HEADER_END)? {
                        self.tell(&path, FileState::Wrong, "the page of its header is not zero behind it");
                    } else if examined.is_torn {
                        self.tell(
                            &path,
                            FileState::Torn,
                            format_args!("{note}, then a checkpoint that never became durable"),
                        );
                    } else if number + 1 < newest {
                        self.tell(&path, FileState::Leftover, format_args!("{note}, outdated"));
                    } else {
                        self.tell(&path, FileState::Ok, note);
                    }
                }
                Err(error) => self.tell_wrong(&path, error)?,
            }
        }
        self.report.namespaces = self.state.namespaces.len() as u64;
        self.report.memories = self.state.namespaces.values().map(|namespace| namespace.live).sum();
        self.report.checkpoint_lsn = self.state.floor.checkpoint_lsn.0;
        self.report.last_lsn = self.report.checkpoint_lsn;
        Ok(())
    }
}

/// Whether nothing stands between a header and the first frame.
pub(super) fn padding_is_zero<I: Io>(io: &I, path: &Path, from: u64) -> Result<bool, StorageError> {
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    let padding = crate::inspect::read_range(&file, from, FRAMES_START - from).at("read", path)?;
    Ok(is_zero(&padding))
}
