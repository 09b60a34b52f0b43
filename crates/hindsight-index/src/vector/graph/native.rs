//! The door to usearch, and the only file that speaks to it. Unsafe code stands here and in `kernel.rs`.
//!
//! usearch is a C++ library that trusts its caller, so everything it can be hurt by is made impossible here:
//!
//! - It never sees a vector. What it stores for a node is the node's number in four bytes, and it asks [`measure`] how
//!   far two nodes lie apart. So rows are stored once, in our matrix, and no NaN can enter: a distance is finite by construction.
//! - A panic may not cross C++: each callback catches it, answers something harmless and marks the walk as broken.
//! - One thread adds (`&mut`), since concurrent adds leave nodes that nobody finds; walks are read-only (`&`).
//! - Each walk needs one of [`WALKERS`] contexts, and usearch refuses who finds none; they are counted here first.
//! - Node numbers are given out here, ascending, so no key comes twice and none is the one it keeps for deleted nodes.
//! - `ef` is at most [`EF_MAX`]: result buffers have that size, and a huge one aborts the process.
//! - Nothing is removed, renamed, compacted, saved, loaded or viewed: each of those has a way to corrupt memory.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

use crate::vector::kernel::{dot_quantised, dot_rows};
use crate::vector::quantised::{QuantisedQuery, RowScale};

/// Links of a node; twice as many on the lowest level.
const CONNECTIVITY: usize = 32;
/// How many candidates are weighed for the links of a new node.
const EF_CONSTRUCTION: usize = 200;
/// How many walks may run at once. The server lets two calls a processor into the engine.
const WALKERS: usize = 64;
/// Most candidates of one walk.
pub(crate) const EF_MAX: usize = 1_024;
/// Stands for the query where usearch expects a node.
const QUERY: u32 = u32::MAX;
/// Farther than any two vectors can be: what a broken walk is told.
const FAR: f32 = 4.0;

/// Why usearch did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// usearch refused a call.
    #[error("usearch refused to {what}: {reason}")]
    Refused {
        /// What it was asked for.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// A callback panicked: a bug of ours.
    #[error("comparing two vectors panicked: this is a bug")]
    Panicked,
    /// The vectors are not those that the graph was begun on.
    #[error("the graph was begun on other vectors, or was given up")]
    Foreign,
    /// The graph finds too little of what lies nearest.
    #[error("the graph finds {found} of the {wanted} nearest vectors: it is no way to search these")]
    Misses {
        /// Vectors that it found.
        found: usize,
        /// Vectors that it should have found.
        wanted: usize,
    },
}

/// Where the row of a node stands.
pub(crate) trait Nodes {
    /// The row in eight bits; an empty one, which is far from everything, when there is no such node.
    fn row(&self, node: u32) -> (&[i8], RowScale);
}

/// What [`measure`] compares with while a call into usearch runs on this thread.
struct Walk<'a> {
    nodes: &'a dyn Nodes,
    query: Option<&'a QuantisedQuery>,
    panicked: Cell<bool>,
}

thread_local! {
    /// The walk of this thread; null outside of [`during`].
    static WALK: Cell<Option<NonNull<Walk<'static>>>> = const { Cell::new(None) };
}

/// Runs a call into usearch with `walk` in reach of its callbacks.
fn during<T>(walk: &Walk<'_>, call: impl FnOnce() -> T) -> T {
    struct Reset(Option<NonNull<Walk<'static>>>);
    impl Drop for Reset {
        fn drop(&mut self) {
            WALK.set(self.0);
        }
    }
    // The lifetime is gone from the pointer's type; `Reset` takes the pointer back before the walk can end.
    let here = NonNull::from(walk).cast::<Walk<'static>>();
    let _reset = Reset(WALK.replace(Some(here)));
    call()
}

/// How far apart two nodes lie, or a node and the query: one less their cosine.
fn measure(a: *const i8, b: *const i8) -> f32 {
    let Some(walk) = WALK.get() else { return FAR };
    #[expect(unsafe_code, reason = "usearch hands its own stored bytes and our walk back as pointers")]
    // SAFETY: usearch is made with four components of one byte, so both pointers are good for four bytes, of whatever
    // alignment. The walk is alive: only `during` sets it, and takes it back before it returns.
    let (a, b, walk) =
        unsafe { (a.cast::<u32>().read_unaligned(), b.cast::<u32>().read_unaligned(), walk.as_ref()) };
    let distance = catch_unwind(AssertUnwindSafe(|| walk.distance(a, b)));
    distance.unwrap_or_else(|_| {
        walk.panicked.set(true);
        FAR
    })
}

impl Walk<'_> {
    fn distance(&self, a: u32, b: u32) -> f32 {
        let (node, other) = if a == QUERY { (b, a) } else { (a, b) };
        let (row, scale) = self.nodes.row(node);
        let cosine = if other == QUERY {
            let Some(query) = self.query else { return FAR };
            #[expect(clippy::cast_precision_loss, reason = "candidates are scored again in full")]
            let dot = dot_quantised(row, &query.levels) as f32;
            dot * (scale.scale * query.scale)
        } else {
            let (other, other_scale) = self.nodes.row(other);
            #[expect(clippy::cast_precision_loss, reason = "links need no more than this")]
            let dot = dot_rows(row, other) as f32;
            dot * (scale.scale * other_scale.scale)
        };
        // No NaN may reach the heaps of usearch: it would be found by nobody and hide others.
        if cosine.is_finite() { 1.0 - cosine } else { FAR }
    }
}

