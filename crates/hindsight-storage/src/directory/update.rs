//! What a checkpoint tells the directory.

use std::{collections::BTreeSet, sync::Arc};

use hindsight_core::Lsn;

use super::{Batches, Directory, DirectoryBatch, DirectoryError, Stamp};
use crate::{
    checkpoint::StoredCheckpoint,
    io::Io,
    manifest::{Edit, StoredNamespace},
    store::Storage,
};

/// A change of the directory that the manifest has to name first: a crash between the two leaves a directory that does
/// not fit, which is made anew.
pub(crate) struct Update {
    directory: Arc<dyn Directory>,
    batches: Vec<DirectoryBatch>,
    /// What the directory will be.
    stamp: Stamp,
}

impl<I: Io> Storage<I> {
    /// The change that goes with a part of a checkpoint, whose edits name its stamp then; `None` without a directory that
    /// could be told, or when the files stay as they are.
    pub(crate) fn plan_update(
        &self,
        edits: &mut Vec<Edit>,
        stored: &[StoredCheckpoint],
        dropped: &[StoredNamespace],
        lsn: Lsn,
    ) -> Option<Update> {
        if !edits.iter().any(Edit::changes_files) {
            return None;
        }
        let named = self.records().state().read().directory;
        let directory = self.directory.to_change(named)?;
        let planned = plan(directory.as_ref(), stored, dropped, lsn);
        let (batches, stamp) = planned.inspect_err(|error| self.directory.distrust(error)).ok()?;
        self.directory.announce(Some(stamp));
        edits.push(Edit::Directory { stamp });
        Some(Update { directory, batches, stamp })
    }

    /// Makes the change, now that the manifest names its stamp; or forgets it, because it does not.
    pub(crate) fn end_update(&self, update: Option<Update>, is_named: bool) {
        let Some(Update { directory, batches, stamp }) = update else { return };
        if !is_named {
            self.directory.announce(None);
            return;
        }
        let mut reached = Ok(Stamp::EMPTY);
        for batch in &batches {
            reached = directory.apply(batch);
            if reached.is_err() {
                break;
            }
        }
        match reached {
            Ok(reached) if reached == stamp => self.directory.arrived(stamp),
            Ok(found) => self.directory.distrust(&super::Doubt::Different { expected: stamp, found }),
            Err(error) => self.directory.distrust(&error),
        }
    }
}

fn plan(
    directory: &dyn Directory,
    stored: &[StoredCheckpoint],
    dropped: &[StoredNamespace],
    lsn: Lsn,
) -> Result<(Vec<DirectoryBatch>, Stamp), DirectoryError> {
    let mut batches = Batches::new(lsn);
    dropped.iter().for_each(|namespace| batches.drop_namespace(namespace.id));
    for StoredCheckpoint { id, positions, rewritten, .. } in stored {
        if *rewritten {
            let kept: BTreeSet<_> = positions.iter().map(|(id, _)| *id).collect();
            batches.remove_others(directory, *id, &kept)?;
        }
        positions.iter().for_each(|(id, position)| batches.put(*id, *position));
    }
    let batches = batches.into_all();
    let stamp = directory.stamp_after(&batches)?;
    Ok((batches, stamp))
}
