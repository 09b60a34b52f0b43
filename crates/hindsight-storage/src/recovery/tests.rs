#![expect(clippy::cast_possible_truncation, reason = "offsets and counts of these tests are small")]

use std::path::PathBuf;

use super::*;
use crate::{
    StorageErrorKind,
    frame::HEADER_BYTES,
    segment::{FRAMES_START, SEGMENT_HEADER_BYTES, SegmentFault, next_sector},
    testing::{
        Fault, FaultKind, MemIo,
        logs::{self, DIR, append, commit, disk, open, payload, segment},
    },
};

mod crash;

fn room(io: &MemIo) -> Space<MemIo> {
    Space::without_reserve(&std::sync::Arc::new(io.clone()), Path::new(DIR))
}

/// A log of `batches` commits of one batch each, closed or left as a kill leaves it.
fn log_of(batches: u64, is_closed: bool) -> MemIo {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    (0..batches).for_each(|_| commit(&log, 1).unwrap());
    if is_closed {
        log.close().unwrap();
    }
    io
}

/// Where the frames of a log of single commits begin and end, if it is one segment.
fn frames(batches: u64) -> Vec<std::ops::Range<usize>> {
    let mut end = FRAMES_START;
    (1..=batches)
        .map(|lsn| {
            let start = next_sector(end);
            end = start + (HEADER_BYTES + payload(lsn).len()) as u64;
            start as usize..end as usize
        })
        .collect()
}

