//! `hindsight-bench`: measures recall quality and engine speed.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use hindsight_bench::{ablation, quality, rounds, speed, storage, tune, vectors};

/// Measures recall quality and engine speed.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Imports a dataset, asks its questions, and says how often the right memory comes back.
    Quality(quality::Args),
    /// Chooses weights of the channels on one half of the datasets and reports on the other.
    Tune(tune::Args),
    /// Says what each channel and each signal is worth: without it, and with it alone.
    Ablation(ablation::Args),
    /// Measures writes and recalls of the engine on seeded synthetic memories.
    Speed(speed::Args),
    /// Measures the search for the nearest vectors on real ones: exact, and through the graph.
    Vectors(vectors::Args),
    /// Measures whether the graph stays as good over rounds of replacing half of the vectors, and after a restart.
    Rounds(rounds::Args),
    /// Measures durable writes, restarts, reads from disk, size and replay, as ratios and times of one run.
    Storage(storage::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Quality(args) => quality::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Ablation(args) => ablation::run(&args),
        Command::Speed(args) => speed::run(&args),
        Command::Vectors(args) => vectors::run(&args),
        Command::Rounds(args) => rounds::run(&args),
        Command::Storage(args) => storage::run(&args),
    }
}
