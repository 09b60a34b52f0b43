//! The best of a selection through a graph: a walk, the memories that it does not know, and a second look in full.

use std::cell::Cell;

use roaring::RoaringBitmap;

use super::{Graph, Live, rule};
use crate::top::Ties;
use crate::vector::rows::Rows;
use crate::vector::scan::{self, VectorQuery};
use crate::{Scored, Selection};

/// Which way the nearest vectors were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorWay {
    /// Every vector of the selection was looked at.
    Scan,
    /// A walk was begun and given up, since the selection lies far from the query; then as [`VectorWay::Scan`].
    GaveUp,
    /// A walk through the graph.
    Graph {
        /// Candidates that it brought, at most.
        ef: usize,
        /// Vectors that the graph was built from.
        covered: usize,
        /// Memories of the selection that it does not know; they were scanned.
        newer: usize,
    },
}

/// Rows that may be looked at for each node that a walk may ask about.
const ROWS_PER_NODE: usize = 16;

/// The best `k` through the graph, and how. An error is the way to take instead: the scan, when it is cheaper or surer.
pub(crate) fn top(
    graph: &Graph,
    rows: &Rows,
    selection: &Selection,
    query: &VectorQuery,
    k: usize,
    ties: Ties<'_>,
) -> Result<(Vec<Scored>, VectorWay), VectorWay> {
    let coverage = rows.coverage();
    let (covered, ef) = (coverage.covered() - coverage.dead(), rule::ef(graph.nodes(), k));
    let newer = Selection(&selection.0 & coverage.newer());
    let allowed = selection.len() - newer.len();
    if k == 0 || ef < k || rule::scan_is_cheaper(allowed, covered, ef, graph.step_cost) {
        return Err(VectorWay::Scan);
    }
    let budget = rule::budget(allowed, covered, ef);
    // A node may stand for very many rows of which none is allowed.
    let left = Cell::new(budget.saturating_mul(ROWS_PER_NODE));
    let wanted = |node: u32| {
        graph.rows_of(node).any(|row| {
            left.set(left.get().saturating_sub(1));
            left.get() == 0 || rows.owner(row).is_some_and(|owner| selection.contains(owner))
        })
    };
    let live = Live { graph, rows };
    let walked = graph.native.walk(&live, query.quick(), ef, budget, &wanted);
    // What usearch refuses it would refuse each time; the scan needs nothing of it.
    let Ok(Some(found)) = walked else { return Err(VectorWay::GaveUp) };
    if left.get() == 0 {
        return Err(VectorWay::GaveUp);
    }
    let owners = found.iter().flat_map(|node| graph.rows_of(*node)).filter_map(|row| rows.owner(row));
    let brought: RoaringBitmap =
        owners.map(|owner| owner.0).filter(|slot| selection.0.contains(*slot)).collect();
    if count(brought.len()) < k.min(allowed) {
        return Err(VectorWay::GaveUp);
    }
    let way = VectorWay::Graph { ef, covered, newer: newer.len() };
    // The same function that scans everything looks at these few: same scores, same order.
    Ok((scan::top(rows, &Selection(brought | newer.0), query, k, ties), way))
}

fn count(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}