/// A disk like `io` in which a file has other content.
fn with_file(io: &MemIo, path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> MemIo {
    let copy = io.after_kill();
    let mut bytes = copy.read_file(path).unwrap_or_default();
    change(&mut bytes);
    copy.put_file(path, &bytes);
    copy
}

/// Opening fails, and leaves every byte as it was.
fn refused(io: &MemIo) -> StorageError {
    let before = io.files();
    let error = open(io).map(|(_, recovered, batches)| (recovered, batches)).unwrap_err();
    assert_eq!(io.files(), before, "a refused open must change nothing: {error}");
    error
}

#[test]
fn a_commit_torn_at_any_byte_is_given_up_and_the_log_goes_on() {
    let io = log_of(4, false);
    let last = frames(4).pop().unwrap();
    for cut in last.clone() {
        let zeroed = with_file(&io, &segment(1), |bytes| bytes[cut..].fill(0));
        let shortened = with_file(&io, &segment(1), |bytes| bytes.truncate(cut));
        for torn in [zeroed, shortened] {
            let (log, recovered, batches) = open(&torn).unwrap();
            assert_eq!(batches, 3, "cut at {cut}");
            if cut > last.start {
                let tail = recovered.torn.unwrap();
                assert_eq!((tail.lsn, tail.offset, tail.path), (Lsn(4), last.start as u64, segment(1)));
                let saved = torn.read_file(&tail.saved_to).unwrap();
                assert!(
                    !saved.is_empty() && io.read_file(&segment(1)).unwrap()[last.start..].starts_with(&saved)
                );
                assert_eq!(tail.bytes, saved.len() as u64);
            } else {
                assert_eq!(recovered.torn, None, "nothing of the commit is there");
            }
            commit(&log, 2).unwrap();
            drop(log);
            let (_, recovered, batches) = open(&torn).unwrap();
            assert_eq!((batches, recovered.torn), (5, None));
        }
    }
}

#[test]
fn a_flipped_bit_below_the_witness_stops_the_start() {
    for is_closed in [false, true] {
        let io = log_of(5, is_closed);
        // The last commit has no witness, unless the log was closed after it.
        let witnessed = if is_closed { 5 } else { 4 };
        for (at, frame) in frames(5).into_iter().enumerate().take(witnessed) {
            for byte in frame.clone() {
                let bad = with_file(&io, &segment(1), |bytes| bytes[byte] ^= 1 << (byte % 8));
                let error = refused(&bad);
                assert_eq!(error.kind(), StorageErrorKind::Corrupt);
                let StorageError::Corrupt { path, offset, lsn, durable_lsn, .. } = error else {
                    panic!("{error}")
                };
                assert_eq!((path, offset, lsn.0), (segment(1), frame.start as u64, at as u64 + 1));
                assert_eq!(durable_lsn.0, witnessed as u64);
            }
        }
    }
}

#[test]
fn a_flipped_bit_above_the_witness_is_a_torn_commit_and_never_a_wrong_value() {
    let io = log_of(5, false);
    for byte in frames(5).pop().unwrap() {
        for bit in 0..8 {
            let bad = with_file(&io, &segment(1), |bytes| bytes[byte] ^= 1 << bit);
            let (_, recovered, batches) = open(&bad).unwrap();
            assert_eq!((batches, recovered.torn.unwrap().lsn), (4, Lsn(5)), "byte {byte} bit {bit}");
        }
    }
}

#[test]
fn a_lost_page_before_a_kept_one_is_torn_and_after_a_witness_it_is_damage() {
    let io = disk(1);
    let (log, ..) = open(&io).unwrap();
    commit(&log, 1).unwrap();
    commit(&log, 20).unwrap();
    // The second frame begins on a sector of its own; everything behind it is sound.
    let hole = next_sector(frames(1)[0].end as u64) as usize;
    let lose_page = |bytes: &mut Vec<u8>| bytes[hole..hole + 512].fill(0);
    let torn = with_file(&io, &segment(1), lose_page);
    let (_, recovered, batches) = open(&torn).unwrap();
    assert_eq!((batches, recovered.torn.unwrap().fault), (1, FrameFault::Hole));

    log.witness_step().unwrap();
    let damaged = with_file(&io, &segment(1), lose_page);
    assert!(matches!(refused(&damaged), StorageError::Corrupt { lsn: Lsn(2), durable_lsn: Lsn(21), .. }));
}

#[test]
fn damage_in_any_segment_but_the_last_stops_the_start() {
    let io = log_of(60, false);
    let segments = logs::segments(&io);
    assert!(segments.len() >= 3);
    for (path, bytes) in &segments[..segments.len() - 1] {
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        // Even the very last frame, that no other frame of this segment witnesses.
        for byte in [FRAMES_START as usize, end] {
            let bad = with_file(&io, path, |bytes| bytes[byte] ^= 1);
            assert!(matches!(refused(&bad), StorageError::Corrupt { path: found, .. } if found == *path));
        }
        let cut = with_file(&io, path, |bytes| bytes.truncate(end));
        assert_eq!(refused(&cut).kind(), StorageErrorKind::Corrupt);
    }
}

#[test]
fn a_damaged_header_stops_the_start_where_frames_depend_on_it() {
    let io = log_of(3, false);
    for byte in 0..SEGMENT_HEADER_BYTES {
        let bad = with_file(&io, &segment(1), |bytes| bytes[byte] ^= 1);
        let error = refused(&bad);
        assert!(
            matches!(error, StorageError::CorruptSegment { fault: SegmentFault::BadHeader, .. }),
            "byte {byte}: {error}"
        );
    }
    let zeroed = with_file(&io, &segment(1), |bytes| bytes[..SEGMENT_HEADER_BYTES].fill(0));
    assert!(matches!(refused(&zeroed), StorageError::CorruptSegment { fault: SegmentFault::NoHeader, .. }));
}

#[test]
fn a_missing_a_foreign_and_a_renamed_segment_stop_the_start() {
    let io = log_of(60, false);
    let (paths, contents): (Vec<PathBuf>, Vec<Vec<u8>>) = logs::segments(&io).into_iter().unzip();
    let missing = io.after_kill();
    missing.unlink(&paths[1]).unwrap();
    assert!(matches!(
        refused(&missing),
        StorageError::CorruptSegment { fault: SegmentFault::Gap { .. }, .. }
    ));
    let no_first = io.after_kill();
    no_first.unlink(&paths[0]).unwrap();
    assert!(matches!(
        refused(&no_first),
        StorageError::CorruptSegment { lsn: Lsn(1), fault: SegmentFault::Gap { .. }, .. }
    ));
    let swapped = with_file(&io, &paths[0], |bytes| bytes.clone_from(&contents[1]));
    assert!(matches!(
        refused(&swapped),
        StorageError::CorruptSegment { fault: SegmentFault::Name { .. }, .. }
    ));

    // A log with the same numbers, but other batches and salts.
    let other = disk(2);
    let (log, ..) = logs::open_with(&other, logs::small()).unwrap();
    (1..=60).for_each(|lsn| {
        log.append(&vec![9; payload(lsn).len()]).unwrap();
        log.commit_step().unwrap();
    });
    let spliced = with_file(&io, &paths[1], |bytes| bytes.clone_from(&other.read_file(&paths[1]).unwrap()));
    assert!(matches!(refused(&spliced), StorageError::CorruptSegment { fault: SegmentFault::Chain, .. }));
    let foreign = |store_id| {
        let place = LogPlace { dir: DIR.into(), store_id, options: logs::small() };
        recover(&io, &place, &room(&io), Floor::default(), &mut |_, _| Ok(()), &mut || Ok(())).map(|_| ())
    };
    let error = foreign(78).unwrap_err();
    assert!(matches!(
        error,
        StorageError::CorruptSegment { fault: SegmentFault::OtherStore { expected: 78, found: 77 }, .. }
    ));
    foreign(77).unwrap();
}

#[test]
fn a_last_segment_without_a_header_is_removed_when_nothing_was_in_it() {
    let io = log_of(60, false);
    let files = logs::segments(&io);
    let (last, content) = files.last().unwrap();
    let next = segment(61);
    let half = |bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(&content[..20]);
        bytes.resize(8192, 0);
    };
    for leftover in [
        with_file(&io, &next, |_| {}),
        with_file(&io, &next, |bytes| bytes.resize(8192, 0)),
        with_file(&io, &next, |bytes| bytes.extend_from_slice(&content[..20])),
        with_file(&io, &next, half),
    ] {
        let (log, recovered, batches) = open(&leftover).unwrap();
        assert_eq!((batches, recovered.removed), (60, vec![next.clone()]));
        commit(&log, 30).unwrap();
        drop(log);
        assert_eq!(open(&leftover).unwrap().2, 90);
    }
    // The same of a segment that has frames is damage.
    let beheaded = with_file(&io, last, |bytes| bytes[..FRAMES_START as usize].fill(0));
    assert!(matches!(refused(&beheaded), StorageError::CorruptSegment { fault: SegmentFault::NoHeader, .. }));
    // And so is one that can't follow.
    let far = with_file(&io, &segment(99), |_| {});
    assert_eq!(refused(&far).kind(), StorageErrorKind::Corrupt);
    // The only segment of a new log.
    let new = disk(1);
    new.put_file(&segment(1), &[0; 4096]);
    assert_eq!(open(&new).unwrap().1.removed, [segment(1)]);
}

