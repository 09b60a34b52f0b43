//! After any history, checkpoints and restarts among it: a filter selects what a scan selects, and exact vector search
//! finds what comparing every vector finds (A9). The simulation holds single answers; this holds search as a whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hindsight_core::{
    Draft, Embedding, Filter, Kind, Memory, MemoryId, Mode, OnDuplicate, Patch, Recall, State, Status,
    Timestamp,
};
use hindsight_engine::{
    BatchRequest, EngineOver, ForgetRequest, ForgetTarget, ListRequest, Maker, Options, UpdateRequest,
    WriteItem,
};
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};
use proptest::prelude::*;

use crate::support::{ns, vectors};

const TAGS: [&str; 3] = ["deploy", "账单", "login"];
const TASKS: [&str; 2] = ["order", "refund"];
const STEPS: std::ops::Range<usize> = 20..60;

/// What a memory is made of: kind, task type, tags, importance, vector.
type Parts = (u8, usize, u8, f32, Option<[f32; 3]>);

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<Parts>),
    Update(usize, f32, Option<[f32; 3]>),
    Forget(usize),
    Checkpoint,
    /// In order, or by a kill.
    Reopen(bool),
}

fn vector() -> impl Strategy<Value = [f32; 3]> {
    [-1.0_f32..1.0, -1.0_f32..1.0, 0.1_f32..1.0]
}

fn parts() -> impl Strategy<Value = Parts> {
    (0..4_u8, 0..3_usize, 0..8_u8, 0.0_f32..1.0, prop::option::weighted(0.8, vector()))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => prop::collection::vec(parts(), 1..4).prop_map(Step::Write),
        5 => (any::<usize>(), 0.0_f32..1.0, prop::option::of(vector())).prop_map(|(at, i, v)| Step::Update(at, i, v)),
        3 => any::<usize>().prop_map(Step::Forget),
        2 => Just(Step::Checkpoint),
        1 => any::<bool>().prop_map(Step::Reopen),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let leaf = (0..8_u8, 0..6_u8, 0..4_usize, prop::option::weighted(0.2, 0.0_f32..1.0), 0..6_u8);
    let leaf = leaf.prop_map(|(kinds, status, task, min_importance, tags)| Filter {
        kinds: picked(kinds, &[Kind::Fact, Kind::Episode, Kind::Preference]),
        statuses: picked(if status > 3 { 0 } else { status }, &[Status::Success, Status::Failure]),
        task_types: TASKS.get(task).map(|task| (*task).to_owned()).into_iter().collect(),
        tags: picked(if tags > 2 { 0 } else { tags }, &TAGS.map(str::to_owned)),
        min_importance,
        ..Filter::default()
    });
    (leaf.clone(), prop::option::weighted(0.3, leaf.clone()), prop::collection::vec(leaf, 0..3))
        .prop_map(|(filter, not, any)| Filter { not: not.into_iter().collect(), any, ..filter })
}

/// Those of the words whose bit is set.
fn picked<T: Clone>(bits: u8, words: &[T]) -> Vec<T> {
    words.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, word)| word.clone()).collect()
}

fn item((kind, task, tags, importance, vector): Parts) -> WriteItem {
    let kind = [None, Some(Kind::Fact), Some(Kind::Episode), Some(Kind::Preference)][usize::from(kind)];
    let is_episode = kind == Some(Kind::Episode);
    let draft = Draft {
        kind,
        content: "a memory 记忆".to_owned(),
        task_type: TASKS.get(task).map(|task| (*task).to_owned()),
        status: is_episode.then_some(if tags > 3 { Status::Success } else { Status::Failure }),
        tags: picked(tags, &TAGS.map(str::to_owned)),
        importance: Some(importance),
        ..Draft::default()
    };
    WriteItem::new(draft, vector.and_then(|values| vectors("m", &values)))
}

/// The database, and what its answers add up to: each memory, with the vector that was sent last.
struct Pair {
    io: MemIo,
    engine: EngineOver<MemIo>,
    model: BTreeMap<MemoryId, (Memory, Option<[f32; 3]>)>,
}

fn open(io: &MemIo) -> EngineOver<MemIo> {
    // Small segments: the disk in memory is copied at every restart.
    let log = LogOptions { segment_bytes: 64 << 10, preallocate_bytes: 0, ..LogOptions::default() };
    let storage = StorageOptions { log, ..StorageOptions::default() };
    let options = Options { storage, ..Options::default() };
    EngineOver::open_with(Arc::new(io.clone()), Path::new("/data"), options).unwrap().0
}

impl Pair {
    fn new() -> Pair {
        let io = MemIo::new(1);
        Pair { engine: open(&io), io, model: BTreeMap::new() }
    }

