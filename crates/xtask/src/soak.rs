//! Everything that proves durability and has an amount, in one command: what CI does in minutes, for long.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::faults;

/// How much, and of what.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many times the everyday amount of the simulation, the histories and the damage; from 20 on the fault trials have
    /// the amounts of a release, too
    #[arg(long, default_value_t = SCALE)]
    scale: u64,
    /// Leave the fault trials out: they need root, strace and e2fsprogs
    #[arg(long)]
    without_faults: bool,
}

/// The amount that the test matrix asks of each release: at least 20,000 crash points with four outcomes each.
pub const SCALE: u64 = 20;

/// Calls of the one long history that the test matrix asks of each release (A9).
pub const HISTORY_OPS: u64 = 1_000_000;

/// How many times as many damaged directories a scale of one means: a scale of 20 opens 300,000.
const DAMAGE_PER_SCALE: u64 = 44;

/// Backups that a scale of one takes: a scale of 20 takes 500.
const BACKUPS_PER_SCALE: u64 = 25;

/// Runs the histories, the simulation, the damage and the fault trials, and tells whether they passed. A failure does not keep
/// the others from being run.
///
/// # Errors
/// When cargo or a trial cannot be started.
pub fn run(root: &Path, args: &Args) -> anyhow::Result<bool> {
    let have_passed = run_tests(root, args.scale)?;
    if args.without_faults {
        return Ok(have_passed);
    }
    let faults = faults::Args::every(args.scale >= SCALE);
    Ok(faults::run(root, &faults)? && have_passed)
}

fn run_tests(root: &Path, scale: u64) -> anyhow::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ops = if scale >= SCALE { HISTORY_OPS } else { HISTORY_OPS / SCALE * scale };
    let status = Command::new(&cargo)
        .args(["test", "--release", "--locked", "-p", "hindsight-engine", "--test", "it", "--"])
        .args(["--nocapture", "simulation", "history", "damage", "b1_", "a12_"])
        .env("HINDSIGHT_SIM_SCALE", scale.to_string())
        .env("HINDSIGHT_BACKUPS", (scale * BACKUPS_PER_SCALE).to_string())
        .env("HINDSIGHT_HISTORY_OPS", ops.to_string())
        .env("HINDSIGHT_DAMAGE_SCALE", (scale * DAMAGE_PER_SCALE).to_string())
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot start {}; is Rust installed?", cargo.display()))?;
    Ok(status.success())
}
