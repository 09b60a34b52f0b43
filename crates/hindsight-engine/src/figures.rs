//! What whoever runs a database wants to see of it at a glance. Taking it loads nothing and waits for no sync.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hindsight_core::{Lsn, Namespace};
use hindsight_storage::SyncCounts;
use hindsight_storage::io::Io;

use crate::engine::EngineOver;
use crate::reply::VectorGraph;

/// The state of a database, in numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Namespaces that hold memories.
    pub namespaces: u64,
    /// Those of them that are in memory.
    pub loaded: u64,
    /// Memories without the forgotten ones; of a namespace that is not in memory, as many as when it was stored.
    pub memories: u64,
    /// The namespaces with the most memories, with their counts, the largest first.
    pub largest: Vec<(Namespace, u64)>,
    /// Namespaces that have a vector graph in memory.
    pub graphs: u64,
    /// All of these graphs together.
    pub graph: VectorGraph,
    /// The least share that any of them finds of what the scan finds, 0–1; none before an answer was compared.
    pub worst_graph_recall: Option<f64>,
    /// The newest durable log position.
    pub revision: Lsn,
    /// Bytes of batches that were replayed at the start or logged since.
    pub logged_bytes: u64,
    /// Bytes of batches in the log that no checkpoint has stored.
    pub checkpoint_behind_bytes: u64,
    /// The syncs of the log since the start.
    pub syncs: SyncCounts,
    /// The checkpoints since the start.
    pub checkpoints: CheckpointCounts,
    /// Bytes that are free on the disk of the data directory; none where the system does not say.
    pub free_bytes: Option<u64>,
    /// Whether a write or sync of the log failed: nothing is acknowledged until a restart.
    pub is_poisoned: bool,
    /// Whether what stores something new is refused because the disk is full.
    pub is_full: bool,
}

/// How checkpoints went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckpointCounts {
    /// How many were taken.
    pub done: u64,
    /// How many failed; the log keeps what they would have stored.
    pub failed: u64,
    /// How long those took that were taken, together.
    pub took: Duration,
    /// Records that they wrote.
    pub records: u64,
    /// How long ago the last one was taken, or the database was opened where none was since.
    pub last: Duration,
}

/// Counts checkpoints.
#[derive(Debug)]
pub(crate) struct CheckpointTimes {
    opened: Instant,
    done: AtomicU64,
    failed: AtomicU64,
    took_us: AtomicU64,
    records: AtomicU64,
    /// When the last one ended, in microseconds after `opened`.
    last_us: AtomicU64,
}

impl Default for CheckpointTimes {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        let (done, failed, took_us, records, last_us) = (zero(), zero(), zero(), zero(), zero());
        CheckpointTimes { opened: Instant::now(), done, failed, took_us, records, last_us }
    }
}

impl CheckpointTimes {
    /// Counts one that began then; `records` says how many it wrote, none that it failed.
    pub(crate) fn note(&self, began: Instant, records: Option<u64>) {
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let Some(records) = records else {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.took_us.fetch_add(us(began.elapsed()), Ordering::Relaxed);
        self.records.fetch_add(records, Ordering::Relaxed);
        self.last_us.store(us(self.opened.elapsed()), Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Release);
    }

    fn counts(&self) -> CheckpointCounts {
        let done = self.done.load(Ordering::Acquire);
        let of = |us: &AtomicU64| Duration::from_micros(us.load(Ordering::Relaxed));
        let last = self.opened.elapsed().saturating_sub(of(&self.last_us));
        CheckpointCounts {
            done,
            failed: self.failed.load(Ordering::Relaxed),
            took: of(&self.took_us),
            records: self.records.load(Ordering::Relaxed),
            last,
        }
    }
}

impl<I: Io> EngineOver<I> {
    /// The state of the database in numbers, with the `most` largest namespaces by name.
    #[must_use]
    pub fn figures(&self, most: usize) -> Figures {
        let log = self.storage.log();
        let mut figures = Figures {
            revision: self.storage.synced_lsn(),
            logged_bytes: log.logged_bytes(),
            checkpoint_behind_bytes: self.storage.log_bytes(),
            syncs: log.sync_counts(),
            checkpoints: self.namespaces.checkpoints.counts(),
            free_bytes: self.io.free_bytes(self.storage.dir()).ok(),
            is_poisoned: self.storage.poison().is_some(),
            is_full: self.storage.refusal().is_some(),
            ..Figures::default()
        };
        for cell in self.namespaces.after(None) {
            let memories = cell.memories_known();
            figures.namespaces += 1;
            figures.memories += memories;
            figures.largest.push((cell.name.clone(), memories));
            if cell.is_loaded() {
                figures.loaded += 1;
                if let Some(graph) = crate::read::graph_of(&cell.state.read()) {
                    figures.add_graph(graph);
                }
            }
        }
        figures.largest.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        figures.largest.truncate(most);
        figures
    }
}

impl Figures {
    fn add_graph(&mut self, graph: VectorGraph) {
        let all = &mut self.graph;
        self.graphs += 1;
        all.covered += graph.covered;
        all.dead += graph.dead;
        all.newer += graph.newer;
        all.bytes += graph.bytes;
        all.sampled = all.sampled.saturating_add(graph.sampled);
        all.wanted += graph.wanted;
        all.found += graph.found;
        if let Some(recall) = graph.recall() {
            self.worst_graph_recall = Some(self.worst_graph_recall.map_or(recall, |worst| worst.min(recall)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i7_the_worst_graph_is_told_beside_the_sum_of_all() {
        let mut figures = Figures::default();
        for (wanted, found) in [(100, 100), (20, 10), (0, 0)] {
            figures.add_graph(VectorGraph { wanted, found, sampled: 1, ..VectorGraph::default() });
        }
        assert_eq!((figures.graphs, figures.graph.wanted, figures.graph.found), (3, 120, 110));
        assert_eq!(figures.worst_graph_recall, Some(0.5));
    }

    #[test]
    fn i7_a_checkpoint_that_fails_is_counted_apart() {
        let times = CheckpointTimes::default();
        let (opened, pause) = (times.opened, Duration::from_millis(5));
        std::thread::sleep(pause);
        assert!(times.counts().last >= pause);
        times.note(Instant::now(), None);
        assert_eq!((times.counts().failed, times.counts().done), (1, 0));
        times.note(Instant::now(), Some(7));
        let counts = times.counts();
        assert_eq!((counts.done, counts.records), (1, 7));
        assert!(counts.last < opened.elapsed());
    }
}
