//! The directory on a real disk: reads by id of namespaces that are not loaded, and all that can become of its files.

use std::fs;
use std::path::Path;

use hindsight_core::{Memory, MemoryId, Patch, Scope};
use hindsight_engine::{
    Engine, EngineError, ForgetRequest, ForgetTarget, Maker, Options, UpdateRequest, WriteItem, WriteOptions,
};
use hindsight_storage::RealIo;
use hindsight_storage::verify::{FileState, verify};

use crate::support::{fact, ns, open};

const NAMESPACES: [&str; 3] = ["one", "two", "three"];

/// What was written, by namespace and id.
type Written = Vec<(&'static str, Memory)>;

fn write(engine: &Engine, round: usize) -> Written {
    let mut written = Vec::new();
    for name in NAMESPACES {
        for number in 0..40 {
            let item = WriteItem::new(fact(&format!("{name}, round {round}, note {number}")), None);
            let done = engine.write(&ns(name), item, WriteOptions::default()).unwrap().wait().unwrap();
            written.push((name, done.memory));
        }
    }
    written
}

fn change(engine: &Engine, name: &str, id: MemoryId) -> Memory {
    let patch = Patch { content: Some("changed".to_owned()), ..Patch::default() };
    let update = UpdateRequest {
        id,
        patch,
        version: None,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
        allow_forgotten: false,
    };
    engine.update(&ns(name), update).unwrap().wait().unwrap().memory
}

/// A directory that does not come is a test that does not end.
fn wait_until_ready(engine: &Engine) {
    while !engine.is_directory_ready() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

fn get(engine: &Engine, name: &str, id: MemoryId) -> Result<Memory, EngineError> {
    Ok(engine.get(&ns(name), id, None)?.wait()?.memory)
}

/// Opens, and reads everything by id: right, and without loading anything.
fn all_is_there(dir: &Path, written: &Written) {
    let (engine, _) = open(dir);
    wait_until_ready(&engine);
    for (name, memory) in written {
        assert_eq!(get(&engine, name, memory.id).unwrap(), *memory);
    }
    assert!(NAMESPACES.iter().all(|name| !engine.is_loaded(&ns(name))), "something was loaded");
    engine.close().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            // What is removed while it is copied would have been removed by a kill a moment later, too.
            false => drop(fs::copy(entry.path(), to.join(entry.file_name()))),
        }
    }
}

/// A stopped database of several checkpoints, and another folder that is as its directory was after the first of them.
fn database() -> (tempfile::TempDir, tempfile::TempDir, Written) {
    let (dir, older) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (engine, _) = open(dir.path());
    let mut written = write(&engine, 1);
    engine.close().unwrap();
    drop(engine);
    copy(&dir.path().join("directory"), &older.path().join("directory"));
    let (engine, _) = open(dir.path());
    wait_until_ready(&engine);
    written.extend(write(&engine, 2));
    engine.checkpoint().unwrap();
    for (name, memory) in written.iter_mut().step_by(7) {
        *memory = change(&engine, name, memory.id);
    }
    engine.close().unwrap();
    (dir, older, written)
}

#[test]
fn a_memory_of_a_namespace_that_is_not_loaded_is_read_without_loading_it() {
    let (dir, _, written) = database();
    all_is_there(dir.path(), &written);
    let (engine, _) = open(dir.path());
    wait_until_ready(&engine);
    // What the directory doesn't know is looked for where the truth is.
    let missing = get(&engine, "one", MemoryId::from_u128(1)).unwrap_err();
    assert!(matches!(missing, EngineError::MemoryNotFound { .. }), "{missing}");
    assert!(engine.is_loaded(&ns("one")) && !engine.is_loaded(&ns("two")));
    assert!(matches!(
        get(&engine, "nowhere", MemoryId::from_u128(1)).unwrap_err(),
        EngineError::MemoryNotFound { .. }
    ));
}

#[test]
fn what_another_agent_keeps_to_itself_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = open(dir.path());
    let mut draft = fact("a secret of the cook");
    (draft.scope, draft.agent_id) = (Some(Scope::Agent), Some("cook".to_owned()));
    let item = WriteItem::new(draft, None);
    let id = engine.write(&ns("one"), item, WriteOptions::default()).unwrap().wait().unwrap().memory.id;
    engine.close().unwrap();
    drop(engine);
    let (engine, _) = open(dir.path());
    wait_until_ready(&engine);
    let ask = |agent| engine.get(&ns("one"), id, agent).and_then(|got| got.wait());
    assert!(matches!(ask(Some("guest")).unwrap_err(), EngineError::MemoryNotFound { .. }));
    assert_eq!(ask(Some("cook")).unwrap().memory.id, id);
    assert!(!engine.is_loaded(&ns("one")));
}

