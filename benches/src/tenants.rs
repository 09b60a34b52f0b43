//! Many namespaces: recalls over a hundred of very different sizes, and what ten thousand small ones take.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use hindsight_core::Namespace;
use hindsight_engine::{Engine, Options};

use crate::figures::{Figures, at, resident_bytes, thread_ms};
use crate::workload::{Shape, Workload};

/// How much to measure.
#[derive(Debug, Clone, Parser)]
pub struct Args {
    /// Namespaces of very different sizes.
    #[arg(long, default_value_t = 100)]
    pub namespaces: usize,
    /// Memories in all of these together.
    #[arg(long, default_value_t = 100_000)]
    pub memories: usize,
    /// Small namespaces.
    #[arg(long, default_value_t = 10_000)]
    pub small: usize,
    /// Memories in each small one.
    #[arg(long, default_value_t = 10)]
    pub each: usize,
    /// Components of a vector.
    #[arg(long, default_value_t = 384)]
    pub dimension: usize,
    /// Recalls.
    #[arg(long, default_value_t = 1_000)]
    pub recalls: usize,
    /// A folder for the data directories, which are filled, unless an earlier run has filled them. What memories take is
    /// measured only then: the room of a process that has filled one is no measure.
    #[arg(long)]
    pub dir: Option<PathBuf>,
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
    let mut figures = Figures::default();
    let temporary = tempfile::tempdir()?;
    let dir = args.dir.clone().unwrap_or_else(|| temporary.path().to_owned());
    zipf(args, &dir.join("zipf"), &mut figures)?;
    small(args, &dir.join("small"), &mut figures)?;
    figures.print(args.json)
}

fn names(count: usize) -> anyhow::Result<Vec<Namespace>> {
    Ok((0..count).map(|number| format!("tenant-{number}").parse()).collect::<Result<_, _>>()?)
}

fn zipf(args: &Args, dir: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let is_filled = dir.exists();
    let names = names(args.namespaces)?;
    let mut work = Workload::new(args.seed, args.dimension, None, 0)?;
    if !is_filled {
        let (engine, _) = Engine::open(dir, Options::default())?;
        let sum: f64 = (1..=names.len()).map(|rank| 1.0 / rank as f64).sum();
        for (rank, name) in (1_u32..).zip(&names) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
            let count = (args.memories as f64 / f64::from(rank) / sum) as usize;
            work.load(&engine, name, count.max(1))?;
        }
        engine.close()?;
    }
    let before = resident_bytes();
    let (engine, _) = Engine::open(dir, Options::default())?;
    for name in &names {
        engine.stats(name)?.wait()?;
    }
    let grown = (resident_bytes() - before) / args.memories.max(1) as f64;
    if is_filled {
        figures.at_most("memory, a hundred namespaces of Zipf sizes", grown, "B/memory", 700.0);
    }
    let mut times = Vec::with_capacity(args.recalls);
    let questions: Vec<_> = (0..args.recalls)
        .map(|_| Ok((work.zipf(names.len()), work.question(Shape::Hybrid)?)))
        .collect::<anyhow::Result<_>>()?;
    let cpu = thread_ms();
    for (number, question) in &questions {
        let Some(name) = names.get(*number) else { continue };
        let began = Instant::now();
        engine.recall(name, question)?.wait()?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    figures.add("hybrid, processor time, mean", (thread_ms() - cpu) / args.recalls.max(1) as f64, "ms");
    figures.at_most("hybrid, median", at(&mut times, 50), "ms", 0.1);
    figures.add("hybrid, p99", at(&mut times, 99), "ms");
    Ok(engine.close()?)
}

fn small(args: &Args, dir: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let is_filled = dir.exists();
    let names = names(args.small)?;
    let mut work = Workload::new(args.seed, args.dimension, None, 0)?;
    if !is_filled {
        let (engine, _) = Engine::open(dir, Options::default())?;
        names.iter().try_for_each(|name| work.load(&engine, name, args.each))?;
        return Ok(engine.close()?);
    }
    let before = resident_bytes();
    let (engine, _) = Engine::open(dir, Options::default())?;
    let per_namespace = |bytes: f64| bytes / args.small.max(1) as f64;
    figures.at_most(
        "small namespaces, not loaded",
        per_namespace(resident_bytes() - before),
        "B each",
        300.0,
    );
    for name in &names {
        engine.stats(name)?.wait()?;
    }
    figures.at_most(
        "small namespaces, loaded",
        per_namespace(resident_bytes() - before) / 1_024.0,
        "KiB each",
        64.0,
    );
    Ok(engine.close()?)
}
