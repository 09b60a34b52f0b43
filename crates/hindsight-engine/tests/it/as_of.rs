//! The past as a question (M9): what was true, what was known; now, in March, after a rollback.

use std::path::Path;
use std::sync::Arc;

use hindsight_core::{AsOf, Axis, Claim, Draft, Kind, Memory, Patch, Recall, Recalled, Scope, Timestamp};
use hindsight_engine::{
    EngineError, EngineOver, Maker, Options, RollbackRequest, UpdateRequest, WriteItem, WriteOptions,
};
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};

use crate::support::{fact, fields, ns};

/// A database with a clock that is set by hand.
pub(crate) struct Past {
    io: MemIo,
    pub(crate) engine: EngineOver<MemIo>,
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

impl Past {
    pub(crate) fn new() -> Past {
        let io = MemIo::new(1);
        let log = LogOptions { segment_bytes: 64 << 10, preallocate_bytes: 0, ..LogOptions::default() };
        let options =
            Options { storage: StorageOptions { log, ..StorageOptions::default() }, ..Options::default() };
        let engine = EngineOver::open_with(Arc::new(io.clone()), Path::new("/data"), options).unwrap().0;
        Past { io, engine }
    }

    pub(crate) fn on(&self, day: &str) -> &Past {
        self.io.set_now_ms(u64::try_from(time(day).as_ms()).unwrap());
        self
    }

    pub(crate) fn write(&self, draft: Draft) -> Memory {
        let item = WriteItem::new(draft, None);
        let written = self.engine.write(&ns("ops"), item, WriteOptions::default()).unwrap();
        self.engine.commit_step().unwrap();
        written.wait().unwrap().memory
    }

    fn change(&self, memory: &Memory, content: &str) {
        let patch = Patch { content: Some(content.to_owned()), ..Patch::default() };
        let (maker, request_id) = (Maker::Caller, None);
        let update = UpdateRequest {
            id: memory.id,
            patch,
            version: None,
            allow_forgotten: false,
            vectors: None,
            maker,
            request_id,
        };
        let written = self.engine.update(&ns("ops"), update).unwrap();
        self.engine.commit_step().unwrap();
        written.wait().unwrap();
    }

    fn roll_back(&self, memory: &Memory) {
        let rollback = RollbackRequest { id: memory.id, request_id: None };
        let done = self.engine.rollback(&ns("ops"), rollback).unwrap();
        self.engine.commit_step().unwrap();
        done.wait().unwrap();
    }

    pub(crate) fn ask(&self, recall: &Recall) -> Result<Recalled, EngineError> {
        let recall = Recall { observe: true, ..recall.clone() };
        self.engine.recall(&ns("ops"), &recall)?.wait()
    }

