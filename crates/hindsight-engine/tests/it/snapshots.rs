//! Index snapshots and the memory budget: nobody can tell from the answers whether a namespace was loaded from a snapshot,
//! was made of its records, or never left memory (D7, A3).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hindsight_core::{Claim, Draft, Entity, Filter, Memory, Patch, Recall, State};
use hindsight_engine::{
    Engine, EngineOver, ForgetRequest, ForgetTarget, ListRequest, Maker, MemoryStats, Options, PurgeRequest,
    PurgeTarget, SnapshotRule, UpdateRequest, WriteItem, WriteOptions,
};
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};
use proptest::prelude::*;

use crate::support::{ns, vectors};

/// Every namespace has a snapshot, and a change of half of it makes a new one.
const EVERY: SnapshotRule = SnapshotRule { memories: 1, changed_percent: 50 };

struct World {
    io: MemIo,
    engine: EngineOver<MemIo>,
    budget: Option<u64>,
    snapshots: SnapshotRule,
}

fn open(io: &MemIo, budget: Option<u64>, snapshots: SnapshotRule) -> EngineOver<MemIo> {
    let log = LogOptions { segment_bytes: 64 << 10, preallocate_bytes: 0, ..LogOptions::default() };
    let storage = StorageOptions { log, reserve_bytes: 0, ..StorageOptions::default() };
    let options = Options { storage, memory_budget: budget, snapshots, ..Options::default() };
    EngineOver::open_with(Arc::new(io.clone()), Path::new("/data"), options).unwrap().0
}

/// What a recall shows, without ids and positions, which are another database's.
type Shown = Vec<(String, u64, u64)>;

/// What a list shows: content, version, state and how often it was recalled.
type Listed = (String, u64, State, u32);

impl World {
    fn new(budget: Option<u64>, snapshots: SnapshotRule) -> World {
        let io = MemIo::new(1);
        let engine = open(&io, budget, snapshots);
        World { io, engine, budget, snapshots }
    }

    fn reopen(&mut self, is_clean: bool) {
        if is_clean {
            self.engine.close().unwrap();
        }
        self.io = self.io.after_kill();
        self.engine = open(&self.io, self.budget, self.snapshots);
    }

    fn sync<T>(
        &self,
        answer: Result<hindsight_engine::Unsynced<T, MemIo>, hindsight_engine::EngineError>,
    ) -> Result<T, String> {
        let answer = answer.map_err(|error| error.reason().to_owned())?;
        self.engine.commit_step().unwrap();
        answer.wait().map_err(|error| error.reason().to_owned())
    }

    fn write(&self, space: &str, draft: Draft, angle: u8) -> Result<String, String> {
        let item = WriteItem::new(draft, vectors("m", &[f32::from(angle), 3.0, 1.0]));
        self.sync(self.engine.write(&ns(space), item, WriteOptions::default()))
            .map(|written| format!("{:?} {}", written.outcome, written.memory.content))
    }

    fn list(&self, space: &str) -> Vec<Memory> {
        let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
        let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
        self.sync(self.engine.list(&ns(space), &list)).unwrap().memories
    }

    fn recall(&self, space: &str, query: &str, observe: bool) -> Shown {
        let vector = hindsight_core::Embedding::new(&[2.0, 3.0, 1.0]).ok();
        let embedding_model = Some("m".to_owned());
        let recall =
            Recall { query: query.to_owned(), vector, embedding_model, observe, ..Recall::default() };
        let recalled = self.sync(self.engine.recall(&ns(space), &recall)).unwrap();
        let shown = recalled.hits.into_iter();
        shown.map(|hit| (hit.memory.content, hit.score.to_bits(), hit.similarity.to_bits())).collect()
    }

    fn picture(&self, space: &str) -> (Vec<Listed>, Vec<Shown>) {
        let listed = self.list(space).into_iter();
        let listed = listed.map(|m| (m.content, m.version, m.state, m.usage.access_count)).collect();
        let queries = ["Caroline and the refund", "对花生过敏", "E1042 permission_denied", ""];
        (listed, queries.map(|query| self.recall(space, query, true)).to_vec())
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let files = self.io.files().into_iter().map(|(path, _)| path);
        files.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
    }
}

fn draft(number: u8) -> Draft {
    let texts = [
        "Caroline likes the refund",
        "我对花生过敏",
        "E1042 permission_denied in update_status",
        "the cat of Bart",
        "deploy WES-5.4.5 on Monday",
    ];
    let name = ["Caroline", "Bart", "花生"][usize::from(number % 3)];
    Draft {
        content: format!("{} {}", texts[usize::from(number % 5)], number / 10),
        tags: vec![format!("t{}", number % 4)],
        entities: vec![Entity { name: name.to_owned(), kind: String::new() }],
        claims: vec![Claim {
            subject: name.to_owned(),
            attribute: "number".to_owned(),
            value: format!("no {}", number / 20),
            single_valued: number.is_multiple_of(7),
        }],
        session_id: Some(format!("s{}", number % 2)),
        ..Draft::default()
    }
}

