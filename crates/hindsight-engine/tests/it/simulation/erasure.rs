//! Drops, purges and what they leave: nothing (L3, L4, A12).

use std::path::Path;
use std::sync::Arc;

use hindsight_core::Namespace;
use hindsight_engine::{DropRequest, EngineError, PurgeRequest, PurgeStep, PurgeTarget};
use hindsight_storage::testing::{FaultKind, MemIo};

use super::answer::Told;
use super::checked::Checked;
use super::config::Config;
use super::disk::{Engine, Plan, SimIo};
use super::expect::{Outcome, told};
use super::model::{Foreseen, Gone, Model};
use super::request::{Call, Item, NAMESPACES, Request, group_filter, group_of, item_tag, own_word};
use super::sabotage::Sabotage;
use super::sim::{DIR, End, Sim};

impl Sim {
    pub(super) fn purge(&mut self, space: usize) -> Option<Call> {
        if self.random.percent(10) {
            return Some(Call::PurgeAll);
        }
        let item = self.some_item(space)?;
        if self.random.percent(30) {
            return Some(Call::PurgeGroup { group: group_of(item) });
        }
        let mut items = vec![item];
        items.extend(self.some_item(space));
        items.sort_unstable();
        items.dedup();
        Some(Call::Purge { items })
    }

    pub(super) fn drop_namespace(&mut self) -> Outcome {
        let space = self.random.index(NAMESPACES.len());
        self.send(Request { space, call: Call::Drop, id: None })
    }

    pub(super) fn erase_or_expire(&mut self) -> Outcome {
        if self.random.percent(50) { self.erase() } else { self.expire() }
    }

    /// Nobody sends again what would bring a purged memory back.
    pub(super) fn give_up(&mut self, space: usize, gone: &Gone) {
        match gone {
            Gone::Nothing => {}
            Gone::Purged(items) => self.requests.retain(|request| !request.call.writes(items)),
            Gone::PurgedAll(_) | Gone::Dropped => self.requests.retain(|request| request.space != space),
        }
    }

    /// Whatever is purged is erased.
    pub(super) fn erase(&mut self) -> Outcome {
        match self.engine().erase_step() {
            Ok(erased) => {
                if let Some(waits_for) = erased.waits_for {
                    return Err(format!("an erasure waits for {waits_for}"));
                }
                self.checked.erased += erased.receipts.len() as u64;
                self.settle()?;
                is_erased(&self.io.disk(), &self.model.purged(self.model.sent()), &self.model.repeated())
            }
            Err(error) => self.failed(&error),
        }
    }

    /// The job purges what was forgotten too long ago, and erases.
    fn expire(&mut self) -> Outcome {
        if matches!(self.config.plan, Plan::Fault { .. }) {
            // After an error nobody could say how far it came.
            return Ok(());
        }
        let now_ms = self.now_ms();
        for space in 0..NAMESPACES.len() {
            let request = Request { space, call: Call::Expire, id: None };
            if let Foreseen::Commit(commit) = self.model.foresee(&request, now_ms) {
                self.give_up(space, &commit.gone);
                self.model.push(commit);
                self.checked.expired += 1;
            }
        }
        match self.engine().purge_step() {
            Ok(_) if self.engine().revision().0 < self.model.sent() => {
                // Nothing was purged, so nothing was synced either.
                self.commit()
            }
            Ok(PurgeStep { waits_for: Some(waits_for), .. }) => {
                Err(format!("an erasure waits for {waits_for}"))
            }
            Ok(step) => {
                self.checked.erased += step.receipts.len() as u64;
                self.settle()?;
                is_erased(&self.io.disk(), &self.model.purged(self.model.sent()), &self.model.repeated())
            }
            Err(error) => {
                self.failed(&error)?;
                self.is_over = true;
                Ok(())
            }
        }
    }

    pub(super) fn call_drop(
        &mut self,
        name: &Namespace,
        count: usize,
        told: Told,
    ) -> Result<u64, EngineError> {
        let unsynced = self.engine().drop_namespace(name, DropRequest::default())?;
        Ok(self.later(unsynced, move |_, affected| {
            if (affected.count as usize, Some(affected.revision.0)) == (count, told.revision) {
                return Ok(());
            }
            Err(format!("a drop of {count} memories says {affected:?}"))
        }))
    }

    /// Logs a purge; what it leaves to do is another step. Returns the lsn of the purge, or of what the answer reflects.
    pub(super) fn call_purge(
        &mut self,
        name: &Namespace,
        call: &Call,
        request_id: Option<String>,
    ) -> Result<u64, EngineError> {
        let target = match call {
            Call::Purge { items } => PurgeTarget::Ids(self.ids(items)),
            Call::PurgeGroup { group } => {
                PurgeTarget::Matching { filter: group_filter(*group), expected_count: None }
            }
            _ => PurgeTarget::Namespace { expected_count: None },
        };
        let request = PurgeRequest { target, validate_only: false, request_id, with_derived: false };
        let begun = self.engine().begin_purge(name, request)?;
        Ok(begun.purged.unwrap_or(begun.answer.revision).0)
    }
}

