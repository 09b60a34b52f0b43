//! From the parsed command line to the command.

use tokio::runtime::{Builder, Runtime};

use crate::cli::{Cli, Command};
use crate::commands;
use crate::commands::backup::{BackupAction, BackupArgs};
use crate::commands::mcp::{McpAction, McpArgs};
use crate::commands::namespaces::NamespacesAction;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::Out;
use crate::profile::{Globals, Said};

/// Runs one command.
pub(crate) fn run(cli: Cli, said: &Said<'_>) -> Result<(), Failure> {
    let Cli { globals, command } = cli;
    if let Command::Hook(args) = command {
        return commands::hook::run(&args, || Globals::of(globals, said));
    }
    // What calls no server is kept up by nothing that a profile says.
    let globals =
        if is_local(&command) { Globals::of_flags(globals, said) } else { Globals::of(globals, said)? };
    let mut out = Out::new(&globals);
    match command {
        Command::Serve(args) => runtime(Builder::new_multi_thread())?.block_on(commands::serve::run(args)),
        Command::Demo(args) => {
            runtime(Builder::new_current_thread())?.block_on(commands::demo::run(args, &mut out))?;
            out.flush()
        }
        Command::Completion(args) => {
            commands::manual::completion(&args, &mut out)?;
            out.flush()
        }
        Command::Man(args) => {
            commands::manual::man(&args, &mut out)?;
            out.flush()
        }
        Command::Config(args) => {
            commands::config::run(&args, &globals, &mut out)?;
            out.flush()
        }
        Command::Doctor(args) => {
            runtime(Builder::new_current_thread())?.block_on(commands::doctor::run(*args, globals, &mut out))
        }
        Command::Openapi => {
            out.json(&hindsight_server::openapi())?;
            out.flush()
        }
        Command::Version => {
            commands::version::run(&mut out)?;
            out.flush()
        }
        Command::Backup(BackupArgs { action: BackupAction::Restore(args) }) => {
            commands::backup::restore(&args, &mut out)?;
            out.flush()
        }
        Command::Backup(BackupArgs { action: BackupAction::Verify(args) }) => {
            commands::backup::verify(&args, &mut out)?;
            out.flush()
        }
        Command::Mcp(McpArgs { action: Some(McpAction::Config(args)), .. }) => {
            commands::mcp::config(&args, &globals, &mut out)?;
            out.flush()
        }
        Command::Mcp(args) => {
            runtime(Builder::new_multi_thread())?.block_on(commands::mcp::run(args, globals))
        }
        Command::Token(args) => {
            runtime(Builder::new_current_thread())?
                .block_on(commands::token::run(args, globals, &mut out))?;
            out.flush()
        }
        Command::Audit(args) => {
            runtime(Builder::new_current_thread())?
                .block_on(commands::audit::run(args, globals, &mut out))?;
            out.flush()
        }
        Command::Verify(args) => commands::verify::run(&args, &mut out),
        Command::Repair(args) => commands::repair::run(&args, &mut out),
        Command::Inspect(args) => {
            commands::inspect::run(&args, &mut out)?;
            out.flush()
        }
        command => {
            runtime(Builder::new_current_thread())?.block_on(over_the_wire(command, globals, &mut out))?;
            out.flush()
        }
    }
}

fn is_local(command: &Command) -> bool {
    matches!(
        command,
        Command::Serve(_)
            | Command::Demo(_)
            | Command::Version
            | Command::Openapi
            | Command::Completion(_)
            | Command::Man(_)
            | Command::Verify(_)
            | Command::Repair(_)
            | Command::Inspect(_)
    )
}

fn runtime(mut builder: Builder) -> Result<Runtime, Failure> {
    Ok(builder.enable_all().build()?)
}

async fn over_the_wire(command: Command, globals: Globals, out: &mut Out) -> Result<(), Failure> {
    let connection = Connection::new(globals)?;
    let c = &connection;
    match command {
        Command::Write(args) => commands::write::run(c, *args, out).await,
        Command::Record(args) => commands::record::run(c, *args, out).await,
        Command::Recall(args) => commands::recall::run(c, *args, out).await,
        Command::Explain(args) => commands::recall::explain(c, *args, out).await,
        Command::Get(args) => commands::get::run(c, args, out).await,
        Command::List(args) => commands::list::run(c, *args, out).await,
        Command::Update(args) => commands::update::run(c, *args, out).await,
        Command::Forget(args) => commands::forget::run(c, *args, out).await,
        Command::Restore(args) => commands::forget::restore(c, args, out).await,
        Command::Feedback(args) => commands::learn::feedback(c, args, out).await,
        Command::History(args) => commands::learn::history(c, args, out).await,
        Command::Rollback(args) => commands::learn::rollback(c, args, out).await,
        Command::Rules(args) => commands::rules::run(c, args, out).await,
        Command::Consolidate(args) => commands::rules::consolidate(c, args, out).await,
        Command::Summarize(args) => commands::rules::summarize(c, args, out).await,
        Command::Sessions(args) => commands::sessions::run(c, args, out).await,
        Command::Watch(args) => commands::watch::run(c, args, out).await,
        Command::Import(args) => commands::import::run(c, args, out).await,
        Command::Export(args) => commands::export::run(c, args, out).await,
        Command::Backup(BackupArgs { action: BackupAction::Create(args) }) => {
            commands::backup::create(c, args, out).await
        }
        Command::Stats => commands::stats::run(c, out).await,
        Command::Purge(args) => commands::purge::run(c, *args, out).await,
        Command::Namespaces(args) => match args.action {
            None => commands::namespaces::run(c, out).await,
            Some(NamespacesAction::Drop(args)) => commands::purge::drop_namespace(c, args, out).await,
            Some(NamespacesAction::Show(args)) => commands::settings::show(c, args, out).await,
            Some(NamespacesAction::Set(args)) => commands::settings::set(c, args, out).await,
        },
        Command::Jobs(args) => commands::jobs::run(c, args, out).await,
        Command::Health => commands::health::run(c, out).await,
        // These need no server and were handled before.
        Command::Serve(_)
        | Command::Demo(_)
        | Command::Version
        | Command::Openapi
        | Command::Completion(_)
        | Command::Man(_)
        | Command::Config(_)
        | Command::Doctor(_)
        | Command::Hook(_)
        | Command::Mcp(_)
        | Command::Token(_)
        | Command::Audit(_)
        | Command::Verify(_)
        | Command::Repair(_)
        | Command::Inspect(_)
        | Command::Backup(_) => Ok(()),
    }
}