fn fill(world: &World, count: u8) {
    for number in 0..count {
        world.write("ops", draft(number), number).unwrap();
    }
}

fn stats(world: &World) -> MemoryStats {
    world.engine.memory_stats()
}

#[test]
fn d7_a_namespace_comes_from_its_snapshot_with_what_changed_since() {
    let mut world = World::new(None, EVERY);
    fill(&world, 40);
    let report = world.engine.checkpoint().unwrap();
    assert_eq!((report.snapshots, world.files("idx").len()), (1, 1));
    // Less than half changes: the snapshot stays, and the load brings it up to date.
    for number in 40..43 {
        world.write("ops", draft(number), number).unwrap();
    }
    let ids: Vec<_> = world.list("ops").iter().map(|memory| memory.id).collect();
    let target = ForgetTarget::Ids(vec![ids[3], ids[5]]);
    let forget = ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
    world.sync(world.engine.forget(&ns("ops"), forget)).unwrap();
    assert_eq!(world.engine.checkpoint().unwrap().snapshots, 0);
    world.write("ops", draft(51), 51).unwrap();
    let before = world.picture("ops");
    for is_clean in [false, true] {
        world.reopen(is_clean);
        assert_eq!(world.picture("ops"), before);
        assert_eq!(
            (stats(&world).loads, stats(&world).snapshot_loads, stats(&world).snapshots_doubted),
            (1, 1, 0)
        );
    }
    // The next half makes a new one, and the old one goes.
    let first = world.files("idx");
    for number in 60..100 {
        world.write("ops", draft(number), number).unwrap();
    }
    assert_eq!(world.engine.checkpoint().unwrap().snapshots, 1);
    let second = world.files("idx");
    assert!(second.len() == 1 && second != first, "{second:?}");
}

#[test]
fn a_small_namespace_has_no_snapshot() {
    let world = World::new(None, SnapshotRule::default());
    fill(&world, 20);
    assert_eq!(world.engine.checkpoint().unwrap().snapshots, 0);
    assert!(world.files("idx").is_empty());
}

#[test]
fn a3_d7_a_snapshot_that_is_damaged_missing_or_another_one_changes_no_answer() {
    let mut world = World::new(None, EVERY);
    fill(&world, 40);
    world.engine.checkpoint().unwrap();
    let old = world.files("idx").remove(0);
    let old_bytes = world.io.read_file(&old).unwrap();
    for number in 50..80 {
        world.write("ops", draft(number), number).unwrap();
    }
    let before = world.picture("ops");
    world.engine.close().unwrap();
    let path = world.files("idx").remove(0);
    let sound = world.io.read_file(&path).unwrap();
    let stored = world.io.after_kill();
    let mut after = |bytes: Option<&[u8]>, what: &str| {
        world.io = stored.after_kill();
        match bytes {
            Some(bytes) => world.io.put_file(&path, bytes),
            None => hindsight_storage::io::Io::unlink(&world.io, &path).unwrap(),
        }
        world.engine = open(&world.io, None, EVERY);
        assert_eq!(world.picture("ops"), before, "{what}");
        (stats(&world).snapshot_loads, stats(&world).snapshots_doubted)
    };
    assert_eq!(after(Some(&sound), "sound"), (1, 0));
    assert_eq!(after(None, "missing"), (0, 1));
    assert_eq!(after(Some(&old_bytes), "an older one"), (0, 1));
    assert_eq!(after(Some(&[]), "empty"), (0, 1));
    // A byte in every part of it.
    for at in (0..sound.len()).step_by(sound.len() / 37) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        assert_eq!(after(Some(&bytes), &format!("byte {at}")), (0, 1));
    }
    for end in [1, 31, 32, sound.len() / 2, sound.len() - 1] {
        assert_eq!(after(Some(&sound[..end]), &format!("cut at {end}")), (0, 1));
    }
}

#[test]
fn s11_what_was_purged_is_in_no_snapshot() {
    let mut world = World::new(None, EVERY);
    fill(&world, 30);
    let secret = Draft { content: "xylophone canary".to_owned(), ..Draft::default() };
    world.write("ops", secret, 3).unwrap();
    world.engine.checkpoint().unwrap();
    let holds = |world: &World| {
        let is_in = |bytes: &[u8]| bytes.windows(7).any(|window| window == b"xylopho");
        world.io.files().iter().filter(|(_, bytes)| is_in(bytes)).count()
    };
    assert!(holds(&world) >= 2, "in a record file and in a snapshot, or this proves nothing");
    let id = world.list("ops").iter().find(|memory| memory.content.contains("canary")).unwrap().id;
    let target = PurgeTarget::Ids(vec![id]);
    let purge = PurgeRequest { target, validate_only: false, request_id: None, with_derived: false };
    world.engine.purge(&ns("ops"), purge).unwrap();
    assert_eq!(holds(&world), 0);
    let before = world.picture("ops");
    world.reopen(true);
    assert_eq!(world.picture("ops"), before);
    assert_eq!(stats(&world).snapshot_loads, 1);
}