/// A graph of nodes that are numbered from 0.
pub(crate) struct Native {
    index: Index,
    nodes: u32,
    capacity: u32,
    walkers: AtomicUsize,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Native").field("nodes", &self.nodes).finish_non_exhaustive()
    }
}

impl Native {
    /// An empty graph with room for so many nodes.
    ///
    /// # Errors
    /// When usearch does not get the memory.
    pub(crate) fn new(capacity: u32) -> Result<Native, GraphError> {
        let options = IndexOptions {
            dimensions: size_of::<u32>(),
            metric: MetricKind::IP,
            quantization: ScalarKind::I8,
            connectivity: CONNECTIVITY,
            expansion_add: EF_CONSTRUCTION,
            // The expansion of a walk is the greater of this and the count that it asks for; 0 would mean 64.
            expansion_search: 1,
            multi: false,
        };
        let mut index = Index::new(&options).map_err(|error| refused("make a graph", &error))?;
        index.change_metric::<i8>(Box::new(measure));
        let places = capacity as usize;
        index.reserve_capacity_and_threads(places, WALKERS).map_err(|error| refused("reserve", &error))?;
        Ok(Native { index, nodes: 0, capacity, walkers: AtomicUsize::new(0) })
    }

    /// How many nodes it has; the next one gets this number.
    pub(crate) fn len(&self) -> u32 {
        self.nodes
    }

    /// Links the next node, whose row `nodes` must know already.
    ///
    /// # Errors
    /// When usearch has no memory left, or a callback panicked. The graph is of no use then.
    pub(crate) fn add(&mut self, nodes: &dyn Nodes) -> Result<(), GraphError> {
        if self.nodes >= self.capacity || self.nodes == QUERY {
            let reason = format!("all {} places are taken", self.capacity);
            return Err(GraphError::Refused { what: "add", reason });
        }
        let walk = Walk { nodes, query: None, panicked: Cell::new(false) };
        let (key, bytes) = (u64::from(self.nodes), stored(self.nodes));
        during(&walk, || self.index.add(key, &bytes)).map_err(|error| refused("add", &error))?;
        self.nodes += 1;
        if walk.panicked.get() { Err(GraphError::Panicked) } else { Ok(()) }
    }

    /// Walks towards the query and returns up to `ef` nodes that `wanted` says yes to, nearest first.
    ///
    /// After `budget` calls of `wanted` the walk is ended and nothing is returned: among nodes that are hardly ever
    /// wanted it would go on through the whole graph. Nothing is returned either when no context is free.
    ///
    /// # Errors
    /// When usearch refuses, or a callback panicked.
    pub(crate) fn walk(
        &self,
        nodes: &dyn Nodes,
        query: &QuantisedQuery,
        ef: usize,
        budget: usize,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Option<Vec<u32>>, GraphError> {
        let Some(_walker) = Walker::enter(&self.walkers) else { return Ok(None) };
        let walk = Walk { nodes, query: Some(query), panicked: Cell::new(false) };
        let calls = Cell::new(0_usize);
        let is_wanted = |key: u64| {
            calls.set(calls.get() + 1);
            // Once everything is wanted the list is soon full, and the walk ends: usearch knows no other way to stop.
            if calls.get() > budget || walk.panicked.get() {
                return true;
            }
            let Ok(node) = u32::try_from(key) else { return false };
            catch_unwind(AssertUnwindSafe(|| wanted(node))).unwrap_or_else(|_| {
                walk.panicked.set(true);
                true
            })
        };
        let count = ef.clamp(1, EF_MAX);
        let found = during(&walk, || self.index.filtered_search(&stored(QUERY), count, is_wanted));
        let found = found.map_err(|error| refused("search", &error))?;
        if walk.panicked.get() {
            return Err(GraphError::Panicked);
        }
        let is_over = calls.get() > budget;
        Ok((!is_over).then(|| found.keys.iter().filter_map(|key| u32::try_from(*key).ok()).collect()))
    }

    /// Bytes that usearch uses, without what it only reserved.
    pub(crate) fn bytes(&self) -> usize {
        let stats = self.index.memory_stats();
        let used = |allocated: usize, reserved: usize| allocated.saturating_sub(reserved);
        used(stats.graph_allocated, stats.graph_reserved)
            + used(stats.vectors_allocated, stats.vectors_reserved)
    }
}

/// One of the contexts that usearch has for walks.
struct Walker<'a>(&'a AtomicUsize);

impl<'a> Walker<'a> {
    fn enter(walkers: &'a AtomicUsize) -> Option<Walker<'a>> {
        let free = |walkers: usize| (walkers < WALKERS).then_some(walkers + 1);
        walkers.fetch_update(Ordering::Acquire, Ordering::Relaxed, free).ok().map(|_| Walker(walkers))
    }
}

impl Drop for Walker<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// What usearch stores for a node.
fn stored(node: u32) -> [i8; 4] {
    node.to_ne_bytes().map(u8::cast_signed)
}

fn refused(what: &'static str, error: &impl std::fmt::Display) -> GraphError {
    GraphError::Refused { what, reason: error.to_string() }
}
