use std::{os::unix::fs::PermissionsExt, path::Path};

use hindsight_core::Lsn;
use proptest::prelude::*;

use super::{
    blocks,
    contract::{Place, all, batch, entry, find, key, place, stamp_of},
    guarded::{Guarded, Writes},
    mirror::{End, Mirror},
    *,
};
use crate::records::NamespaceId;

#[derive(Debug, Clone)]
enum Step {
    Apply { batch: DirectoryBatch, lsn_step: u64 },
    ApplyAgain,
    PutJob { key: u8, value: Vec<u8> },
    RemoveJob { key: u8 },
    Reopen(End),
}

fn any_key() -> impl Strategy<Value = MemoryKey> {
    (0..4_u32, 0..30_u128).prop_map(|(namespace, id)| key(namespace, id))
}

fn any_batch() -> impl Strategy<Value = DirectoryBatch> {
    let puts = prop::collection::vec((any_key(), (0..4_u32, 0..1_000_u64)), 0..60);
    let removes = prop::collection::vec(any_key(), 0..20);
    let dropped = prop::collection::vec(0..5_u32, 0..2);
    (puts, removes, dropped).prop_map(|(puts, removes, dropped)| DirectoryBatch {
        puts: puts.into_iter().map(|(key, (file, offset))| entry((key, place(file, offset)))).collect(),
        removes,
        dropped_namespaces: dropped.into_iter().map(NamespaceId).collect(),
        lsn: Lsn(0),
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (any_batch(), 0..3_u64).prop_map(|(batch, lsn_step)| Step::Apply { batch, lsn_step }),
        1 => Just(Step::ApplyAgain),
        2 => (0..5_u8, prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(key, value)| Step::PutJob { key, value }),
        1 => (0..5_u8).prop_map(|key| Step::RemoveJob { key }),
        1 => Just(Step::Reopen(End::Closed)),
        1 => Just(Step::Reopen(End::Killed)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sled_and_its_twin_agree_whatever_is_done(steps in prop::collection::vec(any_step(), 1..25)) {
        let mut mirror = Mirror::new();
        let mut last = DirectoryBatch::new(Lsn(1));
        for step in steps {
            match step {
                Step::Apply { batch, lsn_step } => {
                    last = DirectoryBatch { lsn: Lsn(last.lsn.0 + lsn_step), ..batch };
                    let expected = mirror.stamp_after(std::slice::from_ref(&last)).unwrap();
                    prop_assert_eq!(mirror.apply(&last).unwrap(), expected);
                }
                Step::ApplyAgain => {
                    let before = mirror.stamp().unwrap();
                    let after = mirror.apply(&last).unwrap();
                    prop_assert!(before.is_none_or(|before| before == after));
                }
                Step::PutJob { key, value } => mirror.put_job(&[key], &value).unwrap(),
                Step::RemoveJob { key } => mirror.remove_job(&[key]).unwrap(),
                Step::Reopen(end) => mirror.reopen(end),
            }
        }
        let entries = all(&mirror, 10_000);
        if let Some(stamp) = mirror.stamp().unwrap() {
            prop_assert_eq!(stamp, stamp_of(stamp.lsn.0, &entries));
        }
        mirror.reopen(End::Closed);
    }
}

fn entries(count: u64) -> Vec<(MemoryKey, Place)> {
    (0..count).map(|n| (key(1, n.into()), place(1, n * 64))).collect()
}

fn source(
    entries: &[(MemoryKey, Place)],
) -> impl FnOnce() -> Vec<Result<(MemoryId, RecordPosition), SourceError>> {
    let entries = entries.iter().copied().map(entry).map(Ok).collect();
    move || entries
}

#[test]
fn a_directory_is_rebuilt_when_in_doubt_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("directory");
    let entries = entries(25_000);
    let expected = stamp_of(9, &entries);
    let open = |expected| {
        let (directory, state) =
            open_or_rebuild(&path, Default::default(), expected, source(&entries)).unwrap();
        assert_eq!(all(&directory, 10_000), entries);
        assert_eq!(directory.stamp().unwrap(), Some(Stamp { lsn: expected.lsn, ..stamp_of(9, &entries) }));
        (directory, state)
    };
    let (directory, state) = open(expected);
    assert!(matches!(state, DirectoryState::Rebuilt { why: Doubt::Missing }), "{state:?}");
    drop(directory);
    assert!(matches!(open(expected).1, DirectoryState::Intact));
    // Of another checkpoint.
    let later = Stamp { lsn: Lsn(10), ..expected };
    let (_, state) = open(later);
    let DirectoryState::Rebuilt { why: Doubt::Different { expected: wanted, found } } = state else {
        panic!("{state:?}")
    };
    assert_eq!((wanted, found), (later, expected));
    // With an entry too few: the stamp says so, although nothing is damaged.
    drop(SledDirectory::rebuild(&path, Default::default(), Lsn(10), source(&entries[1..])()).unwrap());
    let (_, state) = open(later);
    assert!(matches!(state, DirectoryState::Rebuilt { why: Doubt::Different { .. } }), "{state:?}");
    // Interrupted while it was made.
    std::fs::remove_dir_all(&path).unwrap();
    drop(SledDirectory::open(&path, Default::default()).unwrap());
    let (_, state) = open(later);
    assert!(matches!(state, DirectoryState::Rebuilt { why: Doubt::Unstamped }), "{state:?}");
    // Something else has its name.
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::write(&path, "not a folder").unwrap();
    let (directory, state) = open(later);
    assert!(matches!(state, DirectoryState::Rebuilt { why: Doubt::Unreadable(_) }), "{state:?}");
    let mode = std::fs::metadata(directory.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_source_that_fails_ends_the_rebuild_and_the_next_one_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("directory");
    let entries = entries(12_000);
    let expected = stamp_of(2, &entries);
    let broken = || {
        let good: Vec<Result<_, SourceError>> = entries.iter().copied().map(entry).map(Ok).collect();
        good.into_iter().chain([Err(SourceError::from("records-3.rec"))])
    };
    let error = open_or_rebuild(&path, Default::default(), expected, broken).map(|_| ()).unwrap_err();
    assert!(matches!(error, DirectoryError::Source(_)), "{error:?}");
    let (directory, state) = open_or_rebuild(&path, Default::default(), expected, source(&entries)).unwrap();
    assert!(matches!(state, DirectoryState::Rebuilt { why: Doubt::Unstamped }), "{state:?}");
    assert_eq!(all(&directory, 10_000), entries);
}

#[test]
fn a_source_may_name_a_memory_twice() {
    let dir = tempfile::tempdir().unwrap();
    let twice = [(key(1, 1), place(1, 0)), (key(1, 2), place(1, 64)), (key(1, 1), place(2, 0))];
    let path = dir.path().join("directory");
    let directory = SledDirectory::rebuild(&path, Default::default(), Lsn(1), source(&twice)()).unwrap();
    let expected = [(key(1, 1), place(2, 0)), (key(1, 2), place(1, 64))];
    assert_eq!(all(&directory, 10), expected);
    directory.check(stamp_of(1, &expected)).unwrap();
}

#[test]
fn a_failed_sync_puts_the_directory_out_of_use() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("directory");
    let directory = SledDirectory::open(&path, Default::default()).unwrap();
    directory.apply(&batch(1, &entries(10), &[])).unwrap();
    std::fs::rename(&path, dir.path().join("elsewhere")).unwrap();
    let error = directory.apply(&batch(2, &[(key(1, 1), place(2, 0))], &[])).unwrap_err();
    assert!(matches!(error, DirectoryError::Io(_)) && error.needs_rebuild(), "{error:?}");
    for error in [directory.get(key(1, 1)).unwrap_err(), directory.put_job(b"a", b"").unwrap_err()] {
        assert!(matches!(error, DirectoryError::Broken { .. }), "{error:?}");
    }
    let (directory, _) =
        open_or_rebuild(&path, Default::default(), stamp_of(1, &entries(10)), source(&entries(10))).unwrap();
    assert_eq!(all(&directory, 100), entries(10));
}

#[test]
fn readers_go_on_while_batches_are_applied() {
    let dir = tempfile::tempdir().unwrap();
    let directory = SledDirectory::open(&dir.path().join("directory"), Default::default()).unwrap();
    let at = |file: u32| (0..500_u64).map(|n| (key(1, n.into()), place(file, n))).collect::<Vec<_>>();
    directory.apply(&batch(1, &at(1), &[])).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [0_u64, 250].map(|first| {
            let (directory, done) = (&directory, &done);
            scope.spawn(move || {
                let (mut newest, mut reads) = (0, 0_u64);
                while !done.load(std::sync::atomic::Ordering::Acquire) || reads == 0 {
                    let found = find(directory, key(1, first.into())).unwrap();
                    assert!(
                        found >= place(newest, first) && found.offset == first,
                        "{found:?} after {newest}"
                    );
                    newest = found.file;
                    reads += 1;
                }
            })
        });
        for lsn in 2..40 {
            directory.apply(&batch(lsn.into(), &at(lsn), &[])).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Release);
        for reader in readers {
            reader.join().unwrap();
        }
    });
    assert_eq!(all(&directory, 10_000), at(39));
}