#[test]
fn what_is_not_stored_stays_and_the_longest_untouched_goes() {
    let world = World::new(Some(1), EVERY);
    for space in ["a", "b", "c"] {
        world.write(space, draft(1), 1).unwrap();
    }
    assert!(!world.engine.budget_step(), "nothing is stored, so nothing can go");
    assert_eq!((stats(&world).loaded, stats(&world).evictions), (3, 0));
    world.engine.checkpoint().unwrap();
    assert!(world.engine.budget_step());
    let MemoryStats { loaded, unloaded, evictions, used_bytes, .. } = stats(&world);
    assert_eq!((loaded, unloaded, evictions), (1, 2, 2), "the one that was touched last stays");
    assert!(world.engine.is_loaded(&ns("c")) && used_bytes > 1);
    // A count that is not logged is known in memory alone.
    assert_eq!(world.recall("a", "Bart", false).len(), 1);
    world.list("b");
    assert!(!world.engine.budget_step() && world.engine.is_loaded(&ns("a")));
    world.engine.log_accesses().unwrap();
    assert!(!world.engine.budget_step() && world.engine.is_loaded(&ns("a")));
    world.engine.checkpoint().unwrap();
    assert!(world.engine.budget_step() && !world.engine.is_loaded(&ns("a")));
    assert_eq!(world.list("a")[0].usage.access_count, 1);
    // Room for two: the third goes for it, by who was touched last.
    let weight = stats(&world).used_bytes;
    let world = World { engine: open(&world.io.after_kill(), Some(weight * 5 / 2), EVERY), ..world };
    for space in ["a", "b", "a", "c"] {
        world.list(space);
    }
    assert!(world.engine.is_loaded(&ns("c")) && !world.engine.is_loaded(&ns("b")), "{:?}", stats(&world));
}

#[derive(Debug, Clone)]
enum Op {
    Write(u8, u8),
    Update(u8, u8),
    Forget(u8, u8),
    Recall(u8, bool),
    List(u8),
    Drop(u8),
    Count,
    Checkpoint,
    Budget,
    Reopen(bool),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let space = 0_u8..4;
    let op = prop_oneof![
        8 => (space.clone(), 0_u8..60).prop_map(|(space, number)| Op::Write(space, number)),
        2 => (space.clone(), any::<u8>()).prop_map(|(space, at)| Op::Update(space, at)),
        2 => (space.clone(), any::<u8>()).prop_map(|(space, at)| Op::Forget(space, at)),
        4 => (space.clone(), any::<bool>()).prop_map(|(space, observe)| Op::Recall(space, observe)),
        2 => space.clone().prop_map(Op::List),
        1 => space.prop_map(Op::Drop),
        1 => Just(Op::Count),
        3 => Just(Op::Checkpoint),
        3 => Just(Op::Budget),
        1 => any::<bool>().prop_map(Op::Reopen),
    ];
    prop::collection::vec(op, 1..60)
}

fn space(number: u8) -> &'static str {
    ["a", "b", "c", "d"][usize::from(number)]
}

