//! `hindsight-bench`: measures recall quality and engine speed.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use hindsight_bench::{quality, speed};

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
    /// Measures writes and recalls of the engine on seeded synthetic memories.
    Speed(speed::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Quality(args) => quality::run(&args),
        Command::Speed(args) => speed::run(&args),
    }
}
