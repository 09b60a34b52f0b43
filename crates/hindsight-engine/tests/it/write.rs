//! W1, W2, W9, W12: what is acknowledged is there, what is refused is not.

use hindsight_core::{Draft, Filter, Kind, MemoryId, Status};
use hindsight_engine::{BatchRequest, EngineError, ItemWritten, WriteItem, WriteOptions};

use crate::support::{Db, fact, fields, ns, vectors};

#[test]
fn w2_a_write_is_recallable_at_once_and_after_a_restart() {
    let db = Db::new();
    let memory = db.write(fact("deploys go through Argo CD"));
    assert_eq!(db.contents("argo"), ["deploys go through Argo CD"]);
    let (db, report) = db.reopen();
    assert_eq!((report.namespaces, report.memories), (1, 1));
    assert_eq!(db.list(Filter::default()), [memory]);
    assert_eq!(db.contents("argo"), ["deploys go through Argo CD"]);
}

#[test]
fn w2_without_a_close_nothing_acknowledged_is_lost() {
    let db = Db::new();
    for number in 0..20 {
        db.write(fact(&format!("memory {number}")));
    }
    let Db { dir, engine } = db;
    drop(engine);
    let (engine, report) = crate::support::open(dir.path());
    assert_eq!(report.memories, 20);
    drop(engine);
}

#[test]
fn a_refused_write_leaves_nothing_not_even_a_namespace() {
    let db = Db::new();
    assert_eq!(fields(db.try_write(fact("  "), None).unwrap_err()), ["content"]);
    assert_eq!(
        fields(db.try_write(fact("x"), vectors("m", &[f32::NAN])).unwrap_err()),
        ["vectors[0].values"]
    );
    assert_eq!(fields(db.try_write(fact("x"), vectors("", &[1.0])).unwrap_err()), ["embedding_model"]);
    assert_eq!(
        fields(db.try_write(fact("x"), vectors("m", &[0.0, 0.0])).unwrap_err()),
        ["vectors[0].values"]
    );
    assert!(db.engine.namespaces(None, 10).unwrap().wait().unwrap().0.is_empty());
    assert!(matches!(db.engine.stats(&ns("ops")), Err(EngineError::NamespaceNotFound { .. })));
    let (_, report) = db.reopen();
    assert_eq!((report.namespaces, report.memories), (0, 0));
}

#[test]
fn w12_a_vector_of_another_model_or_dimension_is_refused_with_both_names() {
    let db = Db::new();
    db.try_write(fact("one"), vectors("small", &[1.0, 0.0])).unwrap();
    let other = db.try_write(fact("two"), vectors("large", &[1.0, 0.0])).unwrap_err();
    assert!(other.to_string().contains("\"large\"") && other.to_string().contains("\"small\""), "{other}");
    let long = db.try_write(fact("two"), vectors("small", &[1.0, 0.0, 0.0])).unwrap_err();
    assert!(long.to_string().contains("has 3 numbers") && long.to_string().contains("have 2"), "{long}");
    let (db, _) = db.reopen();
    assert!(matches!(
        db.try_write(fact("x"), vectors("large", &[1.0, 0.0])),
        Err(EngineError::ModelMismatch { .. })
    ));
    assert_eq!(db.list(Filter::default()).len(), 1);
}

#[test]
fn w9_the_same_request_acts_once_also_across_a_restart() {
    let db = Db::new();
    let write = |db: &Db, text: &str| {
        let options = WriteOptions { request_id: Some("r-1".to_owned()), ..WriteOptions::default() };
        db.engine.write(&ns("ops"), WriteItem::new(fact(text), None), options)
    };
    let first = write(&db, "once").unwrap().wait().unwrap();
    let again = write(&db, "once").unwrap().wait().unwrap();
    assert!(!first.replayed && again.replayed);
    assert_eq!((again.memory.id, again.revision), (first.memory.id, first.revision));
    let (db, _) = db.reopen();
    assert!(write(&db, "once").unwrap().wait().unwrap().replayed);
    assert!(matches!(write(&db, "other"), Err(EngineError::RequestIdReused { .. })));
    assert_eq!(db.list(Filter::default()).len(), 1);
}

