//! The change feed (L9) over the engine: what is durable, once, in order, without a gap, and nobody else's.

use std::path::Path;
use std::sync::Arc;

use hindsight_core::{
    ChangeKind, Draft, Kind, Lsn, Memory, MemoryId, Patch, Scope, State, WatchEvent, WatchRequest, Watched,
};
use hindsight_engine::{
    DropRequest, EngineError, EngineOver, ForgetRequest, ForgetTarget, Maker, Options, PurgeRequest,
    PurgeTarget, RestoreRequest, UpdateRequest, WatcherOver, WriteItem, WriteOptions,
};
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};

use crate::support::{fact, ns};

type Engine = Arc<EngineOver<MemIo>>;

fn open(io: &MemIo) -> Engine {
    let log = LogOptions { segment_bytes: 16 << 10, preallocate_bytes: 4 << 10, ..LogOptions::default() };
    let storage = StorageOptions { log, reserve_bytes: 8 << 10, ..StorageOptions::default() };
    let options = Options { storage, ..Options::default() };
    Arc::new(EngineOver::open_with(Arc::new(io.clone()), Path::new("/data"), options).unwrap().0)
}

fn engine() -> Engine {
    open(&MemIo::new(1))
}

/// Writes without waiting for the sync.
fn write_to(engine: &Engine, namespace: &str, draft: Draft) -> (Memory, Lsn) {
    let written = engine.write(&ns(namespace), WriteItem::new(draft, None), WriteOptions::default()).unwrap();
    let lsn = written.lsn();
    engine.commit_step().unwrap();
    (written.wait().unwrap().memory, lsn)
}

fn write(engine: &Engine, content: &str) -> Memory {
    write_to(engine, "ops", fact(content)).0
}

fn watch(engine: &Engine, request: WatchRequest) -> WatcherOver<MemIo> {
    engine.watch(ns("ops"), request).unwrap()
}

fn from_the_start() -> WatchRequest {
    WatchRequest { after: Some(Lsn(0)), ..WatchRequest::default() }
}

/// Everything that there is to tell.
fn drain(watcher: &mut WatcherOver<MemIo>) -> Vec<Watched> {
    let mut all = Vec::new();
    loop {
        let before = watcher.revision();
        let told = watcher.read().unwrap();
        if told.is_empty() && watcher.revision() == before {
            return all;
        }
        all.extend(told);
    }
}

fn events(watcher: &mut WatcherOver<MemIo>) -> Vec<WatchEvent> {
    drain(watcher).into_iter().flat_map(|watched| watched.events).collect()
}

/// What happened to which text; the id where there is no image.
fn told(watcher: &mut WatcherOver<MemIo>) -> Vec<(ChangeKind, String)> {
    let name = |event: WatchEvent| match (event.memory, event.id) {
        (Some(memory), _) => (event.change, memory.content),
        (None, Some(id)) => (event.change, id.to_string()),
        (None, None) => (event.change, event.count.map(|count| count.to_string()).unwrap_or_default()),
    };
    events(watcher).into_iter().map(name).collect()
}

fn forget(engine: &Engine, ids: Vec<MemoryId>) {
    let forget = ForgetRequest {
        target: ForgetTarget::Ids(ids),
        with_derived: false,
        validate_only: false,
        request_id: None,
    };
    let _ = engine.forget(&ns("ops"), forget).unwrap();
    engine.commit_step().unwrap();
}

fn update(engine: &Engine, id: MemoryId, content: &str) {
    let patch = Patch { content: Some(content.to_owned()), ..Patch::default() };
    let update = UpdateRequest {
        id,
        patch,
        version: None,
        allow_forgotten: false,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
    };
    let _ = engine.update(&ns("ops"), update).unwrap();
    engine.commit_step().unwrap();
}

fn purge(engine: &Engine, target: PurgeTarget) {
    engine
        .begin_purge(
            &ns("ops"),
            PurgeRequest { target, with_derived: false, validate_only: false, request_id: None },
        )
        .unwrap();
}

