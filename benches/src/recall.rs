//! Recalls in one large namespace: how long each sort takes, how many of the nearest vectors are found, and what a memory
//! takes in memory.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use hindsight_core::Namespace;
use hindsight_engine::{Engine, Options};
use hindsight_index::GraphRule;

use crate::figures::{Figures, at, resident_bytes, thread_ms};
use crate::workload::{Shape, Workload};

/// How much to measure.
#[derive(Debug, Clone, Parser)]
pub struct Args {
    /// Memories in the namespace.
    #[arg(long, default_value_t = 100_000)]
    pub memories: usize,
    /// Components of a made-up vector.
    #[arg(long, default_value_t = 384)]
    pub dimension: usize,
    /// A folder with `base.i8.npy` and `queries.i8.npy`, to measure with real vectors.
    #[arg(long)]
    pub vectors: Option<PathBuf>,
    /// Recalls of each sort.
    #[arg(long, default_value_t = 500)]
    pub recalls: usize,
    /// Without a graph: every search scans.
    #[arg(long)]
    pub no_graph: bool,
    /// A data directory that is filled, unless an earlier run has filled it. What memories take is measured only then: the
    /// room of a process that has filled one is no measure.
    #[arg(long)]
    pub dir: Option<PathBuf>,
    /// The seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Prints JSON.
    #[arg(long)]
    pub json: bool,
}

/// Days of one task type that hold a hundredth of the memories: 20 task types, 90 days.
const FILTER_DAYS: i64 = 18;
/// How long a graph may take before it is measured without.
const GRAPH_WAIT: Duration = Duration::from_secs(1_800);

/// Measures and prints.
///
/// # Errors
/// When the engine refuses something, or the temporary directory can't be used.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let temporary = tempfile::tempdir()?;
    let dir = args.dir.clone().unwrap_or_else(|| temporary.path().join("data"));
    let is_filled = dir.exists();
    let namespace: Namespace = "recall".parse()?;
    let mut work = Workload::new(args.seed, args.dimension, args.vectors.as_deref(), args.memories)?;
    let mut figures = Figures::default();
    let scanning = Options { graph: GraphRule::NEVER, ..Options::default() };
    if !is_filled {
        let (engine, _) = Engine::open(&dir, scanning.clone())?;
        work.load(&engine, &namespace, args.memories)?;
        engine.close()?;
    }
    // What is loaded from its files takes what a server takes that was started.
    let options = if args.no_graph { scanning } else { Options::default() };
    let before = resident_bytes();
    let (engine, _) = Engine::open(&dir, options)?;
    let began = Instant::now();
    engine.stats(&namespace)?.wait()?;
    figures.add("first touch", began.elapsed().as_secs_f64() * 1e3, "ms");
    let per_memory = |bytes: f64| bytes / args.memories.max(1) as f64;
    if is_filled {
        figures.at_most("memory, without graph", per_memory(resident_bytes() - before), "B/memory", 700.0);
    }
    if !args.no_graph && wait_for_graph(&engine, &namespace)? && is_filled {
        figures.at_most("memory, with graph", per_memory(resident_bytes() - before), "B/memory", 1_800.0);
    }
    let (median, _) =
        measure(&engine, &namespace, &mut work, args.recalls, Shape::Filtered { days: FILTER_DAYS })?;
    figures.at_most("filter and nearest 8 of a hundredth, median", median.0, "ms", 0.08);
    figures.add("the same, processor time, mean", median.1, "ms");
    let (median, found) = measure(&engine, &namespace, &mut work, args.recalls, Shape::Vector)?;
    figures.at_most("nearest 8 of all, median", median.0, "ms", 0.35);
    figures.add("the same, processor time, mean", median.1, "ms");
    figures.at_least("the same, found of what the scan finds", found.recall, "", 0.99);
    let (median, found) = measure(&engine, &namespace, &mut work, args.recalls, Shape::Hybrid)?;
    figures.at_most("hybrid, median", median.0, "ms", 0.5);
    figures.at_most("hybrid, p99", found.p99, "ms", 2.0);
    figures.add("the same, processor time, mean", median.1, "ms");
    figures.print(args.json)?;
    Ok(engine.close()?)
}

fn wait_for_graph(engine: &Engine, namespace: &Namespace) -> anyhow::Result<bool> {
    let began = Instant::now();
    while began.elapsed() < GRAPH_WAIT {
        if engine.stats(namespace)?.wait()?.vector_graph.is_some() {
            return Ok(true);
        }
        let is_busy = engine.graph_step();
        if !is_busy && began.elapsed() > Duration::from_secs(5) {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Beside the median.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// In milliseconds.
    pub p99: f64,
    /// The share of the exact best that came back; only of searches by vector alone.
    pub recall: f64,
}

/// Asks so many questions of a sort. Returns the median in milliseconds with the mean of this thread's processor time, and
/// what else there is to say.
///
/// # Errors
/// When the engine refuses one.
pub fn measure(
    engine: &Engine,
    namespace: &Namespace,
    work: &mut Workload,
    count: usize,
    shape: Shape,
) -> anyhow::Result<((f64, f64), Found)> {
    let questions: Vec<_> = (0..count).map(|_| work.question(shape)).collect::<Result<_, _>>()?;
    // Once over all of it, so that nothing is measured for the first time.
    for question in questions.iter().take(count / 10) {
        engine.recall(namespace, question)?.wait()?;
    }
    let (mut times, mut answers) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let cpu = thread_ms();
    for question in &questions {
        let began = Instant::now();
        answers.push(engine.recall(namespace, question)?.wait()?);
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = (thread_ms() - cpu) / count.max(1) as f64;
    let (mut had, mut wanted) = (0, 0);
    if matches!(shape, Shape::Vector) {
        for (question, answer) in questions.iter().zip(&answers).take(200) {
            let exact = hindsight_core::Recall { exact: true, ..question.clone() };
            let exact = engine.recall(namespace, &exact)?.wait()?;
            wanted += exact.hits.len();
            had += exact
                .hits
                .iter()
                .filter(|one| answer.hits.iter().any(|hit| hit.memory.id == one.memory.id))
                .count();
        }
    }
    let recall = had as f64 / f64::from(u32::try_from(wanted).unwrap_or(u32::MAX));
    Ok(((at(&mut times, 50), cpu), Found { p99: at(&mut times, 99), recall }))
}
