//! Vectors in full lie in record files once they are stored there: nobody can tell from the answers, and what can't be read
//! is an error.

use hindsight_core::{Draft, Embedding, Filter, Hit, MemoryId, Mode, Patch, Recall, Recalled};
use hindsight_engine::{
    EngineError, ForgetRequest, ForgetTarget, Maker, RestoreRequest, UpdateRequest, WriteItem, WriteOptions,
};
use hindsight_storage::StorageErrorKind;

use crate::support::{Db, fact, ns, vectors};

const MANY: u16 = 300;

fn values(number: u16) -> [f32; 3] {
    let turn = f32::from(number);
    [turn.sin(), turn.cos(), (turn * 0.37).sin()]
}

fn ask(exact: bool) -> Recall {
    Recall {
        observe: true,
        mode: Mode::Vector,
        vector: Some(Embedding::new(&[0.2, -0.5, 0.7]).unwrap()),
        embedding_model: Some("m".to_owned()),
        now: Some("2026-11-30T12:00:00Z".parse().unwrap()),
        top_k: 12,
        exact,
        ..Recall::default()
    }
}

fn filled() -> (Db, Vec<hindsight_core::MemoryId>) {
    let db = Db::new();
    let one = |number| {
        let draft = fact(&format!("note {number}"));
        db.try_write(draft, vectors("m", &values(number))).unwrap().memory.id
    };
    let ids = (0..MANY).map(one).collect();
    (db, ids)
}

#[test]
fn d7_answers_are_the_same_bit_for_bit_when_vectors_lie_in_files_and_the_files_are_replaced() {
    let (db, ids) = filled();
    let answers = |db: &Db| {
        let mut both = (db.recall(&ask(true)), db.recall(&ask(false)));
        // Every recall has an id of its own.
        (both.0.recall_id, both.1.recall_id) = Default::default();
        both
    };
    let before = answers(&db);
    db.engine.checkpoint().unwrap();
    assert_eq!(answers(&db), before);
    // Changes that keep the vector, each stored in a file of its own; the eighth rewrites them into one.
    for round in 0..12_usize {
        let patch = Patch { summary: Some(format!("round {round}")), ..Patch::default() };
        let update = UpdateRequest {
            id: ids[round * 7],
            patch,
            version: None,
            vectors: vectors("m", &values(u16::try_from(round * 7).unwrap())),
            maker: Maker::Caller,
            request_id: None,
            allow_forgotten: false,
        };
        if round % 2 == 0 {
            db.engine.update(&ns("ops"), update).unwrap().wait().unwrap();
        } else {
            let target = ForgetTarget::Ids(vec![ids[round * 7]]);
            let forget =
                ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
            db.engine.forget(&ns("ops"), forget).unwrap().wait().unwrap();
            let restore = RestoreRequest { ids: vec![ids[round * 7]], request_id: None };
            db.engine.restore(&ns("ops"), restore).unwrap().wait().unwrap();
        }
        db.engine.checkpoint().unwrap();
        assert_eq!(cosines(&answers(&db).0), cosines(&before.0), "round {round}");
    }
    let picture = (answers(&db), db.list(Filter::default()));
    let (db, _) = db.reopen();
    assert_eq!((answers(&db), db.list(Filter::default())), picture);
    let (db, _) = db.reopen();
    assert_eq!(answers(&db), picture.0);
}

/// Which memories, and how near each is.
fn cosines(recalled: &Recalled) -> Vec<(MemoryId, f64)> {
    let of = |hit: &Hit| {
        hit.breakdown.parts.iter().find(|part| part.name == "vector").map_or(0.0, |part| part.raw)
    };
    let mut all: Vec<_> = recalled.hits.iter().map(|hit| (hit.memory.id, of(hit))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

#[test]
fn a3_a_vector_that_cannot_be_read_back_is_an_error_and_no_answer() {
    let (db, _) = filled();
    db.engine.checkpoint().unwrap();
    let whole = db.recall(&ask(true));
    let best = Embedding::new(&values(0)).unwrap();
    let needle: Vec<u8> = best.components().iter().flat_map(|one| one.to_le_bytes()).collect();
    let files = walk(&db.dir.path().join("ns"));
    let mut damaged = 0;
    for path in files {
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(needle.len()).position(|window| window == needle) {
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            damaged += 1;
        }
    }
    assert_eq!(damaged, 1);
    assert!(!whole.hits.is_empty());
    let near = Recall { vector: Some(best), ..ask(true) };
    let asked = db.engine.recall(&ns("ops"), &near).and_then(|unsynced| unsynced.wait());
    match asked.unwrap_err() {
        EngineError::Storage(error) => {
            assert_eq!(error.kind(), StorageErrorKind::Corrupt);
            assert!(error.to_string().contains("records-"), "{error}");
        }
        other => panic!("{other}"),
    }
    let draft = Draft { content: "more".to_owned(), ..Draft::default() };
    let refused = db.engine.write(&ns("ops"), WriteItem::new(draft, None), WriteOptions::default());
    assert!(refused.is_err(), "what is decided there may rest on the vector");
    // Another namespace is not concerned.
    let draft = Draft { content: "more".to_owned(), ..Draft::default() };
    db.engine
        .write(&ns("sales"), WriteItem::new(draft, None), WriteOptions::default())
        .unwrap()
        .wait()
        .unwrap();
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
