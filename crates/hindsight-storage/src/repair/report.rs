//! What a repair keeps and what it loses, for programs and for people.

use std::{
    fmt::{self, Write as _},
    path::PathBuf,
};

use serde::Serialize;

/// How much of the manifest could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ManifestFound {
    /// All of it: what has to be there is known, and so is every loss.
    Whole,
    /// All of it, and the log begins behind it: either it is older than the last checkpoint, or the log lacks its
    /// beginning. What there is besides what it names is taken, too.
    Behind,
    /// The newest up to its damage, or the one before it: what has to be there is known in part.
    Part,
    /// Nothing: what there is is all that is known.
    Nothing,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Everything in it is kept.
    Kept,
    /// What of it can be proved is kept.
    Partly,
    /// Nothing of it is kept.
    Lost,
    /// It should be there and is not.
    Missing,
    /// It is no part of this database, or not the file that belongs there; nothing of it is taken.
    Foreign,
}

/// Bytes of a file that can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BadBytes {
    /// Where they begin, in bytes from the start of the file.
    pub offset: u64,
    /// How many; 0 where the rest of the file is gone.
    pub bytes: u64,
}

/// A run of positions of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LsnRange {
    /// The first.
    pub from: u64,
    /// The last; `None` where nobody can tell how far the log went.
    pub to: Option<u64>,
}

/// A file of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairedFile {
    /// The file, below the data directory.
    pub path: PathBuf,
    /// What becomes of it.
    pub fate: Fate,
    /// Records, requests or batches that are kept of it.
    pub kept: u64,
    /// Records and requests that are lost with it, outdated ones included, as far as the manifest counts them; of a log
    /// segment see [`RepairReport::lost_lsns`].
    pub lost: u64,
    /// The bytes that can't be read.
    pub bad: Vec<BadBytes>,
    /// What is wrong with it; empty when nothing is.
    pub note: String,
}

/// A namespace as it will be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairedNamespace {
    /// Its name.
    pub name: String,
    /// Memories that are kept, forgotten ones included.
    pub kept: u64,
    /// Records and requests of it that could not be read in its files: at most so many memories are lost, or shown as they
    /// were before their last change.
    pub lost_entries: u64,
    /// Memories of which the log says more than can be carried out, because what came before is lost: lost wholly, or
    /// kept as they were before.
    pub incomplete: Vec<String>,
    /// Request ids that are kept.
    pub requests: u64,
}

/// What a repair keeps and what it loses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// The damaged data directory. It was not changed.
    pub data: PathBuf,
    /// The new one; `None` when nothing was written.
    pub into: Option<PathBuf>,
    /// `salvage` or `truncate-at`.
    pub mode: &'static str,
    /// Which database it is, as 16 hex digits.
    pub store_id: String,
    /// How much of the manifest could be read.
    pub manifest: ManifestFound,
    /// Everything up to here was in record files.
    pub checkpoint_lsn: u64,
    /// The newest batch that is known to have been durable.
    pub durable_lsn: u64,
    /// The new database goes on after this batch.
    pub last_lsn: u64,
    /// Batches that were durable and are not kept.
    pub lost_lsns: Vec<LsnRange>,
    /// Every file that was looked at.
    pub files: Vec<RepairedFile>,
    /// Every namespace of the new database, and those of which nothing is left.
    pub namespaces: Vec<RepairedNamespace>,
}

impl RepairReport {
    /// Whether anything is lost, as far as can be known.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        self.manifest == ManifestFound::Whole
            && self.lost_lsns.is_empty()
            && self.files.iter().all(|file| file.lost == 0 && file.fate != Fate::Missing)
            && self.namespaces.iter().all(|namespace| namespace.incomplete.is_empty())
    }

    /// Memories that are kept, forgotten ones included.
    #[must_use]
    pub fn kept(&self) -> u64 {
        self.namespaces.iter().map(|namespace| namespace.kept).sum()
    }

    /// The report as JSON, ending in a newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).map_or_else(|_| String::new(), |json| json + "\n")
    }
}

impl fmt::Display for LsnRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Some(to) if to == self.from => write!(f, "lsn {}", self.from),
            Some(to) => write!(f, "lsn {} to {to}", self.from),
            None => write!(f, "lsn {} and all after it", self.from),
        }
    }
}

/// For people, line by line: what is lost first.
impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} of {} (database {})", self.mode, self.data.display(), self.store_id)?;
        if self.is_lossless() {
            writeln!(f, "nothing is lost: every memory is kept as it was")?;
        }
        match self.manifest {
            ManifestFound::Whole => {}
            ManifestFound::Behind => writeln!(
                f,
                "the log begins behind the manifest's last checkpoint: some of it, or of the manifest, is missing"
            )?,
            ManifestFound::Part => writeln!(
                f,
                "LOST the end of the manifest: what is kept is right, and more may be missing than is listed here"
            )?,
            ManifestFound::Nothing => writeln!(
                f,
                "LOST the manifest: what is kept is right, and more may be missing than is listed here"
            )?,
        }
        for range in &self.lost_lsns {
            writeln!(
                f,
                "LOST {range}: memories that were written there are gone, and those that were changed or forgotten there are as they were before"
            )?;
        }
        for namespace in &self.namespaces {
            let RepairedNamespace { name, kept, lost_entries, incomplete, requests } = namespace;
            let mut line = format!("namespace {name}: {kept} memories and {requests} request ids kept");
            if *lost_entries > 0 {
                let _ = write!(line, ", LOST {lost_entries} entries of its record files");
            }
            if !incomplete.is_empty() {
                let _ = write!(line, ", INCOMPLETE {}", incomplete.join(" "));
            }
            writeln!(f, "{line}")?;
        }
        for RepairedFile { path, fate, kept, lost, bad, note } in &self.files {
            let word = match fate {
                Fate::Kept => "kept   ",
                Fate::Partly => "PARTLY ",
                Fate::Lost => "LOST   ",
                Fate::Missing => "MISSING",
                Fate::Foreign => "FOREIGN",
            };
            let mut line = format!("{word}  {}  {kept} entries kept", path.display());
            if *lost > 0 {
                let _ = write!(line, ", {lost} lost");
            }
            for BadBytes { offset, bytes } in bad {
                let _ = write!(line, ", {bytes} bytes at {offset} unreadable");
            }
            if !note.is_empty() {
                let _ = write!(line, ": {note}");
            }
            writeln!(f, "{line}")?;
        }
        match &self.into {
            Some(into) => writeln!(
                f,
                "{} memories in {}; {} was not changed",
                self.kept(),
                into.display(),
                self.data.display()
            ),
            None => writeln!(f, "{} memories would be kept; nothing was written", self.kept()),
        }
    }
}
