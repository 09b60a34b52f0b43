//! What agents say of what they were given, and how often it was given (L1, M5, R16, R17).

use std::path::Path;
use std::sync::Arc;

use hindsight_core::{Draft, Kind, Memory, MemoryId, Recall, RecallId, Recalled, Status, Timestamp, Verdict};
use hindsight_engine::{
    EngineError, EngineOver, ErrorKind, FeedbackRequest, Judged, Options, PurgeRequest, PurgeTarget,
    WriteItem, WriteOptions,
};
use hindsight_storage::io::Io;
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};

use crate::support::{Db, fact, fields, ns};

fn ask(db: &Db, query: &str) -> Recalled {
    db.recall(&Recall { query: query.to_owned(), ..Recall::default() })
}

fn look(db: &Db, query: &str) -> Recalled {
    db.recall(&Recall { query: query.to_owned(), observe: true, ..Recall::default() })
}

fn tell(
    db: &Db,
    recall_id: Option<RecallId>,
    items: &[(MemoryId, Verdict)],
    task_status: Option<Status>,
) -> Result<Judged, EngineError> {
    let feedback = FeedbackRequest { recall_id, items: items.to_vec(), task_status, request_id: None };
    db.engine.feedback(&ns("ops"), feedback)?.wait()
}

fn get(db: &Db, id: MemoryId) -> Memory {
    db.engine.get(&ns("ops"), id, None).unwrap().wait().unwrap().memory
}

#[test]
fn l1_r16_what_was_used_counts_and_how_the_task_ended() {
    let db = Db::new();
    let draft = |text: &str| Draft { confidence: Some(0.5), ..fact(text) };
    let [used, ignored, wrong, outdated] =
        ["deploy with argo", "deploy at night", "deploy with ftp", "deploy from jenkins"]
            .map(|text| db.write(draft(text)).id);
    let recalled = ask(&db, "how to deploy");
    assert_eq!(recalled.hits.len(), 4);
    let items = [
        (used, Verdict::Used),
        (ignored, Verdict::Ignored),
        (wrong, Verdict::Wrong),
        (outdated, Verdict::Outdated),
    ];
    let judged = tell(&db, recalled.recall_id, &items, Some(Status::Success)).unwrap();
    assert_eq!(judged.memories.iter().map(|memory| memory.id).collect::<Vec<_>>(), [used, wrong, outdated]);
    let (db, _) = db.reopen();
    let memory = get(&db, used);
    assert_eq!((memory.usage.used_count, memory.usage.success_after_use, memory.confidence), (1, 1, 0.6));
    assert!(memory.usage.last_used_at.is_some() && memory.version == 2);
    assert_eq!((get(&db, ignored).version, get(&db, ignored).confidence), (1, 0.5));
    assert_eq!(get(&db, wrong).confidence, 0.2);
    assert!(get(&db, outdated).valid_to.is_some());
    // It is not said any more, and what was used comes first.
    let contents = db.contents("how to deploy");
    assert_eq!((contents.len(), contents[0].as_str()), (3, "deploy with argo"));
    let failed = tell(&db, None, &[(used, Verdict::Used)], Some(Status::Failure)).unwrap();
    assert_eq!((failed.memories[0].usage.failure_after_use, failed.memories[0].confidence), (1, 0.5));
}

