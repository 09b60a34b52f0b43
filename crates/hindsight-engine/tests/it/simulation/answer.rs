//! What an answer must say.

use std::sync::Arc;

use hindsight_core::Memory;
use hindsight_engine::{Affected, BatchWritten};

use super::expect::{self, Outcome};
use super::known::Known;
use super::model::{Foreseen, Model};
use super::request::Item;
use super::space::Space;

/// What an answer must say beside its content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) replayed: bool,
    /// None when nothing was done, and the answer is about whatever is there.
    pub(super) revision: Option<u64>,
}

/// The memory that an answer must show: as the batch makes it, or as it is now when the request is repeated.
pub(super) fn known(foreseen: &Foreseen, space: &Space, item: Item) -> Option<Arc<Known>> {
    match foreseen {
        Foreseen::Commit(commit) => commit.images.first().map(|(_, known)| known.clone()),
        Foreseen::Replayed(_) => space.items.get(&item).cloned(),
        Foreseen::Nothing | Foreseen::Refused(_) => None,
    }
}

pub(super) fn stored(foreseen: &Foreseen) -> Vec<Item> {
    match foreseen {
        Foreseen::Commit(commit) => commit.images.iter().map(|(item, _)| *item).collect(),
        _ => Vec::new(),
    }
}

pub(super) fn is_told(expected: Told, replayed: bool, revision: u64) -> Outcome {
    if expected.replayed == replayed && expected.revision.is_none_or(|expected| expected == revision) {
        return Ok(());
    }
    Err(format!("an answer says replayed {replayed}, revision {revision}; expected {expected:?}"))
}

pub(super) fn is_written(
    model: &mut Model,
    item: Item,
    known: Option<&Known>,
    told: Told,
    (memory, replayed, revision): (&Memory, bool, u64),
) -> Outcome {
    is_told(told, replayed, revision)?;
    match known {
        Some(known) => {
            expect::same(item, known, memory)?;
            model.learn(item, memory.id)
        }
        None if memory.version == 0 => Ok(()),
        None => Err("a dry run answers with a version".to_owned()),
    }
}

pub(super) fn is_batch(
    model: &mut Model,
    items: &[Item],
    stored: &[Item],
    told: Told,
    written: &BatchWritten,
) -> Outcome {
    is_told(told, written.replayed, written.revision.0)?;
    if written.replayed {
        return Ok(());
    }
    for (item, result) in items.iter().zip(&written.results) {
        match result {
            Ok(written) if stored.contains(item) => model.learn(*item, written.id)?,
            Err(_) if !stored.contains(item) => {}
            other => return Err(format!("item {item} of a batch: {other:?}")),
        }
    }
    let is_spoiled = written.results.len() > items.len();
    if is_spoiled && written.results.last().is_none_or(Result::is_ok) {
        return Err("a bad item of a batch is accepted".to_owned());
    }
    Ok(())
}

pub(super) fn is_affected(stored: &[Item], told: Told, affected: &Affected) -> Outcome {
    is_told(told, affected.replayed, affected.revision.0)?;
    if !affected.replayed && affected.ids.len() != stored.len() {
        return Err(format!("{} memories changed, expected {}", affected.ids.len(), stored.len()));
    }
    Ok(())
}
