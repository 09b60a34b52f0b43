//! What a client asks for next: calls made up of what the model knows is there.

use hindsight_core::{Status, Timestamp, Verdict};

use super::expect::{self, Outcome, every_state};
use super::model::Foreseen;
use super::request::{
    Call, Item, NAMESPACES, Request, chosen_id, chunk_of, chunk_tag, group_of, namespace, recall_of_all,
};
use super::sim::Sim;

impl Sim {
    pub(super) fn new_item(&mut self) -> Item {
        self.counters.item += 1;
        self.counters.item
    }

    /// An item of the namespace that the caller can name; rarely one that is nowhere.
    pub(super) fn some_item(&mut self, space: usize) -> Option<Item> {
        if self.random.percent(4) {
            return Some(self.counters.item * 2 + 100);
        }
        let named = |item: &&Item| self.model.id(**item).is_some();
        let items: Vec<Item> = self.model.world[space].items.keys().filter(named).copied().collect();
        if items.is_empty() { None } else { Some(self.random.pick(&items)) }
    }

    pub(super) fn write(&mut self, space: usize) -> Option<Call> {
        if self.random.percent(5) {
            // Rarely one whose id is taken already.
            let item = self.some_item(space).filter(|item| chosen_id(*item).is_some())?;
            return Some(Call::Write { item, dry: false });
        }
        Some(Call::Write { item: self.new_item(), dry: self.random.percent(4) })
    }

    /// Something that was said before, from a client that names no id.
    pub(super) fn echo(&mut self, space: usize) -> Option<Call> {
        let of = self.some_item(space)?;
        let item = self.new_item();
        let item = if chosen_id(item).is_some() { self.new_item() } else { item };
        Some(Call::Echo { item, of })
    }

    pub(super) fn claim(&mut self, _: usize) -> Option<Call> {
        let item = self.new_item();
        let item = if chosen_id(item).is_none() { self.new_item() } else { item };
        Some(Call::Claim { item, slot: u32::try_from(self.random.below(3)).unwrap() })
    }

    pub(super) fn feedback(&mut self, space: usize) -> Option<Call> {
        let mut items = vec![(self.some_item(space)?, self.random.pick(Verdict::ALL))];
        if let Some(other) = self.some_item(space).filter(|other| *other != items[0].0) {
            items.push((other, self.random.pick(Verdict::ALL)));
        }
        let task =
            self.random.pick(&[None, Some(Status::Success), Some(Status::Failure), Some(Status::Partial)]);
        Some(Call::Feedback { items, task })
    }

    pub(super) fn rollback(&mut self, space: usize) -> Option<Call> {
        let replaced = self.model.world[space].items.iter();
        let replaced = replaced.filter(|(_, known)| known.memory.superseded_by.is_some());
        let replaced: Vec<Item> = replaced.map(|(item, _)| *item).collect();
        let is_wild = replaced.is_empty() || self.random.percent(20);
        let item = if is_wild { self.some_item(space)? } else { self.random.pick(&replaced) };
        Some(Call::Rollback { item })
    }

    /// Recalls that are no mere looks, and the log of what they returned.
    pub(super) fn count(&mut self) -> Outcome {
        let (engine, space) = (self.engine(), self.random.index(NAMESPACES.len()));
        let now = Timestamp::from_ms(i64::try_from(self.now_ms()).unwrap());
        let world = &self.model.world[space];
        let Some(chunk) = world.items.keys().next_back().map(|item| chunk_of(*item)) else { return Ok(()) };
        let tag = chunk_tag(chunk);
        let returned = world.items.iter().filter(|(_, known)| known.memory.tags.contains(&tag));
        let returned = returned.filter(|(_, known)| expect::is_recalled(known, now));
        let returned: Vec<Item> = returned.map(|(item, _)| *item).collect();
        for _ in 0..2 {
            let recall = recall_of_all(tag.clone());
            let recalled = match engine.recall(&namespace(space), &recall) {
                Ok(recalled) => recalled,
                Err(error) => return self.failed(&error),
            };
            let is_empty = returned.is_empty();
            self.model.world[space].returned(&returned, now);
            self.later(recalled, move |_, recalled| match recalled.recall_id {
                None if !is_empty => Err("a recall with hits has no id".to_owned()),
                _ => Ok(()),
            });
        }
        let is_logged = match engine.log_accesses() {
            Ok(()) => true,
            Err(_) if self.engine().degraded().is_some() => false,
            Err(error) => self.failed(&error).map(|()| false)?,
        };
        self.counted(is_logged)
    }

