//! Dropping a namespace, and what record files cost on disk.

use std::path::Path;

use hindsight_core::{Filter, OnDuplicate, Patch};
use hindsight_engine::{
    BatchRequest, DropRequest, ForgetRequest, ForgetTarget, Maker, Unsynced, UpdateRequest, WriteItem,
};

use crate::support::{Db, fact, ns, open, vectors};

fn bytes_of(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let meta = entry.metadata().unwrap();
            if meta.is_dir() { bytes_of(&entry.path()) } else { meta.len() }
        })
        .sum()
}

fn reasons(db: &Db) -> [String; 2] {
    let stats = db.engine.stats(&ns("ops")).unwrap_err().reason().to_owned();
    let drop = db.engine.drop_namespace(&ns("ops"), DropRequest::default()).unwrap_err().reason().to_owned();
    [stats, drop]
}

#[test]
fn a_dropped_namespace_is_gone_with_its_folder_and_begins_anew_empty() {
    let db = Db::new();
    let old = db.write(fact("the old life"));
    db.engine.checkpoint().unwrap();
    db.write(fact("in the log alone"));
    let request =
        DropRequest { expected_count: Some(3), validate_only: false, request_id: Some("once".to_owned()) };
    let wrong = db.engine.drop_namespace(&ns("ops"), request.clone()).unwrap_err();
    assert_eq!(wrong.reason(), "COUNT_MISMATCH");
    let dry = DropRequest { validate_only: true, ..DropRequest::default() };
    assert_eq!(db.engine.drop_namespace(&ns("ops"), dry).and_then(Unsynced::wait).unwrap().count, 2);
    assert_eq!(db.list(Filter::default()).len(), 2);
    let request = DropRequest { expected_count: Some(2), ..request };
    let dropped = db.engine.drop_namespace(&ns("ops"), request.clone()).and_then(Unsynced::wait).unwrap();
    assert_eq!((dropped.count, dropped.replayed), (2, false));
    let again = db.engine.drop_namespace(&ns("ops"), request).and_then(Unsynced::wait).unwrap();
    assert!(again.replayed);
    assert_eq!(reasons(&db), ["NAMESPACE_NOT_FOUND", "NAMESPACE_NOT_FOUND"]);
    assert!(db.list(Filter::default()).is_empty() && db.contents("old life").is_empty());
    assert_eq!(db.engine.namespace_count(), 0);

    // Replay repeats it, a checkpoint removes the folder.
    let Db { dir, engine } = db;
    drop(engine);
    let db = Db { engine: open(dir.path()).0, dir };
    assert_eq!(db.engine.namespace_count(), 0);
    db.engine.checkpoint().unwrap();
    assert_eq!(std::fs::read_dir(db.dir.path().join("ns")).unwrap().count(), 0);

    let new = db.write(fact("the new life"));
    let (db, report) = db.reopen();
    assert_eq!((report.namespaces, report.memories), (1, 1));
    assert_eq!(db.list(Filter::default()), [new]);
    assert!(db.contents("the old life").iter().all(|found| found == "the new life"));
    assert_eq!(db.engine.get(&ns("ops"), old.id, None).unwrap_err().reason(), "MEMORY_NOT_FOUND");
}

/// Dropped and written to again before any checkpoint: the files of the old life must not come back.
#[test]
fn a_new_life_before_the_checkpoint_replaces_the_old_files() {
    let db = Db::new();
    db.write(fact("the old life"));
    db.engine.checkpoint().unwrap();
    db.engine.drop_namespace(&ns("ops"), DropRequest::default()).and_then(Unsynced::wait).unwrap();
    let new = db.write(fact("the new life"));
    for _ in 0..2 {
        db.engine.checkpoint().unwrap();
        let (again, _) = open_copy(db.dir.path());
        let list =
            hindsight_engine::ListRequest { page_size: 10, ..hindsight_engine::ListRequest::default() };
        let page = again.engine.list(&ns("ops"), &list).and_then(Unsynced::wait).unwrap();
        assert_eq!(page.memories, std::slice::from_ref(&new));
    }
}

fn open_copy(dir: &Path) -> (Db, ()) {
    let copy = tempfile::tempdir().unwrap();
    copy_all(dir, copy.path());
    (Db { engine: open(copy.path()).0, dir: copy }, ())
}

fn copy_all(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.metadata().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_all(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Checkpoints rewrite a namespace whose files hold much that is dead: after load and churn the record files have at most
/// 1.3 times the bytes of what lives.
#[test]
fn compaction_after_load_and_churn_disk_stays_within_1_3_of_raw() {
    let db = Db::new();
    let padding = "what the agent saw ".repeat(40);
    let items = (0..500).map(|number| WriteItem::new(fact(&format!("{number} {padding}")), None)).collect();
    let on_duplicate = Some(OnDuplicate::Allow);
    let batch =
        BatchRequest { items, all_or_nothing: true, on_duplicate, request_id: None, allow_forgotten: false };
    let ids: Vec<_> = db
        .engine
        .write_batch(&ns("ops"), batch)
        .and_then(Unsynced::wait)
        .unwrap()
        .results
        .into_iter()
        .map(|item| item.unwrap().id)
        .collect();
    db.engine.checkpoint().unwrap();
    let raw = bytes_of(&db.dir.path().join("ns"));
    let mut most = raw;
    for round in 0..12 {
        for id in ids.iter().skip(round % 5).step_by(5) {
            let patch = Patch { content: Some(format!("round {round} {padding}")), ..Patch::default() };
            let update = UpdateRequest {
                id: *id,
                patch,
                version: None,
                vectors: None,
                maker: Maker::Caller,
                request_id: None,
                allow_forgotten: false,
            };
            drop(db.engine.update(&ns("ops"), update).unwrap());
        }
        db.engine.checkpoint().unwrap();
        most = most.max(bytes_of(&db.dir.path().join("ns")));
    }
    println!("{raw} bytes raw, {most} at most");
    assert!(most * 10 <= raw * 13, "{raw} bytes raw, {most} at most");
    // What is forgotten costs nothing beyond its own record.
    let target = ForgetTarget::Ids(ids[..100].to_vec());
    let forget = ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
    db.engine.forget(&ns("ops"), forget).and_then(Unsynced::wait).unwrap();
    db.engine.checkpoint().unwrap();
    let now = bytes_of(&db.dir.path().join("ns"));
    assert!(now * 10 <= raw * 13, "{raw} bytes raw, {now} after forgetting");
}

/// W12: the model of a namespace is fixed by its first vector, and a new life has not had any.
#[test]
fn w12_a_namespace_that_begins_anew_has_no_model_also_after_a_checkpoint() {
    let db = Db::new();
    db.try_write(fact("the old life"), vectors("model-a", &[1.0, 0.0])).unwrap();
    db.engine.checkpoint().unwrap();
    db.engine.drop_namespace(&ns("ops"), DropRequest::default()).and_then(Unsynced::wait).unwrap();
    db.write(fact("the new life"));
    assert_eq!(db.engine.model(&ns("ops")), None);
    db.engine.checkpoint().unwrap();
    let (db, _) = db.reopen();
    assert_eq!(db.engine.model(&ns("ops")), None);
    db.try_write(fact("another dimension"), vectors("model-b", &[1.0, 0.0, 0.0])).unwrap();
    let (db, _) = db.reopen();
    assert_eq!(db.engine.model(&ns("ops")).map(|model| model.dimension), Some(3));
}
