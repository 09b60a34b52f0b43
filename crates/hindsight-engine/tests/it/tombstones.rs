//! L4: a value that was forgotten or purged does not come back unless the caller insists; and what was made of a memory
//! is named when that goes, and goes with it on request.

use hindsight_core::{Claim, Draft, Filter, Kind, Memory, MemoryId, OnDuplicate, Patch, State, Status};
use hindsight_engine::{
    Affected, BatchRequest, EngineError, ErrorKind, ForgetRequest, ForgetTarget, Maker, PurgeDone,
    PurgeRequest, PurgeTarget, RestoreRequest, UpdateRequest, WriteItem, WriteOptions,
};

use crate::support::{Db, fact, ns, open};

impl Db {
    fn forget_all(&self, ids: &[MemoryId], with_derived: bool) -> Affected {
        let target = ForgetTarget::Ids(ids.to_vec());
        let forget = ForgetRequest { target, validate_only: false, request_id: None, with_derived };
        self.engine.forget(&ns("ops"), forget).unwrap().wait().unwrap()
    }

    fn purge_all(&self, ids: &[MemoryId], with_derived: bool) -> PurgeDone {
        let target = PurgeTarget::Ids(ids.to_vec());
        let purge = PurgeRequest { target, validate_only: false, request_id: None, with_derived };
        self.engine.purge(&ns("ops"), purge).unwrap()
    }

    fn insist(&self, draft: Draft) -> Memory {
        let options = WriteOptions { allow_forgotten: true, ..WriteOptions::default() };
        self.engine.write(&ns("ops"), WriteItem::new(draft, None), options).unwrap().wait().unwrap().memory
    }
}

fn allergy(value: &str, text: &str) -> Draft {
    let claim = Claim {
        subject: "user".into(),
        attribute: "allergic to".into(),
        value: value.into(),
        single_valued: false,
    };
    Draft { claims: vec![claim], ..fact(text) }
}

#[track_caller]
fn is_refused(result: Result<impl std::fmt::Debug, EngineError>) -> String {
    let error = result.unwrap_err();
    assert_eq!((error.reason(), error.kind()), ("TOMBSTONED_VALUE", ErrorKind::Precondition), "{error}");
    error.to_string()
}

#[test]
fn l4_a_forgotten_value_does_not_come_back_by_extraction_or_import() {
    let db = Db::new();
    let id = db.write(allergy("peanuts", "The user is allergic to peanuts")).id;
    db.forget_all(&[id], false);
    let error = is_refused(db.try_write(fact("the user is ALLERGIC to peanuts."), None));
    assert!(error.contains(&format!("restore {id}")) && error.contains("allow_forgotten"), "{error}");
    // By its claim, in other words.
    is_refused(db.try_write(allergy("Peanuts", "Never serve satay to this user"), None));
    db.write(allergy("milk", "The user is allergic to milk"));
    // An import keeps its ids, and is refused all the same; the others of its batch land.
    let items = [fact("The user is allergic to peanuts"), fact("The user is called Ada")];
    let items = items.map(|draft| WriteItem::new(draft, None)).to_vec();
    let batch = BatchRequest { items, ..BatchRequest::default() };
    let written = db.engine.write_batch(&ns("ops"), batch).unwrap().wait().unwrap();
    assert!(matches!(written.results[..], [Err(EngineError::TombstonedValue { .. }), Ok(_)]));
    // Nor by a change of another memory.
    let other = db.write(fact("The user hates coriander"));
    let patch = Patch { content: Some("The user is allergic to peanuts".to_owned()), ..Patch::default() };
    let update = |allow_forgotten| {
        let (patch, maker) = (patch.clone(), Maker::Caller);
        let (version, vectors, request_id) = (None, None, None);
        let update =
            UpdateRequest { id: other.id, patch, version, vectors, maker, request_id, allow_forgotten };
        db.engine.update(&ns("ops"), update).map(|unsynced| unsynced.wait().unwrap())
    };
    is_refused(update(false));
    assert_eq!(update(true).unwrap().memory.content, "The user is allergic to peanuts");
}

#[test]
fn l4_forget_and_restore_is_the_identity() {
    let db = Db::new();
    let before = db.write(allergy("peanuts", "The user is allergic to peanuts"));
    db.forget_all(&[before.id], false);
    let restore = RestoreRequest { ids: vec![before.id], request_id: None };
    db.engine.restore(&ns("ops"), restore).unwrap().wait().unwrap();
    let after = db.list(Filter::default()).remove(0);
    let Memory { version, updated_at, .. } = after.clone();
    assert_eq!(after, Memory { version, updated_at, ..before });
    // What was restored is not forgotten: said again, it is confirmed.
    let again = db.try_write(allergy("peanuts", "The user is allergic to peanuts"), None).unwrap();
    assert_eq!(again.memory.usage.verified_count, 1);
    is_known_nowhere(&db);
}

fn is_known_nowhere(db: &Db) {
    let other = db.try_write(allergy("peanuts", "Careful at lunch with this user"), None).unwrap();
    assert_eq!(other.memory.state, State::Active);
}

