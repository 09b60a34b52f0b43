//! `hindsight-faults`: breaks a running server in every way it must survive, and says what was lost.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hindsight_faults::{
    Setting, Verdict, backup, full, history, kill, lag, memory, power, setting, syscalls, terminate,
};

/// Breaks a running server in every way it must survive, and says what was lost.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(flatten)]
    setting: setting::Args,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// SIGKILL while requests are in flight.
    Kill(kill::Args),
    /// What `durability = async` loses by kills and power cuts.
    Lag(lag::Args),
    /// What clients were told before and after kills, in some order.
    History(history::Args),
    /// Backups under load, cut short by the end of who takes them or of the server.
    Backup(backup::Args),
    /// What a start takes of memory and time.
    Memory(memory::Args),
    /// Writes a log for `memory`.
    #[command(hide = true)]
    Fill(memory::FillArgs),
    /// A power cut: an ext4 file system that forgets what was never synced.
    Power(power::Args),
    /// A disk without space.
    Full(full::Args),
    /// System calls that fail, or at which the server dies.
    Syscalls(syscalls::Args),
    /// SIGTERM under load.
    Terminate(terminate::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    if let Command::Fill(args) = &cli.command {
        memory::fill(args)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (setting, name) = (Setting::new(cli.setting)?, name_of(&cli.command));
    let mut verdict = Verdict::begin(name, setting.seed);
    let ran = match &cli.command {
        Command::Kill(args) => kill::run(args, &setting, &mut verdict),
        Command::Lag(args) => lag::run(args, &setting, &mut verdict),
        Command::History(args) => history::run(args, &setting, &mut verdict),
        Command::Backup(args) => backup::run(args, &setting, &mut verdict),
        Command::Memory(args) => memory::run(args, &setting, &mut verdict),
        Command::Fill(_) => Ok(()),
        Command::Power(args) => power::run(args, &setting, &mut verdict),
        Command::Full(args) => full::run(args, &setting, &mut verdict),
        Command::Syscalls(args) => syscalls::run(args, &setting, &mut verdict),
        Command::Terminate(args) => terminate::run(args, &setting, &mut verdict),
    };
    if let Err(error) = ran {
        // What can't be tried here is a failure, not something to skip: nobody would notice that nothing was proved.
        verdict.check(&format!("{name} runs to its end"), Err(format!("{error:#}")));
    }
    Ok(if verdict.end() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn name_of(command: &Command) -> &'static str {
    match command {
        Command::Kill(_) => "kill",
        Command::Lag(_) => "lag",
        Command::History(_) => "history",
        Command::Backup(_) => "backup",
        Command::Memory(_) => "memory",
        Command::Fill(_) => "fill",
        Command::Power(_) => "power",
        Command::Full(_) => "full",
        Command::Syscalls(_) => "syscalls",
        Command::Terminate(_) => "terminate",
    }
}
