//! The indexes of a namespace against a look at each of its memories: over random histories with restarts, and after
//! many clients at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hindsight_core::{
    Claim, Draft, Embedding, Entity, Filter, Hit, Kind, Memory, MemoryId, Mode, Patch, Recall, State,
    Timestamp,
};
use hindsight_engine::{
    BatchRequest, Engine, ForgetRequest, ForgetTarget, ListRequest, Maker, RestoreRequest, UpdateRequest,
    WriteItem,
};
use hindsight_storage::RealIo;
use hindsight_storage::verify::{FileState, verify};

use crate::simulation::random::Random;
use crate::support::{fact, ns, open, vectors};

const TAGS: [&str; 4] = ["billing", "ops", "健康", "legal"];
const WORDS: [&str; 6] = ["payment", "permission_denied", "花生过敏", "refund", "E1042", "deploy"];
const NAMES: [&str; 3] = ["Caroline", "张伟", "checkout-service"];
/// The time of every question: the clock must not decide what is equal.
const NOW: Timestamp = Timestamp::from_ms(1_900_000_000_000);

/// The draft of a memory that says something nobody else says.
fn draft(random: &mut Random, number: u64) -> Draft {
    let content = format!("{} {} note {number}", random.pick(&WORDS), random.pick(&WORDS));
    let name = random.pick(&NAMES);
    let claim = Claim {
        subject: name.to_owned(),
        attribute: "room".to_owned(),
        value: format!("room {number}"),
        single_valued: true,
    };
    Draft {
        kind: Some(random.pick(&[Kind::Fact, Kind::Preference, Kind::Procedure])),
        tags: vec![random.pick(&TAGS).to_owned()],
        entities: vec![Entity { name: name.to_owned(), kind: String::new() }],
        // Of two rooms of one the newer supersedes the older, which moves it to the other shelf.
        claims: if random.percent(20) { vec![claim] } else { Vec::new() },
        occurred_at: Some(NOW.plus_ms(-i64::try_from(random.below(90 * 24)).unwrap() * 3_600_000)),
        ..fact(&content)
    }
}

fn values(random: &mut Random) -> Vec<f32> {
    (0..6).map(|_| f32::from(i16::try_from(random.below(9)).unwrap() - 4)).chain([0.5]).collect()
}

fn item(random: &mut Random, number: u64) -> WriteItem {
    let vectors = if random.percent(80) { vectors("m", &values(random)) } else { None };
    WriteItem::new(draft(random, number), vectors)
}

fn filters() -> Vec<Filter> {
    let tagged = |tag: &str| Filter { tags: vec![tag.to_owned()], ..Filter::default() };
    let of = |kinds: &[Kind]| Filter { kinds: kinds.to_vec(), ..Filter::default() };
    let (from, to) = (Some(NOW.plus_ms(-40 * 86_400_000)), Some(NOW.plus_ms(-3 * 86_400_000 - 1_234_567)));
    vec![
        Filter::default(),
        tagged("健康"),
        of(&[Kind::Fact]),
        Filter { from, to, ..Filter::default() },
        Filter { entities: vec!["caroline".to_owned()], from, ..Filter::default() },
        Filter {
            any: vec![tagged("ops"), of(&[Kind::Preference])],
            not: vec![tagged("legal")],
            ..Filter::default()
        },
    ]
}

/// Every memory that the store holds, in whatever state.
fn stored(engine: &Engine) -> BTreeMap<MemoryId, Memory> {
    let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
    let mut list = ListRequest { filter, page_size: 500, ..ListRequest::default() };
    let mut all = BTreeMap::new();
    loop {
        let page = engine.list(&ns("ops"), &list).unwrap().wait().unwrap();
        list.after = page.memories.last().map(|memory| memory.id);
        all.extend(page.memories.into_iter().map(|memory| (memory.id, memory)));
        if !page.more {
            return all;
        }
    }
}

fn question(filter: &Filter) -> Recall {
    let filter = filter.clone();
    Recall {
        filter,
        top_k: 100,
        now: Some(NOW),
        observe: true,
        exact: true,
        keep_alike: true,
        ..Recall::default()
    }
}

