//! Vectors: an exact search over the rows of one shelf.
//!
//! [`rows`] holds the matrix, [`quantised`] makes the eight-bit copy of a row and says how far it may be off,
//! [`scan`] reads the rows a selection allows, [`kernel`] has the two inner loops.
//!
//! A memory may have several vectors; its score is the best of them and it counts once (M6). The answer is exact, not
//! approximate: a large set is read in eight bits first, and every row that could still be among the best by the known
//! error of its copy is scored again in full. A large shelf may have a [`graph`] besides, a shortcut to the same rows that
//! now and then misses one; [`coverage`] knows which rows it has.

mod coverage;
mod graph;
mod kernel;
mod quantised;
mod rows;
mod scan;
mod stored;

pub use graph::build::{BuiltGraph, GraphBuild};
pub use graph::native::GraphError;
pub use graph::rule::{GraphNeed, GraphRule};
pub use graph::search::VectorWay;
pub use scan::VectorQuery;

use hindsight_core::Embedding;

use crate::top::Ties;
use crate::{IndexError, Ordinal, Scored, Selection};
use graph::Graph;
use graph::search;
use rows::Rows;

use crate::stats::GraphStats;

/// The vectors of one shelf's memories.
#[derive(Debug, Default)]
pub struct VectorIndex {
    rows: Rows,
    graph: Option<Graph>,
    /// The graph that is being built.
    building: Option<u64>,
    /// How many vectors there were when a graph turned out to be no way to search them.
    refused: usize,
}

impl VectorIndex {
    /// The dimension of its vectors; none while it has never held one.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        self.rows.dimension()
    }

    /// How many vectors it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Prepares a query: a copy of the vector in the forms that the scan compares with.
    ///
    /// # Errors
    /// [`IndexError::Dimension`] when the vector does not fit this index's.
    pub fn query(&self, embedding: &Embedding) -> Result<VectorQuery, IndexError> {
        match self.dimension() {
            Some(expected) if expected != embedding.dimension() => {
                Err(IndexError::Dimension { expected, found: embedding.dimension() })
            }
            _ => Ok(VectorQuery::new(embedding)),
        }
    }

    /// The best `k` memories of the selection by cosine, best first. Memories without a vector are not among them.
    pub(crate) fn top(
        &self,
        selection: &Selection,
        query: &VectorQuery,
        k: usize,
        ties: Ties<'_>,
    ) -> Vec<Scored> {
        scan::top(&self.rows, selection, query, k, ties)
    }

    /// As [`VectorIndex::top`], through the graph where there is one and it is the cheaper way. Says which way it went.
    /// Through the graph a memory can be missed; scores and order are those of the scan.
    pub(crate) fn top_by_graph(
        &self,
        selection: &Selection,
        query: &VectorQuery,
        k: usize,
        ties: Ties<'_>,
    ) -> (Vec<Scored>, VectorWay) {
        let walked =
            self.graph.as_ref().map(|graph| search::top(graph, &self.rows, selection, query, k, ties));
        match walked.unwrap_or(Err(VectorWay::Scan)) {
            Ok(found) => found,
            Err(way) => (self.top(selection, query, k, ties), way),
        }
    }

    /// The cosine of the best of a memory's vectors.
    #[must_use]
    pub fn score(&self, ordinal: Ordinal, query: &VectorQuery) -> Option<f32> {
        scan::score(&self.rows, ordinal, query)
    }

    /// The cosine of the first vectors of two memories: how alike they are.
    #[must_use]
    pub fn similarity(&self, a: Ordinal, b: Ordinal) -> Option<f32> {
        let first = |ordinal| self.rows.of(ordinal).next().map(|row| self.rows.full(row));
        Some(kernel::dot(first(a)?, first(b)?))
    }

    /// The vectors of a memory, in the order they were given.
    pub fn vectors(&self, ordinal: Ordinal) -> impl Iterator<Item = &[f32]> + '_ {
        self.rows.of(ordinal).map(|row| self.rows.full(row))
    }

    /// Brings a memory's vectors to these, whatever they were before. All have the dimension of the index.
    pub(crate) fn set<'v>(&mut self, ordinal: Ordinal, vectors: impl Iterator<Item = &'v Embedding> + Clone) {
        if !self.vectors(ordinal).eq(vectors.clone().map(Embedding::as_slice)) {
            self.remove(ordinal);
            self.rows.insert(ordinal, vectors.map(Embedding::as_slice));
        }
    }

    /// Drops the vectors of a memory; their bytes are overwritten.
    pub(crate) fn remove(&mut self, ordinal: Ordinal) {
        if let Some(graph) = &mut self.graph {
            self.rows.of(ordinal).for_each(|row| graph.forget(row));
        }
        self.rows.remove(ordinal);
    }

    /// Estimated bytes on the heap, without the graph.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}

