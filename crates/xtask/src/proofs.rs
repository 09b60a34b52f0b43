//! The proofs of the engine that have an amount: the simulation, damaged directories, histories, backups, erasures.
//!
//! `cargo test --workspace` runs each of them in a small amount. CI runs them again at the amounts that the test matrix asks
//! of each change, in the very programs that it has built for the tests; a release multiplies that.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// In which build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// As `cargo test --workspace` builds them.
    Tests,
    /// Fast to run and slow to build.
    Release,
}

/// How much of each is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Amounts {
    /// Times the everyday amount of the simulation: A1, A2, A4, A7, A12.
    simulation: u64,
    /// Times the everyday amount of damaged directories: A3.
    damage: u64,
    /// Short histories, and calls of the long one: A9.
    histories: u64,
    history_ops: u64,
    /// B1.
    backups: u64,
}

/// What the test matrix asks of each change: 20,000 crash points with four outcomes each, 2,000 chains of crashes in a
/// recovery, 4,000 runs with a failing call, 13,700 damaged directories, 200 histories and one of 1,000,000 calls, 30 backups.
const EACH_CHANGE: Amounts =
    Amounts { simulation: 20, damage: 40, histories: 200, history_ops: 1_000_000, backups: 30 };

/// The tests, by the beginnings of their names.
const TESTS: [&str; 5] = ["simulation::a", "damage::a3_", "history::a9_", "backup::b1_", "erasure::a12_"];

impl Amounts {
    fn times(self, factor: u64) -> Amounts {
        Amounts {
            simulation: self.simulation * factor,
            // More than the matrix asks of a release shows nothing new.
            damage: self.damage * factor.min(22),
            histories: self.histories * factor.min(25),
            history_ops: self.history_ops,
            backups: self.backups * factor.min(17),
        }
    }
}

/// Runs them at the amounts of each change, times the factor, and tells whether they passed.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(root: &Path, factor: u64, build: Build) -> anyhow::Result<bool> {
    let amounts = EACH_CHANGE.times(factor);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut tests = Command::new(&cargo);
    tests.args(["test", "--locked", "--test", "it"]).args(match build {
        // The same packages as in `cargo test --workspace`, so that nothing is built with other features.
        Build::Tests => &["--workspace"][..],
        Build::Release => &["--release", "--package", "hindsight-engine"],
    });
    let status = tests
        .args(["--", "--nocapture"])
        .args(TESTS)
        .env("HINDSIGHT_SIM_SCALE", amounts.simulation.to_string())
        .env("HINDSIGHT_DAMAGE_SCALE", amounts.damage.to_string())
        .env("HINDSIGHT_HISTORIES", amounts.histories.to_string())
        .env("HINDSIGHT_HISTORY_OPS", amounts.history_ops.to_string())
        .env("HINDSIGHT_BACKUPS", amounts.backups.to_string())
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot start {}; is Rust installed?", cargo.display()))?;
    Ok(status.success())
}
