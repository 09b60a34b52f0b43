//! How fast memories get to the disk and back: durable writes beside the bare system calls that they need, restarts, reads
//! by id of what is not loaded, bytes on disk, replay, checkpoints.
//!
//! What is compared is measured in turns in one run, so that other work on the machine hits both alike; the figures are
//! medians over the rounds. Processor time is that of the whole process, the system's part of it included: it holds on
//! a busy machine, where times on the clock do not.

mod checkpoint;
pub(crate) mod cpu;
mod disk;
mod restart;
mod writes;

use std::path::PathBuf;

use clap::Parser;

/// How much to measure.
#[derive(Debug, Parser)]
pub struct Args {
    /// Where to put the data directories; a temporary folder of the system by default.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Components of a vector.
    #[arg(long, default_value_t = 384)]
    dimension: usize,
    /// Rounds; their median counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Durable writes of one client in a round.
    #[arg(long, default_value_t = 1_000)]
    writes: usize,
    /// Clients that write at the same time.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Memories that are loaded, compacted and replayed.
    #[arg(long, default_value_t = 50_000)]
    memories: usize,
    /// Memories of the restart.
    #[arg(long, default_value_t = 1_000_000)]
    restart_memories: usize,
    /// Namespaces of the restart.
    #[arg(long, default_value_t = 1_000)]
    restart_namespaces: usize,
    /// Components of a vector at the restart, which loads no namespace.
    #[arg(long, default_value_t = 16)]
    restart_dimension: usize,
    /// Reads by id.
    #[arg(long, default_value_t = 20_000)]
    reads: usize,
    /// The seed of everything random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to measure: all of it by default.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
}

/// A part of what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Durable writes of one client and of many.
    Writes,
    /// Bytes on disk, and replay.
    Disk,
    /// Checkpoints, and readers beside them and beside writers.
    Checkpoint,
    /// A restart of many namespaces, and reads by id.
    Restart,
}

/// Measures and prints.
///
/// # Errors
/// When the engine refuses something, or the folder can't be used.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let wants = |part: Part| args.only.is_empty() || args.only.contains(&part);
    if wants(Part::Writes) {
        writes::run(args)?;
    }
    if wants(Part::Disk) {
        disk::run(args)?;
    }
    if wants(Part::Checkpoint) {
        checkpoint::run(args)?;
    }
    if wants(Part::Restart) {
        restart::run(args)?;
    }
    Ok(())
}

/// A new folder.
fn folder(args: &Args) -> anyhow::Result<tempfile::TempDir> {
    Ok(match &args.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    })
}

/// The middle one of some numbers; 0 of none.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

/// A count as a number that can be divided.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn real(count: usize) -> f64 {
    count as f64
}

/// The processor time of this process up to now, in seconds.
///
/// # Errors
/// When `/proc` is not there.
pub(crate) fn processor_seconds() -> anyhow::Result<f64> {
    Ok(cpu::of_process()?.as_secs_f64())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(super::median(vec![9.0, 1.0, 3.0]), 3.0);
        assert_eq!(super::median(Vec::new()), 0.0);
    }
}
