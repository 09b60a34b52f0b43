//! Drops the segments that a checkpoint has made superfluous, so that the log stays short.

use std::path::PathBuf;

use hindsight_core::Lsn;

use super::Log;
use crate::{
    error::{At, StorageError, is_shortage},
    io::{Io, uninterrupted},
    segment::{BeginError, FRAMES_START, parse_segment_name},
};

/// A segment shorter than this is not ended for the sake of a checkpoint, in bytes of frames; nor one shorter than
/// a quarter of a full one.
const RETIRED_BYTES_MIN: u64 = 1 << 20;

/// What became of segments that were not needed any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedSegments {
    /// How many are gone.
    pub removed: usize,
    /// How many could not be removed; the next call tries again.
    pub left: usize,
}

impl<I: Io> Log<I> {
    /// Removes the segments that lie wholly at or below `lsn`, of which everything is kept elsewhere. The last
    /// segment stays, but when it lies wholly below, too, and is long, the log goes on in a new one first.
    ///
    /// # Errors
    /// [`StorageError::Poisoned`] when a sync failed, now or earlier; [`StorageError::Closed`];
    /// [`StorageError::Io`] when the folder can't be listed.
    pub fn drop_segments_up_to(&self, lsn: Lsn) -> Result<DroppedSegments, StorageError> {
        let mut dropped = self.unlink_up_to(lsn)?;
        if self.retire_up_to(lsn)? {
            let more = self.unlink_up_to(lsn)?;
            dropped = DroppedSegments { removed: dropped.removed + more.removed, left: more.left };
        }
        if dropped.removed > 0 {
            let (io, dir) = self.place();
            uninterrupted(|| io.sync_dir(&dir))
                .at("sync", &dir)
                .map_err(|failure| self.poison_by(failure))?;
        }
        Ok(dropped)
    }

    /// Makes sure that the last segment has no batch that is durable now, beginning a new one if it has. Returns the number of
    /// the first batch that the last segment has or will have.
    ///
    /// # Errors
    /// [`StorageError::Io`] when there is no room for a new segment; the log is as it was. [`StorageError::Poisoned`] and
    /// [`StorageError::Closed`].
    pub(crate) fn begin_segment(&self) -> Result<Lsn, StorageError> {
        let mut writer = self.shared.writer.lock();
        writer.check_open()?;
        if writer.can_retire(Lsn(u64::MAX), 0) {
            let pending = &self.shared.pending;
            let least = FRAMES_START + pending.freeze();
            match writer.rotate(least, &self.shared.space) {
                Ok(_) => pending.move_to(FRAMES_START, writer.allocated()),
                Err(BeginError::Unchanged(failure)) if is_shortage(&failure.source) => {
                    pending.unfreeze();
                    return Err(failure.into());
                }
                Err(BeginError::Unchanged(failure) | BeginError::Unknown(failure)) => {
                    return Err(self.shared.poison(&mut writer, failure).into());
                }
            }
        }
        Ok(writer.first_lsn())
    }

    fn place(&self) -> (std::sync::Arc<I>, PathBuf) {
        let writer = self.shared.writer.lock();
        (writer.io(), writer.dir().to_owned())
    }

    /// Whether a new segment was begun.
    fn retire_up_to(&self, lsn: Lsn) -> Result<bool, StorageError> {
        let bytes_min = RETIRED_BYTES_MIN.min(self.shared.options.segment_bytes / 4);
        let mut writer = self.shared.writer.lock();
        writer.check_open()?;
        if !writer.can_retire(lsn, bytes_min) {
            return Ok(false);
        }
        let pending = &self.shared.pending;
        let least = FRAMES_START + pending.freeze();
        match writer.rotate(least, &self.shared.space) {
            Ok(_) => {
                pending.move_to(FRAMES_START, writer.allocated());
                Ok(true)
            }
            Err(BeginError::Unchanged(failure)) if is_shortage(&failure.source) => {
                pending.unfreeze();
                tracing::warn!(error = %failure, source = %failure.source, "no room for a new log segment: the old one goes on");
                Ok(false)
            }
            Err(BeginError::Unchanged(failure) | BeginError::Unknown(failure)) => {
                Err(self.shared.poison(&mut writer, failure).into())
            }
        }
    }