    /// The engine has logged the counts that it had gathered, of one namespace after the other; or the disk was in the way,
    /// and the others wait for the next time.
    pub(super) fn counted(&mut self, is_logged: bool) -> Outcome {
        if self.is_over {
            return Ok(());
        }
        for space in 0..NAMESPACES.len() {
            let counts = self.model.world[space].uncounted.iter();
            let counts: Vec<_> = counts.map(|(item, (count, last))| (*item, *count, *last)).collect();
            let request = Request { space, call: Call::Accesses { counts }, id: None };
            if let Foreseen::Commit(commit) = self.model.foresee(&request, self.now_ms()) {
                let page = match self.engine().list(&namespace(space), &every_state()) {
                    Ok(page) => page,
                    Err(error) => return self.failed(&error),
                };
                if page.lsn().0 == self.model.world[space].applied {
                    self.checked.uncounted += 1;
                    // Those of the namespaces behind it were not tried.
                    return if is_logged { Err(format!("{request:?} is not logged")) } else { Ok(()) };
                }
                self.model.push(commit);
            }
            self.model.world[space].uncounted.clear();
        }
        Ok(())
    }

    /// Half of the time the namespace ends up with what it had.
    pub(super) fn settings(&mut self, _: usize) -> Option<Call> {
        Some(Call::Settings { is_async: self.random.percent(60) })
    }

    pub(super) fn batch(&mut self, space: usize) -> Option<Call> {
        let mut items: Vec<Item> = (0..1 + self.random.below(5)).map(|_| self.new_item()).collect();
        if self.random.percent(10) {
            items.extend(self.some_item(space).filter(|item| chosen_id(*item).is_some()));
        }
        let (all_or_nothing, is_spoiled) = (self.random.percent(50), self.random.percent(10));
        Some(Call::Batch { items, all_or_nothing, is_spoiled })
    }

    pub(super) fn update(&mut self, space: usize) -> Option<Call> {
        let item = self.some_item(space)?;
        let known = self.model.world[space].items.get(&item);
        let version = known.map_or(1, |known| known.memory.version) - u64::from(self.random.percent(10));
        self.counters.change += 1;
        let version = self.random.percent(50).then_some(version);
        Some(Call::Update { item, change: self.counters.change, version })
    }

    pub(super) fn forget(&mut self, space: usize) -> Option<Call> {
        let item = self.some_item(space)?;
        if self.random.percent(25) {
            return Some(Call::ForgetGroup { group: group_of(item) });
        }
        let mut items = vec![item];
        items.extend(self.some_item(space));
        Some(Call::Forget { items })
    }

    /// Mostly of what is forgotten.
    pub(super) fn restore(&mut self, space: usize) -> Option<Call> {
        let world = &self.model.world[space];
        let is_forgotten = |item: &&Item| world.items[*item].memory.state == hindsight_core::State::Forgotten;
        let forgotten = world.items.keys().filter(is_forgotten).copied();
        let mut items: Vec<Item> = forgotten.filter(|item| self.model.id(*item).is_some()).take(2).collect();
        if items.is_empty() {
            items.extend(self.some_item(space));
        }
        (!items.is_empty()).then_some(Call::Restore { items })
    }
}