/// A short life, then a purge of each kind with everything that it leaves to do, watched call by call.
pub(super) fn run_of_a_purge(seed: u64, plan: Plan, sabotage: Option<Sabotage>) -> Outcome<Checked> {
    let config = Config { looks_for_traces: true, sabotage, ..Config::new(seed, 0, Plan::Nothing) };
    let mut sim = Sim::new(config, MemIo::new(seed));
    sim.open()?;
    sim.io.arm();
    let lives = |sim: &mut Sim| -> Outcome {
        for call in [Sim::write, Sim::batch, Sim::update, Sim::write, Sim::forget, Sim::update] {
            for space in 0..NAMESPACES.len() {
                if let Some(call) = call(sim, space) {
                    sim.send(Request { space, call, id: None })?;
                }
            }
        }
        sim.commit()
    };
    lives(&mut sim)?;
    sim.checkpoint()?;
    lives(&mut sim)?;
    // What a crash has left behind, and a checkpoint in between, so that there are files of every kind.
    sim.reopen(End::PowerCut)?;
    lives(&mut sim)?;
    sim.checkpoint()?;
    lives(&mut sim)?;
    sim.io.set_plan(plan);
    let space = sim.random.index(NAMESPACES.len());
    let call = match seed % 3 {
        0 => Some(Call::PurgeAll),
        1 => sim.some_item(space).map(|item| Call::PurgeGroup { group: group_of(item) }),
        _ => sim.some_item(space).map(|item| Call::Purge { items: vec![item] }),
    };
    if let Some(call) = call {
        sim.send(Request { space, call, id: None })?;
    }
    let other = (space + 1) % NAMESPACES.len();
    if let Some(call) = Sim::write(&mut sim, other) {
        sim.send(Request { space: other, call, id: None })?;
    }
    sim.look()?;
    sim.erase()?;
    sim.look()?;
    lives(&mut sim)?;
    sim.look()?;
    Ok(sim.checked)
}

/// A purge of which one call fails once. Then the process ends and starts again, and nothing of what was purged is left.
/// False when the call lies behind the end of the purge.
pub(super) fn run_of_a_failing_purge(seed: u64, at: u64, kind: FaultKind) -> Outcome<bool> {
    let mut sim = Sim::new(Config::new(seed, 0, Plan::Nothing), MemIo::new(seed));
    sim.open()?;
    for space in 0..NAMESPACES.len() {
        for item in 1..9 {
            let call = Call::Write { item: item + 10 * u32::try_from(space).unwrap(), dry: false };
            sim.send(Request { space, call, id: None })?;
        }
    }
    sim.checkpoint()?;
    let at = sim.io.calls() + at;
    sim.config.plan = Plan::Fault { at, kind, is_sticky: false };
    sim.io.set_plan(sim.config.plan);
    let items = vec![2, 4];
    sim.send(Request { space: 0, call: Call::Purge { items: items.clone() }, id: None })?;
    let erased = sim.engine().erase_step();
    let has_failed = sim.io.calls() > at;
    sim.io.disk().heal();
    if let Err(error) = erased {
        sim.failed(&error)?;
    } else {
        is_erased(&sim.io.disk(), &items, &[])?;
    }
    let image = sim.io.disk().after_kill();
    sim.put_down();
    let io = SimIo::new(seed, image.clone(), Plan::Nothing, None);
    let opened = Engine::open_with(Arc::new(io), Path::new(DIR), sim.config.options.clone());
    let (engine, _) = opened.map_err(told)?;
    if engine.revision().0 == sim.model.sent() {
        engine.erase_step().map_err(told)?;
        is_erased(&image, &items, &[])?;
    }
    Ok(has_failed)
}

/// Whether no file of the data directory holds anything of these memories, but for the words of those that another one
/// repeated.
pub(super) fn is_erased(disk: &MemIo, purged: &[Item], repeated: &[Item]) -> Outcome {
    let files = disk.files();
    for item in purged {
        let tag = item_tag(*item);
        let tag = [&(tag.len() as u64).to_le_bytes(), tag.as_bytes()].concat();
        let word = format!("{} ", own_word(*item));
        for (path, bytes) in &files {
            for needle in [tag.as_slice(), word.as_bytes()] {
                if needle == word.as_bytes() && repeated.contains(item) {
                    continue;
                }
                if bytes.windows(needle.len()).any(|window| window == needle) {
                    return Err(format!("item {item} was purged, and is in {}", path.display()));
                }
            }
        }
    }
    Ok(())
}

/// After a crash what was purged is erased without anybody asking for it, and nothing of it is left.
pub(super) fn erases(config: &Config, image: &MemIo, model: &Model, found: u64) -> Outcome<u64> {
    let purged = model.purged(found);
    if purged.is_empty() {
        return Ok(0);
    }
    let disk = image.after_kill();
    let io = SimIo::new(config.seed, disk.clone(), Plan::Nothing, config.sabotage);
    let opened = Engine::open_with(Arc::new(io), Path::new(DIR), config.options.clone());
    let (engine, _) = opened.map_err(told)?;
    let erased = engine.erase_step().map_err(told)?;
    if let Some(waits_for) = erased.waits_for {
        return Err(format!("after a crash an erasure waits for {waits_for}"));
    }
    is_erased(&disk, &purged, &model.repeated())?;
    // Nor can a power cut bring anything of it back.
    is_erased(&disk.after_crash(found), &purged, &model.repeated())?;
    Ok(erased.receipts.len() as u64)
}
