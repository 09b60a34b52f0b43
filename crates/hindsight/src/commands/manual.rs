//! `completion` and `man`: what the command line says of itself, for shells and for `man`.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output::{Out, tell};
use crate::screen::counted;

/// For which shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell: bash, zsh, fish, powershell, elvish
    #[arg(value_enum, value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

/// Which pages.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page is printed, such as: backup create [default: hindsight itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the page of every command into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Prints the script that a shell reads.
pub(crate) fn completion(args: &CompletionArgs, out: &mut Out) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hindsight", &mut script);
    out.bytes(&script)
}

/// Prints one page, or writes all of them.
pub(crate) fn man(args: &ManArgs, out: &mut Out) -> Result<(), Failure> {
    // Built, so that each command knows its full name and the global flags.
    let mut root = Cli::command();
    root.build();
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|source| Failure::Create { path: folder.clone(), source })?;
        let pages = write_all(&root, "hindsight", folder)?;
        tell(&format!("wrote {} into {}", counted(pages, "page", "pages"), folder.display()));
        return Ok(());
    }
    let mut command = &root;
    for word in &args.command {
        command = command.find_subcommand(word).ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            let problem = format!("{word:?} is no command: expected one of {}", names.join(", "));
            hindsight_core::Invalid::one("command", problem)
        })?;
    }
    let name = std::iter::once("hindsight").chain(args.command.iter().map(String::as_str));
    out.bytes(&page(command, &name.collect::<Vec<_>>().join("-"))?)
}

fn write_all(command: &clap::Command, name: &str, folder: &Path) -> Result<u64, Failure> {
    let path = folder.join(format!("{name}.1"));
    std::fs::write(&path, page(command, name)?).map_err(|source| Failure::Create { path, source })?;
    let mut pages = 1;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        pages += write_all(inner, &format!("{name}-{}", inner.get_name()), folder)?;
    }
    Ok(pages)
}

fn page(command: &clap::Command, name: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut text)?;
    Ok(text)
}
