//! When a shelf should have a graph, and when a walk is cheaper than the scan.

use super::native::EF_MAX;

/// When there is a graph, and when it is gone through. The sizes are vectors, not memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphRule {
    /// From this many on there is one.
    pub least: usize,
    /// How many rows are scanned in the time of one step of a walk; 0 lets every search walk that can.
    pub step_cost: usize,
}

impl Default for GraphRule {
    fn default() -> Self {
        // The scan of 20,000 rows of 384 components takes 0.4 ms; below, a walk saves nothing that anyone notices.
        // A walk jumps where the scan streams, and keeps heaps.
        GraphRule { least: 20_000, step_cost: 60 }
    }
}

impl GraphRule {
    /// No graph, ever.
    pub const NEVER: GraphRule = GraphRule { least: usize::MAX, step_cost: usize::MAX };
}

/// What is to be done about a shelf's graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphNeed {
    /// Nothing.
    None,
    /// One is to be built.
    Build,
    /// The one in use costs more than it saves.
    Drop,
}

/// The state that a need follows from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Vectors in use.
    pub(crate) rows: usize,
    /// Vectors that the graph in use was built from; 0 while there is none.
    pub(crate) covered: usize,
    /// Those of them that are gone.
    pub(crate) dead: usize,
    /// Memories with vectors that it does not know.
    pub(crate) newer: usize,
    /// Vectors of which it was found that a graph is no way to search them; 0 when none was tried.
    pub(crate) refused: usize,
}

/// A graph is rebuilt when a share of one in so many of it is gone, or as many came beside it.
const REBUILD_SHARE: usize = 5;

/// What is to be done.
pub(crate) fn need(rule: GraphRule, state: State) -> GraphNeed {
    let State { rows, covered, dead, newer, refused } = state;
    // A shelf that shrinks and grows around the least size would otherwise be built again and again.
    if covered > 0 && rows < rule.least / 2 {
        return GraphNeed::Drop;
    }
    let has_grown = refused == 0 || rows > refused + refused / REBUILD_SHARE;
    if rows < rule.least || rows == 0 || !has_grown {
        return GraphNeed::None;
    }
    let is_stale = dead.max(newer) > covered / REBUILD_SHARE;
    if covered == 0 || is_stale { GraphNeed::Build } else { GraphNeed::None }
}

/// How many candidates a walk through so many nodes brings when the best `k` are wanted.
pub(crate) fn ef(nodes: usize, k: usize) -> usize {
    let by_size = if nodes > 200_000 { 192 } else { 112 };
    by_size.max(4 * k).min(EF_MAX)
}

/// Whether the exact scan of `allowed` of `nodes` costs less than a walk for `ef` candidates among them.
///
/// The scan's cost is proportional to `allowed`. The walk passes `ef · nodes / allowed` nodes to find `ef` that are
/// allowed, each at `step_cost` times the cost of a scanned row.
pub(crate) fn scan_is_cheaper(allowed: usize, nodes: usize, ef: usize, step_cost: usize) -> bool {
    allowed.saturating_mul(allowed) <= step_cost.saturating_mul(ef).saturating_mul(nodes)
}

/// How often a walk may ask whether a node is allowed: three times as often as it has to when the allowed ones lie
/// anywhere. Where they lie far from the query it would ask of nearly all.
pub(crate) fn budget(allowed: usize, nodes: usize, ef: usize) -> usize {
    (ef.saturating_mul(nodes).saturating_mul(3) / allowed.max(1)).saturating_add(500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_comes_with_size_is_rebuilt_when_stale_and_goes_again() {
        let rule = GraphRule { least: 1_000, ..GraphRule::default() };
        let need = |state| need(rule, state);
        let state = State { rows: 999, ..State::default() };
        assert_eq!(need(state), GraphNeed::None);
        assert_eq!(need(State { rows: 1_000, ..state }), GraphNeed::Build);
        let state = State { rows: 1_200, covered: 1_000, newer: 200, ..state };
        assert_eq!(need(state), GraphNeed::None);
        assert_eq!(need(State { newer: 201, ..state }), GraphNeed::Build);
        assert_eq!(need(State { dead: 201, ..state }), GraphNeed::Build);
        assert_eq!(need(State { rows: 499, ..state }), GraphNeed::Drop);
        let refused = State { rows: 1_200, refused: 1_000, ..State::default() };
        assert_eq!(need(refused), GraphNeed::None, "what failed is not tried again at once");
        assert_eq!(need(State { rows: 1_201, ..refused }), GraphNeed::Build);
        let never = |state| super::need(GraphRule::NEVER, state);
        assert_eq!(never(State { rows: usize::MAX - 1, ..State::default() }), GraphNeed::None);
        assert_eq!(never(State { rows: 5_000, covered: 5_000, ..State::default() }), GraphNeed::Drop);
    }

    #[test]
    fn few_allowed_are_scanned() {
        let scanned = |allowed| scan_is_cheaper(allowed, 100_000, 112, GraphRule::default().step_cost);
        assert!(scanned(25_000) && !scanned(26_000));
        assert_eq!(budget(50_000, 100_000, 112), 1_172);
        assert_eq!((ef(100_000, 8), ef(300_000, 20), ef(1_000, 100)), (112, 192, 400));
        assert!(budget(0, usize::MAX, EF_MAX) > 0, "no overflow");
    }
}