/// Changes what is stored without the stamp, as sled does when it loses a page or brings an old one back.
fn behind_the_back(path: &Path, writes: impl FnOnce(&mut Writes)) {
    let tree = Guarded::open(path, 1 << 20).unwrap();
    let mut changes = Writes::default();
    writes(&mut changes);
    tree.write(changes).unwrap();
}

#[test]
fn entries_and_jobs_that_do_not_fit_their_stamps_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("directory");
    let entries = entries(1_000);
    let expected = stamp_of(3, &entries);
    let (first, at_first) = entries[0];
    let bytes_of = |of: MemoryKey, at: Place| blocks::to_bytes(&[entry((of, at))]);
    let lost = |writes: &mut Writes| writes.remove(&first.to_bytes());
    let old = |writes: &mut Writes| writes.put(&first.to_bytes(), &bytes_of(first, place(0, 7)));
    let added = |writes: &mut Writes| writes.put(&key(9, 9).to_bytes(), &bytes_of(key(9, 9), at_first));
    let malformed = |writes: &mut Writes| writes.put(&first.to_bytes(), b"short");
    let no_key = |writes: &mut Writes| writes.put(b"p?", b"");
    let no_stamp = |writes: &mut Writes| writes.put(b"s", &[9; 33]);
    let old_job = |writes: &mut Writes| writes.put(b"jcompact", b"older");
    type Change<'a> = (&'a str, &'a dyn Fn(&mut Writes));
    let cases: [Change; 7] = [
        ("Entries", &lost),
        ("Entries", &old),
        ("Entries", &added),
        ("Unreadable(Malformed", &malformed),
        ("Unreadable(Malformed", &no_key),
        ("Unreadable(Malformed", &no_stamp),
        ("Jobs", &old_job),
    ];
    for (number, (why, change)) in cases.into_iter().enumerate() {
        let directory =
            SledDirectory::rebuild(&path, Default::default(), Lsn(3), source(&entries)()).unwrap();
        directory.put_job(b"compact", b"newer").unwrap();
        drop(directory);
        behind_the_back(&path, change);
        let (directory, state) =
            open_or_rebuild(&path, Default::default(), expected, source(&entries)).unwrap();
        let DirectoryState::Rebuilt { why: found } = state else { panic!("case {number} was believed") };
        assert!(format!("{found:?}").starts_with(why), "case {number}: {found:?}");
        assert_eq!(all(&directory, 10_000), entries);
        assert_eq!(directory.jobs().unwrap(), []);
    }
}
