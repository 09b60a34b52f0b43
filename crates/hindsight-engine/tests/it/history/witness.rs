//! The long history: batches, changes and reads of many clients, held against the log positions of the answers (A9).

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use hindsight_core::{Filter, Namespace};
use hindsight_engine::{BatchRequest, Engine, EngineOver, ErrorKind, ListRequest, WriteItem};
use hindsight_history::witness::{Checked, Event, Seen, check};
use hindsight_storage::io::Io;
use hindsight_storage::sabotage::{Sabotage, plant};

use super::clients::{Moments, change, create, id_of, on_memory, options, value};
use crate::simulation::random::Random;
use crate::support::{fact, ns};

/// Memories of a batch, and batches of a namespace: a page of a list takes them all.
const BATCH: u32 = 5;
const BATCHES: u32 = 190;
/// Memories of a namespace that change.
const KEYS: u32 = 4;
/// Namespaces that are in use at the same time.
const SPACES: u32 = 4;

/// How many clients make how many calls each.
#[derive(Debug, Clone, Copy)]
struct Amount {
    clients: u64,
    calls: u64,
}

struct Run<'a, I: Io> {
    engine: &'a EngineOver<I>,
    spaces: Vec<Namespace>,
    moments: Moments,
    /// Batches that were begun; they fill one group of namespaces after the other.
    batches: AtomicU32,
    history: Mutex<Vec<Event>>,
}

impl<'a, I: Io> Run<'a, I> {
    /// Lets the clients work. Each has the planted bug.
    fn history(
        engine: &'a EngineOver<I>,
        seed: u64,
        amount: Amount,
        sabotage: Option<Sabotage>,
    ) -> Vec<Event> {
        // One call in ten is a batch; they are drawn, so there is room for more.
        let groups = amount.clients * amount.calls / 8 / u64::from(BATCHES * SPACES) + 2;
        let spaces = (0..groups * u64::from(SPACES)).map(|space| ns(&format!("w{seed}-{space}"))).collect();
        let (moments, batches, history) = (Moments::default(), AtomicU32::new(0), Mutex::default());
        let run = Run { engine, spaces, moments, batches, history };
        for space in 0..u32::try_from(run.spaces.len()).unwrap() {
            (0..KEYS).for_each(|key| run.create(space, key));
        }
        std::thread::scope(|scope| {
            for client in 0..amount.clients {
                let run = &run;
                scope.spawn(move || {
                    let _planted = sabotage.map(plant);
                    let mut random = Random::at(seed, client);
                    let calls = 0..amount.calls;
                    let events: Vec<Event> =
                        calls.filter_map(|at| run.one(&mut random, client << 32 | at)).collect();
                    run.history.lock().unwrap().extend(events);
                });
            }
        });
        run.history.into_inner().unwrap()
    }

    fn create(&self, space: u32, key: u32) {
        let begin = self.moments.next();
        let written = create(self.engine, &self.spaces[space as usize], key);
        let seen = Seen::Wrote { key, value: 0, version: 1 };
        let event = Event { begin, end: self.moments.next(), space, lsn: written.revision.0, seen };
        self.history.lock().unwrap().push(event);
    }

    /// A batch's namespace, and its number there.
    fn place(batch: u32) -> (u32, u32) {
        let (group, in_group) = (batch / (BATCHES * SPACES), batch % (BATCHES * SPACES));
        (group * SPACES + in_group % SPACES, in_group / SPACES)
    }

