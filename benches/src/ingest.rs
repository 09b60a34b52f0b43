//! How fast memories come in: in large requests, and one durable write after the other.

use std::time::Instant;

use clap::Parser;
use hindsight_core::Namespace;
use hindsight_engine::{Engine, Options, WriteOptions};

use crate::figures::{Figures, at};
use crate::storage::processor_seconds;
use crate::workload::Workload;

/// How much to measure.
#[derive(Debug, Clone, Parser)]
pub struct Args {
    /// Memories in large requests.
    #[arg(long, default_value_t = 100_000)]
    pub memories: usize,
    /// Single durable writes after them.
    #[arg(long, default_value_t = 1_000)]
    pub writes: usize,
    /// Components of a vector.
    #[arg(long, default_value_t = 384)]
    pub dimension: usize,
    /// The seed of everything random.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Prints JSON.
    #[arg(long)]
    pub json: bool,
}

/// Measures and prints.
///
/// # Errors
/// When the engine refuses something, or the temporary directory can't be used.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let namespace: Namespace = "ingest".parse()?;
    let mut work = Workload::new(args.seed, args.dimension, None, 0)?;
    let (engine, _) =
        Engine::open(dir.path(), Options { graph: hindsight_index::GraphRule::NEVER, ..Options::default() })?;
    let mut figures = Figures::default();
    let (began, cpu) = (Instant::now(), processor_seconds()?);
    work.load(&engine, &namespace, args.memories)?;
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), processor_seconds()? - cpu);
    figures.at_least("bulk, of processor time", args.memories as f64 / cpu, "per second", 20_000.0);
    figures.add("bulk, of time", args.memories as f64 / seconds, "per second");
    let mut times = Vec::with_capacity(args.writes);
    let cpu = processor_seconds()?;
    for _ in 0..args.writes {
        let item = work.item();
        let began = Instant::now();
        engine.write(&namespace, item, WriteOptions::default())?.wait()?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = (processor_seconds()? - cpu) / args.writes.max(1) as f64;
    figures.add("single durable write, processor time, workload included, mean", cpu * 1e3, "ms");
    figures.add("single durable write, median", at(&mut times, 50), "ms");
    figures.add("single durable write, p99", at(&mut times, 99), "ms");
    figures.print(args.json)?;
    Ok(engine.close()?)
}
