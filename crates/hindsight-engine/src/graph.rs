//! Building graphs over the vectors of large namespaces, in the background, a few milliseconds at a time.
//!
//! A step holds a namespace's read lock while it copies a few rows and none while it links them; the write lock is held for
//! the moments in which a graph is begun and put into use. One graph is built at a time.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hindsight_index::{BuiltGraph, GraphBuild, GraphError, GraphNeed, GraphRule};
use hindsight_storage::io::Io;
use parking_lot::{Condvar, Mutex};

use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::{Cell, Namespaces};

/// Rows that are copied and linked in one step: about 20 ms.
const STEP_ROWS: usize = 64;
/// How long the thread sleeps when there is nothing to do.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is being built.
#[derive(Debug)]
pub(crate) struct Graphs {
    rule: GraphRule,
    work: Mutex<Option<Work>>,
}

#[derive(Debug)]
struct Work {
    cell: Arc<Cell>,
    build: GraphBuild,
    began: Instant,
}

impl Graphs {
    pub(crate) fn new(rule: GraphRule) -> Graphs {
        Graphs { rule, work: Mutex::new(None) }
    }

    /// Does the next little thing: a step of the graph under construction, or beginning one, or comparing an answer. False
    /// when there is nothing to do.
    pub(crate) fn step(&self, namespaces: &Namespaces) -> bool {
        let mut work = self.work.lock();
        match work.take() {
            Some(at_work) => {
                *work = advance(at_work);
                true
            }
            None => {
                let cells = namespaces.all();
                *work = cells.iter().find_map(|cell| self.begin(cell));
                work.is_some() || cells.iter().any(|cell| compare(cell))
            }
        }
    }

    fn begin(&self, cell: &Arc<Cell>) -> Option<Work> {
        let need = cell.state.read().index.graph_need(self.rule);
        match need {
            GraphNeed::None => None,
            GraphNeed::Drop => {
                let mut state = cell.state.write();
                let old = state.index.drop_graph();
                state.gauge.reset();
                drop(state);
                drop(old);
                tracing::info!(namespace = %cell.name, "vector graph dropped: the scan is as fast");
                None
            }
            GraphNeed::Build => {
                let build = cell.state.write().index.begin_graph(self.rule);
                tracing::debug!(namespace = %cell.name, vectors = build.rows(), "vector graph begun");
                Some(Work { cell: Arc::clone(cell), build, began: Instant::now() })
            }
        }
    }
}

/// One step; what is left to do, if anything.
fn advance(work: Work) -> Option<Work> {
    let Work { cell, mut build, began } = work;
    match link(&cell, &mut build) {
        Ok(true) => return Some(Work { cell, build, began }),
        Ok(false) => match build.finish() {
            Ok(built) => install(&cell, built, began),
            Err(error) => refuse(&cell, &error),
        },
        Err(error) => refuse(&cell, &error),
    }
    None
}

fn link(cell: &Cell, build: &mut GraphBuild) -> Result<bool, GraphError> {
    let is_left = cell.state.read().index.fetch_for_graph(build, STEP_ROWS)?;
    if is_left {
        build.add(STEP_ROWS)?;
    }
    Ok(is_left)
}

fn install(cell: &Cell, built: BuiltGraph, began: Instant) {
    let mut state = cell.state.write();
    let old = state.index.install_graph(built);
    state.gauge.reset();
    let stats = state.index.active().vectors().graph_stats();
    drop(state);
    drop(old);
    tracing::info!(namespace = %cell.name, ?stats, seconds = began.elapsed().as_secs(), "vector graph in use");
}

fn refuse(cell: &Cell, error: &GraphError) {
    tracing::warn!(
        namespace = %cell.name,
        error = error as &dyn std::error::Error,
        "no vector graph: recall scans, which is exact and slower"
    );
    // A namespace that was emptied meanwhile has a graph of its own, or none.
    if *error != GraphError::Foreign {
        cell.state.write().index.refuse_graph();
    }
}

/// Compares an answer through the graph with the scan. A graph that misses too much is taken out of use: what it has become
/// by changes is built anew; one that was no better from the start isn't tried again before there are more vectors.
fn compare(cell: &Cell) -> bool {
    let state = cell.state.read();
    if !state.gauge.compare(&state.index) {
        return false;
    }
    let is_bad = state.gauge.is_bad();
    drop(state);
    if is_bad {
        let mut state = cell.state.write();
        let measured = state.gauge.measured();
        let changed = state.index.active().vectors().graph_stats().is_some_and(|graph| {
            // One in twenty is gone, so it is not what it was.
            graph.dead * 20 > graph.covered
        });
        let old = state.index.drop_graph();
        if !changed {
            state.index.refuse_graph();
        }
        state.gauge.reset();
        drop(state);
        drop(old);
        tracing::warn!(namespace = %cell.name, ?measured, "vector graph dropped: it missed too much");
    }
    true
}

impl<I: Io> EngineOver<I> {
    /// Does a little of what there is to do about the graphs over large namespaces' vectors, and says whether there was
    /// anything: what a thread does by itself on the machine's own disk, and a simulator drives.
    pub fn graph_step(&self) -> bool {
        self.graphs.step(&self.namespaces)
    }
}

/// The running thread; dropping it stops it after its step.
#[derive(Debug)]
pub(crate) struct Grapher {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    is_asked: Mutex<bool>,
    asked: Condvar,
}

impl Grapher {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(graphs: Arc<Graphs>, namespaces: Arc<Namespaces>) -> Result<Grapher, EngineError> {
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        let run = move || {
            loop {
                let is_busy = graphs.step(&namespaces);
                let mut is_asked = asked.is_asked.lock();
                if !is_busy && !*is_asked {
                    asked.asked.wait_for(&mut is_asked, LOOK_EVERY);
                }
                if *is_asked {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("graph".to_owned()).spawn(run);
        Ok(Grapher { stop, thread: Some(thread.map_err(EngineError::NoThread)?) })
    }
}

impl Drop for Grapher {
    fn drop(&mut self) {
        *self.stop.is_asked.lock() = true;
        self.stop.asked.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened.
            let _ = thread.join();
        }
    }
}
