//! Invariants 2 and 3: replay gives what live writing gave, and repeats no decision.

use hindsight_core::{Draft, Embedding, Filter, Memory, MemoryId, Patch, Recall, Recalled};
use hindsight_engine::{ForgetRequest, ForgetTarget, Maker, RestoreRequest, UpdateRequest};
use proptest::prelude::*;

use crate::support::{Db, fact, ns, vectors};

#[derive(Debug, Clone)]
enum Op {
    Write(String, [f32; 2]),
    Update(usize, String),
    Forget(usize),
    Restore(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let text = prop_oneof![
        Just("red fox"),
        Just("blue whale"),
        Just("红色的狐狸"),
        Just("fox and whale"),
        Just("E1042 timeout")
    ];
    let text = (text, 0..4_u8).prop_map(|(text, number)| format!("{text} {number}"));
    prop_oneof![
        4 => (text.clone(), [0.1_f32..1.0, 0.1_f32..1.0]).prop_map(|(text, vector)| Op::Write(text, vector)),
        2 => (0..10_usize, text).prop_map(|(at, text)| Op::Update(at, text)),
        1 => (0..10_usize).prop_map(Op::Forget),
        1 => (0..10_usize).prop_map(Op::Restore),
    ]
}

fn run(db: &Db, ids: &mut Vec<MemoryId>, op: Op) {
    let at = |at: usize, ids: &[MemoryId]| ids.get(at % ids.len().max(1)).copied();
    match op {
        Op::Write(text, values) => {
            ids.push(db.try_write(fact(&text), vectors("m", &values)).unwrap().memory.id)
        }
        Op::Update(index, text) => {
            let Some(id) = at(index, ids) else { return };
            let patch = Patch { content: Some(text), ..Patch::default() };
            let update = UpdateRequest {
                id,
                patch,
                version: None,
                vectors: None,
                maker: Maker::Caller,
                request_id: None,
                allow_forgotten: false,
            };
            // Refused for a forgotten memory; then nothing may have changed.
            let _ = db.engine.update(&ns("ops"), update).map(|unsynced| unsynced.wait().unwrap());
        }
        Op::Forget(index) => {
            let Some(id) = at(index, ids) else { return };
            let forget = ForgetRequest {
                target: ForgetTarget::Ids(vec![id]),
                validate_only: false,
                request_id: None,
                with_derived: false,
            };
            db.engine.forget(&ns("ops"), forget).unwrap().wait().unwrap();
        }
        Op::Restore(index) => {
            let Some(id) = at(index, ids) else { return };
            let restore = RestoreRequest { ids: vec![id], request_id: None };
            let _ = db.engine.restore(&ns("ops"), restore).map(|unsynced| unsynced.wait().unwrap());
        }
    }
}

/// Everything that can be seen from outside.
fn picture(db: &Db) -> (Vec<Memory>, Vec<Recalled>) {
    let every_state = hindsight_core::State::ALL.to_vec();
    let all = db.list(Filter { states: every_state, ..Filter::default() });
    let ask = |query: &str, vector: Option<Embedding>| {
        let now = Some("2026-11-30T12:00:00Z".parse().unwrap());
        db.recall(&Recall {
            observe: true,
            query: query.to_owned(),
            vector,
            embedding_model: Some("m".to_owned()),
            now,
            ..Recall::default()
        })
    };
    let vector = Embedding::new(&[0.6, 0.8]).unwrap();
    (all, vec![ask("fox", None), ask("狐狸 whale", Some(vector)), ask("E1042", None), ask("", None)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reopened_directory_answers_bit_for_bit_the_same(ops in prop::collection::vec(op(), 1..30)) {
        let db = Db::new();
        let mut ids = Vec::new();
        for op in ops {
            run(&db, &mut ids, op);
        }
        let before = picture(&db);
        let (db, _) = db.reopen();
        let after = picture(&db);
        prop_assert_eq!(&before, &after);
        let bits = |all: &[Recalled]| -> Vec<u64> { all.iter().flat_map(|r| r.hits.iter().map(|h| h.score.to_bits())).collect() };
        prop_assert_eq!(bits(&before.1), bits(&after.1));
        // A second reopening changes nothing either.
        let (db, _) = db.reopen();
        prop_assert_eq!(&before, &picture(&db));
    }
}

#[test]
fn d9_times_go_forward_and_ids_follow_them() {
    let db = Db::new();
    let memories: Vec<Memory> = (0..50).map(|n| db.write(Draft { ..fact(&format!("n{n}")) })).collect();
    assert!(
        memories.windows(2).all(|pair| pair[0].created_at < pair[1].created_at && pair[0].id < pair[1].id)
    );
}
