//! The record files: those that the manifest names, or, where it can't be read, all there are.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use hindsight_core::Namespace;

use super::{
    Damaged,
    report::{BadBytes, Fate, RepairedFile},
};
use crate::{
    error::{At, StorageError},
    inspect::read_range,
    io::{Io, IoFile, OpenMode},
    manifest::StoredNamespace,
    records::{
        Gap, Loaded, NS_DIR, NamespaceId, StoredFile, header_of, namespace_dir, parse_namespace_dir,
        parse_record_file, record_path, salvage, scan_file,
    },
};

/// Where a file of this database lies, whatever its name: by what its header says.
type Places = HashMap<(NamespaceId, u32), PathBuf>;

/// A file to be read.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) id: NamespaceId,
    pub(super) number: u32,
    /// What the manifest says of it; `None` when it does not say anything.
    stored: Option<StoredFile>,
}

/// All files there are to be read, by namespace.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    pub(super) by_id: BTreeMap<NamespaceId, Vec<Wanted>>,
    places: Places,
}

/// What came out of a file.
pub(super) struct Entries {
    pub(super) entries: Vec<Loaded>,
    pub(super) report: RepairedFile,
}

impl FoundFiles {
    pub(super) fn list<I: Io>(damaged: &Damaged<'_, I>) -> Result<FoundFiles, StorageError> {
        let mut found = FoundFiles::default();
        let ns = damaged.dir.join(NS_DIR);
        let mut on_disk: Vec<(NamespaceId, u32)> = Vec::new();
        for id in damaged.list(&ns)?.iter().filter_map(|name| parse_namespace_dir(name)) {
            for number in
                damaged.list(&namespace_dir(&ns, id))?.iter().filter_map(|name| parse_record_file(name))
            {
                let path = record_path(&ns, id, number);
                let head = read_head(damaged.io, &path)?;
                let header = header_of(&head).filter(|header| header.store_id == damaged.store_id);
                let is = header.map_or((id, number), |header| (header.namespace, header.number));
                on_disk.push(is);
                if header.is_some() {
                    found.places.entry(is).or_insert(path);
                }
            }
        }
        let named = damaged.namespaces().flat_map(|namespace| {
            let files = namespace.files.iter();
            files.map(|(number, stored)| Wanted { id: namespace.id, number: *number, stored: Some(*stored) })
        });
        for wanted in named {
            found.by_id.entry(wanted.id).or_default().push(wanted);
        }
        if !damaged.knows_all() {
            for (id, number) in on_disk {
                let files = found.by_id.entry(id).or_default();
                if files.iter().all(|file| file.number != number) {
                    files.push(Wanted { id, number, stored: None });
                }
            }
        }
        found.by_id.values_mut().for_each(|files| files.sort_by_key(|file| file.number));
        Ok(found)
    }

    /// Reads one of them.
    pub(super) fn read<I: Io>(
        &self,
        damaged: &Damaged<'_, I>,
        wanted: &Wanted,
    ) -> Result<Entries, StorageError> {
        let own = record_path(&damaged.dir.join(NS_DIR), wanted.id, wanted.number);
        let moved = self.places.get(&(wanted.id, wanted.number)).filter(|path| **path != own);
        let paths = std::iter::once(&own).chain(moved).filter(|path| damaged.is_there(path));
        let paths: Vec<&PathBuf> = paths.collect();
        let expected = wanted.stored.map_or(0, |stored| stored.records + stored.requests);
        let report = |fate, kept: u64, bad, note: &str| RepairedFile {
            path: damaged.below(&own),
            fate,
            kept,
            lost: expected.saturating_sub(kept),
            bad,
            note: note.to_owned(),
        };
        let mut is_foreign = false;
        for path in &paths {
            match whole(damaged, wanted, path)? {
                Whole::Right(entries) => {
                    let note =
                        if **path == own { String::new() } else { format!("found as {}", path.display()) };
                    let kept = entries.len() as u64;
                    return Ok(Entries { entries, report: report(Fate::Kept, kept, Vec::new(), &note) });
                }
                Whole::Other => is_foreign |= **path == own,
                Whole::Damaged => {}
            }
        }
        if paths.is_empty() {
            let note = if damaged.knows_all() { "" } else { "it may have been replaced by a newer one" };
            return Ok(Entries { entries: Vec::new(), report: report(Fate::Missing, 0, Vec::new(), note) });
        }
        if is_foreign {
            let note = "a sound file, and not the one that belongs here";
            return Ok(Entries { entries: Vec::new(), report: report(Fate::Foreign, 0, Vec::new(), note) });
        }
        for path in paths {
            let bytes = read_all(damaged.io, path)?;
            let found = salvage(&bytes, wanted.id, wanted.number);
            let is_it = found.header.is_none_or(|header| {
                (header.store_id, header.namespace, header.number)
                    == (damaged.store_id, wanted.id, wanted.number)
            });
            if !is_it {
                continue;
            }
            let kept = found.records + found.requests;
            let fate = if kept == 0 { Fate::Lost } else { Fate::Partly };
            let bad = found.gaps.iter().map(bad_bytes).collect();
            return Ok(Entries { entries: found.entries, report: report(fate, kept, bad, "damaged") });
        }
        let note = "it belongs elsewhere, and is damaged";
        Ok(Entries { entries: Vec::new(), report: report(Fate::Foreign, 0, Vec::new(), note) })
    }
}

/// The name of a namespace: what the manifest says, else what its records do.
pub(super) fn name_of(stored: Option<&StoredNamespace>, entries: &[Loaded]) -> Option<Namespace> {
    let by_record = || {
        entries.iter().find_map(|loaded| match loaded {
            Loaded::Record { record, .. } => Some(record.memory.namespace.clone()),
            Loaded::Request(_) => None,
        })
    };
    stored.map(|stored| stored.name.clone()).or_else(by_record)
}

enum Whole {
    /// Every checksum is right and it is the file that belongs here.
    Right(Vec<Loaded>),
    /// Every checksum is right, and it is another file.
    Other,
    Damaged,
}

fn whole<I: Io>(damaged: &Damaged<'_, I>, wanted: &Wanted, path: &Path) -> Result<Whole, StorageError> {
    let mut entries = Vec::new();
    let scanned = scan_file(damaged.io, path, &mut |loaded| {
        entries.push(loaded);
        Ok(())
    });
    let (header, found) = match scanned {
        Ok(scanned) => scanned,
        Err(StorageError::Io(failure)) => return Err(failure.into()),
        Err(_) => return Ok(Whole::Damaged),
    };
    let is_it = (header.store_id, header.namespace, header.number)
        == (damaged.store_id, wanted.id, wanted.number)
        && wanted.stored.is_none_or(|stored| stored == found);
    Ok(if is_it { Whole::Right(entries) } else { Whole::Other })
}

fn bad_bytes(gap: &Gap) -> BadBytes {
    BadBytes { offset: gap.start, bytes: gap.end - gap.start }
}

fn read_head<I: Io>(io: &I, path: &Path) -> Result<Vec<u8>, StorageError> {
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    Ok(read_range(&file, 0, 64).at("read", path)?)
}

/// A damaged file is read whole: what was in it was in memory, too, while the server ran.
fn read_all<I: Io>(io: &I, path: &Path) -> Result<Vec<u8>, StorageError> {
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    let len = file.len().at("read", path)?;
    Ok(read_range(&file, 0, len).at("read", path)?)
}