/// The graph's life. At most one is built at a time; the one in use serves until the new one is installed.
impl VectorIndex {
    /// What is to be done about the graph by `rule`; nothing while one is being built.
    #[must_use]
    pub(crate) fn graph_need(&self, rule: GraphRule) -> GraphNeed {
        if self.building.is_some() {
            return GraphNeed::None;
        }
        let coverage = self.rows.coverage();
        let (rows, covered, dead) = (self.len(), coverage.covered(), coverage.dead());
        let newer = usize::try_from(coverage.newer().len()).unwrap_or(usize::MAX);
        graph::rule::need(rule, graph::rule::State { rows, covered, dead, newer, refused: self.refused })
    }

    /// Begins a graph over the rows that are in use now; what comes later it will not know. Ends with
    /// [`VectorIndex::install_graph`] or [`VectorIndex::refuse_graph`].
    pub(crate) fn begin_graph(&mut self, rule: GraphRule) -> GraphBuild {
        let dimension = self.rows.dimension().unwrap_or_default();
        let build = GraphBuild::new(rule, dimension, self.rows.plan_graph());
        self.building = Some(build.number);
        build
    }

    /// Copies at most `count` rows for a graph. Says whether there is any row left to be linked.
    ///
    /// # Errors
    /// [`GraphError::Foreign`] when it was not begun here, or given up.
    pub(crate) fn fetch_for_graph(&self, build: &mut GraphBuild, count: usize) -> Result<bool, GraphError> {
        if self.building != Some(build.number) {
            return Err(GraphError::Foreign);
        }
        Ok(build.fetch(&self.rows, count))
    }

    /// Takes a graph that was begun here into use, in place of the one before it, which is handed back: freeing it takes
    /// longer than a writer should hold a lock. One that was not begun here is handed back itself.
    pub(crate) fn install_graph(&mut self, built: BuiltGraph) -> Option<BuiltGraph> {
        if self.building != Some(built.number) {
            return Some(built);
        }
        let BuiltGraph { number, mut graph } = built;
        self.building = None;
        self.refused = 0;
        self.rows.graph_installed();
        for row in self.rows.freed_of_graph() {
            graph.forget(row);
        }
        self.graph.replace(graph).map(|graph| BuiltGraph { number, graph })
    }

    /// A graph that was begun here will not come. Another is tried when there are a fifth more vectors. The one in use stays.
    pub(crate) fn refuse_graph(&mut self) {
        self.building = None;
        self.refused = self.len();
        self.rows.graph_refused();
    }

    /// Takes the graph out of use; it is handed back as by [`VectorIndex::install_graph`].
    pub(crate) fn drop_graph(&mut self) -> Option<BuiltGraph> {
        let graph = self.graph.take()?;
        self.rows.graph_dropped();
        Some(BuiltGraph { number: u64::MAX, graph })
    }

    /// The graph in use.
    #[must_use]
    pub fn graph_stats(&self) -> Option<GraphStats> {
        let (graph, coverage) = (self.graph.as_ref()?, self.rows.coverage());
        Some(GraphStats {
            covered: coverage.covered(),
            dead: coverage.dead(),
            newer: usize::try_from(coverage.newer().len()).unwrap_or(usize::MAX),
            nodes: graph.nodes(),
            bytes: graph.bytes(),
        })
    }
}

#[cfg(test)]
mod tests;
