//! R1, R13, S1, M9: who comes back and who never does.

use hindsight_core::draft::RuleDraft;
use hindsight_core::{Draft, Filter, Kind, Polarity, Recall, RuleState, Scope, Status, Timestamp};
use hindsight_engine::{EngineError, ListRequest};

use crate::support::{Db, fact, ns};

fn days_ago(days: i64) -> Option<Timestamp> {
    Some(now().plus_ms(-days * hindsight_core::time::DAY_MS))
}

fn now() -> Timestamp {
    "2026-11-30T12:00:00Z".parse().unwrap()
}

fn at_now(query: &str) -> Recall {
    Recall { query: query.to_owned(), now: Some(now()), ..Recall::default() }
}

fn contents(db: &Db, recall: &Recall) -> Vec<String> {
    db.recall(recall).hits.into_iter().map(|hit| hit.memory.content).collect()
}

#[test]
fn r1_only_failures_of_one_task_type_in_the_last_7_days() {
    let db = Db::new();
    let episode = |text: &str, task: &str, status, days| Draft {
        kind: Some(Kind::Episode),
        task_type: Some(task.to_owned()),
        status: Some(status),
        occurred_at: days_ago(days),
        ..fact(text)
    };
    db.write(episode("order 1 failed", "order", Status::Failure, 2));
    db.write(episode("order 2 failed long ago", "order", Status::Failure, 20));
    db.write(episode("order 3 worked", "order", Status::Success, 1));
    db.write(episode("deploy failed", "deploy", Status::Failure, 1));
    let filter: Filter =
        serde_json::from_str(r#"{"task_type":"order","status":["failure"],"last":"7d"}"#).unwrap();
    let recalled = db.recall(&Recall { filter, ..at_now("order failed") });
    assert_eq!(recalled.allowed, 1);
    assert_eq!(recalled.hits[0].memory.content, "order 1 failed");
    assert!((recalled.hits[0].age_days - 2.0).abs() < 1e-9);
}

#[test]
fn m9_r13_what_is_not_valid_or_expired_comes_back_as_history_only() {
    let db = Db::new();
    db.write(Draft { valid_to: days_ago(10), ..fact("lives in Berlin") });
    db.write(Draft { valid_from: days_ago(10), ..fact("lives in Lisbon") });
    db.write(Draft { expires_at: days_ago(1), ..fact("lives in a hotel") });
    assert_eq!(contents(&db, &at_now("lives")), ["lives in Lisbon"]);
    let history = Recall { include_history: true, ..at_now("lives") };
    assert_eq!(contents(&db, &history).len(), 3);
    let then = Recall { now: days_ago(20), ..at_now("lives") };
    let mut then = contents(&db, &then);
    then.sort();
    assert_eq!(then, ["lives in Berlin", "lives in a hotel"]);
}

#[test]
fn s1_an_agents_own_memories_are_its_own() {
    let db = Db::new();
    let own = Draft { scope: Some(Scope::Agent), agent_id: Some("a1".to_owned()), ..fact("draft of a plan") };
    let own = db.write(own);
    db.write(fact("plan of the team"));
    let ask = |agent: Option<&str>| Recall { agent_id: agent.map(str::to_owned), ..at_now("plan") };
    assert_eq!(contents(&db, &ask(Some("a1"))).len(), 2);
    assert_eq!(contents(&db, &ask(Some("a2"))), ["plan of the team"]);
    assert_eq!(contents(&db, &ask(None)), ["plan of the team"]);
    assert!(matches!(db.engine.get(&ns("ops"), own.id, Some("a2")), Err(EngineError::MemoryNotFound { .. })));
    assert!(db.engine.get(&ns("ops"), own.id, Some("a1")).is_ok());
    let list = |agent: &str| ListRequest {
        agent_id: Some(agent.to_owned()),
        page_size: 10,
        ..ListRequest::default()
    };
    assert_eq!(db.engine.list(&ns("ops"), &list("a2")).unwrap().wait().unwrap().memories.len(), 1);
}

#[test]
fn r13_a_rule_counts_only_while_it_is_active() {
    let db = Db::new();
    let rule = |text: &str, state| {
        let advice = text.to_owned();
        let rule = RuleDraft {
            polarity: Some(Polarity::Do),
            advice,
            rule_state: Some(state),
            ..RuleDraft::default()
        };
        Draft { kind: Some(Kind::Rule), rule: Some(rule), ..fact(text) }
    };
    db.write(rule("refresh the token first", RuleState::Active));
    db.write(rule("refresh the token twice", RuleState::Observing));
    db.write(rule("refresh the token never", RuleState::Deprecated));
    assert_eq!(contents(&db, &at_now("refresh token")), ["refresh the token first"]);
}

#[test]
fn both_languages_are_found_by_their_words() {
    let db = Db::new();
    db.write(fact("我对花生过敏"));
    db.write(fact("I am allergic to peanuts"));
    db.write(fact("update_status failed with permission_denied, E1042"));
    assert_eq!(contents(&db, &at_now("我对什么过敏"))[0], "我对花生过敏");
    assert_eq!(contents(&db, &at_now("allergy to a peanut"))[0], "I am allergic to peanuts");
    for code in ["E1042", "permission_denied", "permission", "update status"] {
        assert_eq!(contents(&db, &at_now(code)).len(), 1, "{code}");
    }
}

#[test]
fn a_namespace_that_was_never_written_to_recalls_nothing() {
    let db = Db::new();
    let recalled = db.engine.recall(&ns("nowhere"), &at_now("anything")).unwrap().wait().unwrap();
    assert_eq!((recalled.hits.len(), recalled.allowed), (0, 0));
    let list = ListRequest { page_size: 10, ..ListRequest::default() };
    assert!(db.engine.list(&ns("nowhere"), &list).unwrap().wait().unwrap().memories.is_empty());
}

#[test]
fn a_list_is_paged_by_id_without_gap_or_repetition() {
    let db = Db::new();
    let mut written: Vec<_> = (0..25).map(|number| db.write(fact(&format!("note {number}"))).id).collect();
    written.sort();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let list = ListRequest { page_size: 10, after, ..ListRequest::default() };
        let page = db.engine.list(&ns("ops"), &list).unwrap().wait().unwrap();
        found.extend(page.memories.iter().map(|memory| memory.id));
        after = found.last().copied();
        if !page.more {
            break;
        }
    }
    assert_eq!(found, written);
}