fn ask(engine: &Engine, recall: &Recall) -> (u64, Vec<Hit>) {
    let recalled = engine.recall(&ns("ops"), recall).unwrap().wait().unwrap();
    (recalled.allowed, recalled.hits)
}

/// Holds the bitmaps against [`Filter::matches`] on every memory, on the active shelf and with history, and what words and
/// vectors find against the texts and numbers. Returns all answers, to be compared after a restart.
fn check(engine: &Engine, numbers: &BTreeMap<MemoryId, Vec<f32>>) -> Vec<(u64, Vec<Hit>)> {
    let stored = stored(engine);
    let mut answers = Vec::new();
    for filter in filters() {
        let matching = |states: &[State]| {
            let counts = |memory: &&Memory| states.contains(&memory.state) && filter.matches(memory, NOW);
            stored.values().filter(counts).map(|memory| memory.id).collect::<Vec<_>>()
        };
        let now_true = |id: &MemoryId| stored[id].is_valid_at(NOW) && !stored[id].is_expired_at(NOW);
        let active: Vec<MemoryId> = matching(&[State::Active]).into_iter().filter(now_true).collect();
        let newest = ask(engine, &question(&filter));
        assert_eq!(newest.0, active.len() as u64, "{filter:?}");
        let mut ids: Vec<MemoryId> = newest.1.iter().map(|hit| hit.memory.id).collect();
        ids.sort();
        if active.len() <= 100 {
            assert_eq!(ids, active, "{filter:?}");
        }
        assert!(newest.1.iter().all(|hit| stored[&hit.memory.id] == hit.memory));
        let past = Recall { include_history: true, include_archived: true, ..question(&filter) };
        let kept = [State::Active, State::Superseded, State::Archived];
        assert_eq!(ask(engine, &past).0, matching(&kept).len() as u64, "{filter:?} with history");

        let words = Recall { query: "E1042".to_owned(), mode: Mode::Keyword, ..question(&filter) };
        let found = ask(engine, &words);
        let holders = active.iter().filter(|id| stored[id].content.contains("E1042")).count();
        assert_eq!(found.1.len(), holders.min(100), "{filter:?}");

        let asked = [1.0_f32, -2.0, 0.5, 3.0, -1.0, 2.0, 0.5];
        let near = Recall {
            vector: Some(Embedding::new(&asked).unwrap()),
            embedding_model: Some("m".to_owned()),
            mode: Mode::Vector,
            ..question(&filter)
        };
        let found = [found, ask(engine, &near)];
        let embedded = active.iter().filter(|id| numbers.contains_key(id)).count();
        assert_eq!(found[1].1.len(), embedded.min(100), "{filter:?}");
        for hit in &found[1].1 {
            let raw = hit.breakdown.parts.iter().find(|part| part.name == "vector").unwrap().raw;
            assert!((raw - cosine(&asked, &numbers[&hit.memory.id])).abs() < 1e-6, "{hit:?}");
        }
        let mixed = Recall { query: "Caroline \"花生过敏\"".to_owned(), mode: Mode::Hybrid, ..near };
        answers.extend([newest, ask(engine, &past), ask(engine, &mixed)]);
        answers.extend(found);
    }
    answers
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// One step of a history.
fn step(engine: &Engine, random: &mut Random, number: u64, numbers: &mut BTreeMap<MemoryId, Vec<f32>>) {
    let stored = stored(engine);
    let of =
        |state: State| stored.values().filter(|one| one.state == state).map(|one| one.id).collect::<Vec<_>>();
    let (active, forgotten) = (of(State::Active), of(State::Forgotten));
    match random.below(10) {
        0 | 1 if !active.is_empty() => {
            let id = random.pick(&active);
            let values = random.percent(50).then(|| values(random));
            let content = format!("{} changed {number}", random.pick(&WORDS));
            let patch = Patch {
                content: Some(content),
                tags: Some(vec![random.pick(&TAGS).to_owned()]),
                ..Patch::default()
            };
            let update = UpdateRequest {
                id,
                patch,
                version: None,
                vectors: values.as_ref().and_then(|values| vectors("m", values)),
                maker: Maker::Caller,
                request_id: None,
                allow_forgotten: false,
            };
            engine.update(&ns("ops"), update).unwrap().wait().unwrap();
            numbers.remove(&id);
            numbers.extend(values.map(|values| (id, values)));
        }
        2 if !active.is_empty() => forget(engine, random.pick(&active)),
        3 if !forgotten.is_empty() => {
            let restore = RestoreRequest { ids: vec![random.pick(&forgotten)], request_id: None };
            engine.restore(&ns("ops"), restore).unwrap().wait().unwrap();
        }
        _ => {
            let items: Vec<WriteItem> =
                (0..1 + random.below(4)).map(|at| item(random, number * 10 + at)).collect();
            let sent: Vec<Option<Vec<f32>>> = items
                .iter()
                .map(|item| item.vectors.as_ref().map(|vectors| vectors.vectors[0].values.clone()))
                .collect();
            let request = BatchRequest { items, ..BatchRequest::default() };
            let written = engine.write_batch(&ns("ops"), request).unwrap().wait().unwrap();
            for (result, values) in written.results.into_iter().zip(sent) {
                numbers.extend(values.map(|values| (result.unwrap().id, values)));
            }
        }
    }
}

fn forget(engine: &Engine, id: MemoryId) {
    let target = ForgetTarget::Ids(vec![id]);
    let request = ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
    engine.forget(&ns("ops"), request).unwrap().wait().unwrap();
}

#[test]
fn r1_any_history_with_restarts_is_answered_as_a_look_at_each_memory_would() {
    let mut superseded = 0;
    for seed in 0..6 {
        let dir = tempfile::tempdir().unwrap();
        let (mut engine, _) = open(dir.path());
        let (mut random, mut numbers) = (Random::at(seed, 4), BTreeMap::new());
        for number in 0..50 {
            step(&engine, &mut random, number, &mut numbers);
            if number % 10 == 9 {
                let before = check(&engine, &numbers);
                match random.below(3) {
                    0 => drop(engine.checkpoint().unwrap()),
                    _ => engine.close().unwrap(),
                }
                drop(engine);
                engine = open(dir.path()).0;
                assert!(
                    check(&engine, &numbers) == before,
                    "other answers after restart {number} of seed {seed}"
                );
            }
        }
        superseded += stored(&engine).values().filter(|one| one.state == State::Superseded).count();
    }
    assert!(superseded > 20, "only {superseded} were superseded: the other shelf was hardly used");
}

/// Whatever is counted, it is the same number: what the clients were told, the store, the bitmaps, the words, the names,
/// and where the directory says that records lie.
#[test]
fn sixty_four_clients_at_once_leave_one_count_everywhere() {
    const CLIENTS: u64 = 64;
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = open(dir.path());
    let told: Mutex<BTreeMap<MemoryId, bool>> = Mutex::default();
    let (writing, gaps) = (AtomicBool::new(true), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..CLIENTS / 2)
            .map(|client| {
                scope.spawn({
                    let (engine, told) = (&engine, &told);
                    move || write_and_forget(engine, client, told)
                })
            })
            .collect();
        for client in CLIENTS / 2..CLIENTS {
            let (engine, writing, gaps) = (&engine, &writing, &gaps);
            scope.spawn(move || gaps.lock().unwrap().extend(read_until(engine, client, writing)));
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        writing.store(false, Ordering::Release);
    });
    let gaps = gaps.into_inner().unwrap();
    assert!(gaps.is_empty(), "{gaps:?}");
    let told = told.into_inner().unwrap();
    let there = told.values().filter(|there| **there).count();
    assert!(there > 300 && there < told.len(), "{there} of {}", told.len());
    counts_agree(&engine, &told);
    engine.close().unwrap();
    drop(engine);
    directory_agrees(dir.path(), told.len());
    let (engine, report) = open(dir.path());
    assert_eq!(report.memories, there as u64);
    counts_agree(&engine, &told);
}

