//! B1: backups under eight writers, each held against what the writers were told.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hindsight_core::{Filter, Lsn, MemoryId, Patch, State};
use hindsight_engine::{
    Engine, ForgetRequest, ForgetTarget, ListRequest, Maker, Options, UpdateRequest, WriteItem, WriteOptions,
};
use hindsight_storage::{BackupReport, RealIo, backup};

use crate::support::{fact, ns};

const WRITERS: usize = 8;
const NAMESPACES: [&str; 3] = ["ops", "sales", "support"];
/// Backups of this test. `HINDSIGHT_BACKUPS` sets another number, for a longer run.
const BACKUPS: usize = 30;

/// What a writer was told: at this position, this memory is so.
type Told = (Lsn, &'static str, MemoryId, (String, State));

/// Writes, changes and forgets until it is told to stop.
fn writer(engine: &Engine, number: usize, stop: &AtomicBool) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    let mut mine: Vec<(&'static str, MemoryId, String)> = Vec::new();
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let namespace = NAMESPACES[(number + round) % NAMESPACES.len()];
        match round % 5 {
            3 if !mine.is_empty() => {
                let at = round * 7 % mine.len();
                let (namespace, id, content) = &mut mine[at];
                *content = format!("{content}, 改 {round}");
                let patch = Patch { content: Some(content.clone()), ..Patch::default() };
                let update = UpdateRequest {
                    id: *id,
                    patch,
                    version: None,
                    vectors: None,
                    maker: Maker::Caller,
                    request_id: None,
                    allow_forgotten: false,
                };
                let revision = engine.update(&ns(namespace), update).unwrap().wait().unwrap().revision;
                told.push((revision, *namespace, *id, (content.clone(), State::Active)));
            }
            4 if mine.len() > 2 => {
                let (namespace, id, content) = mine.swap_remove(round * 3 % mine.len());
                let target = ForgetTarget::Ids(vec![id]);
                let forget =
                    ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
                let revision = engine.forget(&ns(namespace), forget).unwrap().wait().unwrap().revision;
                told.push((revision, namespace, id, (content, State::Forgotten)));
            }
            _ => {
                let content = format!("writer {number} note {round} {}", "字 word ".repeat(round % 40));
                let item = WriteItem::new(fact(&content), None);
                let written = engine.write(&ns(namespace), item, WriteOptions::default()).unwrap();
                let written = written.wait().unwrap();
                told.push((written.revision, namespace, written.memory.id, (content.clone(), State::Active)));
                mine.push((namespace, written.memory.id, content));
            }
        }
    }
    told
}

/// Every memory by namespace and id.
type Picture = BTreeMap<(String, MemoryId), (String, State)>;

fn picture_at(told: &[Told], lsn: Lsn) -> Picture {
    let mut picture = Picture::new();
    for (revision, namespace, id, memory) in told {
        if *revision <= lsn {
            picture.insert(((*namespace).to_owned(), *id), memory.clone());
        }
    }
    picture
}

fn picture_of(engine: &Engine) -> Picture {
    let mut picture = Picture::new();
    for namespace in NAMESPACES {
        let mut after = None;
        loop {
            let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
            let list = ListRequest { filter, page_size: 1_000, after, ..ListRequest::default() };
            let Ok(page) = engine.list(&ns(namespace), &list) else { break };
            let page = page.wait().unwrap();
            after = page.memories.last().map(|memory| memory.id);
            for memory in page.memories {
                picture.insert((namespace.to_owned(), memory.id), (memory.content, memory.state));
            }
            if !page.more {
                break;
            }
        }
    }
    picture
}

/// Goes away after a number of bytes, as a client does that is killed.
struct Gone(usize);

impl Write for Gone {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn backups() -> usize {
    std::env::var("HINDSIGHT_BACKUPS").ok().and_then(|text| text.parse().ok()).unwrap_or(BACKUPS)
}

fn open(dir: &Path) -> Engine {
    Engine::open(dir, Options::default()).unwrap().0
}

#[test]
fn b1_backups_under_eight_writers_are_the_state_at_their_lsn() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.storage.checkpoint_bytes = 64 << 10;
    options.storage.log.segment_bytes = 256 << 10;
    options.storage.log.preallocate_bytes = 64 << 10;
    let (engine, _) = Engine::open(&folder.path().join("data"), options).unwrap();
    let stop = AtomicBool::new(false);
    let mut taken: Vec<(BackupReport, Vec<u8>)> = Vec::new();
    let mut told = Vec::new();
    std::thread::scope(|scope| {
        let (engine, stop) = (&engine, &stop);
        let writers: Vec<_> =
            (0..WRITERS).map(|number| scope.spawn(move || writer(engine, number, stop))).collect();
        // The first one has something to hold, too.
        while engine.revision() < Lsn(20) {
            std::thread::yield_now();
        }
        while taken.len() < backups() {
            let mut bytes = Vec::new();
            let report = engine.backup(&mut bytes).unwrap();
            // Every third reader goes away in the middle; what goes on does not notice.
            if taken.len().is_multiple_of(3) {
                assert!(engine.backup(&mut Gone(bytes.len() * (taken.len() % 7 + 1) / 9)).is_err());
            }
            // The next one has something new to hold.
            while engine.revision() < Lsn(report.lsn.0 + 20) {
                std::thread::yield_now();
            }
            taken.push((report, bytes));
        }
        stop.store(true, Ordering::Relaxed);
        told = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    });
    told.sort_by_key(|(revision, ..)| *revision);
    assert_eq!(picture_of(&engine), picture_at(&told, Lsn(u64::MAX)));
    drop(engine);
    let mut last = Lsn(0);
    for (number, (report, bytes)) in taken.iter().enumerate() {
        assert!(report.lsn > last, "backup {number} holds nothing new");
        last = report.lsn;
        let target = folder.path().join(format!("restored-{number}"));
        assert_eq!(backup::restore(&Arc::new(RealIo), &bytes[..], &target).unwrap(), *report);
        let engine = open(&target);
        assert_eq!(engine.revision(), report.lsn, "backup {number}");
        assert_eq!(picture_of(&engine), picture_at(&told, report.lsn), "backup {number} at {}", report.lsn);
        drop(engine);
        std::fs::remove_dir_all(&target).unwrap();
    }
}

#[test]
fn what_was_restored_is_written_to_and_stopped_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(&folder.path().join("data"));
    let write = |engine: &Engine, content: &str| {
        let options = WriteOptions { request_id: Some(content.to_owned()), ..WriteOptions::default() };
        engine.write(&ns("ops"), WriteItem::new(fact(content), None), options).unwrap().wait().unwrap()
    };
    let first = write(&engine, "before");
    let mut bytes = Vec::new();
    engine.backup(&mut bytes).unwrap();
    let target = folder.path().join("restored");
    backup::restore(&Arc::new(RealIo), &bytes[..], &target).unwrap();
    let restored = open(&target);
    // A request that was carried out before the backup is not carried out again.
    let again = write(&restored, "before");
    assert!(again.replayed && again.memory.id == first.memory.id);
    let after = write(&restored, "after");
    assert!(after.revision > first.revision);
    restored.close().unwrap();
    drop(restored);
    let picture = picture_of(&open(&target));
    assert_eq!(
        picture.values().map(|(content, _)| content.as_str()).collect::<Vec<_>>(),
        ["before", "after"]
    );
    assert_eq!(picture_of(&engine).len(), 1, "the original knows nothing of it");
}
