//! The release amounts of the tests that have amounts: what CI does in a minute, for long.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// The amount that the test matrix asks of each release: at least 20,000 crash points with four outcomes each.
pub const SCALE: u64 = 20;

/// Calls of the one long history that the test matrix asks of each release (A9).
pub const HISTORY_OPS: u64 = 1_000_000;

/// How many times as many damaged directories a scale of one means: a scale of 20 opens 300,000.
const DAMAGE_PER_SCALE: u64 = 44;

/// Runs the histories, the simulation and the damage at `scale` times their everyday amounts and tells whether they passed.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(root: &Path, scale: u64) -> anyhow::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(&cargo)
        .args(["test", "--release", "--locked", "-p", "hindsight-engine", "--test", "it", "--"])
        .args(["--nocapture", "simulation", "history", "damage"])
        .env("HINDSIGHT_SIM_SCALE", scale.to_string())
        .env("HINDSIGHT_HISTORY_OPS", HISTORY_OPS.to_string())
        .env("HINDSIGHT_DAMAGE_SCALE", (scale * DAMAGE_PER_SCALE).to_string())
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot start {}; is Rust installed?", cargo.display()))?;
    Ok(status.success())
}
