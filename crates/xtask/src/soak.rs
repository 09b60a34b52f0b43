//! The release amounts of the tests that have amounts: what CI does in a minute, for long.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// The amount that the test matrix asks of each release: at least 20,000 crash points with four outcomes each.
pub const SCALE: u64 = 20;

/// Calls of the one long history that the test matrix asks of each release (A9).
pub const HISTORY_OPS: u64 = 1_000_000;

/// Runs the histories and the simulation at `scale` times its everyday amount and tells whether it passed.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(root: &Path, scale: u64) -> anyhow::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(&cargo)
        .args(["test", "--release", "--locked", "-p", "hindsight-engine", "--test", "it", "--"])
        .args(["--nocapture", "simulation", "history"])
        .env("HINDSIGHT_SIM_SCALE", scale.to_string())
        .env("HINDSIGHT_HISTORY_OPS", HISTORY_OPS.to_string())
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot start {}; is Rust installed?", cargo.display()))?;
    Ok(status.success())
}
