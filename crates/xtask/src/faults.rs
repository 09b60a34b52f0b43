//! Runs every command of `hindsight-faults` on a server as it is released.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Context;

/// What is run, and how.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run only these
    #[arg(value_name = "COMMAND", value_parser = names())]
    only: Vec<String>,
    /// Fewer of everything: to see whether it works at all
    #[arg(long, conflicts_with = "release_amounts")]
    quick: bool,
    /// As much of everything as before a release; takes hours
    #[arg(long)]
    release_amounts: bool,
    /// Build as you are and run as root, by a sudo that asks for no password
    #[arg(long)]
    sudo: bool,
}

fn names() -> clap::builder::PossibleValuesParser {
    COMMANDS.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amounts {
    /// Enough to see whether it works at all: a minute.
    Quick,
    /// What CI tries: a few minutes.
    Usual,
    /// What is tried before a release: hours.
    Release,
}

impl Args {
    /// Every command, at the amounts of CI or of a release.
    #[must_use]
    pub fn every(release_amounts: bool) -> Args {
        Args { only: Vec::new(), quick: false, release_amounts, sudo: false }
    }

    fn amounts(&self) -> Amounts {
        match (self.quick, self.release_amounts) {
            (_, true) => Amounts::Release,
            (true, false) => Amounts::Quick,
            (false, false) => Amounts::Usual,
        }
    }
}

/// Each command, and its flags when only a little is tried.
const COMMANDS: &[(&str, &[&str])] = &[
    ("kill", &["--cycles", "20", "--acknowledged", "10000"]),
    ("lag", &["--cycles", "4"]),
    ("history", &["--histories", "4"]),
    ("backup", &["--backups", "6"]),
    ("power", &["--cycles", "20"]),
    ("full", &["--cycles", "4"]),
    ("syscalls", &[]),
    ("terminate", &["--cycles", "8"]),
    ("memory", &["--log-mib", "64"]),
];

/// Builds the server and the tool, runs the commands, and tells whether all passed. One that fails does not keep the
/// others from being run.
///
/// # Errors
/// When cargo or the tool cannot be started.
pub fn run(root: &Path, args: &Args) -> anyhow::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // One after the other: built together, the server would have other features of its dependencies than alone, and be
    // another program than the one that `cargo run --release` builds.
    for package in ["hindsight", "hindsight-faults"] {
        let mut build = Command::new(&cargo);
        build.args(["build", "--release", "--locked", "--package", package]).current_dir(root);
        if !build.status().context("cannot start cargo")?.success() {
            return Ok(false);
        }
    }
    let folder = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let tool = root.join(folder).join("release/hindsight-faults");
    let (mut ran, mut failed) = (0, Vec::new());
    for (name, quick) in COMMANDS {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        let began = Instant::now();
        let mut command = if args.sudo { Command::new("sudo") } else { Command::new(&tool) };
        if args.sudo {
            command.arg("--non-interactive").arg(&tool);
        }
        command.arg(name);
        match args.amounts() {
            Amounts::Quick => command.args(*quick),
            Amounts::Usual => &mut command,
            Amounts::Release => command.arg("--release-amounts"),
        };
        let status = command.status().with_context(|| format!("cannot start {}", tool.display()))?;
        println!("-- {name}: {status}, {} s\n", began.elapsed().as_secs());
        ran += 1;
        if !status.success() {
            failed.push(*name);
        }
    }
    println!("faults: {ran} commands, failed: {failed:?}");
    Ok(failed.is_empty())
}