#[test]
fn l9_new_changed_forgotten_and_restored_memories_are_told_with_their_images() {
    let engine = engine();
    let mut watcher = watch(&engine, WatchRequest::default());
    let id = write(&engine, "the first text").id;
    update(&engine, id, "the second text");
    forget(&engine, vec![id]);
    assert_eq!(
        told(&mut watcher),
        [
            // What is forgotten by now has no image any more.
            (ChangeKind::Created, id.to_string()),
            (ChangeKind::Changed, id.to_string()),
            (ChangeKind::Forgotten, id.to_string()),
        ]
    );
    let restore = RestoreRequest { ids: vec![id], request_id: None };
    let _ = engine.restore(&ns("ops"), restore).unwrap();
    engine.commit_step().unwrap();
    let back = events(&mut watcher).remove(0);
    assert_eq!((back.change, back.state, back.version), (ChangeKind::Changed, Some(State::Active), Some(4)));
    assert_eq!(back.memory.unwrap().content, "the second text");
    let again: Vec<String> =
        told(&mut watch(&engine, from_the_start())).into_iter().map(|(_, text)| text).collect();
    assert_eq!(again, ["the first text", "the second text", &id.to_string(), "the second text"]);
}

#[test]
fn l9_what_is_not_durable_is_not_told() {
    let engine = engine();
    let mut watcher = watch(&engine, WatchRequest::default());
    let unsynced =
        engine.write(&ns("ops"), WriteItem::new(fact("soon"), None), WriteOptions::default()).unwrap();
    assert_eq!(told(&mut watcher), []);
    assert_eq!(watcher.revision(), Lsn(0));
    engine.commit_step().unwrap();
    assert_eq!(told(&mut watcher), [(ChangeKind::Created, "soon".to_owned())]);
    assert_eq!(watcher.revision(), unsynced.lsn());
}

#[test]
fn l9_a_watch_is_resumed_after_any_revision_and_over_a_restart() {
    let io = MemIo::new(7);
    let engine = open(&io);
    for number in 0..10 {
        write(&engine, &format!("note {number}"));
    }
    let mut first = watch(&engine, from_the_start());
    let all = drain(&mut first);
    assert_eq!(
        all.iter().map(|watched| watched.revision.0).collect::<Vec<_>>(),
        (1..=10).collect::<Vec<_>>()
    );
    for after in 0..=10 {
        let mut later = watch(&engine, WatchRequest { after: Some(Lsn(after)), ..WatchRequest::default() });
        assert_eq!(drain(&mut later), all[usize::try_from(after).unwrap()..]);
    }
    drop(first);
    engine.close().unwrap();
    drop(engine);
    let engine = open(&io);
    let oldest = watch_error(&engine, 0).map_or(0, |(_, oldest)| oldest);
    let mut after = watch(&engine, WatchRequest { after: Some(Lsn(oldest)), ..WatchRequest::default() });
    assert_eq!(drain(&mut after), all[usize::try_from(oldest).unwrap()..], "the feed outlives a restart");
    let ahead = engine.watch(ns("ops"), WatchRequest { after: Some(Lsn(99)), ..WatchRequest::default() });
    assert!(matches!(ahead, Err(EngineError::WatchAhead { after: Lsn(99), newest }) if newest >= Lsn(10)));
}

