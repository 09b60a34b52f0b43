//! The command line of `cargo xtask`: parses the arguments and calls the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::proofs::{self, Build};
use xtask::{ci, codegen, faults, fuzz, soak, tidy, workspace_root};

/// Tools of the HindsightDB project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the Rust code of proto/ into crates/hindsight-proto/src/generated/.
    Codegen {
        /// Write nothing; fail when the committed code is not what proto/ gives.
        #[arg(long)]
        check: bool,
    },
    /// Check the house rules: layering, sizes, panics, docs, links and more.
    Tidy,
    /// Break a running server in every way it must survive: kills, power cuts, a full disk, failing system calls.
    Faults(faults::Args),
    /// Run the simulation, the damage, the histories, the backups and the erasures at the amounts of each change, in the
    /// programs that `cargo test --workspace` builds.
    Prove,
    /// Fuzz every target of fuzz/ for a while, guided by coverage.
    Fuzz(fuzz::Args),
    /// Run every step of CI, as .ci/run does.
    Ci,
    /// Run everything that proves durability at the amounts of a release: the simulation, the histories, the damage, the
    /// fault trials.
    Soak(soak::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    let root = workspace_root();
    match Arguments::parse().command {
        Command::Codegen { check: false } => {
            for path in codegen::write(root)? {
                println!("wrote {}", path.display());
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Codegen { check: true } => {
            let stale = codegen::stale_files(root)?;
            for name in &stale {
                println!(
                    "{}/{name}: stale: run `cargo xtask codegen` and commit the result",
                    codegen::OUT_DIR
                );
            }
            eprintln!("codegen: {} stale files", stale.len());
            Ok(exit_code(stale.is_empty()))
        }
        Command::Tidy => {
            let findings = tidy::run(root)?;
            for finding in &findings {
                println!("{finding}");
            }
            eprintln!("tidy: {} rules, {} findings", tidy::RULES.len(), findings.len());
            Ok(exit_code(findings.is_empty()))
        }
        Command::Faults(args) => Ok(exit_code(faults::run(root, &args)?)),
        Command::Prove => Ok(exit_code(proofs::run(root, 1, Build::Tests)?)),
        Command::Fuzz(args) => Ok(exit_code(fuzz::run(root, &args)?)),
        Command::Ci => Ok(exit_code(ci::run(root)?)),
        Command::Soak(args) => Ok(exit_code(soak::run(root, &args)?)),
    }
}

fn exit_code(all_well: bool) -> ExitCode {
    if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