    /// The folder is not synced here: a segment that comes back is removed by the next start.
    fn unlink_up_to(&self, lsn: Lsn) -> Result<DroppedSegments, StorageError> {
        let current = {
            let writer = self.shared.writer.lock();
            writer.check_open()?;
            writer.first_lsn()
        };
        let (io, dir) = self.place();
        let names = io.list(&dir).at("list", &dir)?;
        let mut segments: Vec<(Lsn, PathBuf)> = names
            .iter()
            .filter_map(|name| Some((parse_segment_name(name)?, dir.join(name))))
            .filter(|(first_lsn, _)| *first_lsn <= current)
            .collect();
        segments.sort_unstable();
        let mut dropped = DroppedSegments::default();
        for pair in segments.windows(2) {
            let [(_, path), (next_first_lsn, _)] = pair else { continue };
            // The segment ends before the next one begins.
            if next_first_lsn.0 > lsn.0 + 1 {
                break;
            }
            match io.unlink(path).at("remove", path) {
                Ok(()) => dropped.removed += 1,
                Err(failure) => {
                    tracing::warn!(error = %failure, source = %failure.source, "a log segment that is not needed stays");
                    dropped.left += 1;
                }
            }
        }
        Ok(dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Floor,
        testing::{
            Fault, FaultKind, MemIo,
            logs::{self, commit, disk, open, segment},
        },
    };

    fn segments(io: &MemIo) -> Vec<PathBuf> {
        logs::segments(io).into_iter().map(|(path, _)| path).collect()
    }

    /// Opens a log of which a checkpoint has everything up to `lsn`, and returns the numbers of what is replayed.
    fn replay(io: &MemIo, lsn: u64) -> (Vec<u64>, crate::Recovered) {
        let mut seen = Vec::new();
        let place = std::path::Path::new(logs::DIR);
        let io = std::sync::Arc::new(io.clone());
        let (_, recovered) =
            Log::open(io, place, logs::STORE_ID, logs::small(), Floor::at(Lsn(lsn)), &mut |lsn, _| {
                seen.push(lsn.0);
                Ok(())
            })
            .unwrap();
        (seen, recovered)
    }

    #[test]
    fn only_what_lies_wholly_below_is_removed_and_never_the_last() {
        let io = disk(1);
        let (log, ..) = open(&io).unwrap();
        (0..90).for_each(|_| commit(&log, 1).unwrap());
        let all = segments(&io);
        assert!(all.len() >= 4, "{all:?}");
        let second = parse_segment_name(all[1].file_name().unwrap()).unwrap();
        assert_eq!(log.drop_segments_up_to(Lsn(second.0 - 2)).unwrap(), DroppedSegments::default());
        let dropped = log.drop_segments_up_to(Lsn(second.0 - 1)).unwrap();
        assert_eq!((dropped.removed, segments(&io)), (1, all[1..].to_vec()));
        let dropped = log.drop_segments_up_to(Lsn(89)).unwrap();
        assert_eq!((dropped.removed, segments(&io)), (all.len() - 2, all[all.len() - 1..].to_vec()));
        commit(&log, 1).unwrap();
        assert_eq!(replay(&io, 89).0, [90, 91]);
    }

    #[test]
    fn a_long_last_segment_is_ended_and_a_short_one_is_not() {
        let io = disk(1);
        let (log, ..) = open(&io).unwrap();
        commit(&log, 2).unwrap();
        assert_eq!(log.drop_segments_up_to(Lsn(2)).unwrap().removed, 0);
        log.append(&[7; 5_000]).unwrap();
        log.commit_step().unwrap();
        assert_eq!(log.drop_segments_up_to(Lsn(2)).unwrap().removed, 0);
        assert_eq!(log.drop_segments_up_to(Lsn(3)).unwrap().removed, 1);
        assert_eq!(segments(&io), [segment(4)]);
        // The new one has no batch.
        assert_eq!(log.drop_segments_up_to(Lsn(3)).unwrap().removed, 0);
        log.append(b"more").unwrap();
        log.close().unwrap();
        assert!(matches!(log.drop_segments_up_to(Lsn(4)), Err(StorageError::Closed)));
        let (seen, recovered) = replay(&io, 3);
        assert_eq!((seen, recovered.clean_shutdown), (vec![4], true));
    }

    #[test]
    fn without_room_for_a_new_segment_the_old_one_goes_on() {
        let io = disk(1);
        let (log, ..) = open(&io).unwrap();
        log.append(&[7; 5_000]).unwrap();
        log.commit_step().unwrap();
        // The folder is listed, then the new segment is opened.
        let fault = Fault { at_call: io.counts().calls + 1, kind: FaultKind::Errno(28), is_sticky: false };
        io.inject(fault);
        assert_eq!(log.drop_segments_up_to(Lsn(1)).unwrap(), DroppedSegments::default());
        assert!(log.poison().is_none());
        log.append(b"more").unwrap();
        log.commit_step().unwrap();
        assert_eq!(replay(&io, 1).0, [2]);
    }

    #[test]
    fn removed_segments_that_came_back_may_have_gaps_and_go_again() {
        let io = disk(1);
        let (log, ..) = open(&io).unwrap();
        (0..90).for_each(|_| commit(&log, 1).unwrap());
        drop(log);
        let all = segments(&io);
        // A crash kept some of the removals and lost others; one of those that are back is damaged.
        io.unlink(&all[1]).unwrap();
        io.put_file(&all[0], b"damaged");
        let (seen, recovered) = replay(&io, 88);
        assert_eq!(seen, [89, 90]);
        assert!(recovered.removed.contains(&all[0]));
        assert_eq!(segments(&io), all[all.len() - 1..]);
    }
}
