//! What every directory does: each case gets a new one. They run against the one on sled, its twin in memory, and
//! both side by side.

use hindsight_core::{Lsn, MemoryId};

use super::{
    BATCH_ENTRIES_MAX, Directory, DirectoryBatch, DirectoryError, JOB_KEY_BYTES_MAX, JOB_VALUE_BYTES_MAX,
    JOBS_MAX, MemoryDirectory, MemoryKey, PAGE_ENTRIES_MAX, SledDirectory, Stamp, mirror::Mirror,
};
use crate::records::{NamespaceId, RecordPosition};

/// A position without its namespace, which the tests name in the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: u32,
    pub(super) offset: u64,
}

pub(super) fn entry((key, place): (MemoryKey, Place)) -> (MemoryId, RecordPosition) {
    (key.id, RecordPosition { namespace: key.namespace, file: place.file, offset: place.offset })
}

fn pair((id, position): (MemoryId, RecordPosition)) -> (MemoryKey, Place) {
    (MemoryKey::of(id, position), place(position.file, position.offset))
}

/// Where a memory lies.
pub(super) fn find(directory: &dyn Directory, key: MemoryKey) -> Option<Place> {
    directory.get(key).unwrap().map(|position| pair((key.id, position)).1)
}

fn page(directory: &dyn Directory, from: MemoryKey, limit: usize) -> Vec<(MemoryKey, Place)> {
    directory.page(from, limit).unwrap().into_iter().map(pair).collect()
}

pub(super) fn key(namespace: u32, id: u128) -> MemoryKey {
    MemoryKey { namespace: NamespaceId(namespace), id: MemoryId::from_u128(id) }
}

pub(super) fn place(file: u32, offset: u64) -> Place {
    Place { file, offset }
}

pub(super) fn batch(lsn: u64, puts: &[(MemoryKey, Place)], removes: &[MemoryKey]) -> DirectoryBatch {
    let puts = puts.iter().copied().map(entry).collect();
    DirectoryBatch { puts, removes: removes.to_vec(), ..DirectoryBatch::new(Lsn(lsn)) }
}

/// The stamp of a directory that holds exactly these.
pub(super) fn stamp_of(lsn: u64, entries: &[(MemoryKey, Place)]) -> Stamp {
    let mut stamp = Stamp { lsn: Lsn(lsn), ..Stamp::EMPTY };
    for (id, position) in entries.iter().copied().map(entry) {
        stamp.replace(id, None, Some(position));
    }
    stamp
}

/// Everything, page by page.
pub(super) fn all(directory: &dyn Directory, limit: usize) -> Vec<(MemoryKey, Place)> {
    let mut found = Vec::new();
    let mut from = Some(key(0, 0));
    while let Some(key) = from {
        let page = page(directory, key, limit);
        from = page.last().and_then(|(key, _)| key.successor());
        found.extend(page);
    }
    found
}

const CASES: &[fn(&dyn Directory)] = &[
    a_new_one_is_empty,
    puts_move_and_removes_take_away,
    one_id_in_two_namespaces,
    applying_again_changes_nothing_and_an_older_batch_is_skipped,
    dropped_namespaces_go_whole,
    the_stamp_is_known_before,
    pages,
    too_large_a_batch_changes_nothing,
    jobs,
    jobs_have_limits,
];

#[test]
fn in_memory() {
    for case in CASES {
        case(&MemoryDirectory::new());
    }
}

#[test]
fn on_sled() {
    for case in CASES {
        let dir = tempfile::tempdir().unwrap();
        case(&SledDirectory::open(&dir.path().join("directory"), Default::default()).unwrap());
    }
}

#[test]
fn side_by_side() {
    for case in CASES {
        case(&Mirror::new());
    }
}

fn a_new_one_is_empty(directory: &dyn Directory) {
    assert_eq!(directory.stamp().unwrap(), None);
    assert_eq!(find(directory, key(1, 1)), None);
    assert_eq!(all(directory, 10), []);
    assert_eq!(directory.apply(&DirectoryBatch::new(Lsn(3))).unwrap(), stamp_of(3, &[]));
    assert_eq!(directory.stamp().unwrap(), Some(stamp_of(3, &[])));
}

