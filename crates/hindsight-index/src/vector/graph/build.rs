//! Building a graph beside the one in use, in steps as small as the caller wants.
//!
//! The order of a step: [`GraphBuild::fetch`] copies a few rows while the shelf can't change, [`GraphBuild::add`] links them
//! when it may. So nobody waits for a link. Rows are taken in the order of their numbers and linked by one thread, so the
//! same history gives the same graph.

use std::collections::BTreeSet;
use std::hash::Hasher as _;
use std::sync::atomic::{AtomicU64, Ordering};

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHasher};

use super::native::{GraphError, Native, Nodes};
use super::{Graph, Place, rule};
use crate::vector::kernel::dot_rows;
use crate::vector::quantised::{QuantisedQuery, RowScale};
use crate::vector::rows::{Row, Rows};

/// From how many rows a finished graph is tried out.
const PROBES: usize = 32;
/// How many of the nearest are looked for from each.
const PROBE_NEAREST: usize = 10;

/// A graph under construction.
#[derive(Debug)]
pub struct GraphBuild {
    /// Tells it from every other one.
    pub(crate) number: u64,
    /// Made for the first link: whoever begins a graph holds a lock.
    native: Option<Native>,
    step_cost: usize,
    copies: Copies,
    /// The rows that it is to cover.
    planned: RoaringBitmap,
    /// The next row number to look at.
    next_row: u32,
    is_fetched: bool,
    places: Vec<Place>,
    shared: FxHashMap<u32, BTreeSet<u32>>,
    node_of: FxHashMap<u32, u32>,
    /// Nodes by the hash of their row; those of other rows with the same hash are told apart by the rows.
    by_hash: FxHashMap<u64, Vec<u32>>,
}

/// The rows of the nodes, copied, so that links can be made while the shelf changes.
#[derive(Debug, Default)]
struct Copies {
    dimension: usize,
    levels: Vec<i8>,
    scales: Vec<RowScale>,
}

impl Nodes for Copies {
    fn row(&self, node: u32) -> (&[i8], RowScale) {
        let start = node as usize * self.dimension;
        let levels = self.levels.get(start..start + self.dimension).unwrap_or_default();
        (levels, self.scales.get(node as usize).copied().unwrap_or_default())
    }
}

impl GraphBuild {
    pub(crate) fn new(rule: rule::GraphRule, dimension: usize, planned: RoaringBitmap) -> GraphBuild {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        GraphBuild {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            native: None,
            step_cost: rule.step_cost,
            copies: Copies { dimension, ..Copies::default() },
            planned,
            next_row: 0,
            is_fetched: false,
            places: Vec::new(),
            shared: FxHashMap::default(),
            node_of: FxHashMap::default(),
            by_hash: FxHashMap::default(),
        }
    }

    /// How many rows it is to cover.
    #[must_use]
    pub fn rows(&self) -> usize {
        usize::try_from(self.planned.len()).unwrap_or(usize::MAX)
    }

    /// How many of its rows are linked. Identical ones are linked together.
    #[must_use]
    pub fn linked(&self) -> usize {
        self.native.as_ref().map_or(0, |native| native.len() as usize)
    }

    /// Copies at most `count` rows, unless the last ones are not linked. Says whether any row is left to be linked.
    pub(crate) fn fetch(&mut self, rows: &Rows, count: usize) -> bool {
        if self.has_unlinked() {
            return true;
        }
        let mut taken: Vec<u32> = Vec::with_capacity(count);
        taken.extend(self.planned.range(self.next_row..).take(count));
        for row in &taken {
            self.next_row = row + 1;
            // Freed meanwhile; it is not needed.
            if rows.owner(Row(*row)).is_some() {
                self.take(rows, Row(*row));
            }
        }
        self.is_fetched = taken.len() < count;
        self.has_unlinked() || !self.is_fetched
    }

    fn take(&mut self, rows: &Rows, row: Row) {
        let (levels, scale) = rows.quick(row);
        let mut hasher = FxHasher::default();
        let (chunks, rest) = levels.as_chunks::<8>();
        chunks.iter().for_each(|chunk| hasher.write_u64(u64::from_ne_bytes(chunk.map(i8::cast_unsigned))));
        rest.iter().for_each(|level| hasher.write_i8(*level));
        let same = self.by_hash.entry(hasher.finish()).or_default();
        if let Some(node) = same.iter().copied().find(|node| self.copies.row(*node).0 == levels) {
            if let Some(place) = self.places.get_mut(node as usize) {
                place.is_shared = true;
                let first = place.row.0;
                self.shared.entry(node).or_insert_with(|| BTreeSet::from([first])).insert(row.0);
                self.node_of.insert(first, node);
                self.node_of.insert(row.0, node);
            }
            return;
        }
        // There are fewer rows than 2^29.
        let node = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        same.push(node);
        self.places.push(Place { row, is_shared: false });
        self.copies.levels.extend_from_slice(levels);
        self.copies.scales.push(scale);
    }