#[test]
fn junk_is_ignored_and_unfinished_segments_are_removed() {
    let io = log_of(3, false);
    for number in 0..200 {
        io.put_file(&Path::new(DIR).join(format!(".junk-{number}.log.bak")), b"junk");
    }
    let unfinished = PathBuf::from(format!("{DIR}/00000000000000000004.log.tmp"));
    io.put_file(&unfinished, b"half a header");
    let (_, recovered, batches) = open(&io).unwrap();
    assert_eq!((batches, recovered.ignored, recovered.removed), (3, 200, vec![unfinished.clone()]));
    assert_eq!(io.read_file(&unfinished), None);
    assert_eq!((logs::segments(&io).len(), io.files().len()), (1, 202));
}

#[test]
fn the_last_three_torn_tails_are_kept() {
    let io = log_of(1, false);
    for _ in 0..5 {
        let (log, ..) = open(&io).unwrap();
        commit(&log, 2).unwrap();
        drop(log);
        let (path, mut bytes) = logs::segments(&io).pop().unwrap();
        let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        bytes[last] ^= 1;
        io.put_file(&path, &bytes);
    }
    let torn = open(&io).unwrap().1.torn.unwrap();
    assert_eq!((torn.lsn, torn.saved_to), (Lsn(7), torn::saved_path(Path::new(DIR), Lsn(7))));
    let kept: Vec<_> = io
        .files()
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.extension().is_some_and(|extension| extension == "bak"))
        .collect();
    assert_eq!(kept, [5, 6, 7].map(|lsn| torn::saved_path(Path::new(DIR), Lsn(lsn))));
    // The torn bytes stay where they are, behind the end that the next segment names.
    assert_eq!(open(&io).unwrap().2, 6);
}

#[test]
fn the_scan_finds_a_header_across_the_border_of_two_reads() {
    let io = disk(1);
    let (log, ..) = logs::open_with(&io, crate::LogOptions::default()).unwrap();
    commit(&log, 1).unwrap();
    // The scan begins at the damaged frame and reads 1 MiB at a time.
    let filler = (1 << 20) - 2 * HEADER_BYTES - 20;
    log.append(&vec![1; filler]).unwrap();
    log.append(b"last").unwrap();
    log.commit_step().unwrap();
    let start = next_sector(frames(1)[0].end as u64) as usize;
    let bad = with_file(&io, &segment(1), |bytes| bytes[start] ^= 1);
    let file = crate::io::Io::open(&bad, &segment(1), crate::io::OpenMode::Read).unwrap();
    let salt = crate::segment::SegmentHeader::decode(&bad.read_file(&segment(1)).unwrap()).unwrap().salt;
    let scan = witness::scan(&file, start as u64, salt).unwrap();
    assert_eq!(scan.synced_lsn, Lsn(1));
    let end = start + 2 * HEADER_BYTES + filler + 4;
    assert_eq!(scan.written_end, end as u64);
}

#[test]
fn a_sink_that_refuses_stops_the_replay() {
    let io = log_of(3, false);
    let place = LogPlace { dir: DIR.into(), store_id: logs::STORE_ID, options: logs::small() };
    let mut sink = |lsn: Lsn, _: &[u8]| if lsn.0 == 2 { Err(StorageError::Closed) } else { Ok(()) };
    let result = recover(&io, &place, &room(&io), Floor::default(), &mut sink, &mut || Ok(()));
    assert!(matches!(result.map(|_| ()), Err(StorageError::Closed)));
}

/// Who works through the batches later and can't has the last word before anything is written.
#[test]
fn a_sink_that_refuses_at_the_end_leaves_the_disk_as_it_is() {
    let io = log_of(3, true);
    let place = LogPlace { dir: DIR.into(), store_id: logs::STORE_ID, options: logs::small() };
    let (before, mut seen) = (io.files(), 0);
    let mut sink = |_: Lsn, _: &[u8]| {
        seen += 1;
        Ok(())
    };
    let mut end = || Err(StorageError::Closed);
    let result = recover(&io, &place, &room(&io), Floor::default(), &mut sink, &mut end);
    assert!(matches!(result.map(|_| ()), Err(StorageError::Closed)));
    assert_eq!((seen, io.files()), (3, before));
}