fn puts_move_and_removes_take_away(directory: &dyn Directory) {
    let (a, b, c) = (key(1, 1), key(1, 2), key(1, 3));
    let stamp = directory.apply(&batch(1, &[(b, place(1, 64)), (a, place(1, 0))], &[])).unwrap();
    assert_eq!(stamp, stamp_of(1, &[(a, place(1, 0)), (b, place(1, 64))]));
    // Of two puts of one key the later wins, and a put wins over a remove.
    let puts = [(a, place(2, 0)), (a, place(2, 7)), (c, place(2, 9))];
    let stamp = directory.apply(&batch(2, &puts, &[b, c, key(1, 9)])).unwrap();
    let expected = [(a, place(2, 7)), (c, place(2, 9))];
    assert_eq!(stamp, stamp_of(2, &expected));
    assert_eq!(directory.stamp().unwrap(), Some(stamp));
    assert_eq!(find(directory, a), Some(place(2, 7)));
    assert_eq!(find(directory, b), None);
    assert_eq!(all(directory, 10), expected);
}

fn one_id_in_two_namespaces(directory: &dyn Directory) {
    let (here, there) = (key(1, 5), key(2, 5));
    directory.apply(&batch(1, &[(here, place(1, 0)), (there, place(4, 4))], &[])).unwrap();
    directory.apply(&batch(2, &[], &[here])).unwrap();
    assert_eq!(find(directory, here), None);
    assert_eq!(find(directory, there), Some(place(4, 4)));
}

fn applying_again_changes_nothing_and_an_older_batch_is_skipped(directory: &dyn Directory) {
    let (a, b) = (key(1, 1), key(1, 2));
    let old = batch(4, &[(a, place(1, 0)), (b, place(1, 8))], &[]);
    let new = batch(5, &[(a, place(2, 0))], &[b]);
    directory.apply(&old).unwrap();
    let stamp = directory.apply(&new).unwrap();
    for again in [&new, &old, &new] {
        assert_eq!(directory.apply(again).unwrap(), stamp);
        assert_eq!(all(directory, 10), [(a, place(2, 0))]);
    }
    // A second part of the same checkpoint is none that was seen.
    let part = batch(5, &[(b, place(2, 8))], &[]);
    assert_eq!(directory.apply(&part).unwrap(), stamp_of(5, &[(a, place(2, 0)), (b, place(2, 8))]));
}

fn dropped_namespaces_go_whole(directory: &dyn Directory) {
    let many: Vec<_> = (0..25_000_u64).map(|n| (key(7, u128::from(n)), place(1, n))).collect();
    let others = [(key(6, u128::MAX), place(1, 1)), (key(8, 0), place(1, 2))];
    directory.apply(&batch(1, &[&many[..], &others].concat(), &[])).unwrap();
    let mut drop = batch(2, &[(key(9, 1), place(3, 3))], &[key(7, 3)]);
    drop.dropped_namespaces = vec![NamespaceId(7), NamespaceId(50), NamespaceId(7)];
    let left = [others[0], others[1], (key(9, 1), place(3, 3))];
    assert_eq!(directory.stamp_after(std::slice::from_ref(&drop)).unwrap(), stamp_of(2, &left));
    for _ in 0..2 {
        assert_eq!(directory.apply(&drop).unwrap(), stamp_of(2, &left));
        assert_eq!(all(directory, 2), left);
    }
    let mut last = batch(3, &[], &[]);
    last.dropped_namespaces = vec![NamespaceId(6), NamespaceId(8), NamespaceId(9), NamespaceId(u32::MAX)];
    assert_eq!(directory.apply(&last).unwrap(), stamp_of(3, &[]));
}

fn the_stamp_is_known_before(directory: &dyn Directory) {
    let (a, b) = (key(1, 1), key(2, 2));
    let mut steps = vec![
        batch(1, &[(a, place(1, 0)), (b, place(1, 8))], &[]),
        batch(2, &[(a, place(2, 0)), (key(u32::MAX, u128::MAX), place(2, 8))], &[b, key(5, 5)]),
        batch(1, &[(b, place(9, 9))], &[]),
        batch(3, &[(a, place(3, 1))], &[a]),
    ];
    steps[3].dropped_namespaces = vec![NamespaceId(1), NamespaceId(u32::MAX)];
    for step in steps {
        let expected = directory.stamp_after(std::slice::from_ref(&step)).unwrap();
        assert_eq!(directory.apply(&step).unwrap(), expected);
    }
    assert_eq!(directory.stamp().unwrap(), Some(stamp_of(3, &[(a, place(3, 1))])));
}

