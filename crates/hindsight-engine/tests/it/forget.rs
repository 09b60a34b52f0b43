//! L3: soft delete, counted first, restorable.

use hindsight_core::{Draft, Filter, MemoryId, State};
use hindsight_engine::{EngineError, ForgetRequest, ForgetTarget, RestoreRequest};

use crate::support::{Db, fact, fields, ns};

fn ids(ids: &[MemoryId]) -> ForgetRequest {
    ForgetRequest {
        target: ForgetTarget::Ids(ids.to_vec()),
        validate_only: false,
        request_id: None,
        with_derived: false,
    }
}

fn tagged(tag: &str, expected_count: Option<u32>, validate_only: bool) -> ForgetRequest {
    let filter = Filter { tags: vec![tag.to_owned()], ..Filter::default() };
    ForgetRequest {
        target: ForgetTarget::Matching { filter, expected_count },
        validate_only,
        request_id: None,
        with_derived: false,
    }
}

#[test]
fn l3_forgotten_is_out_of_recall_at_once_and_can_be_brought_back() {
    let db = Db::new();
    let memory = db.write(fact("the spare key is under the mat"));
    let done = db.engine.forget(&ns("ops"), ids(&[memory.id])).unwrap().wait().unwrap();
    assert_eq!((done.count, done.ids), (1, vec![memory.id]));
    assert!(db.contents("key").is_empty());
    assert!(db.list(Filter::default()).is_empty());
    let (db, _) = db.reopen();
    assert!(db.contents("key").is_empty());
    let forgotten = Filter { states: vec![State::Forgotten], ..Filter::default() };
    assert_eq!(db.list(forgotten).len(), 1);
    assert_eq!(db.engine.forget(&ns("ops"), ids(&[memory.id])).unwrap().wait().unwrap().count, 0);
    let restore = RestoreRequest { ids: vec![memory.id], request_id: None };
    assert_eq!(db.engine.restore(&ns("ops"), restore.clone()).unwrap().wait().unwrap().count, 1);
    assert_eq!(db.contents("key"), ["the spare key is under the mat"]);
    assert!(matches!(db.engine.restore(&ns("ops"), restore), Err(EngineError::WrongState { .. })));
}

#[test]
fn l3_by_filter_counts_first() {
    let db = Db::new();
    for number in 0..5 {
        let tag = if number < 3 { "old" } else { "new" };
        db.write(Draft { tags: vec![tag.to_owned()], ..fact(&format!("note {number}")) });
    }
    let forget = |request| db.engine.forget(&ns("ops"), request).and_then(|unsynced| unsynced.wait());
    assert_eq!(forget(tagged("old", None, true)).unwrap().count, 3);
    assert_eq!(db.list(Filter::default()).len(), 5);
    assert!(matches!(
        forget(tagged("old", Some(2), false)),
        Err(EngineError::CountMismatch { expected: 2, found: 3 })
    ));
    assert_eq!(forget(tagged("old", Some(3), false)).unwrap().count, 3);
    assert_eq!(db.list(Filter::default()).len(), 2);
}

#[test]
fn an_empty_filter_or_an_unknown_id_forgets_nothing() {
    let db = Db::new();
    let memory = db.write(fact("keep me"));
    let everything = ForgetTarget::Matching { filter: Filter::default(), expected_count: None };
    let request =
        ForgetRequest { target: everything, validate_only: false, request_id: None, with_derived: false };
    assert_eq!(fields(db.engine.forget(&ns("ops"), request).unwrap_err()), ["filter"]);
    let unknown = MemoryId::from_u128(1);
    let error = db.engine.forget(&ns("ops"), ids(&[memory.id, unknown])).unwrap_err();
    assert!(matches!(error, EngineError::MemoryNotFound { id, .. } if id == unknown));
    assert_eq!(db.contents("keep"), ["keep me"]);
}

#[test]
fn l3_what_was_archived_comes_back_archived_and_what_was_history_as_history() {
    let db = Db::new();
    let old =
        db.write(Draft { expires_at: Some("2020-01-02T00:00:00Z".parse().unwrap()), ..dated("an old note") });
    db.engine.run_job(hindsight_core::Job::Archive, Some(&ns("ops")), false).unwrap().wait().unwrap();
    let state = |db: &Db| db.engine.get(&ns("ops"), old.id, None).unwrap().wait().unwrap().memory.state;
    assert_eq!(state(&db), State::Archived);
    let restore = || RestoreRequest { ids: vec![old.id], request_id: None };
    db.engine.forget(&ns("ops"), ids(&[old.id])).unwrap().wait().unwrap();
    assert_eq!(state(&db), State::Forgotten);
    // It is remembered in the log, and in the files of a checkpoint.
    let (db, _) = db.reopen();
    db.engine.checkpoint().unwrap();
    let (db, _) = db.reopen();
    db.engine.restore(&ns("ops"), restore()).unwrap().wait().unwrap();
    assert_eq!(state(&db), State::Archived);
    // A second restore is out of the archive.
    db.engine.restore(&ns("ops"), restore()).unwrap().wait().unwrap();
    assert_eq!(state(&db), State::Active);
}

fn dated(content: &str) -> Draft {
    let valid_from = Some("2020-01-01T00:00:00Z".parse().unwrap());
    Draft { valid_from, occurred_at: valid_from, ..fact(content) }
}
