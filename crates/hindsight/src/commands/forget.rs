//! `forget` and `restore`: out of recall, and back.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::Args;
use hindsight_client::ForgetMode;
use hindsight_core::{Filter, MemoryId};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::flags::FilterFlags;
use crate::output::{Out, tell_part};
use crate::screen::counted;

/// Which memories to forget: by id, or all that a filter allows.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// Their ids
    #[arg(value_name = "ID")]
    ids: Vec<MemoryId>,
    /// Only count what a filter would forget
    #[arg(long, conflicts_with = "ids")]
    dry_run: bool,
    /// Also what was made from them, such as facts of an episode
    #[arg(long)]
    with_derived: bool,
    /// Do not ask before a filter forgets
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Which memories to bring back.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<MemoryId>,
}

/// Forgets. What a filter would take is counted first, and only that number is forgotten.
pub(crate) async fn run(connection: &Connection, args: ForgetArgs, out: &mut Out) -> Result<(), Failure> {
    let filter = args.filter.into_filter()?;
    let by_filter = filter != Filter::default();
    if args.ids.is_empty() != by_filter {
        return Err(Failure::ForgetWhat);
    }
    let memories = connection.memories()?;
    let memories = if args.with_derived { memories.with_derived() } else { memories };
    let forgotten = if !by_filter {
        memories.forget_ids(&args.ids).await?
    } else {
        let counted = memories.forget_where(filter.clone(), ForgetMode::DryRun).await?;
        if args.dry_run || counted.count == 0 {
            counted
        } else {
            if !args.yes {
                confirm("forget", counted.count)?;
            }
            memories.forget_where(filter, ForgetMode::Expect(counted.count)).await?
        }
    };
    let verb = if args.dry_run { "would be forgotten" } else { "forgotten; restore brings them back" };
    out.single(&forgotten, |_, _| {
        let done = format!("{} {verb}", counted(u64::from(forgotten.count), "memory", "memories"));
        done + &derived_text(&forgotten.derived)
    })
}

/// What was made from what goes, and stays.
pub(crate) fn derived_text(derived: &[MemoryId]) -> String {
    match derived.len() {
        0 => String::new(),
        count => {
            let count = counted(count as u64, "memory", "memories");
            format!("\n{count} made from them would stay: --with-derived takes these, too")
        }
    }
}

/// Brings back.
pub(crate) async fn restore(
    connection: &Connection,
    args: RestoreArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let restored = connection.memories()?.restore(&args.ids).await?;
    out.single(&restored, |_, _| {
        format!("{} restored", counted(u64::from(restored.count), "memory", "memories"))
    })
}

/// Asks on a terminal; without one, only `--yes` will do.
pub(crate) fn confirm(what: &'static str, count: u32) -> Result<(), Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::Unconfirmed { what, count });
    }
    tell_part(&format!("{what} {}? [y/N] ", counted(u64::from(count), "memory", "memories")));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(Failure::Unconfirmed { what, count })
    }
}
