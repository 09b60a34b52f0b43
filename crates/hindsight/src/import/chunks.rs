//! Drafts gather here until there are enough of one namespace for a call.

use std::collections::BTreeMap;

use hindsight_core::{Draft, Namespace, RawVectors};

use super::entry::Entry;

/// Most memories of one call.
pub(crate) const ITEMS_MAX: usize = 200;
/// Most bytes of lines in one call, so that the call stays well below the largest message.
const BYTES_MAX: usize = 1024 * 1024;
/// Most memories that wait, over all namespaces; beyond it the fullest namespace is sent.
const WAITING_MAX: usize = 4_000;

/// A memory and the line it came from.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// The number of its line.
    pub(crate) line: u64,
    /// What is stored.
    pub(crate) draft: Draft,
    /// Its vectors, if it has any.
    pub(crate) vectors: Option<RawVectors>,
}

/// The memories of one call.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Where they go.
    pub(crate) namespace: Namespace,
    /// The memories, in the order of their lines.
    pub(crate) items: Vec<Item>,
}

impl Chunk {
    /// The id of the call that sends these memories. The same lines at the same place of a file give the same id,
    /// so that the server does a call once that was sent twice, even by another run after a broken connection.
    pub(crate) fn request_id(&self) -> Result<String, serde_json::Error> {
        let mut hasher = blake3::Hasher::new_derive_key("hindsight import 1: request id of a chunk");
        hasher.update(self.namespace.as_str().as_bytes());
        for item in &self.items {
            hasher.update(&item.line.to_le_bytes());
            hasher.update(&serde_json::to_vec(&item.draft)?);
            if let Some(vectors) = &item.vectors {
                hasher.update(&serde_json::to_vec(vectors)?);
            }
        }
        let hash = hasher.finalize().to_hex();
        Ok(format!("import-{}", hash.get(..40).unwrap_or_default()))
    }

    /// Its two halves, or itself when it can't be halved.
    pub(crate) fn halves(mut self) -> Result<[Chunk; 2], Chunk> {
        if self.items.len() < 2 {
            return Err(self);
        }
        let second = self.items.split_off(self.items.len() / 2);
        Ok([Chunk { namespace: self.namespace.clone(), items: second }, self])
    }
}

/// What waits to be sent.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    waiting: BTreeMap<Namespace, Waiting>,
    count: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    items: Vec<Item>,
    bytes: usize,
}

impl Chunks {
    /// Adds a memory; returns a chunk when one is full. It never holds more than its limits.
    pub(crate) fn push(&mut self, line: u64, bytes: usize, entry: Entry) -> Option<Chunk> {
        let Entry { namespace, draft, vectors } = entry;
        let waiting = self.waiting.entry(namespace.clone()).or_default();
        let overflows = !waiting.items.is_empty() && waiting.bytes + bytes > BYTES_MAX;
        let full = if overflows { Some(std::mem::take(waiting)) } else { None };
        waiting.items.push(Item { line, draft, vectors });
        waiting.bytes += bytes;
        let is_full = waiting.items.len() >= ITEMS_MAX;
        self.count += 1;
        if let Some(Waiting { items, .. }) = full {
            self.count -= items.len();
            return Some(Chunk { namespace, items });
        }
        if is_full {
            return self.take(&namespace);
        }
        if self.count >= WAITING_MAX {
            let fullest = self.waiting.iter().max_by_key(|(_, waiting)| waiting.items.len());
            let fullest = fullest.map(|(namespace, _)| namespace.clone());
            return fullest.and_then(|namespace| self.take(&namespace));
        }
        None
    }

    /// Takes what is left, namespace by namespace.
    pub(crate) fn take_any(&mut self) -> Option<Chunk> {
        let namespace = self.waiting.keys().next()?.clone();
        self.take(&namespace)
    }

    fn take(&mut self, namespace: &Namespace) -> Option<Chunk> {
        let (namespace, Waiting { items, .. }) = self.waiting.remove_entry(namespace)?;
        self.count -= items.len();
        Some(Chunk { namespace, items })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(namespace: &str, content: &str) -> Entry {
        let draft = Draft { content: content.to_owned(), ..Draft::default() };
        Entry { namespace: namespace.parse().unwrap(), draft, vectors: None }
    }

    #[test]
    fn a_chunk_is_full_by_number_or_by_size() {
        let mut chunks = Chunks::default();
        for line in 1..200 {
            assert!(chunks.push(line, 10, entry("a", "x")).is_none());
        }
        let full = chunks.push(200, 10, entry("a", "x")).unwrap();
        assert_eq!((full.items.len(), full.items[0].line, full.items[199].line), (200, 1, 200));
        assert!(chunks.take_any().is_none());
        assert!(chunks.push(1, 700_000, entry("a", "x")).is_none());
        let full = chunks.push(2, 700_000, entry("a", "y")).unwrap();
        assert_eq!(full.items.len(), 1);
        assert_eq!(chunks.take_any().unwrap().items[0].line, 2);
        assert_eq!(chunks.count, 0);
    }

    #[test]
    fn many_namespaces_wait_within_the_limit() {
        let mut chunks = Chunks::default();
        let mut sent = 0;
        for line in 0..10_000_u64 {
            if let Some(chunk) = chunks.push(line, 10, entry(&format!("n{}", line % 900), "x")) {
                sent += chunk.items.len();
            }
            assert!(chunks.count < WAITING_MAX);
        }
        while let Some(chunk) = chunks.take_any() {
            sent += chunk.items.len();
        }
        assert_eq!(sent, 10_000);
    }

    #[test]
    fn the_request_id_is_that_of_content_and_place() {
        let id = |line, content| {
            let mut chunks = Chunks::default();
            chunks.push(line, 1, entry("a", content));
            chunks.take_any().unwrap().request_id().unwrap()
        };
        assert_eq!(id(1, "x"), id(1, "x"));
        assert_ne!(id(1, "x"), id(2, "x"));
        assert_ne!(id(1, "x"), id(1, "y"));
        assert!(id(1, "x").len() <= hindsight_core::limits::REQUEST_ID_CHARS_MAX);
    }

    #[test]
    fn halves_keep_every_item() {
        let mut chunks = Chunks::default();
        for line in 0..3 {
            chunks.push(line, 1, entry("a", "x"));
        }
        let [second, first] = chunks.take_any().unwrap().halves().unwrap();
        let lines = |chunk: &Chunk| chunk.items.iter().map(|item| item.line).collect::<Vec<_>>();
        assert_eq!((lines(&first), lines(&second)), (vec![0], vec![1, 2]));
        assert!(first.halves().is_err());
    }
}
