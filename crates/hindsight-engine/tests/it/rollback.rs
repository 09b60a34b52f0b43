//! What superseded what, and taking that back (W7).

use hindsight_core::{Claim, Draft, Kind, Memory, Recall, Scope, State, Timestamp};
use hindsight_engine::{EngineError, ErrorKind, ForgetRequest, ForgetTarget, RollbackRequest, RolledBack};

use crate::support::{Db, fact, ns};

/// A goal of the user, who can have only one at a time.
fn goal(db: &Db, day: i64, value: &str) -> Memory {
    let claim = Claim {
        subject: "user".to_owned(),
        attribute: "goal".to_owned(),
        value: value.to_owned(),
        single_valued: true,
    };
    let occurred_at = Some(Timestamp::from_ms(1_700_000_000_000 + day * 86_400_000));
    db.write(Draft {
        kind: Some(Kind::Preference),
        claims: vec![claim],
        occurred_at,
        ..fact(&format!("我想{value}"))
    })
}

fn roll_back(db: &Db, memory: &Memory) -> Result<RolledBack, EngineError> {
    db.engine.rollback(&ns("ops"), RollbackRequest { id: memory.id, request_id: None })?.wait()
}

fn history(db: &Db, memory: &Memory) -> Vec<String> {
    let history = db.engine.history(&ns("ops"), memory.id, None).unwrap().wait().unwrap();
    history.memories.into_iter().map(|memory| memory.content).collect()
}

fn goals(db: &Db) -> Vec<String> {
    let recall = Recall { query: "减脂 增肌 跑步".to_owned(), ..Recall::default() };
    let mut goals: Vec<String> = db.recall(&recall).hits.into_iter().map(|hit| hit.memory.content).collect();
    goals.sort();
    goals
}

/// The user who wanted to lose fat and now wants to gain muscle.
#[test]
fn w7_a_decision_can_be_taken_back() {
    let db = Db::new();
    let fat = goal(&db, 0, "减脂");
    let muscle = goal(&db, 30, "增肌");
    assert_eq!(goals(&db), ["我想增肌"]);
    assert_eq!(history(&db, &fat), ["我想减脂", "我想增肌"]);
    let done = roll_back(&db, &fat).unwrap();
    let (restored, invalidated) = (&done.restored[0], done.invalidated.as_ref().unwrap());
    assert_eq!((restored.id, restored.state, restored.valid_to), (fat.id, State::Active, None));
    assert_eq!((restored.superseded_by, restored.confidence), (None, fat.confidence));
    assert_eq!(
        (invalidated.id, invalidated.state, invalidated.superseded_by),
        (muscle.id, State::Superseded, Some(fat.id))
    );
    assert!(invalidated.valid_to.is_some());
    assert_eq!(goals(&db), ["我想减脂"]);
    assert_eq!(history(&db, &muscle), ["我想减脂", "我想增肌"], "nothing is deleted");
    let (db, _) = db.reopen();
    assert_eq!(goals(&db), ["我想减脂"]);
    // And that can be taken back too, by naming either of them.
    roll_back(&db, &fat).unwrap();
    assert_eq!(goals(&db), ["我想增肌"]);
}

#[test]
fn w7_a_chain_is_rolled_back_from_its_end() {
    let db = Db::new();
    let all: Vec<Memory> =
        ["减脂", "增肌", "跑步"].iter().zip(0..).map(|(value, day)| goal(&db, day, value)).collect();
    assert_eq!(history(&db, &all[1]), ["我想减脂", "我想增肌", "我想跑步"]);
    let refused = roll_back(&db, &all[0]).unwrap_err();
    assert_eq!((refused.kind(), refused.reason()), (ErrorKind::Precondition, "SUPERSEDED_SINCE"));
    assert!(matches!(refused, EngineError::SupersededSince { id, by } if id == all[1].id && by == all[2].id));
    assert_eq!(goals(&db), ["我想跑步"], "a refused rollback changes nothing");
    roll_back(&db, &all[2]).unwrap();
    assert_eq!(goals(&db), ["我想增肌"]);
}

#[test]
fn w7_there_must_be_something_to_take_back() {
    let db = Db::new();
    let alone = goal(&db, 0, "减脂");
    let refused = roll_back(&db, &alone).unwrap_err();
    assert_eq!((refused.kind(), refused.reason()), (ErrorKind::Precondition, "NOT_SUPERSEDED"));
    assert!(refused.to_string().contains("nothing superseded memory mem_"), "{refused}");
    let nobody = Memory { id: hindsight_core::MemoryId::from_u128(1), ..alone.clone() };
    assert_eq!(roll_back(&db, &nobody).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(history(&db, &alone), ["我想减脂"]);
    assert!(db.engine.history(&ns("ops"), nobody.id, None).is_err());
}

/// What was forgotten meanwhile stays forgotten, and is in no history.
#[test]
fn w7_l3_a_forgotten_successor_stays_forgotten() {
    let db = Db::new();
    let fat = goal(&db, 0, "减脂");
    let muscle = goal(&db, 30, "增肌");
    let target = ForgetTarget::Ids(vec![muscle.id]);
    let forget = ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
    db.engine.forget(&ns("ops"), forget).unwrap().wait().unwrap();
    assert_eq!(history(&db, &fat), ["我想减脂"]);
    let done = roll_back(&db, &fat).unwrap();
    assert_eq!((done.restored.len(), done.invalidated), (1, None));
    assert_eq!(goals(&db), ["我想减脂"]);
}

#[test]
fn w7_w9_a_rollback_acts_once() {
    let db = Db::new();
    let fat = goal(&db, 0, "减脂");
    goal(&db, 30, "增肌");
    let rollback = || RollbackRequest { id: fat.id, request_id: Some("r".to_owned()) };
    let first = db.engine.rollback(&ns("ops"), rollback()).unwrap().wait().unwrap();
    let again = db.engine.rollback(&ns("ops"), rollback()).unwrap().wait().unwrap();
    assert!(!first.replayed && again.replayed);
    assert_eq!(
        (again.restored, again.invalidated, again.revision),
        (first.restored, first.invalidated, first.revision)
    );
    assert_eq!(goals(&db), ["我想减脂"]);
}

#[test]
fn w7_s1_an_agent_sees_no_other_agents_history() {
    let db = Db::new();
    let claim = |value: &str| Claim {
        subject: "user".to_owned(),
        attribute: "goal".to_owned(),
        value: value.to_owned(),
        single_valued: true,
    };
    let draft = |value: &str| Draft {
        claims: vec![claim(value)],
        scope: Some(Scope::Agent),
        agent_id: Some("a".to_owned()),
        ..fact(value)
    };
    let first = db.write(draft("x"));
    db.write(draft("y"));
    let seen = |agent| db.engine.history(&ns("ops"), first.id, agent).map(|history| history.wait().unwrap());
    assert_eq!(seen(Some("a")).unwrap().memories.len(), 2);
    assert_eq!(seen(Some("b")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(seen(None).unwrap_err().kind(), ErrorKind::NotFound);
}