#[test]
fn w1_a_bad_item_of_a_batch_is_refused_by_itself() {
    let db = Db::new();
    let item = |text: &str| WriteItem::new(fact(text), None);
    let batch = |all_or_nothing| BatchRequest {
        items: vec![item("good"), item(""), item("good too")],
        all_or_nothing,
        on_duplicate: None,
        request_id: Some(format!("b-{all_or_nothing}")),
        allow_forgotten: false,
    };
    let refused = db.engine.write_batch(&ns("ops"), batch(true)).unwrap_err();
    assert_eq!(fields(refused), ["items[1].content"]);
    assert!(db.list(Filter::default()).is_empty());
    let written = db.engine.write_batch(&ns("ops"), batch(false)).unwrap().wait().unwrap();
    assert!(written.results[0].is_ok() && written.results[1].is_err() && written.results[2].is_ok());
    assert_eq!(db.list(Filter::default()).len(), 2);
    let again = db.engine.write_batch(&ns("ops"), batch(false)).unwrap().wait().unwrap();
    assert!(again.replayed);
    let ids = |results: &[Result<ItemWritten, EngineError>]| -> Vec<Option<MemoryId>> {
        results.iter().map(|result| result.as_ref().ok().map(|item| item.id)).collect()
    };
    assert_eq!(ids(&again.results), ids(&written.results));
    assert_eq!(db.list(Filter::default()).len(), 2);
}

#[test]
fn w12_one_batch_can_not_bring_two_models() {
    let db = Db::new();
    let item = |model: &str, values: &[f32]| WriteItem::new(fact("x"), vectors(model, values));
    let items = vec![item("a", &[1.0]), item("b", &[1.0]), item("a", &[1.0, 2.0]), item("a", &[3.0])];
    let written = db
        .engine
        .write_batch(&ns("ops"), BatchRequest { items, ..BatchRequest::default() })
        .unwrap()
        .wait()
        .unwrap();
    let right: Vec<bool> = written.results.iter().map(Result::is_ok).collect();
    assert_eq!(right, [true, false, false, true]);
}

#[test]
fn a_chosen_id_is_kept_and_can_be_taken_once() {
    let db = Db::new();
    let id = "mem_01k9zq4t8rc5d2v7n3hx6w0jab";
    let chosen = || Draft { id: Some(id.to_owned()), ..fact("mine") };
    assert_eq!(db.write(chosen()).id.to_string(), id);
    assert!(matches!(db.try_write(chosen(), None), Err(EngineError::MemoryExists { .. })));
}

#[test]
fn validate_only_stores_nothing() {
    let db = Db::new();
    let options = WriteOptions { validate_only: true, ..WriteOptions::default() };
    let draft = Draft { kind: Some(Kind::Episode), status: Some(Status::Failure), ..fact("refund failed") };
    let would = db.engine.write(&ns("ops"), WriteItem::new(draft, None), options).unwrap().wait().unwrap();
    assert_eq!((would.memory.importance, would.memory.version), (0.8, 0));
    assert!(db.engine.namespaces(None, 10).unwrap().wait().unwrap().0.is_empty());
}

#[test]
fn namespaces_do_not_mix() {
    let db = Db::new();
    db.write(fact("secret of ops"));
    let other = WriteItem::new(fact("secret of sales"), None);
    db.engine.write(&ns("sales"), other, WriteOptions::default()).unwrap().wait().unwrap();
    assert_eq!(db.contents("secret"), ["secret of ops"]);
    let names: Vec<String> = db
        .engine
        .namespaces(None, 10)
        .unwrap()
        .wait()
        .unwrap()
        .0
        .into_iter()
        .map(|n| n.name.to_string())
        .collect();
    assert_eq!(names, ["ops", "sales"]);
    assert_eq!(db.engine.namespaces(Some("ops"), 10).unwrap().wait().unwrap().0.len(), 1);
    assert!(db.engine.namespaces(None, 1).unwrap().wait().unwrap().1);
}

#[test]
fn w9_a_replay_waits_for_what_it_shows() {
    use hindsight_core::Patch;
    use hindsight_engine::{EngineOver, Maker, Options, UpdateRequest};
    use hindsight_storage::testing::MemIo;

    // Nobody syncs the log here but this test.
    let io = std::sync::Arc::new(MemIo::new(1));
    let (engine, _) = EngineOver::open_with(io, std::path::Path::new("/db"), Options::default()).unwrap();
    let write = || {
        let options = WriteOptions { request_id: Some("r".to_owned()), ..WriteOptions::default() };
        engine.write(&ns("ops"), WriteItem::new(fact("one"), None), options).unwrap()
    };
    let first = write();
    engine.commit_step().unwrap();
    let memory = first.wait().unwrap().memory;
    let patch = Patch { content: Some("two".to_owned()), ..Patch::default() };
    let update = UpdateRequest {
        id: memory.id,
        patch,
        version: None,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
        allow_forgotten: false,
    };
    let changed = engine.update(&ns("ops"), update).unwrap();
    assert!(write().lsn() >= changed.lsn(), "it shows the change, so it waits for the change");
}
