//! Readers, writers, a checkpoint and the first touch of a stored namespace, in random orders (A9).
//!
//! `cargo test -p hindsight-engine --features shuttle --lib schedules`
#![cfg(feature = "shuttle")]

use std::path::Path;
use std::sync::Arc;

use hindsight_core::{Draft, Filter, MemoryId, Namespace, OnDuplicate, Patch, Recall};
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};
use shuttle::scheduler::RandomScheduler;
use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::thread::spawn;

use crate::{
    BatchRequest, EngineError, EngineOver, ErrorKind, ForgetRequest, ForgetTarget, ListRequest, Maker,
    Options, Unsynced, UpdateRequest, WriteItem,
};

type Engine = EngineOver<MemIo>;

/// Orders that each test tries; the four of them try ten thousand.
const ORDERS: usize = 2_500;
/// The engine is deeper than what shuttle expects of a test.
const STACK_BYTES: usize = 1 << 20;

/// Runs it in that many random orders, the same each time. A failure prints the order.
fn each_order(run: impl Fn() + Send + Sync + 'static) {
    let mut config = shuttle::Config::new();
    config.stack_size = STACK_BYTES;
    shuttle::Runner::new(RandomScheduler::new_from_seed(9, ORDERS), config).run(run);
}

fn open(io: &MemIo) -> Arc<Engine> {
    let log = LogOptions { segment_bytes: 16 << 10, preallocate_bytes: 0, ..LogOptions::default() };
    // The disk is memory: a reserve would be written out for each order, and no test here fills the disk.
    let storage = StorageOptions { log, reserve_bytes: 0, ..StorageOptions::default() };
    let options = Options { storage, ..Options::default() };
    Arc::new(EngineOver::open_with(Arc::new(io.clone()), Path::new("/data"), options).unwrap().0)
}

fn ns() -> Namespace {
    "ops".parse().unwrap()
}

/// An answer, synced by whoever asks. The log's own locks are not shuttle's, so nobody may wait in them.
fn synced<T>(engine: &Engine, answer: Result<Unsynced<T, MemIo>, EngineError>) -> Result<T, EngineError> {
    let answer = answer?;
    engine.commit_step()?;
    answer.wait()
}

fn write_batch(engine: &Engine, tag: &str) -> Vec<MemoryId> {
    let draft = |number| Draft {
        // What was forgotten with one tag may be written with the other.
        content: format!("memory {number} of {tag}"),
        tags: vec![tag.to_owned(), "any".to_owned()],
        ..Draft::default()
    };
    let items = (0..5).map(|number| WriteItem::new(draft(number), None)).collect();
    let on_duplicate = Some(OnDuplicate::Allow);
    let batch = BatchRequest { items, on_duplicate, ..BatchRequest::default() };
    let written = synced(engine, engine.write_batch(&ns(), batch)).unwrap();
    written.results.into_iter().map(|item| item.unwrap().id).collect()
}

fn checkpoint(engine: &Engine) {
    assert!(engine.checkpoint().unwrap().checkpoint <= engine.revision());
}

fn tagged(tag: &str) -> Filter {
    Filter { tags: vec![tag.to_owned()], ..Filter::default() }
}

fn list(engine: &Engine, tag: &str) -> usize {
    let list = ListRequest { filter: tagged(tag), page_size: 100, ..ListRequest::default() };
    synced(engine, engine.list(&ns(), &list)).unwrap().memories.len()
}

fn recall(engine: &Engine, tag: &str) -> Vec<MemoryId> {
    let recall = Recall { filter: tagged(tag), top_k: 100, ..Recall::default() };
    let recalled = synced(engine, engine.recall(&ns(), &recall)).unwrap();
    recalled.hits.into_iter().map(|hit| hit.memory.id).collect()
}

#[test]
fn readers_see_whole_batches_and_nothing_goes_away() {
    each_order(|| {
        let engine = open(&MemIo::new(1));
        let begin = |work: fn(&Engine)| {
            let engine = Arc::clone(&engine);
            spawn(move || work(&engine))
        };
        let threads = [
            begin(|engine| drop(write_batch(engine, "one"))),
            begin(|engine| drop(write_batch(engine, "two"))),
            begin(checkpoint),
            begin(|engine| {
                let mut seen = 0;
                for _ in 0..2 {
                    for found in [list(engine, "any"), recall(engine, "any").len()] {
                        assert!(found % 5 == 0, "{found} memories of whole batches");
                        assert!(found >= seen, "{found} memories, and {seen} before");
                        seen = found;
                    }
                }
            }),
        ];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((list(&engine, "any"), recall(&engine, "any").len()), (10, 10));
    });
}