/// Batches of three, of which one is forgotten now and then.
fn write_and_forget(engine: &Engine, client: u64, told: &Mutex<BTreeMap<MemoryId, bool>>) {
    let mut random = Random::at(client, 64);
    for round in 0..8 {
        let batch = format!("batch-{client}-{round}");
        let items = (0..3).map(|at| {
            let mut one = item(&mut random, client * 1_000 + round * 10 + at);
            (one.draft.claims, one.draft.tags) = (Vec::new(), vec![batch.clone()]);
            one
        });
        let request = BatchRequest { items: items.collect(), ..BatchRequest::default() };
        let written = engine.write_batch(&ns("ops"), request).unwrap().wait().unwrap();
        let ids: Vec<MemoryId> = written.results.into_iter().map(|one| one.unwrap().id).collect();
        let gone = random.percent(25).then(|| ids[0]);
        if let Some(gone) = gone {
            forget(engine, gone);
        }
        told.lock().unwrap().extend(ids.into_iter().map(|id| (id, Some(id) != gone)));
    }
}

/// Reads while others write; says where a batch was seen in part, or two ways to ask for the same batch differ at one
/// log position.
fn read_until(engine: &Engine, client: u64, writing: &AtomicBool) -> Vec<String> {
    let (mut random, mut gaps) = (Random::at(client, 65), Vec::new());
    while writing.load(Ordering::Acquire) {
        let tag = format!("batch-{}-{}", random.below(32), random.below(8));
        let filter = Filter { tags: vec![tag.clone()], ..Filter::default() };
        let Ok(recalled) = engine.recall(&ns("ops"), &question(&filter)) else { continue };
        let recalled = recalled.wait().unwrap();
        let list = ListRequest { filter, page_size: 10, ..ListRequest::default() };
        let page = engine.list(&ns("ops"), &list).unwrap().wait().unwrap();
        let (bitmap, store) = (recalled.hits.len(), page.memories.len());
        let whole = |count: usize| [0, 2, 3].contains(&count);
        if recalled.allowed != bitmap as u64 || !whole(bitmap) || !whole(store) {
            gaps.push(format!("{tag}: allowed {}, hits {bitmap}, listed {store}", recalled.allowed));
        }
        if recalled.revision == page.revision && bitmap != store {
            gaps.push(format!("{tag} at {}: {bitmap} hits, {store} listed", page.revision));
        }
        if page.revision < recalled.revision {
            gaps.push(format!("{tag}: read at {}, then at {}", recalled.revision, page.revision));
        }
    }
    gaps
}