    /// One call; nothing when it was refused because of its version.
    fn one(&self, random: &mut Random, unique: u64) -> Option<Event> {
        let newest = self.batches.load(Ordering::Relaxed);
        let group = newest / (BATCHES * SPACES);
        let space = group * SPACES + u32::try_from(random.below(u64::from(SPACES))).unwrap();
        let key = u32::try_from(random.below(u64::from(KEYS))).unwrap();
        let begin;
        let (space, lsn, seen) = match random.below(100) {
            0..10 => {
                let (space, batch) = Self::place(self.batches.fetch_add(1, Ordering::Relaxed));
                begin = self.moments.next();
                (space, self.write_batch(space, batch), Seen::WroteBatch { batch })
            }
            10..30 => {
                // One of those that are just being written, mostly.
                let batch = newest.saturating_sub(u32::try_from(random.below(6)).unwrap());
                let (space, batch) = Self::place(batch);
                begin = self.moments.next();
                let (lsn, count) = self.list(space, batch);
                (space, lsn, Seen::Listed { batch, count })
            }
            30..60 => {
                let expected = random.percent(50).then(|| self.get(space, key).2);
                begin = self.moments.next();
                match change(self.engine, &self.spaces[space as usize], key, unique + 1, expected) {
                    Ok(written) => {
                        let (value, version) = (value(&written.memory), written.memory.version);
                        (space, written.revision.0, Seen::Wrote { key, value, version })
                    }
                    Err(error) if error.kind() == ErrorKind::Conflict => return None,
                    Err(error) => panic!("{error}"),
                }
            }
            _ => {
                begin = self.moments.next();
                let (lsn, value, version) = self.get(space, key);
                (space, lsn, Seen::Read { key, value, version })
            }
        };
        Some(Event { begin, end: self.moments.next(), space, lsn, seen })
    }

    fn write_batch(&self, space: u32, batch: u32) -> u64 {
        let item = |number| {
            let mut draft = fact(&format!("batch {batch} memory {number}"));
            draft.tags = vec![format!("batch-{batch}")];
            WriteItem::new(draft, None)
        };
        let request = BatchRequest { items: (0..BATCH).map(item).collect(), ..BatchRequest::default() };
        let written = self.engine.write_batch(&self.spaces[space as usize], request).unwrap().wait().unwrap();
        assert!(written.results.iter().all(Result::is_ok));
        written.revision.0
    }

    fn list(&self, space: u32, batch: u32) -> (u64, u32) {
        let filter = Filter { tags: vec![format!("batch-{batch}")], ..Filter::default() };
        let list = ListRequest { filter, page_size: 100, ..ListRequest::default() };
        let page = self.engine.list(&self.spaces[space as usize], &list).unwrap().wait().unwrap();
        (page.revision.0, u32::try_from(page.memories.len()).unwrap())
    }

    fn get(&self, space: u32, key: u32) -> (u64, u64, u64) {
        let got = self.engine.get(&self.spaces[space as usize], id_of(key), None).unwrap().wait().unwrap();
        (got.revision.0, value(&got.memory), got.memory.version)
    }
}

#[test]
fn a9_every_answer_agrees_with_the_log_positions() {
    let calls = std::env::var("HINDSIGHT_HISTORY_OPS").map_or(12_800, |ops| ops.parse::<u64>().unwrap());
    let amount = Amount { clients: 64, calls: calls / 64 };
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(dir.path(), options()).unwrap();
    let history = Run::history(&engine, 1, amount, None);
    let checked = check(&history, BATCH).unwrap_or_else(|wrong| panic!("{wrong}"));
    println!("{} calls of {} clients: {checked:?}", history.len(), amount.clients);
    let Checked { writes, reads, whole, absent } = checked;
    let all = u64::try_from(history.len()).unwrap();
    assert!(all >= calls * 8 / 10, "{all} of {calls} calls");
    assert!(writes > all / 5 && reads > all / 5 && whole > all / 20 && absent > all / 200, "{checked:?}");
}

#[test]
fn planted_bug_apply_in_two_steps_is_killed() {
    let amount = Amount { clients: 8, calls: 60 };
    for seed in 0..300 {
        let mut found = Ok(Checked::default());
        on_memory(seed, |engine| {
            found = check(&Run::history(engine, seed, amount, Some(Sabotage::ApplyInTwoSteps)), BATCH);
        });
        if let Err(wrong) = found {
            assert!(wrong.contains("there the batch has"), "found for another reason: {wrong}");
            println!("ApplyInTwoSteps is killed by seed {seed}: {wrong}");
            return;
        }
    }
    panic!("a batch that is applied in two steps survives 300 histories");
}