#[test]
fn what_is_forgotten_is_found_by_nobody_who_asks_later() {
    each_order(|| {
        let engine = open(&MemIo::new(1));
        let ids = write_batch(&engine, "one");
        let is_forgotten = Arc::new(AtomicBool::new(false));
        let forgetting = {
            let (engine, id, is_forgotten) = (Arc::clone(&engine), ids[0], Arc::clone(&is_forgotten));
            spawn(move || {
                let target = ForgetTarget::Ids(vec![id]);
                let request =
                    ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
                synced(&engine, engine.forget(&ns(), request)).unwrap();
                is_forgotten.store(true, Ordering::SeqCst);
            })
        };
        let writing = {
            let engine = Arc::clone(&engine);
            spawn(move || drop(write_batch(&engine, "two")))
        };
        for _ in 0..3 {
            let was_forgotten = is_forgotten.load(Ordering::SeqCst);
            let found = recall(&engine, "one");
            assert!(found.len() == 5 || found.len() == 4 && !found.contains(&ids[0]), "{found:?}");
            assert!(!was_forgotten || found.len() == 4, "found after it was forgotten");
        }
        forgetting.join().unwrap();
        writing.join().unwrap();
        assert_eq!((recall(&engine, "one").len(), list(&engine, "two")), (4, 5));
    });
}

fn change(engine: &Engine, id: MemoryId, content: &str, version: u64) -> Result<u64, EngineError> {
    let patch = Patch { content: Some(content.to_owned()), ..Patch::default() };
    let (version, maker) = (Some(version), Maker::Caller);
    let update =
        UpdateRequest { id, patch, version, vectors: None, maker, request_id: None, allow_forgotten: false };
    synced(engine, engine.update(&ns(), update)).map(|written| written.memory.version)
}

#[test]
fn of_two_changes_at_one_version_one_is_made() {
    each_order(|| {
        let engine = open(&MemIo::new(1));
        let id = write_batch(&engine, "one")[0];
        let threads = ["left", "right"].map(|content| {
            let engine = Arc::clone(&engine);
            spawn(move || change(&engine, id, content, 1).map(|_| content))
        });
        let done = threads.map(|thread| thread.join().unwrap());
        let made: Vec<&str> = done.iter().filter_map(|one| one.as_ref().ok().copied()).collect();
        assert_eq!(made.len(), 1, "{done:?}");
        let refused = done.iter().find_map(|one| one.as_ref().err()).unwrap();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        let now = synced(&engine, engine.get(&ns(), id, None)).unwrap().memory;
        assert_eq!((now.content.as_str(), now.version), (made[0], 2));
    });
}

#[test]
fn a_stored_namespace_is_loaded_once_whoever_touches_it_first() {
    // Stored once; each order begins with a copy.
    let stored = MemIo::new(1);
    let ids = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (disk, made) = (stored.clone(), Arc::clone(&ids));
    let mut config = shuttle::Config::new();
    config.stack_size = STACK_BYTES;
    shuttle::Runner::new(RandomScheduler::new_from_seed(9, 1), config).run(move || {
        let engine = open(&disk);
        *made.lock().unwrap() = write_batch(&engine, "one");
        engine.close().unwrap();
    });
    let id = ids.lock().unwrap()[0];
    each_order(move || {
        let engine = open(&stored.after_kill());
        let threads = [
            spawn({
                let engine = Arc::clone(&engine);
                move || assert_eq!(change(&engine, id, "changed", 1).unwrap(), 2)
            }),
            spawn({
                let engine = Arc::clone(&engine);
                move || assert_eq!((list(&engine, "one"), recall(&engine, "one").len()), (5, 5))
            }),
            spawn({
                let engine = Arc::clone(&engine);
                move || checkpoint(&engine)
            }),
        ];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let now = synced(&engine, engine.get(&ns(), id, None)).unwrap().memory;
        assert_eq!((now.content.as_str(), now.version, list(&engine, "one")), ("changed", 2, 5));
    });
}
