//! Everything that proves durability and has an amount, in one command: what CI does in minutes, for long.

use std::path::Path;

use crate::faults;
use crate::proofs::{self, Build};

/// How much, and of what.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many times the amount that CI runs; from 50 on the fault trials have the amounts of a release, too
    #[arg(long, default_value_t = SCALE)]
    scale: u64,
    /// Leave the fault trials out: they need root, strace and e2fsprogs
    #[arg(long)]
    without_faults: bool,
}

/// The amount that the test matrix asks of each release: 1,000,000 crash points with four outcomes each.
pub const SCALE: u64 = 50;

/// Runs the histories, the simulation, the damage and the fault trials, and tells whether they passed. A failure does not keep
/// the others from being run.
///
/// # Errors
/// When cargo or a trial cannot be started.
pub fn run(root: &Path, args: &Args) -> anyhow::Result<bool> {
    let have_passed = proofs::run(root, args.scale, Build::Release)?;
    if args.without_faults {
        return Ok(have_passed);
    }
    let faults = faults::Args::every(args.scale >= SCALE);
    Ok(faults::run(root, &faults)? && have_passed)
}
