//! Summaries of what is known of an entity, and taking them back (L6).

use hindsight_core::{Claim, Draft, Entity, Kind, LeftOut, Memory, MemoryId, Scope, State};
use hindsight_engine::{ErrorKind, RollbackRequest, SummarizeRequest, Summarized};

use crate::support::{Db, fact, fields, ns};

fn about(content: &str) -> Draft {
    let entities = vec![Entity { name: "billing".to_owned(), kind: "service".to_owned() }];
    Draft { entities, ..fact(content) }
}

fn request(validate_only: bool) -> SummarizeRequest {
    SummarizeRequest { entity: "Billing".to_owned(), validate_only, ..SummarizeRequest::default() }
}

fn summarize(db: &Db, request: SummarizeRequest) -> Summarized {
    db.engine.summarize(&ns("ops"), request).unwrap().wait().unwrap()
}

fn rollback(db: &Db, id: MemoryId) {
    db.engine.rollback(&ns("ops"), RollbackRequest { id, request_id: None }).unwrap().wait().unwrap();
}

fn get(db: &Db, id: MemoryId) -> Memory {
    db.engine.get(&ns("ops"), id, None).unwrap().wait().unwrap().memory
}

/// A memory without what every change moves.
fn essence(memory: Memory) -> Memory {
    Memory { version: 0, updated_at: memory.created_at, ..memory }
}

#[test]
fn l6_parts_become_one_memory_and_come_back_as_they_were() {
    let db = Db::new();
    let texts = [
        "billing listens on port 8443",
        "billing answers E1042 above 500 requests",
        "billing was moved on 2024-05-01",
    ];
    let parts: Vec<Memory> =
        texts.iter().map(|text| db.write(Draft { confidence: Some(0.2), ..about(text) })).collect();
    let shown = summarize(&db, request(true));
    assert_eq!((shown.parts.len(), shown.summary.version, shown.summary.kind), (3, 0, Kind::Fact));
    assert_eq!(get(&db, parts[0].id).state, State::Active);
    let done = summarize(&db, request(false));
    assert_eq!(done.summary.content, shown.summary.content);
    assert_eq!(done.summary.derived_from, parts.iter().map(|part| part.id).collect::<Vec<_>>());
    for text in texts {
        assert!(done.summary.content.contains(text), "{}", done.summary.content);
    }
    let (db, _) = db.reopen();
    // Recall finds it once.
    assert_eq!(db.contents("billing port E1042"), [done.summary.content.clone()]);
    assert_eq!(
        (get(&db, parts[0].id).state, get(&db, parts[0].id).superseded_by),
        (State::Superseded, Some(done.summary.id))
    );
    // Back, and forth, and back: from the summary as from a part.
    rollback(&db, done.summary.id);
    for part in &parts {
        assert_eq!(essence(get(&db, part.id)), essence(part.clone()));
    }
    assert_eq!(get(&db, done.summary.id).state, State::Superseded);
    assert_eq!(db.contents("billing").len(), 3);
    rollback(&db, done.summary.id);
    assert_eq!(db.contents("billing").len(), 1);
    assert!(parts.iter().all(|part| get(&db, part.id).superseded_by == Some(done.summary.id)));
    rollback(&db, parts[1].id);
    assert_eq!(db.contents("billing").len(), 3);
    for part in &parts {
        assert_eq!(essence(get(&db, part.id)), essence(part.clone()));
    }
}

#[test]
fn w9_l6_a_summary_is_made_once() {
    let db = Db::new();
    for text in ["billing is blue", "billing is big"] {
        db.write(about(text));
    }
    let again = || SummarizeRequest { request_id: Some("s".to_owned()), ..request(false) };
    let first = summarize(&db, again());
    let (db, _) = db.reopen();
    let second = summarize(&db, again());
    assert_eq!((second.replayed, second.summary.id, second.parts), (true, first.summary.id, first.parts));
    // One memory alone needs no summary.
    let few = db.engine.summarize(&ns("ops"), request(false)).unwrap_err();
    assert_eq!((fields(few), get(&db, first.summary.id).state), (vec!["entity".to_owned()], State::Active));
    // With what comes later it becomes part of the next one.
    db.write(about("billing is old"));
    let third = summarize(&db, request(false));
    assert_eq!(third.parts[0], first.summary.id);
    assert!(
        third.summary.content.contains("billing is blue") && third.summary.content.contains("billing is old")
    );
}

#[test]
fn l6_private_and_changing_memories_are_not_mixed_in() {
    let db = Db::new();
    let claim =
        Claim { subject: "billing".into(), attribute: "port".into(), value: "1".into(), single_valued: true };
    let single = db.write(Draft { claims: vec![claim], ..about("billing has port 1") }).id;
    for text in ["billing is blue", "billing is big"] {
        db.write(about(text));
        db.write(Draft { scope: Some(Scope::Agent), agent_id: Some("ann".into()), ..about(text) });
    }
    let shared = summarize(&db, request(false));
    assert_eq!(
        (shared.parts.len(), shared.left_out, shared.summary.scope),
        (2, vec![(single, LeftOut::SingleValued)], Scope::Shared)
    );
    let private = SummarizeRequest { agent_id: Some("ann".into()), ..request(false) };
    let private = summarize(&db, private).summary;
    assert_eq!((private.scope, private.agent_id.as_deref()), (Scope::Agent, Some("ann")));
    assert_eq!(db.contents("billing").len(), 2);
}

#[test]
fn l6_bad_input() {
    let db = Db::new();
    assert_eq!(db.engine.summarize(&ns("ops"), request(false)).unwrap_err().kind(), ErrorKind::NotFound);
    db.write(about("billing is blue"));
    let bad = |request| fields(db.engine.summarize(&ns("ops"), request).unwrap_err());
    assert_eq!(bad(SummarizeRequest::default()), ["entity"]);
    assert_eq!(bad(SummarizeRequest { kinds: vec![Kind::Rule], ..request(false) }), ["kinds"]);
    assert_eq!(bad(request(false)), ["entity"]);
}