    fn answers(&self, query: &str, as_of: Option<(&str, Axis)>) -> Vec<String> {
        let as_of = as_of.map(|(at, axis)| AsOf { at: time(at), axis });
        let recalled = self.ask(&Recall { query: query.to_owned(), as_of, ..Recall::default() }).unwrap();
        recalled.hits.into_iter().map(|hit| hit.memory.content).collect()
    }
}

fn goal(value: &str) -> Draft {
    let claim = Claim {
        subject: "user".to_owned(),
        attribute: "goal".to_owned(),
        value: value.to_owned(),
        single_valued: true,
    };
    Draft { kind: Some(Kind::Preference), claims: vec![claim], ..fact(&format!("I want to {value}")) }
}

/// The user who wanted to lose fat and now wants to gain muscle: asked now, in March, after a rollback.
#[test]
fn m9_w7_lose_fat_then_gain_muscle_then_take_it_back() {
    let db = Past::new();
    let fat = db.on("2026-01-10").write(goal("lose fat"));
    db.on("2026-06-01").write(goal("gain muscle"));
    let (fat_only, muscle_only) = (["I want to lose fat"], ["I want to gain muscle"]);
    let asked = |as_of| db.answers("what do I want", as_of);

    db.on("2026-07-01");
    assert_eq!(asked(None), muscle_only);
    assert_eq!(asked(Some(("2026-03-15", Axis::Valid))), fat_only);
    assert_eq!(asked(Some(("2026-03-15", Axis::Known))), fat_only);
    assert_eq!(asked(Some(("2026-06-15", Axis::Valid))), muscle_only);
    assert_eq!(asked(Some(("2026-06-15", Axis::Known))), muscle_only);

    db.on("2026-08-01").roll_back(&fat);
    db.on("2026-09-01");
    assert_eq!(asked(None), fat_only);
    for at in ["2026-03-15", "2026-06-15", "2026-08-15"] {
        assert_eq!(asked(Some((at, Axis::Valid))), fat_only, "{at}: what was taken back was never true");
    }
    assert_eq!(asked(Some(("2026-03-15", Axis::Known))), fat_only);
    assert_eq!(asked(Some(("2026-06-15", Axis::Known))), muscle_only, "but it was believed");
    assert_eq!(asked(Some(("2026-08-15", Axis::Known))), fat_only);
}

#[test]
fn m9_what_is_learned_late_was_true_before_it_was_known() {
    let db = Past::new();
    db.on("2026-01-01").write(Draft { valid_from: Some(time("2026-01-01")), ..goal("live in Berlin") });
    db.on("2026-11-01").write(Draft { valid_from: Some(time("2026-06-01")), ..goal("live in Lisbon") });
    db.on("2026-12-01");
    let asked = |at, axis| db.answers("where do I want to live", Some((at, axis)));
    assert_eq!(asked("2026-07-01", Axis::Valid), ["I want to live in Lisbon"]);
    assert_eq!(asked("2026-07-01", Axis::Known), ["I want to live in Berlin"]);
    assert_eq!(asked("2026-11-02", Axis::Known), ["I want to live in Lisbon"]);
}

#[test]
fn m9_a_memory_that_was_changed_since_is_shown_as_it_is_and_says_so() {
    let db = Past::new();
    let port = db.on("2026-01-01").write(fact("the server listens on port 8080"));
    db.on("2026-01-01").write(fact("the server stands in Bern"));
    db.on("2026-05-01").change(&port, "the server listens on port 9090");
    db.on("2026-06-01");
    let as_of = |at, axis| Some(AsOf { at: time(at), axis });
    let asked = |as_of| {
        let recall = Recall { query: "where is the server".to_owned(), as_of, ..Recall::default() };
        let hits = db.ask(&recall).unwrap().hits;
        let mut told: Vec<(String, bool)> =
            hits.into_iter().map(|hit| (hit.memory.content, hit.changed_since)).collect();
        told.sort();
        told
    };
    let (bern, port) = ("the server stands in Bern".to_owned(), "the server listens on port 9090".to_owned());
    assert_eq!(asked(as_of("2026-03-01", Axis::Known)), [(port.clone(), true), (bern.clone(), false)]);
    assert_eq!(asked(as_of("2026-05-02", Axis::Known)), [(port.clone(), false), (bern.clone(), false)]);
    assert_eq!(asked(as_of("2026-03-01", Axis::Valid)), [(port, false), (bern, false)]);
}

#[test]
fn m9_a_time_before_the_first_memory_is_refused_with_the_first() {
    let db = Past::new();
    db.on("2026-03-01")
        .write(Draft { occurred_at: Some(time("2026-02-01")), ..fact("the pipeline is green") });
    let own = Draft {
        scope: Some(Scope::Agent),
        agent_id: Some("a1".to_owned()),
        occurred_at: Some(time("2025-01-01")),
        ..fact("the pipeline is mine")
    };
    db.on("2026-04-01").write(own);
    let refused = |at: &str, axis, agent: Option<&str>| {
        let as_of = Some(AsOf { at: time(at), axis });
        let agent_id = agent.map(str::to_owned);
        db.ask(&Recall { query: "pipeline".to_owned(), as_of, agent_id, ..Recall::default() })
    };
    let told = |at, axis| match refused(at, axis, None).unwrap_err() {
        EngineError::Invalid(invalid) => invalid.to_string(),
        other => panic!("{other}"),
    };
    assert_eq!(
        told("2026-01-15", Axis::Valid),
        "as_of: is 2026-01-15T00:00:00Z: the first memory holds from 2026-02-01T00:00:00Z, ask for that time or a later one"
    );
    assert_eq!(
        told("2026-02-15", Axis::Known),
        "as_of: is 2026-02-15T00:00:00Z: the first memory was stored at 2026-03-01T00:00:00Z, ask for that time or a later one"
    );
    assert_eq!(fields(refused("2027-01-01", Axis::Known, None).unwrap_err()), ["as_of"]);
    assert!(refused("2026-01-15", Axis::Valid, Some("a1")).is_ok(), "its own memory is older");
    assert!(refused("2026-02-01", Axis::Valid, None).is_ok());
    let nowhere =
        Recall { as_of: Some(AsOf { at: time("2020-01-01"), axis: Axis::Valid }), ..Recall::default() };
    assert!(db.engine.recall(&ns("nowhere"), &nowhere).unwrap().wait().unwrap().hits.is_empty());
}

#[test]
fn m9_ages_and_words_of_time_go_by_the_time_that_is_asked_for() {
    let db = Past::new();
    db.on("2026-03-02").write(fact("the backup ran"));
    db.on("2026-03-20").write(fact("the backup failed"));
    db.on("2026-09-01");
    let as_of = Some(AsOf { at: time("2026-03-12"), axis: Axis::Valid });
    let recall = Recall { query: "the backup last week".to_owned(), as_of, ..Recall::default() };
    let recalled = db.ask(&recall).unwrap();
    assert_eq!(recalled.hits.len(), 1);
    assert!((recalled.hits[0].age_days - 10.0).abs() < 1e-9);
    assert_eq!(recalled.window.unwrap().from, time("2026-03-02"));
}