    fn some(&self, at: usize) -> Option<MemoryId> {
        let present =
            |(id, (memory, _)): (&MemoryId, &(Memory, _))| (memory.state != State::Forgotten).then_some(*id);
        let ids: Vec<MemoryId> = self.model.iter().filter_map(present).collect();
        ids.get(at % ids.len().max(1)).copied()
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Write(all) => {
                let items = all.iter().copied().map(item).collect();
                let on_duplicate = Some(OnDuplicate::Allow);
                let batch =
                    BatchRequest { items, on_duplicate, allow_forgotten: true, ..BatchRequest::default() };
                let written = self.engine.write_batch(&ns("ops"), batch).unwrap();
                self.engine.commit_step().unwrap();
                for (item, parts) in written.wait().unwrap().results.into_iter().zip(all) {
                    self.learn(item.unwrap().id, parts.4);
                }
            }
            Step::Update(at, importance, vector) => {
                let Some(id) = self.some(at) else { return };
                let version = Some(self.model[&id].0.version);
                let patch = Patch { importance: Some(importance), ..Patch::default() };
                let vectors = vector.and_then(|values| vectors("m", &values));
                let maker = Maker::Caller;
                let update = UpdateRequest {
                    id,
                    patch,
                    version,
                    vectors,
                    maker,
                    request_id: None,
                    allow_forgotten: false,
                };
                drop(self.engine.update(&ns("ops"), update).unwrap());
                self.learn(id, vector.or(self.model[&id].1));
            }
            Step::Forget(at) => {
                let Some(id) = self.some(at) else { return };
                let target = ForgetTarget::Ids(vec![id]);
                let forget =
                    ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
                drop(self.engine.forget(&ns("ops"), forget).unwrap());
                self.learn(id, self.model[&id].1);
            }
            Step::Checkpoint => drop(self.engine.checkpoint().unwrap()),
            Step::Reopen(in_order) => {
                self.engine.commit_step().unwrap();
                if in_order {
                    self.engine.close().unwrap();
                }
                self.io = self.io.after_kill();
                self.engine = open(&self.io);
            }
        }
    }

    fn learn(&mut self, id: MemoryId, vector: Option<[f32; 3]>) {
        self.engine.commit_step().unwrap();
        let memory = self.engine.get(&ns("ops"), id, None).unwrap().wait().unwrap().memory;
        self.model.insert(id, (memory, vector));
    }

    /// What matches, by looking at every memory.
    fn scan(&self, filter: &Filter) -> Vec<(MemoryId, Option<[f32; 3]>)> {
        let now = Timestamp::from_ms(i64::try_from(hindsight_storage::io::Io::now_ms(&self.io)).unwrap());
        let is_wanted = |memory: &Memory| memory.state == State::Active && filter.matches(memory, now);
        let matching = self.model.iter().filter(|(_, (memory, _))| is_wanted(memory));
        matching.map(|(id, (_, vector))| (*id, *vector)).collect()
    }

    fn check(&self, filter: &Filter, query: [f32; 3]) -> Result<(), TestCaseError> {
        let scanned = self.scan(filter);
        let list = ListRequest { filter: filter.clone(), page_size: 1_000, ..ListRequest::default() };
        let page = self.engine.list(&ns("ops"), &list).unwrap().wait().unwrap();
        let listed: Vec<MemoryId> = page.memories.iter().map(|memory| memory.id).collect();
        prop_assert_eq!(&listed, &scanned.iter().map(|(id, _)| *id).collect::<Vec<_>>());

        let query = Embedding::new(&query).unwrap();
        let recall = Recall {
            vector: Some(query.clone()),
            embedding_model: Some("m".to_owned()),
            mode: Mode::Vector,
            filter: filter.clone(),
            top_k: 100,
            keep_alike: true,
            ..Recall::default()
        };
        let recalled = self.engine.recall(&ns("ops"), &recall).unwrap().wait().unwrap();
        prop_assert_eq!(recalled.allowed, scanned.len() as u64);
        let mut found: Vec<(MemoryId, f64)> =
            recalled.hits.iter().map(|hit| (hit.memory.id, hit.similarity)).collect();
        found.sort_by_key(|(id, _)| *id);
        let compared: Vec<(MemoryId, f64)> = scanned
            .iter()
            .filter_map(|(id, vector)| Some((*id, similarity(&query, &Embedding::new(&(*vector)?).unwrap()))))
            .collect();
        prop_assert_eq!(
            found.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            compared.iter().map(|(id, _)| *id).collect::<Vec<_>>()
        );
        for ((id, found), (_, compared)) in found.iter().zip(&compared) {
            prop_assert!((found - compared).abs() < 1e-5, "{id}: {found} instead of {compared}");
        }
        Ok(())
    }
}

/// The cosine, as a similarity is told: 0 for what points the other way. Embeddings have length 1.
fn similarity(a: &Embedding, b: &Embedding) -> f64 {
    a.components()
        .iter()
        .zip(b.components().iter())
        .map(|(a, b)| f64::from(*a) * f64::from(*b))
        .sum::<f64>()
        .max(0.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a9_filters_are_scans_and_exact_search_compares_every_vector(
        steps in prop::collection::vec(step(), STEPS),
        filters in prop::collection::vec(filter(), 6),
        query in vector(),
    ) {
        let mut pair = Pair::new();
        for step in steps {
            pair.take(step);
        }
        if pair.model.values().any(|(_, vector)| vector.is_some()) {
            for filter in &filters {
                pair.check(filter, query)?;
            }
            pair.take(Step::Reopen(true));
            for filter in &filters {
                pair.check(filter, query)?;
            }
        }
    }
}
