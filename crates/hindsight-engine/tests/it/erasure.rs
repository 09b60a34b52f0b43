//! A12 on the machine's own disk: what was purged leaves no byte behind (L3, L4).
//!
//! Canaries carry a text that stands nowhere else, in their content, metadata, tags, session and vectors. Before the purge
//! the scanner must find them in every kind of file; after the receipt in none, in no encoding.

mod canary;
mod lives;
mod scanner;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hindsight_core::{Filter, Recall};
use hindsight_engine::{Engine, ForgetRequest, ForgetTarget, Options, PurgeRequest, PurgeTarget, Unsynced};
use hindsight_storage::RealIo;
use hindsight_storage::erasure::LEDGER_FILE;

use crate::support::{ns, open};
use canary::{Canary, control, draft, raw_vectors, write_all};
use scanner::Scanner;

const CANARIES: u32 = 1_000;
const CONTROLS: u32 = 9_000;
const SPACE: &str = "ops";

/// A life that puts canaries into files of every kind.
struct Life {
    data: PathBuf,
    backup: PathBuf,
    engine: Engine,
    canaries: Vec<Canary>,
    // Goes after the engine.
    _root: tempfile::TempDir,
}

fn purge(target: PurgeTarget) -> PurgeRequest {
    PurgeRequest { target, validate_only: false, request_id: None, with_derived: false }
}

fn tagged(tag: &str) -> Filter {
    Filter { tags: vec![tag.to_owned()], ..Filter::default() }
}

impl Life {
    fn new() -> Life {
        let root = tempfile::tempdir().unwrap();
        let (data, backup) = (root.path().join("data"), root.path().join("a.backup"));
        let (engine, _) = open(&data);
        let mut canaries: Vec<Canary> = (0..CANARIES).map(Canary::new).collect();
        let drafts = canaries.iter().map(|canary| (draft(canary), raw_vectors(canary)));
        let ids = write_all(&engine, SPACE, drafts.collect());
        canaries.iter_mut().zip(ids).for_each(|(canary, id)| canary.id = Some(id));
        write_all(&engine, SPACE, (0..CONTROLS).map(control).collect());
        lives::update_each(&engine, SPACE, &canaries);
        engine.checkpoint().unwrap();
        // Nothing is closed in order: what comes next is a recovery.
        drop(engine);
        let (engine, _) = open(&data);
        lives::update_each(&engine, SPACE, &canaries);
        let query = Recall { query: canaries[0].text.clone(), ..Recall::default() };
        let found = engine.recall(&ns(SPACE), &query).and_then(Unsynced::wait).unwrap();
        assert_eq!(found.hits[0].memory.id, canaries[0].id.unwrap());
        engine.backup(&mut fs::File::create(&backup).unwrap()).unwrap();
        lives::update_each(&engine, SPACE, &canaries);
        Life { _root: root, data, backup, engine, canaries }
    }

    /// Files as a crash or an older version may have left them, with the text of a canary.
    fn leave_rubbish(&self) {
        let text = &self.canaries[7].text;
        fs::write(self.data.join("log/wal-torn-00000000000000000099.bak"), text).unwrap();
        fs::write(self.data.join("ns/00000001/records-00000099.rec.tmp"), text).unwrap();
        fs::write(self.data.join("ns/00000001/records-00000098.rec"), text).unwrap();
        fs::write(self.data.join("MANIFEST-00000099.tmp"), text).unwrap();
    }

    /// The backup in a directory of its own.
    fn restored(&self, ledger: Option<&Path>) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let data = root.path().join("restored");
        let (io, from) = (Arc::new(RealIo), fs::File::open(&self.backup).unwrap());
        match ledger {
            None => hindsight_storage::backup::restore(&io, from, &data).unwrap(),
            Some(ledger) => {
                let ledger = fs::read(ledger).unwrap();
                hindsight_storage::backup::restore_with_ledger(&io, from, &ledger, &data).unwrap()
            }
        };
        (root, data)
    }
}

