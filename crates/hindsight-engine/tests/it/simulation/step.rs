//! What happens next.

use hindsight_core::{Recall, Timestamp};

use super::expect::{self, Outcome, every_state};
use super::request::{Item, NAMESPACES, chunk_of, chunk_tag, item_of, namespace, recall_of_all};
use super::sim::{End, Sim};

const HOUR_MS: u64 = 3_600_000;

impl Sim {
    /// One step of the run.
    pub(super) fn step(&mut self) -> Outcome {
        if self.config.is_crowded && self.random.percent(12) {
            return self.crowd();
        }
        match self.random.below(100) {
            0..19 => self.send_new(Sim::write),
            19..24 => self.send_new(Sim::echo),
            24..28 => self.send_new(Sim::claim),
            28..36 => self.send_new(Sim::batch),
            36..38 => self.send_new(Sim::purge),
            38..44 => self.send_new(Sim::update),
            44..48 => self.send_new(Sim::feedback),
            48..51 => self.send_new(Sim::rollback),
            51 => self.count(),
            52 => self.archive(),
            53..58 => self.send_new(Sim::forget),
            58..63 => self.send_new(Sim::restore),
            63..67 => self.send_again(),
            67 => self.send_new(Sim::settings),
            68 => self.drop_namespace(),
            69..71 => self.read(),
            71..75 => self.read_one(),
            75..76 => self.open_directory(),
            76..77 => self.move_clock(),
            77..89 => self.commit(),
            89..92 => self.witness(),
            92..94 => self.checkpoint(),
            94 => self.erase_or_expire(),
            95..97 => self.reopen(End::Close),
            97..99 => self.reopen(End::Kill),
            _ => self.reopen(End::PowerCut),
        }
    }

    fn move_clock(&mut self) -> Outcome {
        let now = self.now_ms();
        let now = match self.random.below(20) {
            0..10 => now + self.random.below(5_000),
            10..14 => now - self.random.below(HOUR_MS),
            14..18 => now + self.random.below(48 * HOUR_MS),
            18 => now,
            _ => now + 365 * 24 * HOUR_MS,
        };
        self.io.disk().set_now_ms(now);
        Ok(())
    }

    /// What the engine's threads do by themselves.
    fn witness(&mut self) -> Outcome {
        self.look_for_room()?;
        match self.engine().witness_step() {
            Ok(()) => Ok(()),
            Err(error) => self.failed(&error),
        }
    }

    /// Looks at a namespace: all of it, and what one recall finds.
    fn read(&mut self) -> Outcome {
        let (engine, space) = (self.engine(), self.random.index(NAMESPACES.len()));
        let (name, expected) = (namespace(space), self.model.world[space].clone());
        // What was dropped is seen to be gone only when that is durable.
        let exists = expected.exists() || expected.applied > engine.revision().0;
        let lsn = if exists { expected.applied } else { engine.revision().0 };
        let page = match engine.list(&name, &every_state()) {
            Ok(page) => page,
            Err(error) => return self.failed(&error),
        };
        let now = Timestamp::from_ms(i64::try_from(self.now_ms()).unwrap());
        let chunk = expected.items.keys().next_back().map_or(0, |item| chunk_of(*item));
        let recall = Recall { observe: true, ..recall_of_all(chunk_tag(chunk)) };
        let recalled = match engine.recall(&name, &recall) {
            Ok(recalled) => recalled,
            Err(error) => return self.failed(&error),
        };
        let recalled_lsn = if exists { lsn } else { 0 };
        let promised = expected.shown_after(lsn).max(engine.revision().0);
        if page.shown_after().0.max(engine.revision().0) != promised {
            return Err(format!("a read of lsn {lsn} is shown after {}", page.shown_after()));
        }
        if page.lsn().0 != lsn || recalled.lsn().0 != recalled_lsn {
            return Err(format!("a read of lsn {lsn} waits for {} and {}", page.lsn(), recalled.lsn()));
        }
        let tag = chunk_tag(chunk);
        let active = expected.items.iter().filter(|(_, known)| known.memory.tags.contains(&tag));
        let active: Vec<Item> =
            active.filter(|(_, known)| expect::is_recalled(known, now)).map(|(item, _)| *item).collect();
        self.later(recalled, move |_, recalled| {
            let mut found: Vec<Item> =
                recalled.hits.iter().filter_map(|hit| item_of(&hit.memory.tags)).collect();
            found.sort_unstable();
            if found == active { Ok(()) } else { Err(format!("recall finds {found:?}, expected {active:?}")) }
        });
        self.later(page, move |model, page| {
            let ids = expect::list(model, &expected, &page.memories)?;
            ids.into_iter().try_for_each(|(item, id)| model.learn(item, id))
        });
        Ok(())
    }
}
