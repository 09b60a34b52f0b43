//! Everything that was ever written, so that it can be told what is missing and what never was.

use std::collections::BTreeMap;

use hindsight_core::{MemoryId, State};

/// A memory at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) content: String,
    pub(super) state: State,
    pub(super) version: u64,
}

/// Every memory of every namespace.
pub(super) type Picture = BTreeMap<(String, MemoryId), Image>;

/// The images of every memory, each with the position of the log that made it.
#[derive(Debug, Default)]
pub(super) struct Truth {
    images: BTreeMap<(String, MemoryId), Vec<(u64, Image)>>,
    last: u64,
    /// Everything up to here was acknowledged, and noted as durable.
    pub(super) synced: u64,
    /// The lowest position at which the log can be cut.
    pub(super) first_cut: u64,
}

impl Truth {
    pub(super) fn tell(&mut self, lsn: u64, name: &str, id: MemoryId, image: Image) {
        self.images.entry((name.to_owned(), id)).or_default().push((lsn, image));
        self.last = self.last.max(lsn);
        self.first_cut = self.first_cut.max(1);
    }

    pub(super) fn newest(&self, name: &str, id: MemoryId) -> &Image {
        &self.images[&(name.to_owned(), id)].last().unwrap().1
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Everything as it was after this batch.
    pub(super) fn at(&self, lsn: u64) -> Picture {
        let newest = |images: &Vec<(u64, Image)>| {
            images.iter().rev().find(|(made, _)| *made <= lsn).map(|(_, image)| image.clone())
        };
        self.images.iter().filter_map(|(key, images)| Some((key.clone(), newest(images)?))).collect()
    }

    /// All images of all memories.
    pub(super) fn all(&self) -> impl Iterator<Item = (&(String, MemoryId), &Vec<(u64, Image)>)> {
        self.images.iter()
    }
}
