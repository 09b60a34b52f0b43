//! How good answers through a graph are: one in some of them is compared with the exact scan, in the background.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use hindsight_index::{NamespaceIndex, Selection, VectorQuery, VectorWay};
use parking_lot::Mutex;

use crate::reply::VectorGraph;

/// One in so many answers is compared, the first one among them.
const SAMPLE_EVERY: u64 = 32;
/// Most answers that wait to be compared; further ones are let go.
const WAITING_MAX: usize = 8;
/// So many comparisons are kept, the newest ones.
const KEPT_MAX: usize = 256;
/// So many comparisons are a verdict.
const VERDICT_MIN: usize = 64;
/// A graph that finds less than this share of what the scan finds is not used on.
const RECALL_MIN: f64 = 0.95;

/// See the module's description. A namespace has one; readers note answers in it.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    answers: AtomicU64,
    waiting: Mutex<VecDeque<Sample>>,
    /// What the scan found, and how many of it the graph had, for each comparison.
    compared: Mutex<VecDeque<(u32, u32)>>,
}

/// What was asked. The answer is made anew, both ways, since the namespace may have changed.
#[derive(Debug)]
struct Sample {
    query: VectorQuery,
    selection: Selection,
    k: usize,
}

impl Gauge {
    /// A search went this way.
    pub(crate) fn answered(&self, query: &VectorQuery, selection: &Selection, k: usize, way: VectorWay) {
        if !matches!(way, VectorWay::Graph { .. })
            || !self.answers.fetch_add(1, Ordering::Relaxed).is_multiple_of(SAMPLE_EVERY)
        {
            return;
        }
        // A reader never waits here.
        if let Some(mut waiting) = self.waiting.try_lock()
            && waiting.len() < WAITING_MAX
        {
            waiting.push_back(Sample { query: query.clone(), selection: selection.clone(), k });
        }
    }

    /// Compares one of the answers that wait. False when none does.
    pub(crate) fn compare(&self, index: &NamespaceIndex) -> bool {
        let Some(sample) = self.waiting.lock().pop_front() else { return false };
        let shelf = index.active();
        // Slots may have changed hands since: as a set of memories it is as good as it was.
        let selection = sample.selection.and(&shelf.all());
        let (found, way) = shelf.vector_top_by_graph(&selection, &sample.query, sample.k);
        if matches!(way, VectorWay::Graph { .. }) {
            let wanted = shelf.vector_top(&selection, &sample.query, sample.k);
            let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            // Equal scores may be told apart by the newer id alone; each of them is as near.
            let had = wanted.iter().filter(|one| found.contains(one)).count();
            let mut compared = self.compared.lock();
            compared.push_back((count(wanted.len()), count(had)));
            if compared.len() > KEPT_MAX {
                compared.pop_front();
            }
        }
        true
    }

    /// What was measured on the graph in use; the other fields are 0.
    pub(crate) fn measured(&self) -> VectorGraph {
        let compared = self.compared.lock();
        VectorGraph {
            sampled: u32::try_from(compared.len()).unwrap_or(u32::MAX),
            wanted: compared.iter().map(|(wanted, _)| u64::from(*wanted)).sum(),
            found: compared.iter().map(|(_, found)| u64::from(*found)).sum(),
            ..VectorGraph::default()
        }
    }

    /// Whether the graph in use was measured often enough, and found to miss too much.
    pub(crate) fn is_bad(&self) -> bool {
        let measured = self.measured();
        measured.sampled as usize >= VERDICT_MIN
            && measured.recall().is_some_and(|recall| recall < RECALL_MIN)
    }

    /// Another graph is in use, or none.
    pub(crate) fn reset(&self) {
        self.waiting.lock().clear();
        self.compared.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_comparisons_are_no_verdict_and_many_bad_ones_are() {
        let gauge = Gauge::default();
        assert_eq!(gauge.measured().recall(), None);
        gauge.compared.lock().extend([(20, 0); VERDICT_MIN - 1]);
        assert!(!gauge.is_bad());
        gauge.compared.lock().push_back((20, 20));
        assert!(gauge.is_bad());
        gauge.compared.lock().extend([(20, 20); 20 * VERDICT_MIN]);
        assert!(!gauge.is_bad());
        gauge.reset();
        assert_eq!(gauge.measured(), VectorGraph::default());
    }
}
