//! The directory's twin beside a run: opened now and then, put back from a backup, asked.

use std::sync::Arc;

use hindsight_engine::EngineError;
use hindsight_storage::directory::{DirectoryError, DirectoryHome, DirectoryState, OpenDirectoryError};

use super::disk::Plan;
use super::expect::{self, Outcome};
use super::request::{Item, NAMESPACES, namespace};
use super::sim::Sim;

impl Sim {
    /// Opens the directory, at whatever moment. Sometimes it is one that was put back from a backup.
    pub(super) fn open_directory(&mut self) -> Outcome {
        match self.random.below(10) {
            0..2 => self.older_twin = Arc::new(self.twin.copied()),
            2 => self.twin = Arc::new(self.older_twin.copied()),
            _ => {}
        }
        match self.engine().open_directory(&DirectoryHome::Memory(Arc::clone(&self.twin))) {
            Ok(report) => {
                let is_intact = matches!(report.state, DirectoryState::Intact);
                self.checked.intact += u64::from(is_intact);
                self.checked.rebuilt += u64::from(!is_intact);
                Ok(())
            }
            Err(OpenDirectoryError::Storage(error)) => self.failed(&EngineError::Storage(error)),
            // A record file could not be read.
            Err(OpenDirectoryError::Directory(error)) if self.has_failed() => {
                assert!(matches!(error, DirectoryError::Source(_)), "{error:?}");
                Ok(())
            }
            Err(error) => Err(format!("an honest disk, and {error:?}")),
        }
    }

    /// Whether a call has failed, or the power.
    fn has_failed(&self) -> bool {
        match self.config.plan {
            Plan::Fault { at, .. } | Plan::PowerCut(at) => at < self.io.calls(),
            Plan::Nothing | Plan::Shots(_) => false,
        }
    }

    /// Reads one memory by its id, which may lie in a namespace that is not loaded.
    pub(super) fn read_one(&mut self) -> Outcome {
        let (engine, space) = (self.engine(), self.random.index(NAMESPACES.len()));
        let (name, expected) = (namespace(space), self.model.world[space].clone());
        let items: Vec<Item> = expected.items.keys().copied().collect();
        let Some(item) = items.get(self.random.index(items.len().max(1))).copied() else { return Ok(()) };
        let Some(id) = self.model.id(item) else { return Ok(()) };
        let was_cold = !engine.is_loaded(&name);
        let got = match engine.get(&name, id, None) {
            Ok(got) => got,
            Err(error) => return self.failed(&error),
        };
        if got.lsn().0 != expected.applied {
            return Err(format!("a read by id as of lsn {}, expected {}", got.lsn(), expected.applied));
        }
        self.checked.cold_reads += u64::from(was_cold && !engine.is_loaded(&name));
        self.later(got, move |_, got| expect::same(item, &expected.items[&item], &got.memory));
        Ok(())
    }
}
