//! Checkpoints: what changed goes into record files, the log gets shorter, and nobody can tell from the answers.

use hindsight_core::{Draft, Filter, Patch, Recall};
use hindsight_engine::{
    Engine, EngineError, ForgetRequest, ForgetTarget, Maker, Options, UpdateRequest, WriteItem, WriteOptions,
};
use hindsight_storage::StorageErrorKind;

use crate::support::{Db, fact, ns, open, vectors};

fn update(db: &Db, id: hindsight_core::MemoryId, content: &str) {
    let patch = Patch { content: Some(content.to_owned()), ..Patch::default() };
    let update = UpdateRequest {
        id,
        patch,
        version: None,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
        allow_forgotten: false,
    };
    db.engine.update(&ns("ops"), update).unwrap().wait().unwrap();
}

fn forget(db: &Db, id: hindsight_core::MemoryId) {
    let forget = ForgetRequest {
        target: ForgetTarget::Ids(vec![id]),
        validate_only: false,
        request_id: None,
        with_derived: false,
    };
    db.engine.forget(&ns("ops"), forget).unwrap().wait().unwrap();
}

fn picture(db: &Db) -> (Vec<hindsight_core::Memory>, hindsight_core::Recalled) {
    let every_state = hindsight_core::State::ALL.to_vec();
    let now = Some("2026-11-30T12:00:00Z".parse().unwrap());
    let vector = hindsight_core::Embedding::new(&[0.6, 0.8]).unwrap();
    let recall = Recall {
        observe: true,
        query: "note".to_owned(),
        vector: Some(vector),
        embedding_model: Some("m".to_owned()),
        now,
        ..Recall::default()
    };
    (db.list(Filter { states: every_state, ..Filter::default() }), db.recall(&recall))
}

/// A crash: nothing is closed in order.
fn crash(db: Db) -> Db {
    let Db { dir, engine } = db;
    drop(engine);
    let (engine, _) = open(dir.path());
    Db { dir, engine }
}

#[test]
fn a_stored_namespace_answers_as_before_after_a_crash_and_after_a_clean_stop() {
    let db = Db::new();
    let ids: Vec<_> = (0..20_u8)
        .map(|number| {
            db.try_write(fact(&format!("note {number}")), vectors("m", &[0.1, f32::from(number)])).unwrap()
        })
        .map(|written| written.memory.id)
        .collect();
    forget(&db, ids[3]);
    let report = db.engine.checkpoint().unwrap();
    assert_eq!((report.namespaces, report.records), (1, 20));
    // What comes after the checkpoint stands in the log alone.
    update(&db, ids[5], "note five, changed");
    forget(&db, ids[7]);
    db.try_write(fact("a note after"), vectors("m", &[1.0, 0.0])).unwrap();
    let before = picture(&db);
    let db = crash(db);
    assert_eq!(picture(&db), before);
    let (db, report) = db.reopen();
    assert_eq!(report.recovered.batches, 0, "a clean stop leaves nothing to replay");
    assert_eq!(picture(&db), before);
    // A second checkpoint stores the changes only.
    update(&db, ids[9], "note nine, changed");
    assert_eq!(db.engine.checkpoint().unwrap().records, 1);
    let before = picture(&db);
    assert_eq!(picture(&crash(db)), before);
}

#[test]
fn nothing_changed_means_nothing_stored() {
    let db = Db::new();
    db.write(fact("x"));
    assert_eq!(db.engine.checkpoint().unwrap().records, 1);
    assert_eq!(db.engine.checkpoint().unwrap().namespaces, 0);
}

#[test]
fn w9_request_ids_survive_a_checkpoint() {
    let db = Db::new();
    let write = |db: &Db| {
        let options = WriteOptions { request_id: Some("r-1".to_owned()), ..WriteOptions::default() };
        db.engine.write(&ns("ops"), WriteItem::new(fact("once"), None), options).unwrap().wait().unwrap()
    };
    assert!(!write(&db).replayed);
    db.engine.checkpoint().unwrap();
    let db = crash(db);
    assert!(write(&db).replayed);
    assert_eq!(db.list(Filter::default()).len(), 1);
}

