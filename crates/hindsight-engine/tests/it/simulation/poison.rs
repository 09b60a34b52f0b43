//! After a failed sync.

use hindsight_engine::{WriteItem, WriteOptions};

use super::expect::{self, Outcome, every_state, told};
use super::request::{NAMESPACES, draft, namespace};
use super::sim::Sim;

impl Sim {
    /// D5: nothing is acknowledged any more; namespaces with changes that were never synced answer nothing.
    pub(super) fn after_poison(&mut self) -> Outcome {
        self.checked.poisoned += 1;
        self.is_poisoned_rightly()?;
        // That the disk works again changes nothing.
        self.io.disk().heal();
        let engine = self.engine();
        let synced = engine.revision().0;
        for space in 0..NAMESPACES.len() {
            let item = WriteItem::new(draft(1_000_001), None);
            match engine.write(&namespace(space), item, WriteOptions::default()) {
                Err(error) if error.reason() == "STORAGE_POISONED" => {}
                // Without power a namespace that is not in memory can't be read.
                Err(error) if self.is_dark() => self.permit(&error)?,
                other => return Err(format!("a poisoned log, and a write says {other:?}")),
            }
            let page = match engine.list(&namespace(space), &every_state()) {
                Err(error) if self.is_dark() => {
                    self.permit(&error)?;
                    continue;
                }
                page => page.map_err(told)?,
            };
            let expected = self.model.world[space].clone();
            let is_synced = page.lsn().0 <= synced;
            if is_synced != (expected.applied <= synced) {
                return Err(format!("namespace {space} answers as of lsn {}", page.lsn()));
            }
            match page.wait() {
                Ok(page) if is_synced => expect::list(&self.model, &expected, &page.memories).map(|_| ())?,
                Err(_) if !is_synced => self.checked.refused_reads += 1,
                other => return Err(format!("synced up to {synced}, and a read says {other:?}")),
            }
        }
        if engine.commit_step().is_ok() || engine.revision().0 != synced {
            return Err("a poisoned log commits".to_owned());
        }
        if self.io.disk().counts().syncs_after_failure > 0 {
            return Err("a file was synced after its sync had failed".to_owned());
        }
        self.settle()?;
        std::mem::take(&mut self.answers)
            .into_iter()
            .try_for_each(|answer| (answer.check)(&mut self.model, false))
    }
}