    fn has_unlinked(&self) -> bool {
        self.linked() < self.places.len()
    }

    /// Links at most `count` of the rows that were copied.
    ///
    /// # Errors
    /// [`GraphError`]; the build is of no use then.
    pub fn add(&mut self, count: usize) -> Result<(), GraphError> {
        let end = self.places.len().min(self.linked() + count);
        let native = match &mut self.native {
            Some(native) => native,
            none => none.insert(Native::new(u32::try_from(self.planned.len()).unwrap_or(u32::MAX))?),
        };
        while (native.len() as usize) < end {
            native.add(&self.copies)?;
        }
        Ok(())
    }

    /// Looks for what lies nearest to some of its rows, once by walking and once by looking at all of them, and makes it
    /// ready for use when both agree. That takes a second for a million rows.
    ///
    /// # Errors
    /// [`GraphError::Misses`] when the walk misses too much: then a graph is no way to search these vectors.
    pub fn finish(self) -> Result<BuiltGraph, GraphError> {
        let GraphBuild { number, native, step_cost, copies, mut places, shared, node_of, .. } = self;
        let native = native.map_or_else(|| Native::new(0), Ok)?;
        judge(probe(&native, &copies)?)?;
        places.shrink_to_fit();
        Ok(BuiltGraph { number, graph: Graph { native, places, shared, node_of, step_cost } })
    }
}

/// A graph that misses more than one in ten is none.
fn judge((found, wanted): (usize, usize)) -> Result<(), GraphError> {
    if found * 10 < wanted * 9 { Err(GraphError::Misses { found, wanted }) } else { Ok(()) }
}

/// How many of the nearest to some rows a walk finds, and how many there are.
fn probe(native: &Native, copies: &Copies) -> Result<(usize, usize), GraphError> {
    let nodes = native.len() as usize;
    let (mut found, mut wanted) = (0, 0);
    for node in (0..native.len()).step_by((nodes / PROBES).max(1)) {
        let (levels, scale) = copies.row(node);
        let cosine = |other: u32| {
            let (row, other) = copies.row(other);
            #[expect(clippy::cast_precision_loss, reason = "both ways are compared by the same number")]
            let dot = dot_rows(levels, row) as f32;
            dot * (scale.scale * other.scale)
        };
        let mut all: Vec<f32> = (0..native.len()).map(cosine).collect();
        let last = PROBE_NEAREST.min(nodes) - 1;
        let (_, reached, _) = all.select_nth_unstable_by(last, |a, b| b.total_cmp(a));
        let query = QuantisedQuery::of_row(levels, scale);
        let ef = rule::ef(nodes, PROBE_NEAREST);
        let walked = native.walk(copies, &query, ef, usize::MAX, &|_| true)?.unwrap_or_default();
        // Of equally near ones, any will do.
        found += walked.iter().filter(|node| cosine(**node) >= *reached).count().min(last + 1);
        wanted += last + 1;
    }
    Ok((found, wanted))
}

/// A graph that is ready to be installed on the shelf that it was built from.
#[derive(Debug)]
pub struct BuiltGraph {
    /// The number of its build.
    pub(crate) number: u64,
    pub(crate) graph: Graph,
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "components of −1 to 1")]
mod tests {
    use super::*;
    use crate::vector::quantised::quantise_row;

    /// Rows on a circle, of sixteen components.
    fn circle(count: u32) -> Copies {
        let mut copies = Copies { dimension: 16, ..Copies::default() };
        for number in 0..count {
            let turn = f64::from(number) * 0.7;
            let row: Vec<f32> = (0..16).map(|wave| (turn * f64::from(wave)).cos() as f32).collect();
            let unit = hindsight_core::Embedding::new(&row).unwrap();
            copies.levels.resize(copies.levels.len() + 16, 0);
            let start = copies.levels.len() - 16;
            copies.scales.push(quantise_row(&unit.components(), &mut copies.levels[start..]));
        }
        copies
    }

    #[test]
    fn a_graph_is_tried_out_and_one_that_misses_is_refused() {
        let copies = circle(200);
        let mut native = Native::new(200).unwrap();
        assert_eq!(probe(&native, &copies), Ok((0, 0)), "an empty one finds all of nothing");
        (0..200).for_each(|_| native.add(&copies).unwrap());
        assert_eq!(probe(&native, &copies), Ok((340, 340)));
        assert_eq!(judge((306, 340)), Ok(()));
        assert_eq!(judge((305, 340)), Err(GraphError::Misses { found: 305, wanted: 340 }));
    }
}
