//! Searching and checking the trail.

use std::fmt;
use std::path::{Path, PathBuf};

use hindsight_core::Timestamp;

use super::keep::says_removed;
use super::{AUDIT_FOLDER, Anchor, AuditError, Entry, failed, files, key};

/// Which events are looked for; what is not given does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Of this namespace.
    pub namespace: Option<String>,
    /// Of the token with this id.
    pub token: Option<String>,
    /// Of this call, `MemoryService/Write` or `Write`.
    pub call: Option<String>,
    /// With this result, `OK` or a reason.
    pub result: Option<String>,
    /// From then on.
    pub since: Option<Timestamp>,
    /// Before then.
    pub until: Option<Timestamp>,
    /// With a smaller number.
    pub before: Option<u64>,
}

impl Query {
    fn takes(&self, entry: &Entry) -> bool {
        let event = &entry.event;
        let is =
            |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        let call = self.call.as_deref().is_none_or(|call| {
            event.call == call || event.call.rsplit_once('/').is_some_and(|(_, method)| method == call)
        });
        call && is(&self.token, &event.token)
            && is(&self.result, &event.result)
            && self.namespace.as_ref().is_none_or(|wanted| event.namespace.as_ref() == Some(wanted))
            && self.since.is_none_or(|since| event.at >= since)
            && self.until.is_none_or(|until| event.at < until)
            && self.before.is_none_or(|before| entry.seq < before)
    }
}

/// The newest entries that `query` takes, newest first, at most `limit`.
///
/// # Errors
/// When a file can't be read. Lines that can't be read are left out; [`verify`] tells of them.
pub fn search(data: &Path, query: &Query, limit: usize) -> Result<Vec<Entry>, AuditError> {
    let mut found = Vec::new();
    for (first, path) in files(&data.join(AUDIT_FOLDER))?.into_iter().rev() {
        if found.len() >= limit {
            break;
        }
        if query.before.is_some_and(|before| first >= before) {
            continue;
        }
        let bytes = std::fs::read(&path).map_err(failed("read", &path))?;
        let entries = bytes.split(|byte| *byte == b'\n').rev();
        let entries = entries.filter_map(|line| serde_json::from_slice::<Entry>(line).ok());
        found.extend(entries.filter(|entry| query.takes(entry)).take(limit - found.len()));
    }
    Ok(found)
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.problem)
    }
}

/// What checking found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Entries that are as they were written.
    pub entries: u64,
    /// What is not; empty when all is well.
    pub faults: Vec<Fault>,
    /// Where the trail ends; to be kept elsewhere, and given to the next check.
    pub head: Option<Anchor>,
}

/// Checks every entry, and that the trail goes on from `anchor`, if one is given.
///
/// # Errors
/// When a file or the key can't be read.
pub fn verify(data: &Path, anchor: Option<&Anchor>) -> Result<Report, AuditError> {
    let folder = data.join(AUDIT_FOLDER);
    let mut report = Report::default();
    let files = files(&folder)?;
    let mut checked = Checked { key: [0; 32], first: None, is_told: false, last: None, anchor, met: false };
    if !files.is_empty() {
        checked.key = key(data)?;
    }
    let count = files.len();
    for (index, (first, path)) in files.into_iter().enumerate() {
        let bytes = std::fs::read(&path).map_err(failed("read", &path))?;
        checked.file(first, &path, &bytes, index + 1 == count, &mut report);
    }
    if let (Some((path, kept)), false) = (&checked.first, checked.is_told) {
        let problem = format!(
            "the beginning is missing: entry {} is the first, and none says that older ones were removed",
            kept.seq
        );
        report.faults.push(Fault { path: path.clone(), line: 1, problem });
    }
    if let (Some(anchor), false) = (anchor, checked.met) {
        let problem = format!(
            "entry {} with the anchor's hash is not there: the end was cut off, or all was written anew",
            anchor.seq
        );
        report.faults.push(Fault { path: folder, line: 0, problem });
    }
    report.head = checked.last.map(|entry| entry.anchor());
    Ok(report)
}

struct Checked<'a> {
    key: [u8; 32],
    /// The first entry, where it is not number 1.
    first: Option<(PathBuf, Entry)>,
    /// Whether an entry says that what was before it was removed.
    is_told: bool,
    last: Option<Entry>,
    anchor: Option<&'a Anchor>,
    met: bool,
}

impl Checked<'_> {
    fn file(&mut self, first: u64, path: &Path, bytes: &[u8], newest: bool, report: &mut Report) {
        let Report { entries, faults, .. } = report;
        let mut fault = |line: usize, problem: String| {
            faults.push(Fault { path: path.to_owned(), line, problem });
        };
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        if let Some(line) = lines.last().filter(|line| !line.ends_with(b"\n")) {
            // A crash leaves half a line at the end of the trail, which nobody was told of; anywhere else it is damage.
            if !newest || serde_json::from_slice::<Entry>(line).is_ok() {
                fault(lines.len(), "the last line is not whole".to_owned());
            }
            lines.pop();
        }
        for (index, line) in lines.into_iter().enumerate() {
            let Ok(entry) = serde_json::from_slice::<Entry>(line) else {
                fault(index + 1, "this is no entry".to_owned());
                continue;
            };
            // Where the trail begins later, an entry of it has to say why.
            let expected = self.last.as_ref().map_or(entry.seq, |last| last.seq + 1);
            if !entry.is_sound(&self.key) {
                fault(index + 1, format!("entry {} is not as it was written", entry.seq));
            } else if entry.seq != expected {
                fault(index + 1, format!("entry {} stands where {expected} belongs", entry.seq));
            } else if self.last.as_ref().is_some_and(|last| last.hash != entry.prev) {
                fault(index + 1, format!("entry {} does not follow the one before it", entry.seq));
            } else if index == 0 && entry.seq != first {
                fault(1, format!("entry {} stands in the file of {first}", entry.seq));
            } else {
                *entries += 1;
                if self.last.is_none() && entry.seq != 1 {
                    self.first = Some((path.to_owned(), entry.clone()));
                }
                self.is_told |= self.first.as_ref().is_some_and(|(_, kept)| says_removed(&entry, kept));
                self.met |= self.anchor.is_some_and(|anchor| *anchor == entry.anchor());
            }
            self.last = Some(entry);
        }
    }
}
