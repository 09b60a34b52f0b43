//! The graph over a large namespace's vectors: built behind recall's back, and never in its way.

use std::sync::atomic::{AtomicBool, Ordering};

use hindsight_core::{Filter, MemoryId, Mode, Recall, Recalled};
use hindsight_engine::{
    BatchRequest, Engine, ForgetRequest, ForgetTarget, GraphRule, Options, VectorGraph, WriteItem,
    WriteOptions,
};

use super::support::{fact, ns, vectors};

/// Graphs from forty vectors on, and every search walks.
fn options() -> Options {
    Options { graph: GraphRule { least: 40, step_cost: 0 }, ..Options::default() }
}

/// A vector of eight components around the circle.
fn values(number: u32) -> Vec<f32> {
    // Fewer than 65,536, so that nothing is lost.
    let turn = f32::from(u16::try_from(number).unwrap()) * 0.37;
    (1..=8_u8).map(|wave| (turn * f32::from(wave)).sin() + 0.1).collect()
}

fn item(number: u32) -> WriteItem {
    WriteItem::new(fact(&format!("memory {number}")), vectors("m", &values(number)))
}

fn write(engine: &Engine, numbers: std::ops::Range<u32>) -> Vec<MemoryId> {
    let request = BatchRequest { items: numbers.map(item).collect(), ..BatchRequest::default() };
    let written = engine.write_batch(&ns("ops"), request).unwrap().wait().unwrap();
    written.results.into_iter().map(|item| item.unwrap().id).collect()
}

fn forget(engine: &Engine, id: MemoryId) {
    let target = ForgetTarget::Ids(vec![id]);
    let request = ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
    engine.forget(&ns("ops"), request).unwrap().wait().unwrap();
}

fn recall(engine: &Engine, number: u32, exact: bool) -> Recalled {
    let embedding = hindsight_core::Embedding::new(&values(number)).unwrap();
    let request = Recall {
        vector: Some(embedding),
        embedding_model: Some("m".to_owned()),
        mode: Mode::Vector,
        explain: true,
        exact,
        // What is returned often and never used sinks; here only nearness counts.
        observe: true,
        now: Some(hindsight_core::Timestamp::from_ms(1_800_000_000_000)),
        ..Recall::default()
    };
    engine.recall(&ns("ops"), &request).unwrap().wait().unwrap()
}

fn best(recalled: &Recalled) -> &str {
    &recalled.hits[0].memory.content
}

fn way(recalled: &Recalled) -> &str {
    let plan = recalled.plan.as_ref().unwrap();
    let line = plan.lines().find(|line| line.starts_with("├─ vector")).unwrap();
    let said = line.split_once("share 1.00, ").unwrap().1;
    // How long it took differs each time.
    said.rsplit_once(", ").map_or(said, |(way, took)| if took.ends_with(" µs") { way } else { said })
}

fn graph(engine: &Engine) -> Option<VectorGraph> {
    engine.stats(&ns("ops")).unwrap().wait().unwrap().vector_graph
}

/// Drives the graphs beside the engine's own thread until `done`.
fn until(engine: &Engine, done: impl Fn(&Engine) -> bool) {
    while !done(engine) {
        engine.graph_step();
    }
}

#[test]
fn a_large_namespace_gets_a_graph_and_the_plan_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(dir.path(), options()).unwrap();
    write(&engine, 0..39);
    engine.graph_step();
    assert_eq!((way(&recall(&engine, 7, false)), graph(&engine)), ("by scan", None));
    let ids = write(&engine, 39..100);
    until(&engine, |engine| graph(engine).is_some_and(|graph| graph.covered == 100));
    let found = recall(&engine, 7, false);
    assert_eq!(way(&found), "through the graph: best 112 of 100 vectors, 0 newer by scan");
    let exact = recall(&engine, 7, true);
    assert_eq!((way(&exact), best(&found)), ("by scan", "memory 7"));
    assert_eq!(found.hits, exact.hits);
    // W1: a write is recallable at once, and what is forgotten is not.
    write(&engine, 100..103);
    let found = recall(&engine, 101, false);
    assert_eq!(best(&found), "memory 101");
    assert_eq!(way(&found), "through the graph: best 112 of 100 vectors, 3 newer by scan");
    forget(&engine, ids[0]);
    assert_ne!(best(&recall(&engine, 39, false)), "memory 39");
    let stats = graph(&engine).unwrap();
    assert_eq!((stats.covered, stats.dead, stats.newer), (100, 1, 3));
    assert!(stats.bytes > 0);
    // It is derived: a new start has none, and builds it again.
    engine.close().unwrap();
    drop(engine);
    let (engine, _) = Engine::open(dir.path(), options()).unwrap();
    assert_eq!(best(&recall(&engine, 101, false)), "memory 101");
    until(&engine, |engine| graph(engine).is_some_and(|graph| graph.covered == 102));
    assert_eq!(recall(&engine, 50, false).hits, recall(&engine, 50, true).hits);
}

#[test]
fn answers_are_sampled_and_compared_with_the_scan() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(dir.path(), options()).unwrap();
    write(&engine, 0..200);
    until(&engine, |engine| graph(engine).is_some_and(|graph| graph.covered == 200));
    assert_eq!(graph(&engine).unwrap().recall(), None);
    until(&engine, |engine| {
        (0..32).for_each(|number| drop(recall(engine, number, false)));
        graph(engine).is_some_and(|graph| graph.sampled >= 3)
    });
    let measured = graph(&engine).unwrap();
    assert_eq!((measured.found, measured.recall()), (measured.wanted, Some(1.0)));
    assert_eq!(measured.wanted, 20 * u64::from(measured.sampled), "as many as the channel brings");
}

#[test]
fn without_a_rule_for_it_there_is_no_graph() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { graph: GraphRule::NEVER, ..Options::default() };
    let (engine, _) = Engine::open(dir.path(), options).unwrap();
    write(&engine, 0..100);
    assert!(!engine.graph_step());
    assert_eq!(way(&recall(&engine, 7, false)), "by scan");
}

#[test]
fn readers_and_writers_go_on_while_graphs_are_built() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(dir.path(), options()).unwrap();
    write(&engine, 0..60);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 60..400 {
                let written = engine.write(&ns("ops"), item(number), WriteOptions::default());
                let written = written.unwrap().wait().unwrap();
                assert_eq!(best(&recall(&engine, number, false)), format!("memory {number}"));
                if number % 3 == 0 {
                    forget(&engine, written.memory.id);
                    assert_ne!(best(&recall(&engine, number, false)), format!("memory {number}"));
                }
            }
            is_over.store(true, Ordering::Release);
        });
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                engine.graph_step();
            }
        });
        while !is_over.load(Ordering::Acquire) {
            assert_eq!(best(&recall(&engine, 5, false)), "memory 5");
        }
    });
    until(&engine, |engine| !engine.graph_step());
    for number in (0..400).filter(|number| *number < 60 || number % 3 != 0) {
        assert_eq!(best(&recall(&engine, number, false)), format!("memory {number}"));
    }
    let filter = Filter { tags: vec!["none".to_owned()], ..Filter::default() };
    let request = Recall { query: "memory".to_owned(), filter, ..Recall::default() };
    assert!(engine.recall(&ns("ops"), &request).unwrap().wait().unwrap().hits.is_empty());
}