#[test]
fn a12_after_the_receipt_no_byte_is_left_and_everything_else_is() {
    let life = Life::new();
    let (canaries, data) = (&life.canaries, life.data.as_path());
    life.leave_rubbish();
    let scanner = Scanner::new(canaries);
    let found = scanner.scan(data);
    for kind in [".log", "records-00000001.rec", ".bak", ".rec.tmp", "MANIFEST-00000099.tmp"] {
        assert!(
            found.iter().any(|path| path.ends_with(kind)),
            "positive control: nothing in {kind}: {found:?}"
        );
    }
    assert!(!scanner.scan(&life.backup).is_empty(), "positive control: nothing in the backup");

    let (by_id, by_filter) = canaries.split_at(canaries.len() / 2);
    let ids = by_id.iter().filter_map(|canary| canary.id).collect();
    let done = life.engine.purge(&ns(SPACE), purge(PurgeTarget::Ids(ids))).unwrap();
    let receipt = done.receipt.unwrap();
    assert_eq!((receipt.memories, done.count), (by_id.len() as u64, u32::try_from(by_id.len()).unwrap()));
    assert!(receipt.done.files_removed >= 3 && receipt.removed.len() as u64 == receipt.done.files_removed);
    assert!(receipt.removed.iter().any(|file| file.path.extension().is_some_and(|end| end == "rec")));
    assert!(receipt.kept.iter().all(|file| data.join(&file.path).exists()), "{:?}", receipt.kept);
    for file in receipt.kept.iter().filter(|file| file.path.extension().is_some_and(|end| end == "rec")) {
        assert_eq!(*blake3::hash(&fs::read(data.join(&file.path)).unwrap()).as_bytes(), file.blake3);
    }
    assert_eq!(Scanner::new(by_id).scan(data), Vec::<String>::new());

    // A dry run counts, another number is refused, forgotten ones go too.
    let forgotten = by_filter[0].id.unwrap();
    let forget = ForgetRequest {
        target: ForgetTarget::Ids(vec![forgotten]),
        validate_only: false,
        request_id: None,
        with_derived: false,
    };
    life.engine.forget(&ns(SPACE), forget).and_then(Unsynced::wait).unwrap();
    let target = |expected_count| PurgeTarget::Matching { filter: tagged("canary"), expected_count };
    let dry = PurgeRequest { validate_only: true, ..purge(target(None)) };
    let dry = life.engine.purge(&ns(SPACE), dry).unwrap();
    assert_eq!((dry.count as usize, dry.receipt), (by_filter.len(), None));
    let wrong = life.engine.purge(&ns(SPACE), purge(target(Some(dry.count + 1)))).unwrap_err();
    assert_eq!(wrong.reason(), "COUNT_MISMATCH");
    let done = life.engine.purge(&ns(SPACE), purge(target(Some(dry.count)))).unwrap();
    assert_eq!(done.receipt.unwrap().memories, by_filter.len() as u64);
    assert_eq!(scanner.scan(data), Vec::<String>::new());

    lives::all_controls_answer(&life.engine, SPACE);
    let gone = life.engine.get(&ns(SPACE), forgotten, None).unwrap_err();
    assert_eq!(gone.reason(), "MEMORY_NOT_FOUND");
    // For ever: also after a stop that was not in order, and one that was.
    drop(life.engine);
    let (engine, _) = open(data);
    lives::all_controls_answer(&engine, SPACE);
    assert_eq!(scanner.scan(data), Vec::<String>::new());
    engine.close().unwrap();
    assert_eq!(scanner.scan(data), Vec::<String>::new());
}

