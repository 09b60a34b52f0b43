//! Which rows graphs have nodes for, and which memories have to be looked at beside the graph.
//!
//! There may be two graphs: one in use, and one that is being built from the rows of a moment. A row that either has a
//! node for is not given out again when it is freed; it is *held* until neither has. All rows of a memory come and go
//! together, so a memory is known to a graph with all of its vectors or with none.

use roaring::RoaringBitmap;

use super::rows::Row;
use crate::Ordinal;

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Rows that the graph in use has nodes for, freed ones included.
    covered: RoaringBitmap,
    /// Rows that the graph under construction will have nodes for.
    planned: RoaringBitmap,
    /// Rows that were freed and may not be given out.
    held: RoaringBitmap,
    /// Memories with vectors that the graph in use does not know; all, while there is none.
    newer: RoaringBitmap,
    /// Memories that got vectors since the construction began.
    since: RoaringBitmap,
}

impl Coverage {
    /// How many rows are held back.
    pub(crate) fn held(&self) -> usize {
        count(self.held.len())
    }

    /// How many rows the graph in use was built from.
    pub(crate) fn covered(&self) -> usize {
        count(self.covered.len())
    }

    /// How many of them are freed by now.
    pub(crate) fn dead(&self) -> usize {
        count(self.covered.intersection_len(&self.held))
    }

    /// Memories with vectors that the graph in use does not know.
    pub(crate) fn newer(&self) -> &RoaringBitmap {
        &self.newer
    }

    /// Those of them that are freed.
    pub(crate) fn freed_of_graph(&self) -> impl Iterator<Item = u32> + '_ {
        self.held.iter().filter(|row| self.covered.contains(*row))
    }

    /// A memory got its rows.
    pub(crate) fn added(&mut self, ordinal: Ordinal) {
        self.newer.insert(ordinal.0);
        if !self.planned.is_empty() {
            self.since.insert(ordinal.0);
        }
    }

    /// A memory lost its rows.
    pub(crate) fn removed(&mut self, ordinal: Ordinal) {
        self.newer.remove(ordinal.0);
        self.since.remove(ordinal.0);
    }

    /// A row is freed. True when it has to be held.
    pub(crate) fn freed(&mut self, row: Row) -> bool {
        let is_held = self.covered.contains(row.0) || self.planned.contains(row.0);
        if is_held {
            self.held.insert(row.0);
        }
        is_held
    }

    /// A graph over the `used` rows that are not held is going to be built. Returns them.
    pub(crate) fn plan(&mut self, used: RoaringBitmap) -> RoaringBitmap {
        self.planned = used - &self.held;
        self.since.clear();
        self.planned.clone()
    }

    /// The planned graph is in use. Returns the rows that can be given out again.
    pub(crate) fn install(&mut self) -> RoaringBitmap {
        self.covered = std::mem::take(&mut self.planned);
        self.newer = std::mem::take(&mut self.since);
        self.release()
    }

    /// The planned graph will not come. Returns the rows that can be given out again.
    pub(crate) fn refuse(&mut self) -> RoaringBitmap {
        self.planned.clear();
        self.release()
    }

    /// There is no graph in use any more; `all` are the memories with vectors. Returns the rows that can be given out again.
    pub(crate) fn drop_graph(&mut self, all: RoaringBitmap) -> RoaringBitmap {
        self.covered.clear();
        self.newer = all;
        self.release()
    }

    fn release(&mut self) -> RoaringBitmap {
        let needed = &self.covered | &self.planned;
        let released = &self.held - &needed;
        self.held &= needed;
        released
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let maps = [&self.covered, &self.planned, &self.held, &self.newer, &self.since];
        maps.iter().map(|map| map.serialized_size()).sum()
    }
}

fn count(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_row_is_held_until_no_graph_has_a_node_for_it() {
        let rows = |numbers: &[u32]| numbers.iter().copied().collect::<RoaringBitmap>();
        let mut coverage = Coverage::default();
        for slot in 0..3 {
            coverage.added(Ordinal(slot));
        }
        assert!(!coverage.freed(Row(9)), "no graph, no holding");
        assert_eq!(coverage.plan(rows(&[0, 1, 2])), rows(&[0, 1, 2]));
        assert!(coverage.freed(Row(1)));
        coverage.removed(Ordinal(1));
        coverage.added(Ordinal(1));
        assert_eq!(coverage.install(), rows(&[]));
        assert_eq!((coverage.covered(), coverage.dead(), coverage.newer()), (3, 1, &rows(&[1])));
        // The next graph is built without the freed row; it stays held for the one in use.
        assert_eq!(coverage.plan(rows(&[0, 1, 2, 3])), rows(&[0, 2, 3]));
        assert!(coverage.freed(Row(3)) && coverage.freed(Row(0)));
        assert_eq!(coverage.install(), rows(&[1]));
        assert_eq!((coverage.covered(), coverage.dead(), coverage.held()), (3, 2, 2));
        coverage.plan(rows(&[2, 4]));
        assert!(coverage.freed(Row(4)));
        assert_eq!(coverage.refuse(), rows(&[4]));
        assert_eq!(coverage.drop_graph(rows(&[1, 2])), rows(&[0, 3]));
        assert_eq!(coverage.newer(), &rows(&[1, 2]));
    }
}
