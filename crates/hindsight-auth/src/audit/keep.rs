//! Giving up the oldest files of a trail, so that it does not fill the disk; and how that is told from a trail whose beginning
//! somebody took away.
//!
//! Before files are removed, an entry says so and names the last entry that goes with its hash. [`verify`](super::verify) takes a
//! trail that begins later than with entry 1 only where a sound entry of it says that.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use hindsight_core::Timestamp;

use super::{Anchor, AuditError, Entry, Event, Trail, failed, files};
use crate::file;

/// The call of the entry that says that older ones were removed.
pub const REMOVED: &str = "Audit/Removed";

/// How much of a trail is kept. The newest file always is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// For so many days; 0: for ever.
    pub days: u32,
    /// At most so many bytes of files that are ended; 0: any number.
    pub bytes: u64,
}

/// What was given up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Given {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their entries.
    pub entries: u64,
}

impl Trail {
    /// Removes the oldest files that need not be kept, after an entry that says so is durable.
    ///
    /// # Errors
    /// When a file can't be read, written or removed; what is left is removed the next time.
    pub fn keep(&mut self, keep: Keep, now: Timestamp) -> Result<Given, AuditError> {
        let files = files(self.folder())?;
        let gone = doomed(&files, keep, now)?;
        let (Some((last, _)), Some((_, next))) = (gone.last(), files.get(gone.len())) else {
            return Ok(Given::default());
        };
        let first = files.first().map_or(*last, |(first, _)| *first);
        // What can't be read as a trail is no business of a broom.
        let Some(kept) = first_entry(next).map_err(failed("read", next))? else {
            return Ok(Given::default());
        };
        let entries = kept.seq.saturating_sub(first);
        self.append([removed(&kept, entries, now)])?;
        self.sync()?;
        let mut given = Given { entries, ..Given::default() };
        for (_, path) in gone {
            let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
            std::fs::remove_file(path).map_err(failed("remove", path))?;
            given.files += 1;
            given.bytes += bytes;
        }
        file::sync_folder(self.folder()).map_err(failed("sync", self.folder()))?;
        Ok(given)
    }
}

/// The oldest files that need not be kept: all of their entries are older than the first entry of the file behind them, which
/// tells their age.
fn doomed(files: &[(u64, PathBuf)], keep: Keep, now: Timestamp) -> Result<&[(u64, PathBuf)], AuditError> {
    let ended = files.split_last().map_or(&[][..], |(_, ended)| ended);
    let sizes: Vec<u64> =
        ended.iter().map(|(_, path)| std::fs::metadata(path).map_or(0, |meta| meta.len())).collect();
    let mut left: u64 = sizes.iter().sum();
    let oldest = now.plus_ms(-i64::from(keep.days) * 86_400_000);
    let mut count = 0;
    for (size, (_, next)) in sizes.iter().zip(files.iter().skip(1)) {
        let too_much = keep.bytes > 0 && left > keep.bytes;
        let too_old = keep.days > 0
            && first_entry(next).map_err(failed("read", next))?.is_some_and(|entry| entry.event.at < oldest);
        if !(too_much || too_old) {
            break;
        }
        left -= size;
        count += 1;
    }
    Ok(ended.get(..count).unwrap_or_default())
}

/// The first entry of a file; none where its first line is none.
fn first_entry(path: &Path) -> io::Result<Option<Entry>> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line).ok())
}

/// The entry that says that everything before `kept` was removed.
fn removed(kept: &Entry, count: u64, at: Timestamp) -> Event {
    let last = Anchor { seq: kept.seq.saturating_sub(1), hash: kept.prev.clone() };
    Event {
        at,
        token: String::new(),
        name: String::new(),
        peer: String::new(),
        call: REMOVED.to_owned(),
        namespace: None,
        count,
        result: last.to_string(),
        request_id: String::new(),
    }
}

/// Whether an entry says that everything before `kept` was removed.
pub(super) fn says_removed(entry: &Entry, kept: &Entry) -> bool {
    let last = Anchor { seq: kept.seq.saturating_sub(1), hash: kept.prev.clone() };
    entry.event.call == REMOVED && entry.event.result == last.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{AUDIT_FOLDER, verify};
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    fn event(day: i64) -> Event {
        let mut event = removed(
            &Entry { seq: 1, event: blank(), prev: String::new(), hash: String::new() },
            0,
            Timestamp::from_ms(day * DAY_MS),
        );
        event.call = "MemoryService/Write".to_owned();
        event
    }

    fn blank() -> Event {
        Event {
            at: Timestamp::from_ms(0),
            token: String::new(),
            name: String::new(),
            peer: String::new(),
            call: String::new(),
            namespace: None,
            count: 0,
            result: String::new(),
            request_id: String::new(),
        }
    }

    /// A trail of a hundred days, one entry a day, a few to a file.
    fn hundred_days(data: &Path) -> Trail {
        let mut trail = Trail::open_with(data, 1_000).unwrap();
        for day in 1..=100 {
            trail.append([event(day)]).unwrap();
        }
        trail
    }

    fn names(data: &Path) -> Vec<PathBuf> {
        files(&data.join(AUDIT_FOLDER)).unwrap().into_iter().map(|(_, path)| path).collect()
    }

    #[test]
    fn s7_old_files_go_and_what_is_kept_is_still_verified() {
        let dir = tempfile::tempdir().unwrap();
        let mut trail = hundred_days(dir.path());
        let now = Timestamp::from_ms(100 * DAY_MS);
        let before = names(dir.path()).len();
        assert_eq!(trail.keep(Keep::default(), now).unwrap(), Given::default());
        let given = trail.keep(Keep { days: 30, bytes: 0 }, now).unwrap();
        assert!(given.files > 3 && given.bytes > 3_000, "{given:?}");
        assert!(names(dir.path()).len() <= before - usize::try_from(given.files).unwrap() + 1);
        let report = verify(dir.path(), trail.head().as_ref()).unwrap();
        assert_eq!(report.faults, []);
        // What is left holds the last 30 days, and an entry about the rest.
        assert_eq!(report.entries, 100 - given.entries + 1);
        assert!(given.entries >= 60 && given.entries < 70, "{given:?}");
        assert_eq!(trail.keep(Keep { days: 30, bytes: 0 }, now).unwrap(), Given::default());
        // A second time, by bytes, and after a new start.
        drop(trail);
        let mut trail = Trail::open_with(dir.path(), 1_000).unwrap();
        assert!(trail.keep(Keep { days: 0, bytes: 3_000 }, now).unwrap().files > 0);
        assert_eq!(verify(dir.path(), trail.head().as_ref()).unwrap().faults, []);
    }

    #[test]
    fn s7_files_that_somebody_else_took_away_are_missed() {
        let dir = tempfile::tempdir().unwrap();
        let mut trail = hundred_days(dir.path());
        let all = names(dir.path());
        std::fs::remove_file(&all[0]).unwrap();
        assert!(!verify(dir.path(), None).unwrap().faults.is_empty());
        // It is missed for as long as it would have been kept: then the trail begins where the entry says.
        let now = Timestamp::from_ms(100 * DAY_MS);
        assert!(trail.keep(Keep { days: 30, bytes: 0 }, now).unwrap().files > 0);
        assert_eq!(verify(dir.path(), None).unwrap().faults, []);
        let left = names(dir.path());
        std::fs::remove_file(&left[0]).unwrap();
        let faults = verify(dir.path(), None).unwrap().faults;
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].problem.contains("the beginning is missing"), "{faults:?}");
    }
}
