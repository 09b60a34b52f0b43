//! An approximate graph over the rows of a shelf that has outgrown the exact scan.
//!
//! [`build`] makes it, beside whatever is in use, from rows that are copied a few at a time. [`search`] walks it and
//! scores what it finds again in full. [`rule`] says when there should be one and when a walk is cheaper than the scan.
//! [`native`] is the door to usearch, which keeps the links and nothing else.
//!
//! It is a shortcut, never a judge: whatever a walk brings is looked up in the matrix, checked against the exact set and
//! scored as the scan scores it. So an answer through the graph can miss a memory; it can't hold a wrong one, a wrong score
//! or a wrong order. Memories that came after it was begun are scanned beside it.
//!
//! Identical rows share one node: a crowd of them would link to each other alone and cut others off.

pub(crate) mod build;
pub(crate) mod native;
pub(crate) mod rule;
pub(crate) mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use self::native::{Native, Nodes};
use super::quantised::RowScale;
use super::rows::{Row, Rows};

/// Where a node's row stands, and whether others share the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) row: Row,
    pub(crate) is_shared: bool,
}

/// A finished graph. Its nodes refer to the shelf's own rows.
#[derive(Debug)]
pub(crate) struct Graph {
    native: Native,
    /// The row of each node. A freed one is all zeros and far from everything.
    places: Vec<Place>,
    /// The rows in use of each node that has, or had, several.
    shared: FxHashMap<u32, BTreeSet<u32>>,
    /// The node of each row that shares one.
    node_of: FxHashMap<u32, u32>,
    /// See [`rule::GraphRule`].
    step_cost: usize,
}

impl Graph {
    /// A row is freed. The others of its node take its place, if there are any.
    pub(crate) fn forget(&mut self, row: Row) {
        let Some(node) = self.node_of.remove(&row.0) else { return };
        let Some(rows) = self.shared.get_mut(&node) else { return };
        rows.remove(&row.0);
        if let (Some(first), Some(place)) = (rows.first(), self.places.get_mut(node as usize)) {
            place.row = Row(*first);
        }
    }

    /// The rows that share a node, or its only one.
    fn rows_of(&self, node: u32) -> impl Iterator<Item = Row> + '_ {
        let place = self.places.get(node as usize);
        let shared = place.filter(|place| place.is_shared).and_then(|_| self.shared.get(&node));
        let single = place.filter(|place| !place.is_shared).map(|place| place.row);
        single.into_iter().chain(shared.into_iter().flatten().copied().map(Row))
    }

    /// How many nodes it has.
    pub(crate) fn nodes(&self) -> usize {
        self.places.len()
    }

    /// Estimated bytes on the heap, without the rows.
    pub(crate) fn bytes(&self) -> usize {
        // A set of numbers costs about twelve bytes for each, a map entry about thirty.
        let shared = self.node_of.len() * (12 + 2 * size_of::<u32>()) + self.shared.len() * 32;
        self.native.bytes() + self.places.capacity() * size_of::<Place>() + shared
    }
}

/// A graph's nodes with the rows of the shelf that it is in use on.
struct Live<'a> {
    graph: &'a Graph,
    rows: &'a Rows,
}

impl Nodes for Live<'_> {
    fn row(&self, node: u32) -> (&[i8], RowScale) {
        match self.graph.places.get(node as usize) {
            Some(place) => self.rows.quick(place.row),
            None => (&[], RowScale::default()),
        }
    }
}