/// After which revision was asked, and after which one could, when the log does not reach back.
fn watch_error(engine: &Engine, after: u64) -> Option<(u64, u64)> {
    let request = WatchRequest { after: Some(Lsn(after)), ..WatchRequest::default() };
    match engine.watch(ns("ops"), request) {
        Ok(_) => None,
        Err(EngineError::WatchCompacted { after, oldest }) => Some((after.0, oldest.0)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn l9_a_checkpoint_ends_the_watch_of_whoever_is_too_far_behind() {
    let engine = engine();
    let mut slow = watch(&engine, from_the_start());
    let long = "long text ".repeat(200);
    for number in 0..60 {
        write(&engine, &format!("{number} {long}"));
    }
    assert!(engine.checkpoint().unwrap().segments_removed > 3);
    let (after, oldest) = watch_error(&engine, 0).unwrap();
    assert!(after == 0 && oldest > 3);
    let error = slow.read().unwrap_err();
    assert!(
        matches!(error, EngineError::WatchCompacted { after: Lsn(0), oldest: told } if told.0 == oldest),
        "{error}"
    );
    assert_eq!(slow.revision(), Lsn(0), "nothing was passed over");
    assert_eq!(watch_error(&engine, oldest), None);
    let mut anew = watch(&engine, WatchRequest { after: Some(Lsn(oldest)), ..WatchRequest::default() });
    write(&engine, "and on");
    assert_eq!(drain(&mut anew).last().unwrap().revision, engine.revision());
}

#[test]
fn l9_a_watcher_that_keeps_up_loses_nothing_by_checkpoints_and_purges() {
    let engine = engine();
    let (mut quick, mut behind) =
        (watch(&engine, WatchRequest::default()), watch(&engine, WatchRequest::default()));
    let long = "long text ".repeat(200);
    let mut seen = 0;
    for number in 0..80 {
        write(&engine, &format!("{number} {long}"));
        seen += events(&mut quick).len();
        if number % 20 == 19 {
            engine.checkpoint().unwrap();
        }
    }
    assert_eq!(seen, 80);
    // The other one was read along, from memory, although the log has given its beginning up.
    assert!(watch_error(&engine, 0).is_some());
    assert_eq!(events(&mut behind).len(), 80);
}

#[test]
fn s1_l9_nothing_of_another_namespace_or_agent_is_told() {
    let engine = engine();
    let own = |agent: &str| Draft {
        agent_id: Some(agent.to_owned()),
        scope: Some(Scope::Agent),
        ..fact(&format!("the secret of {agent}"))
    };
    write_to(&engine, "other", fact("canary of another namespace"));
    let (secret, _) = write_to(&engine, "ops", own("a1"));
    write_to(&engine, "ops", own("a2"));
    write_to(&engine, "ops", Draft { agent_id: Some("a2".to_owned()), ..fact("shared by a2") });
    write_to(&engine, "other", fact("canary again"));
    update(&engine, secret.id, "the other secret of a1");
    forget(&engine, vec![secret.id]);
    let texts = |request: WatchRequest| -> Vec<String> {
        told(&mut watch(&engine, WatchRequest { after: Some(Lsn(0)), ..request }))
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    };
    let agent = |name: &str| WatchRequest { agent_id: Some(name.to_owned()), ..WatchRequest::default() };
    assert_eq!(texts(WatchRequest::default()), ["shared by a2"]);
    assert_eq!(texts(agent("a2")), ["the secret of a2", "shared by a2"]);
    let id = secret.id.to_string();
    assert_eq!(texts(agent("a1")), [id.as_str(), "shared by a2", id.as_str(), id.as_str()]);
    let by = |name: &str| WatchRequest { agents: vec![name.to_owned()], ..agent("a1") };
    assert_eq!(texts(by("a2")), ["shared by a2"]);
}

#[test]
fn l9_kinds_changes_and_ids_only_narrow_what_is_told() {
    let engine = engine();
    let liking = Draft { kind: Some(Kind::Preference), ..fact("I like tea") };
    let (preference, _) = write_to(&engine, "ops", liking);
    let other = write(&engine, "the office is in Bern");
    forget(&engine, vec![other.id]);
    let kinds = WatchRequest { kinds: vec![Kind::Preference], ..from_the_start() };
    assert_eq!(told(&mut watch(&engine, kinds)), [(ChangeKind::Created, "I like tea".to_owned())]);
    let changes = WatchRequest { changes: vec![ChangeKind::Forgotten], ..from_the_start() };
    assert_eq!(told(&mut watch(&engine, changes)), [(ChangeKind::Forgotten, other.id.to_string())]);
    let ids = WatchRequest { ids_only: true, ..from_the_start() };
    let first = events(&mut watch(&engine, ids)).remove(0);
    assert_eq!((first.id, first.kind, first.memory), (Some(preference.id), Some(Kind::Preference), None));
    let many = WatchRequest { agents: vec!["a".to_owned(); 65], ..WatchRequest::default() };
    assert_eq!(crate::support::fields(engine.watch(ns("ops"), many).unwrap_err()), ["agents"]);
}

#[test]
fn l4_l9_what_was_purged_is_told_to_nobody_who_reads_later() {
    let engine = engine();
    let mut live = watch(&engine, WatchRequest::default());
    let gone = write(&engine, "canary that is purged");
    write(&engine, "what stays");
    let mut late = watch(&engine, from_the_start());
    purge(&engine, PurgeTarget::Ids(vec![gone.id]));
    // The log still has the text, and the purge is not even durable.
    let all = told(&mut late);
    assert_eq!(all, [(ChangeKind::Created, "what stays".to_owned()), (ChangeKind::Purged, "1".to_owned())]);
    assert_eq!(engine.revision(), Lsn(3), "what was left out waited for the purge to be durable");
    assert_eq!(told(&mut live).len(), 2);
    // The same id with another memory is another life.
    let back = Draft { id: Some(gone.id.to_string()), ..fact("imported under the old id") };
    write_to(&engine, "ops", back);
    let texts: Vec<_> =
        told(&mut watch(&engine, from_the_start())).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["what stays", "1", "imported under the old id"]);
    engine.erase_step().unwrap();
    assert!(watch_error(&engine, 0).is_some(), "the log with the text is gone");
}

#[test]
fn l3_l9_the_end_of_a_namespace_is_told() {
    let engine = engine();
    write(&engine, "old life");
    let mut watcher = watch(&engine, from_the_start());
    let _ = engine.drop_namespace(&ns("ops"), DropRequest::default()).unwrap();
    engine.commit_step().unwrap();
    write(&engine, "new life");
    assert_eq!(
        told(&mut watcher),
        [(ChangeKind::NamespaceDropped, String::new()), (ChangeKind::Created, "new life".to_owned())]
    );
    purge(&engine, PurgeTarget::Namespace { expected_count: None });
    engine.commit_step().unwrap();
    assert_eq!(told(&mut watcher), [(ChangeKind::NamespacePurged, "1".to_owned())]);
}

#[test]
fn l9_a_revision_of_many_memories_comes_in_parts_that_name_their_places() {
    let engine = engine();
    let ids: Vec<MemoryId> =
        (0..600).map(|number| write(&engine, &format!("note number {number}")).id).collect();
    let mut watcher = watch(&engine, WatchRequest::default());
    forget(&engine, ids);
    let parts = drain(&mut watcher);
    assert!(parts.len() > 1 && parts.iter().all(|part| part.events.len() <= 256));
    let more: Vec<bool> = parts.iter().map(|part| part.more).collect();
    assert!(!more[more.len() - 1] && more[..more.len() - 1].iter().all(|more| *more));
    let places: Vec<u32> = parts.iter().flat_map(|part| &part.events).map(|event| event.index).collect();
    assert_eq!(places, (0..600).collect::<Vec<_>>());
}

#[test]
fn l9_nothing_is_lost_between_the_sync_of_a_batch_and_its_place_in_memory() {
    const EACH: usize = 150;
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(hindsight_engine::Engine::open(dir.path(), Options::default()).unwrap().0);
    let mut watchers = [0, 1].map(|_| engine.watch(ns("ops"), from_the_start()).unwrap());
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let engine = &engine;
            scope.spawn(move || {
                for number in 0..EACH {
                    let item = WriteItem::new(fact(&format!("writer {writer} notes number {number}")), None);
                    engine.write(&ns("ops"), item, WriteOptions::default()).unwrap().wait().unwrap();
                }
            });
        }
        for watcher in &mut watchers {
            scope.spawn(move || {
                let mut revisions = Vec::new();
                while revisions.len() < 2 * EACH && watcher.revision() < Lsn(2 * EACH as u64) {
                    let told = watcher.read().unwrap();
                    revisions.extend(
                        told.into_iter().filter(|told| !told.events.is_empty()).map(|told| told.revision.0),
                    );
                }
                assert_eq!(revisions, (1..=2 * EACH as u64).collect::<Vec<_>>());
            });
        }
    });
}