fn counts_agree(engine: &Engine, told: &BTreeMap<MemoryId, bool>) {
    let stored = stored(engine);
    let there = told.values().filter(|there| **there).count() as u64;
    assert_eq!(stored.len(), told.len());
    let stats = engine.stats(&ns("ops")).unwrap().wait().unwrap();
    let by_state: BTreeMap<&str, u64> = stats.by_state.iter().copied().collect();
    assert_eq!((by_state["active"], by_state["active"] + by_state["forgotten"]), (there, told.len() as u64));
    assert_eq!(ask(engine, &question(&Filter::default())).0, there, "the bitmap of all");
    let allowed = |filter: Filter| ask(engine, &question(&filter)).0;
    let kinds = [Kind::Fact, Kind::Preference, Kind::Procedure]
        .map(|kind| Filter { kinds: vec![kind], ..Filter::default() });
    assert_eq!(kinds.into_iter().map(allowed).sum::<u64>(), there, "the bitmaps of kinds");
    let names = NAMES.map(|name| Filter { entities: vec![name.to_owned()], ..Filter::default() });
    assert_eq!(names.into_iter().map(allowed).sum::<u64>(), there, "the bitmaps of names");
    for (id, there) in told {
        assert_eq!(stored[id].state == State::Active, *there, "{id}");
    }
}

/// The directory holds where each record lies, no more and no less, and the record files hold them all.
fn directory_agrees(dir: &Path, records: usize) {
    let mut lines = Vec::new();
    let report = verify(&RealIo, dir, &mut |file| {
        if file.path.starts_with("directory") {
            lines.push((file.state, file.note.clone()));
        }
    });
    let report = report.unwrap();
    assert!(report.is_sound());
    assert_eq!(report.memories, records as u64);
    assert_eq!(lines, [(FileState::Ok, format!("where {records} records lie"))]);
}
