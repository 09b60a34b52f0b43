//! What the engine, and a repair, made of a damaged directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hindsight_core::{Filter, Lsn, State};
use hindsight_engine::{EngineError, EngineOver, ListRequest};
use hindsight_storage::StorageError;
use hindsight_storage::repair::{LsnRange, ManifestFound, RepairMode, RepairReport, repair as make_repair};
use hindsight_storage::testing::MemIo;
use hindsight_storage::verify::verify;

use super::harm::Harm;
use super::place::{DIR, NAMESPACES, Place, options};
use super::truth::{Image, Picture};
use crate::support::ns;

const REPAIRED: &str = "/repaired";

/// What became of a damaged directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// Everything is there.
    Intact,
    /// Writes of which nobody was told that they were durable are gone.
    Torn,
    /// It is bit for bit what it was at an earlier moment.
    Earlier,
    /// It does not open, or a namespace of it does not.
    Refused,
}

/// How many repairs were made.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    pub(super) lossless: u64,
    pub(super) lossy: u64,
}

impl Repaired {
    pub(super) fn add(&mut self, report: &RepairReport) {
        *if report.is_lossless() { &mut self.lossless } else { &mut self.lossy } += 1;
    }
}

fn picture(engine: &EngineOver<MemIo>) -> Result<Picture, EngineError> {
    let mut picture = Picture::new();
    for name in NAMESPACES {
        let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
        let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
        for memory in engine.list(&ns(name), &list)?.wait()?.memories {
            let (content, state, version) = (memory.content, memory.state, memory.version);
            picture.insert((name.to_owned(), memory.id), Image { content, state, version });
        }
    }
    Ok(picture)
}

fn without_lock(disk: &MemIo) -> Vec<(PathBuf, Vec<u8>)> {
    disk.files().into_iter().filter(|(path, _)| !path.ends_with("LOCK")).collect()
}

fn is_refusal(error: &EngineError) -> bool {
    matches!(error, EngineError::Storage(error) if !matches!(error, StorageError::Io(_) | StorageError::Poisoned(_)))
}

/// Opens a damaged directory and says what became of it, or what is wrong with that.
pub(super) fn open(place: &Place, harm: &Harm, damaged: &MemIo) -> Result<Verdict, String> {
    let disk = damaged.after_kill();
    let before = without_lock(&disk);
    let (engine, report) = match EngineOver::open_with(Arc::new(disk.clone()), Path::new(DIR), options()) {
        Ok(opened) => opened,
        Err(error) if is_refusal(&error) => {
            if without_lock(&disk) != before {
                return Err(format!("a refused start changed something: {error}"));
            }
            return Ok(Verdict::Refused);
        }
        Err(error) => return Err(format!("an error that names no damage: {error:?}")),
    };
    let found = match picture(&engine) {
        Ok(found) => found,
        Err(error) if is_refusal(&error) => return Ok(Verdict::Refused),
        Err(error) => return Err(format!("an error that names no damage: {error:?}")),
    };
    let last = report.last_lsn.0;
    if found != place.truth.at(last) {
        return Err(format!("a wrong value: {:?}", difference(&place.truth.at(last), &found)));
    }
    if last < place.truth.synced && harm.is_of_an_earlier_end(place) {
        return Ok(Verdict::Earlier);
    }
    if last < place.truth.synced {
        return Err(format!("lost in silence: lsn {} of {}", last + 1, place.truth.synced));
    }
    Ok(if last == place.truth.last() { Verdict::Intact } else { Verdict::Torn })
}

fn difference(expected: &Picture, found: &Picture) -> Vec<String> {
    let keys = expected.keys().chain(found.keys());
    let differs = keys.filter(|key| expected.get(key) != found.get(key));
    differs
        .map(|key| {
            format!("{key:?}: {:?} for {:?}", found.get(key), expected.get(key)).chars().take(300).collect()
        })
        .collect()
}

/// Repairs a directory, opens what came out, and returns what is in it.
fn repaired(damaged: &MemIo, mode: RepairMode) -> Result<(RepairReport, Picture), String> {
    let disk = damaged.after_kill();
    let io = Arc::new(disk.clone());
    let before = disk.files();
    let dry =
        make_repair(&io, Path::new(DIR), mode, None).map_err(|error| format!("no dry run: {error:?}"))?;
    if disk.files() != before {
        return Err("a dry run changed something".to_owned());
    }
    let report = make_repair(&io, Path::new(DIR), mode, Some(Path::new(REPAIRED)))
        .map_err(|error| format!("no repair: {error:?}"))?;
    if (RepairReport { into: None, ..report.clone() }) != dry {
        return Err(format!("a dry run that says something else: {dry} and then {report}"));
    }
    let mut left = disk.files();
    left.retain(|(path, _)| path.starts_with(DIR));
    if left != before {
        return Err("the repair changed the damaged directory".to_owned());
    }
    let mut wrong = Vec::new();
    let verified = verify(io.as_ref(), Path::new(REPAIRED), &mut |file| {
        if file.state != hindsight_storage::verify::FileState::Ok {
            wrong.push(format!("{file:?}"));
        }
    });
    if !wrong.is_empty() || verified.is_err() {
        return Err(format!("what was repaired does not verify: {wrong:?} {verified:?}"));
    }
    let (engine, opened) = EngineOver::open_with(io, Path::new(REPAIRED), options())
        .map_err(|error| format!("what was repaired does not open: {error:?}"))?;
    if opened.last_lsn.0 != report.last_lsn {
        return Err(format!("it goes on after {} and not after {}", opened.last_lsn, report.last_lsn));
    }
    let found = picture(&engine).map_err(|error| format!("what was repaired can't be read: {error:?}"))?;
    Ok((report, found))
}