fn pages(directory: &dyn Directory) {
    let entries: Vec<_> = (0..12_u32).map(|n| (key(n % 3, u128::from(n)), place(1, n.into()))).collect();
    directory.apply(&batch(1, &entries, &[])).unwrap();
    let mut sorted = entries;
    sorted.sort_unstable();
    for limit in [1, 5, 11, 12, 13, usize::MAX] {
        assert_eq!(all(directory, limit), sorted);
    }
    assert_eq!(page(directory, key(0, 0), 0), []);
    assert_eq!(page(directory, key(1, 4), 2), sorted[5..7]);
    assert_eq!(page(directory, key(3, 0), 2), []);
    let many: Vec<_> = (0..=PAGE_ENTRIES_MAX as u64).map(|n| (key(4, n.into()), place(1, n))).collect();
    directory.apply(&batch(2, &many, &[])).unwrap();
    assert_eq!(page(directory, key(4, 0), usize::MAX), many[..PAGE_ENTRIES_MAX]);
}

fn too_large_a_batch_changes_nothing(directory: &dyn Directory) {
    let puts: Vec<_> = (0..BATCH_ENTRIES_MAX as u64).map(|n| (key(1, n.into()), place(1, n))).collect();
    let large = batch(1, &puts, &[key(2, 1)]);
    for refused in [directory.apply(&large), directory.stamp_after(std::slice::from_ref(&large))] {
        let error = refused.unwrap_err();
        assert!(matches!(error, DirectoryError::BatchTooLarge { entries: 100_001, .. }), "{error:?}");
        assert!(!error.needs_rebuild());
    }
    assert_eq!(directory.stamp().unwrap(), None);
    assert_eq!(find(directory, key(1, 0)), None);
}

fn jobs(directory: &dyn Directory) {
    directory.apply(&batch(1, &[(key(1, 1), place(1, 0))], &[])).unwrap();
    let stamp = directory.stamp().unwrap();
    directory.put_job(b"purge/7", b"at 3").unwrap();
    directory.put_job(b"compact", "第三步".as_bytes()).unwrap();
    directory.put_job(b"purge/7", b"").unwrap();
    assert_eq!(directory.job(b"purge/7").unwrap(), Some(Vec::new()));
    assert_eq!(directory.job(b"compact").unwrap().unwrap(), "第三步".as_bytes());
    assert_eq!(directory.job(b"purge").unwrap(), None);
    directory.put_job(b"a", b"1").unwrap();
    directory.remove_job(b"compact").unwrap();
    directory.remove_job(b"compact").unwrap();
    assert_eq!(directory.jobs().unwrap(), [(b"a".to_vec(), b"1".to_vec()), (b"purge/7".to_vec(), vec![])]);
    // Jobs are no entries.
    assert_eq!(directory.stamp().unwrap(), stamp);
    assert_eq!(all(directory, 10), [(key(1, 1), place(1, 0))]);
}

fn jobs_have_limits(directory: &dyn Directory) {
    let longest = [0xff; JOB_KEY_BYTES_MAX];
    directory.put_job(&longest, &[1; JOB_VALUE_BYTES_MAX]).unwrap();
    assert_eq!(directory.job(&longest).unwrap(), Some(vec![1; JOB_VALUE_BYTES_MAX]));
    let error = directory.put_job(&[1; JOB_KEY_BYTES_MAX + 1], b"").unwrap_err();
    assert!(matches!(error, DirectoryError::JobKey { bytes: 129, .. }), "{error:?}");
    let error = directory.put_job(b"", b"").unwrap_err();
    assert!(matches!(error, DirectoryError::JobKey { bytes: 0, .. }), "{error:?}");
    let error = directory.put_job(b"k", &[1; JOB_VALUE_BYTES_MAX + 1]).unwrap_err();
    assert!(matches!(error, DirectoryError::JobValue { bytes: 4_097, .. }), "{error:?}");
    for number in 1..JOBS_MAX as u64 {
        directory.put_job(&number.to_be_bytes(), b"x").unwrap();
    }
    let error = directory.put_job(b"one too many", b"").unwrap_err();
    assert!(matches!(error, DirectoryError::TooManyJobs { .. }) && !error.needs_rebuild(), "{error:?}");
    directory.put_job(&longest, b"replaced").unwrap();
    assert_eq!(directory.jobs().unwrap().len(), JOBS_MAX);
    directory.remove_job(&longest).unwrap();
    directory.put_job(b"one fewer", b"").unwrap();
}