#[test]
fn many_changes_of_one_memory_are_rewritten_into_one_file() {
    let db = Db::new();
    let id = db.write(fact("version 1")).id;
    for version in 2..40 {
        update(&db, id, &format!("version {version}"));
        db.engine.checkpoint().unwrap();
    }
    let files = std::fs::read_dir(db.dir.path().join("ns/00000001")).unwrap().count();
    assert!(files <= 8, "{files} files for one memory");
    let db = crash(db);
    assert_eq!(db.contents("version"), ["version 39"]);
}

#[test]
fn the_log_is_bounded_also_when_only_deletes_arrive() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.storage.checkpoint_bytes = 256 << 10;
    options.storage.log.segment_bytes = 64 << 10;
    options.storage.log.preallocate_bytes = 16 << 10;
    let (engine, _) = Engine::open(dir.path(), options).unwrap();
    let db = Db { dir, engine };
    let ids: Vec<_> = (0..200)
        .map(|number| db.write(fact(&format!("{}{number}", "note ".repeat(20 + number % 7)))).id)
        .collect();
    let log_bytes = |db: &Db| -> u64 {
        let files = std::fs::read_dir(db.dir.path().join("log")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    for round in 0..12 {
        for id in &ids {
            if round % 2 == 0 {
                forget(&db, *id);
            } else {
                let restore = hindsight_engine::RestoreRequest { ids: vec![*id], request_id: None };
                db.engine.restore(&ns("ops"), restore).unwrap().wait().unwrap();
            }
        }
        db.engine.checkpoint().unwrap();
    }
    assert!(log_bytes(&db) <= 2 * (256 << 10) + (64 << 10), "{} bytes of log", log_bytes(&db));
}

#[test]
fn d4_a_damaged_record_file_refuses_its_namespace_and_no_other() {
    let db = Db::new();
    db.write(fact("a note of ops"));
    let other = WriteItem::new(fact("a note of sales"), None);
    db.engine.write(&ns("sales"), other, WriteOptions::default()).unwrap().wait().unwrap();
    let Db { dir, engine } = db;
    engine.close().unwrap();
    drop(engine);
    // Every namespace has one file; damage the one that holds the text of ops.
    let mut damaged = 0;
    for folder in std::fs::read_dir(dir.path().join("ns")).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            if let Some(at) = bytes.windows(13).position(|window| window == b"a note of ops") {
                bytes[at] ^= 1;
                std::fs::write(&path, bytes).unwrap();
                damaged += 1;
            }
        }
    }
    assert_eq!(damaged, 1);
    let (engine, _) = open(dir.path());
    let ask = |name: &str| {
        let recall = Recall { query: "note".to_owned(), ..Recall::default() };
        engine.recall(&ns(name), &recall).and_then(|unsynced| unsynced.wait())
    };
    match ask("ops").unwrap_err() {
        EngineError::Storage(error) => {
            assert_eq!(error.kind(), StorageErrorKind::Corrupt);
            assert!(error.to_string().contains("records-"), "{error}");
        }
        other => panic!("{other}"),
    }
    assert_eq!(ask("sales").unwrap().hits[0].memory.content, "a note of sales");
    let draft = Draft { content: "more".to_owned(), ..Draft::default() };
    let refused = engine.write(&ns("ops"), WriteItem::new(draft, None), WriteOptions::default());
    assert!(refused.is_err(), "a write into a namespace that can't be read would hide the damage");
}

#[test]
fn w12_a_namespace_keeps_its_model_when_no_vector_is_left() {
    let db = Db::new();
    let memory =
        db.try_write(fact("a fact with a vector"), vectors("first-model", &[1.0, 0.0])).unwrap().memory;
    // A new text without vectors takes the old ones away.
    update(&db, memory.id, "another text");
    // Once by the replay of the log, once from record files, and once from a manifest that was written anew.
    let (mut db, _) = db.reopen();
    for _ in 0..2 {
        let model = db.engine.model(&ns("ops")).unwrap();
        assert_eq!((model.name.as_str(), model.dimension), ("first-model", 2));
        for other in [vectors("second-model", &[1.0, 0.0]), vectors("first-model", &[1.0])] {
            assert!(db.try_write(fact("does not fit"), other).is_err());
        }
        (db, _) = db.reopen();
    }
    db.try_write(fact("fits"), vectors("first-model", &[0.0, 1.0])).unwrap();
}