#[test]
fn a12_a_whole_namespace_goes_with_its_name() {
    let life = Life::new();
    let mut named = Canary::new(CANARIES + 1);
    named.text.truncate(32);
    let name = named.text.clone();
    write_all(&life.engine, &name, (0..20).map(control).collect());
    life.engine.checkpoint().unwrap();
    write_all(&life.engine, &name, (20..30).map(control).collect());
    let scanner = Scanner::new(std::slice::from_ref(&named));
    let found = scanner.scan(&life.data);
    for kind in [".log", ".rec", "MANIFEST-00000001"] {
        assert!(
            found.iter().any(|path| path.ends_with(kind)),
            "positive control: nothing in {kind}: {found:?}"
        );
    }
    let request = PurgeRequest {
        request_id: Some("once".to_owned()),
        ..purge(PurgeTarget::Namespace { expected_count: Some(30) })
    };
    let done = life.engine.purge(&ns(&name), request.clone()).unwrap();
    assert_eq!((done.count, done.replayed), (30, false));
    assert_eq!(scanner.scan(&life.data), Vec::<String>::new());
    // Sent again it gives the receipt again, also after a restart.
    let again = life.engine.purge(&ns(&name), request.clone()).unwrap();
    assert_eq!((again.count, again.replayed, &again.receipt), (30, true, &done.receipt));
    let data = life.data.clone();
    drop(life.engine);
    let (engine, _) = open(&data);
    let again = engine.purge(&ns(&name), request).unwrap();
    assert_eq!((again.replayed, again.receipt.unwrap().done), (true, done.receipt.unwrap().done));
    let unknown = engine.purge(&ns(&name), purge(PurgeTarget::Namespace { expected_count: None }));
    assert_eq!(unknown.unwrap_err().reason(), "NAMESPACE_NOT_FOUND");
    lives::all_controls_answer(&engine, SPACE);
}

/// A backup from before the purge brings the memories back, unless the ledger is put beside it.
#[test]
fn l4_a_restored_backup_does_not_bring_back_what_the_ledger_names() {
    let life = Life::new();
    let scanner = Scanner::new(&life.canaries);
    let filter = tagged("canary");
    life.engine
        .purge(&ns(SPACE), purge(PurgeTarget::Matching { filter, expected_count: Some(CANARIES) }))
        .unwrap();
    let ledger = life.data.join(LEDGER_FILE);
    let (_root, data) = life.restored(None);
    assert!(!scanner.scan(&data).is_empty(), "positive control: the backup has them");

    let (_root, data) = life.restored(Some(&ledger));
    let (engine, _) = Engine::open(&data, Options::default()).unwrap();
    let id = life.canaries[0].id.unwrap();
    assert_eq!(engine.get(&ns(SPACE), id, None).unwrap_err().reason(), "MEMORY_NOT_FOUND");
    let step = engine.erase_step().unwrap();
    assert_eq!((step.waits_for, scanner.scan(&data)), (None, Vec::new()));
    lives::all_controls_answer(&engine, SPACE);
    drop(engine);
    // That was done once: the second start finds nothing to purge.
    let (engine, _) = Engine::open(&data, Options::default()).unwrap();
    assert!(engine.erasures().iter().all(|erasure| erasure.done.is_some()));
    lives::all_controls_answer(&engine, SPACE);
}

/// The ledger of another database is refused before anything is written.
#[test]
fn l4_a_foreign_ledger_is_refused() {
    let (one, other) = (Life::new(), Life::new());
    let target = PurgeTarget::Ids(vec![other.canaries[0].id.unwrap()]);
    other.engine.purge(&ns(SPACE), purge(target)).unwrap();
    let ledger = fs::read(other.data.join(LEDGER_FILE)).unwrap();
    let data = one.data.with_file_name("restored");
    let from = fs::File::open(&one.backup).unwrap();
    let refused = hindsight_storage::backup::restore_with_ledger(&Arc::new(RealIo), from, &ledger, &data);
    assert!(refused.unwrap_err().to_string().contains("ledger"));
    assert!(!data.exists());
}