#[test]
fn what_the_log_changed_after_the_checkpoint_wins() {
    let (dir, _, mut written) = database();
    let (engine, _) = open(dir.path());
    written[0].1 = change(&engine, "one", written[0].1.id);
    let target = ForgetTarget::Ids(vec![written[1].1.id]);
    let forget = ForgetRequest { target, validate_only: false, request_id: None, with_derived: false };
    engine.forget(&ns("one"), forget).unwrap().wait().unwrap();
    // A crash: no checkpoint stores these changes.
    drop(engine);
    let (engine, _) = open(dir.path());
    wait_until_ready(&engine);
    assert_eq!(get(&engine, "one", written[2].1.id).unwrap(), written[2].1);
    assert!(!engine.is_loaded(&ns("one")), "this one was not changed");
    assert_eq!(get(&engine, "one", written[0].1.id).unwrap(), written[0].1);
    assert!(engine.is_loaded(&ns("one")));
    assert_eq!(get(&engine, "one", written[1].1.id).unwrap().state.as_str(), "forgotten");
}

#[test]
fn d7_a_directory_that_is_missing_foreign_old_or_no_directory_is_made_anew() {
    let (dir, older, written) = database();
    let (foreign, _, _) = database();
    let place = dir.path().join("directory");
    fs::remove_dir_all(&place).unwrap();
    all_is_there(dir.path(), &written);
    for other in [older.path(), foreign.path()] {
        fs::remove_dir_all(&place).unwrap();
        copy(&other.join("directory"), &place);
        all_is_there(dir.path(), &written);
    }
    fs::remove_dir_all(&place).unwrap();
    fs::write(&place, "a file").unwrap();
    all_is_there(dir.path(), &written);
    // Once made anew it fits, and is not made anew again.
    let db = fs::metadata(place.join("db")).unwrap();
    all_is_there(dir.path(), &written);
    use std::os::unix::fs::MetadataExt as _;
    assert_eq!(fs::metadata(place.join("db")).unwrap().ino(), db.ino());
}

#[test]
fn d7_flipped_and_missing_bytes_of_the_directory_never_show() {
    let (dir, _, written) = database();
    let place = dir.path().join("directory/db");
    let whole = fs::read(&place).unwrap();
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap();
    let mut random = 11_u64;
    for round in 0..24 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(random >> 20).unwrap() % used;
        let mut damaged = whole.clone();
        match round % 3 {
            0 => damaged[at] ^= 1 << (round % 8),
            1 => damaged[at..used.min(at + 4_096)].fill(0),
            _ => damaged.truncate(at),
        }
        fs::write(&place, damaged).unwrap();
        all_is_there(dir.path(), &written);
    }
}

#[test]
fn killed_at_any_moment_it_fits_or_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.storage.checkpoint_bytes = 16 << 10;
    let (engine, _) = Engine::open(dir.path(), options).unwrap();
    let mut written = Vec::new();
    let parent = tempfile::tempdir().unwrap();
    for round in 0..6 {
        written.extend(write(&engine, round));
        let killed = parent.path().join(round.to_string());
        // The copy is of no one moment, as no kill would leave it: sled's files may be newer than the manifest, or older.
        let checkpoint = std::thread::scope(|scope| {
            let checkpoint = scope.spawn(|| engine.checkpoint());
            copy(&dir.path().join("directory"), &killed.join("directory"));
            checkpoint.join().unwrap()
        });
        checkpoint.unwrap();
        for name in ["FORMAT", "ns", "log"] {
            let (from, to) = (dir.path().join(name), killed.join(name));
            if from.is_dir() {
                copy(&from, &to);
            } else {
                fs::copy(&from, &to).unwrap();
            }
        }
        for entry in fs::read_dir(dir.path()).unwrap() {
            let name = entry.unwrap().file_name();
            if name.to_string_lossy().starts_with("MANIFEST") {
                fs::copy(dir.path().join(&name), killed.join(&name)).unwrap();
            }
        }
        all_is_there(&killed, &written);
    }
}

#[test]
fn verify_holds_the_directory_against_the_records() {
    let (dir, older, _) = database();
    let state = |dir: &Path| {
        let mut found = Vec::new();
        let report = verify(&RealIo, dir, &mut |file| {
            if file.path == Path::new("directory") {
                found.push((file.state, file.note.clone()));
            }
        });
        assert!(report.unwrap().is_sound());
        found.remove(0)
    };
    let before = snapshot(dir.path());
    assert_eq!(state(dir.path()).0, FileState::Ok, "{:?}", state(dir.path()));
    assert_eq!(snapshot(dir.path()), before, "verify changes nothing");
    let place = dir.path().join("directory");
    fs::remove_dir_all(&place).unwrap();
    copy(&older.path().join("directory"), &place);
    let (found, note) = state(dir.path());
    assert_eq!(found, FileState::Leftover, "{note}");
    fs::write(place.join("db"), vec![7; 100_000]).unwrap();
    let (found, note) = state(dir.path());
    assert_eq!(found, FileState::Leftover, "{note}");
    fs::remove_dir_all(&place).unwrap();
    let mut lines = 0;
    verify(&RealIo, dir.path(), &mut |file| lines += usize::from(file.path.starts_with("directory")))
        .unwrap();
    assert_eq!(lines, 0, "none is no fault: the next start makes it");
}

/// Every file with its content.
fn snapshot(dir: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(snapshot(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}
