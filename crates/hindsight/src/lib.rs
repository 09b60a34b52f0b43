//! HindsightDB on the command line: one program that serves, and that asks.
//!
//! What it does: reads flags (`cli`), makes of each command one or a few calls of the client crate (`commands`),
//! and prints the answer for people or for programs (`output`, `view`). `serve` runs the server crate in this
//! process; what works on files that no server has open (`verify`, `inspect`, `backup restore`) calls the storage crate;
//! every other command goes over the wire, so there is one way in. What it does not: it holds no rule of
//! the database. What is right and wrong is said by the server, and only put into words here (`failure`).
//!
//! Data goes to standard output, all else to standard error. Exit codes, which scripts may rely on:
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failed |
//! | 2 | wrong usage, or a field that is wrong |
//! | 3 | not found |
//! | 4 | conflict, or a condition that does not hold |
//! | 5 | not allowed |
//! | 6 | the server does not answer in time, or at all |
//! | 7 | an import that refused lines |
//! | 8 | `verify`, `backup verify`, `doctor`: something is damaged or wrong |
//! | 65, 73, 74, 78 | `serve`, `backup`, `verify`: damaged data, a place that can't be written, a disk that fails, a configuration or directory that is refused |
//!
//! Reading order: `cli`, `commands` (one file each), `connection`, `failure`; then `flags` and `document` (what goes
//! in), `output`, `screen` and `view` (what comes out), `profile` (where a value
//! comes from), `import` (from a line to a memory), `mcp` and `hook` (for agents' programs), `doctor` and `demo`.
#![forbid(unsafe_code)]

mod cli;
mod clock;
mod commands;
mod connection;
mod demo;
mod doctor;
mod document;
mod failure;
mod flags;
mod hook;
mod import;
mod mcp;
mod output;
mod profile;
mod progress;
mod run;
mod screen;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    let parsed = cli::Cli::command().try_get_matches();
    let parsed = parsed.and_then(|matches| Ok((cli::Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        // Wrong usage ends here, with exit code 2; `--help` and `--version` with 0.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(hook::code_of_usage(error.exit_code(), std::env::args_os()));
        }
    };
    match run::run(cli, &profile::Said(&matches)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.exit_code())
        }
    }
}
