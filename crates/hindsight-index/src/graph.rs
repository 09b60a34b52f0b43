//! The life of a namespace's graph, driven from outside in small steps.
//!
//! Whoever drives it asks [`NamespaceIndex::graph_need`], begins with [`NamespaceIndex::begin_graph`], then by turns copies
//! a few rows ([`NamespaceIndex::fetch_for_graph`]) and links them ([`GraphBuild::add`], which needs nothing of the
//! namespace), until no row is left; then [`GraphBuild::finish`] and [`NamespaceIndex::install_graph`]. A build that
//! fails ends with [`NamespaceIndex::refuse_graph`], and every recall goes on scanning. Only active memories are in a graph.

use crate::{BuiltGraph, GraphBuild, GraphError, GraphNeed, GraphRule, NamespaceIndex};

impl NamespaceIndex {
    /// What is to be done about the graph; nothing while one is being built.
    #[must_use]
    pub fn graph_need(&self, rule: GraphRule) -> GraphNeed {
        self.active().vectors().graph_need(rule)
    }

    /// Begins a graph over the vectors that there are now. Takes microseconds. One that was begun before is given up.
    pub fn begin_graph(&mut self, rule: GraphRule) -> GraphBuild {
        self.active_mut().vectors_mut().begin_graph(rule)
    }

    /// Copies at most `count` vectors for a graph that was begun here, unless those copied before are not linked. Says whether
    /// any is left to be linked.
    ///
    /// # Errors
    /// [`GraphError::Foreign`] when it was not begun here, or given up.
    pub fn fetch_for_graph(&self, build: &mut GraphBuild, count: usize) -> Result<bool, GraphError> {
        self.active().vectors().fetch_for_graph(build, count)
    }

    /// Takes a graph into use that was begun here. Hands back what is of no use any more, to be freed outside of a lock: the
    /// one before it; or itself, when it was not begun here or given up.
    pub fn install_graph(&mut self, built: BuiltGraph) -> Option<BuiltGraph> {
        self.active_mut().vectors_mut().install_graph(built)
    }

    /// Gives up a graph that was begun here. Another one is needed once there are a fifth more vectors.
    pub fn refuse_graph(&mut self) {
        self.active_mut().vectors_mut().refuse_graph();
    }

    /// Takes the graph out of use. Hands it back, to be freed outside of a lock.
    pub fn drop_graph(&mut self) -> Option<BuiltGraph> {
        self.active_mut().vectors_mut().drop_graph()
    }
}
