//! B3: a data directory that an earlier version wrote is opened by this one, and is what it was.
//!
//! `tests/golden/format_1` is such a directory as a kill leaves it: a checkpoint, and a log that goes on behind it.
//! `expected.jsonl` beside it has every memory as it was then. A new format gets a directory of its own, made with
//! `HINDSIGHT_MAKE_FIXTURE=<a new folder> cargo test -p hindsight-engine --test it b3_`; the old ones stay as they are.
//! That a newer format is refused by name is tested where it is said to the user (`crates/hindsight/tests/it/serve.rs`).

use std::path::{Path, PathBuf};

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Claim, Draft, Filter, Memory, Patch, Recall, State, Status};
use hindsight_engine::{
    BatchRequest, Engine, ForgetRequest, ForgetTarget, ListRequest, Maker, Options, UpdateRequest, WriteItem,
    WriteOptions,
};
use hindsight_storage::{LogOptions, StorageOptions};

use crate::support::{fact, ns, vectors};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Segments that are not filled ahead, and no reserve: a fixture shall be small.
fn options() -> Options {
    let log = LogOptions { preallocate_bytes: 0, ..LogOptions::default() };
    Options {
        storage: StorageOptions { log, reserve_bytes: 0, ..StorageOptions::default() },
        ..Options::default()
    }
}

/// Every memory of a namespace, forgotten ones too.
fn memories(engine: &Engine, namespace: &str) -> Vec<Memory> {
    let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
    let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
    engine.list(&ns(namespace), &list).unwrap().wait().unwrap().memories
}

fn all(engine: &Engine) -> Vec<Memory> {
    ["agents", "ops"].into_iter().flat_map(|name| memories(engine, name)).collect()
}

/// Copies a directory without its lock, and without what is derived.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() && name != "directory" {
            copy(&path, &to.join(name));
        } else if path.is_file() && name != "LOCK" {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

#[test]
fn b3_a_directory_of_format_1_is_what_it_was() {
    if let Some(folder) = std::env::var_os("HINDSIGHT_MAKE_FIXTURE") {
        make(Path::new(&folder));
        return;
    }
    let expected = std::fs::read_to_string(golden().join("format_1/expected.jsonl")).unwrap();
    let mut expected: Vec<Memory> =
        expected.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for memory in expected.iter_mut().filter(|memory| memory.state == State::Forgotten) {
        // That version forgot only what was active, and did not say so.
        memory.forgotten_from = Some(State::Active);
    }
    assert!(expected.len() > 10 && expected.iter().any(|memory| memory.state == State::Forgotten));
    let dir = tempfile::tempdir().unwrap();
    copy(&golden().join("format_1/data"), dir.path());
    let (engine, report) = Engine::open(dir.path(), options()).unwrap();
    assert!(report.recovered.batches > 0, "the log goes on behind the checkpoint: {report:?}");
    assert_eq!(all(&engine), expected);

    // It is used, stopped and opened like any other.
    let recall = Recall { query: "花生".to_owned(), observe: true, ..Recall::default() };
    let recalled = engine.recall(&ns("agents"), &recall).unwrap().wait().unwrap();
    assert_eq!(recalled.hits[0].memory.content, "用户对花生过敏");
    let options_of = |id: &str| WriteOptions { request_id: Some(id.to_owned()), ..WriteOptions::default() };
    let write = |id: &str, content: &str| {
        let item = WriteItem::new(fact(content), None);
        engine.write(&ns("ops"), item, options_of(id)).unwrap().wait().unwrap()
    };
    assert!(write("request-1", "the first request").replayed, "request ids are remembered");
    let new = write("request-2", "written by this version").memory;
    engine.close().unwrap();
    drop(engine);
    let (engine, _) = Engine::open(dir.path(), options()).unwrap();
    let now: Vec<Memory> = all(&engine).into_iter().filter(|memory| memory.id != new.id).collect();
    assert_eq!(now, expected);
}

/// Writes something of everything, with a checkpoint in the middle.
fn make(folder: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = Engine::open(dir.path(), options()).unwrap();
    for round in 0..2 {
        make_round(&engine, round);
        if round == 0 {
            engine.checkpoint().unwrap();
        }
    }
    copy(dir.path(), &folder.join("data"));
    let lines: Vec<String> =
        all(&engine).iter().map(|memory| serde_json::to_string(memory).unwrap()).collect();
    std::fs::write(folder.join("expected.jsonl"), lines.join("\n") + "\n").unwrap();
}

fn make_round(engine: &Engine, round: u32) {
    let write = |namespace: &str, draft: Draft, values: Option<&[f32]>, id: Option<&str>| {
        let options = WriteOptions { request_id: id.map(ToOwned::to_owned), ..WriteOptions::default() };
        let item = WriteItem::new(draft, values.and_then(|values| vectors("m", values)));
        engine.write(&ns(namespace), item, options).unwrap().wait().unwrap().memory
    };
    if round == 0 {
        write("ops", fact("the first request"), None, Some("request-1"));
        write("agents", fact("用户对花生过敏"), Some(&[0.6, 0.8]), None);
    }
    let number = round + 1;
    let changed = write("ops", fact(&format!("build {number} takes 5 minutes")), Some(&[1.0, 0.0]), None);
    let patch = Patch { content: Some(format!("build {number} takes 6 minutes")), ..Patch::default() };
    let update = UpdateRequest {
        allow_forgotten: false,
        id: changed.id,
        patch,
        version: None,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
    };
    engine.update(&ns("ops"), update).unwrap().wait().unwrap();
    let forgotten = write("ops", fact(&format!("window {number} is broken, 第{number}扇窗")), None, None);
    let target = ForgetTarget::Ids(vec![forgotten.id]);
    let forget = ForgetRequest { target, with_derived: false, validate_only: false, request_id: None };
    engine.forget(&ns("ops"), forget).unwrap().wait().unwrap();
    let claim = Claim {
        subject: "user".to_owned(),
        attribute: "city".to_owned(),
        value: format!("city {number}"),
        single_valued: true,
    };
    write("agents", Draft { claims: vec![claim], ..fact(&format!("lives in city {number}")) }, None, None);
    let episode = RecordDraft {
        task_type: "deploy".to_owned(),
        status: Some(Status::Failure),
        summary: format!("deploy {number} failed 部署失败"),
        root_cause: Some("api_token_expired".to_owned()),
        resolution: Some("refresh the token".to_owned()),
        ..RecordDraft::default()
    };
    write("ops", episode.into_draft().unwrap(), None, None);
    let texts = (0..3).map(|item| fact(&format!("chapter {item} of book {number}")));
    let items = texts.map(|draft| WriteItem::new(draft, None)).collect();
    let batch = BatchRequest { items, all_or_nothing: true, ..BatchRequest::default() };
    engine.write_batch(&ns("agents"), batch).unwrap().wait().unwrap();
}