fn run(world: &mut World, op: &Op) -> String {
    let picked = |world: &World, number: u8, at: u8| {
        let all = world.list(space(number));
        (!all.is_empty()).then(|| all[usize::from(at) % all.len()].id)
    };
    match *op {
        Op::Write(number, of) => format!("{:?}", world.write(space(number), draft(of), of)),
        Op::Update(number, at) => {
            let Some(id) = picked(world, number, at) else { return String::new() };
            let patch = Patch { content: Some(format!("changed {at}")), ..Patch::default() };
            let (maker, vectors) = (Maker::Caller, vectors("m", &[f32::from(at), 1.0, 1.0]));
            let (version, request_id) = (None, None);
            let update =
                UpdateRequest { id, patch, version, vectors, maker, request_id, allow_forgotten: false };
            let done = world.sync(world.engine.update(&ns(space(number)), update));
            format!("{:?}", done.map(|done| (done.memory.content, done.memory.version)))
        }
        Op::Forget(number, at) => {
            let Some(id) = picked(world, number, at) else { return String::new() };
            let target = ForgetTarget::Ids(vec![id]);
            let forget =
                ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
            format!("{:?}", world.sync(world.engine.forget(&ns(space(number)), forget)).is_ok())
        }
        Op::Recall(number, observe) => {
            format!("{:?}", world.recall(space(number), "Bart 花生 refund", observe))
        }
        Op::List(number) => format!("{:?}", world.picture(space(number))),
        Op::Drop(number) => {
            let request = hindsight_engine::DropRequest::default();
            let done = world.engine.drop_namespace(&ns(space(number)), request);
            world.engine.commit_step().unwrap();
            format!("{:?}", done.is_ok())
        }
        Op::Count => format!("{:?}", world.engine.log_accesses().is_ok()),
        Op::Checkpoint => format!("{:?}", world.engine.checkpoint().is_ok()),
        Op::Budget => {
            world.engine.budget_step();
            String::new()
        }
        Op::Reopen(is_clean) => {
            world.engine.commit_step().unwrap();
            // Counts that are not logged are lost by a crash, in either world.
            world.engine.log_accesses().unwrap();
            world.engine.commit_step().unwrap();
            world.reopen(is_clean);
            String::new()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn d7_with_hardly_any_memory_the_answers_are_the_same(ops in ops()) {
        let mut small = World::new(Some(1), EVERY);
        let mut large = World::new(None, SnapshotRule::default());
        for (at, op) in ops.iter().enumerate() {
            for world in [&small, &large] {
                world.io.set_now_ms(1_790_596_800_000 + at as u64 * 1_000);
            }
            let answers = (run(&mut small, op), run(&mut large, op));
            prop_assert_eq!(&answers.0, &answers.1, "step {} {:?}", at, op);
        }
        for number in 0..4 {
            prop_assert_eq!(small.picture(space(number)), large.picture(space(number)));
        }
    }
}

/// Readers and writers of more namespaces than may be in memory, checkpoints and evictions between them.
#[test]
fn a9_readers_meet_evictions_and_see_everything() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { memory_budget: Some(1), snapshots: EVERY, ..Options::default() };
    let (engine, _) = Engine::open(dir.path(), options).unwrap();
    let spaces: Vec<String> = (0..8).map(|number| format!("s{number}")).collect();
    let write = |space: &str, number: u8| {
        let item = WriteItem::new(draft(number), vectors("m", &[f32::from(number), 1.0]));
        engine.write(&ns(space), item, WriteOptions::default()).unwrap().wait().unwrap();
    };
    let count = |space: &str| {
        let list = ListRequest { page_size: 1_000, ..ListRequest::default() };
        engine.list(&ns(space), &list).unwrap().wait().unwrap().memories.len()
    };
    let at_work = std::sync::atomic::AtomicUsize::new(4);
    std::thread::scope(|scope| {
        for part in 0..4_usize {
            let (spaces, write, count, at_work, engine) = (&spaces, &write, &count, &at_work, &engine);
            scope.spawn(move || {
                // Two namespaces are this thread's alone to write; everybody reads all.
                let mut written = [0; 2];
                // Until enough came and went; in the end nobody writes, so everything can.
                let is_enough = || engine.memory_stats().loads >= 60;
                for round in (0..=u8::MAX).chain(std::iter::repeat(1)) {
                    if round == 1 && written[1] > 0 && is_enough() {
                        break;
                    }
                    let own = usize::from(round % 2);
                    let space = &spaces[part * 2 + own];
                    // Mostly they read: what is written all the time is never stored for long enough to go.
                    if written[own] == 0 || (round % 15 == 0 && round < 100) {
                        write(space, round);
                        written[own] = count(space);
                    }
                    assert_eq!(count(space), written[own], "{space}");
                    count(&spaces[(usize::from(round) * 3 + part) % 8]);
                }
                at_work.fetch_sub(1, std::sync::atomic::Ordering::AcqRel);
            });
        }
        let (engine, at_work) = (&engine, &at_work);
        scope.spawn(move || {
            while at_work.load(std::sync::atomic::Ordering::Acquire) > 0 {
                engine.checkpoint().unwrap();
                engine.budget_step();
            }
        });
    });
    engine.checkpoint().unwrap();
    engine.log_accesses().unwrap();
    engine.checkpoint().unwrap();
    engine.budget_step();
    let stats = engine.memory_stats();
    assert!(stats.evictions > 0 && stats.loads > 0, "{stats:?}");
    let held: Vec<usize> = spaces.iter().map(|space| count(space)).collect();
    drop(engine);
    let (engine, _) = Engine::open(dir.path(), Options::default()).unwrap();
    let list = ListRequest { page_size: 1_000, ..ListRequest::default() };
    let count = |space: &String| engine.list(&ns(space), &list).unwrap().wait().unwrap().memories.len();
    assert_eq!(spaces.iter().map(count).collect::<Vec<_>>(), held);
}
