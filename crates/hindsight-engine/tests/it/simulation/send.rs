//! Sending requests: each is foreseen by the model, sent, and its answer kept.

use hindsight_core::MemoryId;
use hindsight_engine::EngineError;

use super::answer::Told;
use super::expect::Outcome;
use super::model::Foreseen;
use super::request::{Call, Item, NAMESPACES, Request};
use super::sim::Sim;

impl Sim {
    pub(super) fn send_new(&mut self, call: fn(&mut Sim, usize) -> Option<Call>) -> Outcome {
        let space = self.random.index(NAMESPACES.len());
        let Some(call) = call(self, space) else { return Ok(()) };
        let id = self.random.percent(40).then(|| {
            self.counters.request += 1;
            self.counters.request
        });
        let request = Request { space, call, id };
        if id.is_some() {
            self.requests.push(request.clone());
        }
        self.send(request)
    }

    /// A client that got no answer, or did not hear it; sometimes one that uses an id twice.
    pub(super) fn send_again(&mut self) -> Outcome {
        let newest = self.requests.len().min(25);
        if newest == 0 {
            return Ok(());
        }
        let at = self.requests.len() - 1 - self.random.index(newest);
        let mut request = self.requests[at].clone();
        if self.random.percent(10) {
            request.call = Call::Write { item: self.new_item(), dry: false };
        }
        self.send(request)
    }

    /// Sends a request and holds what the engine does against what the model says.
    pub(super) fn send(&mut self, request: Request) -> Outcome {
        if !self.can_be_named(&request.call) {
            return Ok(());
        }
        let foreseen = self.model.foresee(&request, self.now_ms());
        let applied = self.model.world[request.space].applied;
        // Where nothing was ever written, or what was is dropped, an answer reflects whatever is synced.
        let (exists, synced) = (self.model.world[request.space].exists(), self.engine().revision().0);
        let nothing = if exists || applied > synced { applied } else { synced };
        let told = match &foreseen {
            Foreseen::Commit(_) => Told { replayed: false, revision: Some(self.model.sent() + 1) },
            Foreseen::Replayed(lsn) => Told { replayed: true, revision: Some(*lsn) },
            Foreseen::Nothing | Foreseen::Refused(_) => Told { replayed: false, revision: None },
        };
        self.shown_after = None;
        let was_degraded = self.engine().degraded().is_some();
        match (self.call(&request, &foreseen, told), foreseen) {
            (Err(error), foreseen) if error.reason() == "DISK_FULL" => {
                self.without_room(&request, &foreseen, &error)
            }
            (Err(EngineError::Storage(error)), _) => self.failed(&EngineError::Storage(error)),
            (Err(error), Foreseen::Refused(kind)) if error.kind() == kind => {
                self.checked.tombstoned += u64::from(error.reason() == "TOMBSTONED_VALUE");
                Ok(())
            }
            (Err(error), foreseen) => Err(format!("{request:?} says {error:?}, expected {foreseen:?}")),
            (Ok(_), Foreseen::Refused(kind)) => Err(format!("{request:?} is accepted, expected {kind:?}")),
            (Ok(lsn), Foreseen::Commit(commit)) if Some(lsn) == told.revision => {
                self.is_taken_rightly(&request, was_degraded)?;
                self.give_up(request.space, &commit.gone);
                self.model.push(commit);
                self.is_promised(request.space, lsn)
            }
            // A dry run in a namespace that is not there.
            (Ok(0), Foreseen::Nothing) if !exists => Ok(()),
            (Ok(lsn), Foreseen::Nothing) if lsn == nothing || lsn == applied => {
                self.is_promised(request.space, lsn)
            }
            (Ok(lsn), Foreseen::Replayed(_)) => self.is_safe_to_show(&request, lsn),
            (Ok(lsn), foreseen) => Err(format!("{request:?} waits for lsn {lsn}, expected {foreseen:?}")),
        }
    }

    /// D1: the newest answer waits for what its namespace's durability promises, no less and no more.
    fn is_promised(&self, space: usize, lsn: u64) -> Outcome {
        let synced = self.engine().revision().0;
        let promised = self.model.world[space].shown_after(lsn);
        // A purge answers when everything is done.
        match self.shown_after {
            Some(shown_after) if shown_after.max(synced) != promised.max(synced) => {
                Err(format!("an answer of lsn {lsn} is shown after {shown_after}, expected {promised}"))
            }
            _ => Ok(()),
        }
    }

    /// An answer to a repeated request that shows the memory as it is now waits for the memory's newest change.
    fn is_safe_to_show(&self, request: &Request, lsn: u64) -> Outcome {
        let space = &self.model.world[request.space];
        let changed = match &request.call {
            Call::Write { item, .. } | Call::Claim { item, .. } | Call::Update { item, .. } => {
                space.changed[item]
            }
            Call::Echo { .. } => space.changed[&self.model.images(self.model.lsn_of(request))[0].0],
            _ => 0,
        };
        if (changed..=space.applied).contains(&lsn) {
            return Ok(());
        }
        Err(format!("{request:?} shows what changed at lsn {changed}, and waits for lsn {lsn}"))
    }

    /// Whether the caller knows every id that the call needs.
    fn can_be_named(&self, call: &Call) -> bool {
        match call {
            Call::Write { .. }
            | Call::Echo { .. }
            | Call::Claim { .. }
            | Call::Batch { .. }
            | Call::ForgetGroup { .. } => true,
            Call::PurgeGroup { .. }
            | Call::PurgeAll
            | Call::Expire
            | Call::Archive
            | Call::Drop
            | Call::Settings { .. } => true,
            Call::Update { item, .. } | Call::Rollback { item } => self.model.id(*item).is_some(),
            Call::Feedback { items, .. } => items.iter().all(|(item, _)| self.model.id(*item).is_some()),
            Call::Accesses { .. } => false,
            Call::Forget { items } | Call::Restore { items } | Call::Purge { items } => {
                self.ids(items).len() == items.len()
            }
        }
    }

    pub(super) fn ids(&self, items: &[Item]) -> Vec<MemoryId> {
        items.iter().filter_map(|item| self.model.id(*item)).collect()
    }
}
