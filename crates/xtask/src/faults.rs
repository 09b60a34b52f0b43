//! Runs every command of `hindsight-faults` on a server as it is released.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Context;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amounts {
    /// Enough to see whether it works at all: a minute.
    Quick,
    /// What CI tries: a few minutes.
    Usual,
    /// What is tried before a release: hours.
    Release,
}

impl Amounts {
    /// The amounts that the flags ask for.
    #[must_use]
    pub fn of(quick: bool, release: bool) -> Amounts {
        match (quick, release) {
            (_, true) => Amounts::Release,
            (true, false) => Amounts::Quick,
            (false, false) => Amounts::Usual,
        }
    }
}

/// Each command, and its flags when only a little is tried.
const COMMANDS: &[(&str, &[&str])] = &[
    ("kill", &["--cycles", "20", "--acknowledged", "10000"]),
    ("power", &["--cycles", "20"]),
    ("full", &["--cycles", "4"]),
    ("syscalls", &[]),
    ("terminate", &["--cycles", "8"]),
];

/// Builds the server and the tool, runs each command, and tells whether all passed. One that fails does not keep the
/// others from being run.
///
/// # Errors
/// When cargo or the tool cannot be started.
pub fn run(root: &Path, amounts: Amounts) -> anyhow::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--locked", "--package", "hindsight", "--package", "hindsight-faults"]);
    if !build.current_dir(root).status().context("cannot start cargo")?.success() {
        return Ok(false);
    }
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let tool = root.join(folder).join("release/hindsight-faults");
    let mut failed = Vec::new();
    for (name, quick) in COMMANDS {
        let began = Instant::now();
        let mut command = Command::new(&tool);
        command.arg(name);
        match amounts {
            Amounts::Quick => command.args(*quick),
            Amounts::Usual => &mut command,
            Amounts::Release => command.arg("--release-amounts"),
        };
        let status = command.status().with_context(|| format!("cannot start {}", tool.display()))?;
        println!("-- {name}: {status}, {} s\n", began.elapsed().as_secs());
        if !status.success() {
            failed.push(*name);
        }
    }
    println!("faults: {} commands, failed: {failed:?}", COMMANDS.len());
    Ok(failed.is_empty())
}