#[test]
fn l4_a_purged_value_does_not_come_back_after_a_restart_a_checkpoint_or_a_restore() {
    let db = Db::new();
    db.write(fact("The office is in Basel"));
    let id = db.write(allergy("peanuts", "The user is allergic to peanuts")).id;
    assert_eq!(db.purge_all(&[id], false).count, 1);
    let refuses = |db: &Db| {
        let error = is_refused(db.try_write(fact("The user is allergic to peanuts"), None));
        assert!(error.contains("its text was forgotten on 20") && !error.contains("restore"), "{error}");
        is_refused(db.try_write(allergy("peanuts", "Lunch without nuts"), None));
        // Another namespace knows nothing of it.
        let options = WriteOptions { validate_only: true, ..WriteOptions::default() };
        let item = WriteItem::new(fact("The user is allergic to peanuts"), None);
        assert!(db.engine.write(&ns("home"), item, options).is_ok());
    };
    refuses(&db);
    db.engine.checkpoint().unwrap();
    let (db, _) = db.reopen();
    refuses(&db);
    let root = tempfile::tempdir().unwrap();
    let mut backup = Vec::new();
    db.engine.backup(&mut backup).unwrap();
    let data = root.path().join("restored");
    let io = std::sync::Arc::new(hindsight_storage::RealIo);
    hindsight_storage::backup::restore(&io, backup.as_slice(), &data).unwrap();
    let restored = Db { engine: open(&data).0, dir: root };
    refuses(&restored);
    // Who insists stores it, and from then on it is known.
    restored.insist(allergy("peanuts", "The user is allergic to peanuts"));
    assert_eq!(restored.write(fact("The user is allergic to peanuts")).usage.verified_count, 1);
    is_known_nowhere(&restored);
}

#[test]
fn l4_what_is_archived_or_replaced_is_not_forgotten() {
    let db = Db::new();
    let lives = |city: &str| Draft {
        claims: vec![Claim {
            subject: "user".into(),
            attribute: "lives in".into(),
            value: city.into(),
            single_valued: true,
        }],
        ..fact(&format!("The user lives in {city}"))
    };
    db.write(lives("Lyon"));
    db.write(lives("Nice"));
    assert_eq!(db.write(lives("Lyon")).state, State::Active);
    // A task that is done again is another episode.
    let episode =
        || Draft { kind: Some(Kind::Episode), status: Some(Status::Success), ..fact("Deployed the site") };
    let id = db.write(episode()).id;
    db.forget_all(&[id], false);
    assert_eq!(db.write(episode()).state, State::Active);
}

#[test]
fn l4_what_another_memory_says_as_well_is_no_secret() {
    let db = Db::new();
    let id = db.write(fact("The gate opens at seven")).id;
    let twin = || {
        let options = WriteOptions { on_duplicate: Some(OnDuplicate::Allow), ..WriteOptions::default() };
        let item = WriteItem::new(fact("The gate opens at seven"), None);
        db.engine.write(&ns("ops"), item, options).map(|unsynced| unsynced.wait().unwrap().memory.id)
    };
    let other = twin().unwrap();
    db.forget_all(&[id], false);
    assert!(twin().is_ok());
    db.forget_all(&[other], false);
    let rest: Vec<MemoryId> = db.list(Filter::default()).iter().map(|memory| memory.id).collect();
    db.forget_all(&rest, false);
    is_refused(twin());
}

#[test]
fn l4_what_was_made_of_it_is_named_and_goes_with_it_on_request() {
    let db = Db::new();
    let from = |ids: &[MemoryId], text: &str| {
        db.write(Draft { derived_from: ids.iter().map(ToString::to_string).collect(), ..fact(text) }).id
    };
    let turn = from(&[], "Ada said that she moves to Lyon in May");
    let fact = from(&[turn], "Ada lives in Lyon from May on");
    let summary = from(&[fact], "Ada: lives in Lyon");
    let other = from(&[], "Ben lives in Nice");
    let done = db.forget_all(&[turn], false);
    assert_eq!((done.ids, done.derived), (vec![turn], vec![fact, summary]));
    let done = db.forget_all(&[fact], true);
    assert_eq!((done.count, done.ids, done.derived), (2, vec![fact, summary], vec![]));
    assert_eq!(db.list(Filter::default()).iter().map(|memory| memory.id).collect::<Vec<_>>(), [other]);
    // Forgotten ones are purged with it, too.
    let (db, _) = db.reopen();
    let target = PurgeTarget::Ids(vec![turn]);
    let dry = PurgeRequest { target, validate_only: true, request_id: None, with_derived: false };
    let dry = db.engine.purge(&ns("ops"), dry).unwrap();
    assert_eq!((dry.count, dry.derived), (1, vec![fact, summary]));
    let done = db.purge_all(&[turn], true);
    assert_eq!((done.count, done.ids, done.derived), (3, vec![turn, fact, summary], vec![]));
    assert_eq!(db.purge_all(&[other], true).count, 1);
}

/// An agent's own memory that said the same before a shared one was forgotten is still its agent's to change.
#[test]
fn l4_a_memory_that_said_it_before_can_be_changed() {
    let db = Db::new();
    let shared = db.write(fact("The user is allergic to peanuts")).id;
    let own = Draft {
        scope: Some(hindsight_core::Scope::Agent),
        agent_id: Some("cook".to_owned()),
        ..fact("The user is allergic to peanuts")
    };
    let own = db.write(own).id;
    assert_ne!(own, shared);
    db.forget_all(&[shared], false);
    let patch = Patch { importance: Some(0.9), ..Patch::default() };
    let update = UpdateRequest {
        id: own,
        patch,
        version: None,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
        allow_forgotten: false,
    };
    let updated = db.engine.update(&ns("ops"), update).unwrap().wait().unwrap().memory;
    assert!((updated.importance - 0.9).abs() < 1e-6);
}