#[test]
fn r16_feedback_names_hits_of_a_recall_of_this_namespace() {
    let db = Db::new();
    let [known, other] = ["blue sky", "green grass"].map(|text| db.write(fact(text)).id);
    let recalled = ask(&db, "sky");
    assert_eq!(recalled.hits.len(), 1);
    let recall_id = recalled.recall_id;
    let error = tell(&db, recall_id, &[(known, Verdict::Used), (other, Verdict::Used)], None).unwrap_err();
    assert!(error.to_string().contains("none of the 1 memories"), "{error}");
    assert_eq!(fields(error), ["items[1].memory_id"]);
    assert_eq!(fields(tell(&db, recall_id, &[], None).unwrap_err()), ["items"]);
    let twice = [(known, Verdict::Used), (known, Verdict::Wrong)];
    assert_eq!(fields(tell(&db, recall_id, &twice, None).unwrap_err()), ["items[1].memory_id"]);
    let unknown = RecallId::new(Timestamp::from_ms(1), 1);
    let error = tell(&db, Some(unknown), &[(known, Verdict::Used)], None).unwrap_err();
    assert_eq!((error.kind(), error.reason()), (ErrorKind::NotFound, "RECALL_NOT_FOUND"));
    assert!(error.to_string().contains("name the memories without recall_id"), "{error}");
    // A recall of another namespace is as unknown as one that never was.
    let foreign =
        FeedbackRequest { recall_id, items: vec![(known, Verdict::Used)], ..FeedbackRequest::default() };
    let item = hindsight_engine::WriteItem::new(fact("other"), None);
    db.engine.write(&ns("dev"), item, hindsight_engine::WriteOptions::default()).unwrap().wait().unwrap();
    assert_eq!(db.engine.feedback(&ns("dev"), foreign).unwrap_err().reason(), "RECALL_NOT_FOUND");
    assert_eq!(get(&db, known).version, 1);
    // Recalls are not remembered across a restart; memories can be named all the same.
    let (db, _) = db.reopen();
    assert_eq!(
        tell(&db, recall_id, &[(known, Verdict::Used)], None).unwrap_err().reason(),
        "RECALL_NOT_FOUND"
    );
    assert_eq!(tell(&db, None, &[(known, Verdict::Used)], None).unwrap().memories[0].usage.used_count, 1);
    let nobody = MemoryId::from_u128(3);
    assert_eq!(tell(&db, None, &[(nobody, Verdict::Used)], None).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn w9_feedback_acts_once() {
    let db = Db::new();
    let id = db.write(fact("blue sky")).id;
    let feedback = || FeedbackRequest {
        items: vec![(id, Verdict::Used)],
        request_id: Some("f".to_owned()),
        ..FeedbackRequest::default()
    };
    let first = db.engine.feedback(&ns("ops"), feedback()).unwrap().wait().unwrap();
    let again = db.engine.feedback(&ns("ops"), feedback()).unwrap().wait().unwrap();
    assert!(!first.replayed && again.replayed);
    assert_eq!((again.memories, again.revision), (first.memories, first.revision));
    assert_eq!(get(&db, id).usage.used_count, 1);
}

#[test]
fn m5_what_is_returned_is_counted_without_a_new_version() {
    let db = Db::new();
    let id = db.write(fact("blue sky")).id;
    for _ in 0..3 {
        assert!(ask(&db, "sky").recall_id.is_some());
    }
    db.engine.log_accesses().unwrap();
    let memory = get(&db, id);
    assert_eq!((memory.usage.access_count, memory.version), (3, 1));
    assert!(memory.usage.last_accessed_at.is_some());
    ask(&db, "sky");
    // A clean stop logs what is not logged yet.
    let (db, _) = db.reopen();
    assert_eq!(get(&db, id).usage.access_count, 4);
}

/// R17: who only looks changes nothing and gets the same answer bit for bit.
#[test]
fn r17_observing_changes_nothing() {
    let db = Db::new();
    for text in ["blue sky", "blue sea", "blue whale"] {
        db.write(fact(text));
    }
    let now = Some(Timestamp::from_ms(1_900_000_000_000));
    let recall =
        Recall { query: "blue sky".to_owned(), observe: true, now, explain: true, ..Recall::default() };
    // All but how long each step of the plan took.
    let asked = |db: &Db| Recalled { plan: None, ..db.recall(&recall) };
    let first = asked(&db);
    assert_eq!(first.recall_id, None);
    for _ in 0..10 {
        assert_eq!(asked(&db), first);
    }
    db.engine.log_accesses().unwrap();
    let (db, _) = db.reopen();
    assert_eq!(asked(&db), first);
    assert_eq!(get(&db, first.hits[0].memory.id).usage, hindsight_core::Usage::default());
}

/// L1: what is returned again and again and never used sinks, and is never buried.
#[test]
fn l1_returned_and_never_used_sinks() {
    let db = Db::new();
    let [idle, used] = ["deploy with argo today", "deploy with argo now"].map(|text| db.write(fact(text)).id);
    let first = |db: &Db| look(db, "deploy with argo").hits[0].memory.id;
    for _ in 0..30 {
        ask(&db, "deploy with argo");
    }
    db.engine.log_accesses().unwrap();
    tell(&db, None, &[(used, Verdict::Used)], Some(Status::Success)).unwrap();
    assert_eq!(first(&db), used);
    let hits = look(&db, "deploy with argo").hits;
    let sunk = hits.iter().find(|hit| hit.memory.id == idle).unwrap();
    assert!((sunk.breakdown.unused - 0.5).abs() < 1e-9, "{:?}", sunk.breakdown);
}

/// The agent that fails thrice, is told, succeeds: the failure is a weaker warning, what helped a stronger one.
#[test]
fn l1_a_failure_without_a_remedy_is_less_true_after_a_success() {
    let db = Db::new();
    let failure = |text: &str, resolution: Option<&str>| Draft {
        kind: Some(Kind::Episode),
        status: Some(Status::Failure),
        episode: Some(hindsight_core::draft::EpisodeDraft {
            resolution: resolution.map(str::to_owned),
            ..Default::default()
        }),
        ..fact(text)
    };
    let bare = db.write(failure("update order failed: permission denied", None));
    let remedy = db.write(failure("update order failed: token expired", Some("refresh the token")));
    let items = [(bare.id, Verdict::Used), (remedy.id, Verdict::Used)];
    tell(&db, None, &items, Some(Status::Success)).unwrap();
    assert!(get(&db, bare.id).confidence < bare.confidence);
    assert!(get(&db, remedy.id).confidence > remedy.confidence);
}

/// M5, D6: on a full disk counts wait, and are logged when there is room. What is written anew under the id of what is gone
/// gets none of them.
#[test]
fn m5_d6_counts_outlast_a_full_disk() {
    let io = MemIo::new(1);
    io.create_dir_all(Path::new("/")).unwrap();
    let log = LogOptions { preallocate_bytes: 0, ..LogOptions::default() };
    let storage = StorageOptions { log, reserve_bytes: 0, ..StorageOptions::default() };
    let options = Options { storage, ..Options::default() };
    let (engine, _) = EngineOver::open_with(Arc::new(io.clone()), Path::new("/data"), options).unwrap();
    let ops = ns("ops");
    let (sky, grass) = (MemoryId::from_u128((0x0190 << 112) | 1), MemoryId::from_u128((0x0190 << 112) | 2));
    let write = |text: &str, id: Option<MemoryId>| {
        let draft = Draft { id: id.map(|id| id.to_string()), ..fact(text) };
        let options = WriteOptions { allow_forgotten: true, ..WriteOptions::default() };
        engine.write(&ops, WriteItem::new(draft, None), options).map(drop)
    };
    let ask = |query: &str| {
        let recall = Recall { query: query.to_owned(), top_k: 1, ..Recall::default() };
        drop(engine.recall(&ops, &recall).unwrap());
    };
    let count = |id: MemoryId| {
        let got = engine.get(&ops, id, None).unwrap();
        engine.commit_step().unwrap();
        got.wait().unwrap().memory.usage.access_count
    };
    write("blue sky", Some(sky)).unwrap();
    write("green grass", Some(grass)).unwrap();
    engine.commit_step().unwrap();
    ask("blue sky");
    ask("green grass");
    io.set_free(0);
    let mut bricks = 0;
    while write(&format!("brick {bricks}"), None).is_ok() {
        bricks += 1;
    }
    assert!(engine.log_accesses().is_err());
    ask("blue sky");
    assert!(engine.log_accesses().is_err());
    io.set_free(1 << 30);
    assert!(engine.space_step().unwrap());
    let (target, request_id) = (PurgeTarget::Ids(vec![grass]), None);
    let purge = PurgeRequest { target, validate_only: false, request_id, with_derived: false };
    engine.begin_purge(&ops, purge).unwrap();
    write("grass is green", Some(grass)).unwrap();
    engine.log_accesses().unwrap();
    assert_eq!((count(sky), count(grass)), (2, 0));
}