/// Salvages a damaged directory and holds what came out against what was there and what the report names.
pub(super) fn repair(place: &Place, harm: &Harm, damaged: &MemIo) -> Result<RepairReport, String> {
    let (report, found) = repaired(damaged, RepairMode::Salvage)?;
    if report.last_lsn < place.truth.synced && report.lost_lsns.iter().all(|range| range.to.is_some()) {
        return Err(format!(
            "numbers up to {} were given, and it goes on after {}",
            place.truth.synced, report.last_lsn
        ));
    }
    for (key, image) in &found {
        let was = place.truth.all().find(|(other, _)| *other == key);
        let ever = |is: &dyn Fn(&Image) -> bool| {
            was.is_some_and(|(_, images)| images.iter().any(|(_, known)| is(known)))
        };
        // How a memory stands is right, and what was forgotten stays hidden, though what it said last is lost: only then
        // the content may be older, and the report names it.
        let stood = ever(&|known| (known.state, known.version) == (image.state, image.version));
        let is_older = is_incomplete(&report, key)
            && (image.state == State::Forgotten || stood && ever(&|known| known.content == image.content));
        if !ever(&|known| known == image) && !is_older {
            return Err(format!("a memory that never was: {key:?} {image:?}"));
        }
    }
    let mut uncovered = std::collections::BTreeMap::<&str, u64>::new();
    for (key, images) in place.truth.all() {
        // What nobody was told to be durable may be there or not.
        let newest = images.iter().rev().find(|(lsn, _)| *lsn <= place.truth.synced);
        let Some((lsn, newest)) = newest else { continue };
        let is_kept = found.get(key).is_some_and(|image| {
            image == newest || images.iter().any(|(later, known)| later > lsn && known == image)
        });
        if !is_kept && !is_lost(&report.lost_lsns, *lsn) && !is_incomplete(&report, key) {
            *uncovered.entry(&key.0).or_default() += 1;
        }
    }
    for (name, count) in uncovered {
        let named = report.namespaces.iter().find(|namespace| namespace.name == name);
        if count > named.map_or(0, |named| named.lost_entries) {
            return Err(format!("{count} memories of {name} are gone and not named: {report}"));
        }
    }
    // One manifest can be done without: everything is in the files.
    if harm.is_of_manifest() && found != place.truth.at(place.truth.last()) {
        let missing = difference(&place.truth.at(place.truth.last()), &found);
        return Err(format!("a manifest was damaged, and a memory is gone: {missing:?}: {report}"));
    }
    if report.is_lossless()
        && found != place.truth.at(report.durable_lsn)
        && found != place.truth.at(place.truth.last())
    {
        return Err(format!(
            "called lossless: {:?}",
            difference(&place.truth.at(report.durable_lsn), &found)
        ));
    }
    if report.manifest != ManifestFound::Whole && report.is_lossless() {
        return Err("nobody can know that it is lossless".to_owned());
    }
    Ok(report)
}

fn is_lost(ranges: &[LsnRange], lsn: u64) -> bool {
    ranges.iter().any(|range| range.from <= lsn && range.to.is_none_or(|to| lsn <= to))
}

fn is_incomplete(report: &RepairReport, (name, id): &(String, hindsight_core::MemoryId)) -> bool {
    let named = report.namespaces.iter().find(|namespace| namespace.name == *name);
    named.is_some_and(|named| named.incomplete.contains(&id.to_string()))
}

/// Cuts a sound directory at a position.
pub(super) fn cut(place: &Place, at: u64) -> Result<(), String> {
    let (report, found) = repaired(&place.disk, RepairMode::TruncateAt(Lsn(at)))?;
    let expected = place.truth.at(at - 1);
    if found != expected {
        return Err(format!("{:?}", difference(&expected, &found)));
    }
    let has_loss = at <= place.truth.last();
    let names_it = report.lost_lsns == [LsnRange { from: at, to: Some(place.truth.last()) }];
    if has_loss != names_it {
        return Err(format!("{:?}", report.lost_lsns));
    }
    Ok(())
}
